"""Who did what: the audit log of a collection, for its organisers, and of the site, for administrators."""

from datetime import datetime
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError
from annotator.moments import read_moment
from annotator.storage import Role
from annotator.web.site.access import administrator_page, collection_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download_in_pieces
from annotator.web.site.error_pages import status_of
from annotator.workflows.collections import audit
from annotator.workflows.collections.audit import Deed, DeedsWanted

blueprint = Blueprint("audit", __name__)


@blueprint.get("/collections/<slug>/audit")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The newest deeds; `?by=`, `?action=`, `?since=` and `?until=` narrow them, `?before=` leads to older ones."""
    return _page(slug)


@blueprint.get("/collections/<slug>/audit.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """All that are wanted, one line a deed."""
    return _csv(slug, f"{slug}-audit.csv")


@blueprint.get("/audit")
@administrator_page
def show_site() -> ResponseReturnValue:
    """The same of the whole site."""
    return _page(None)


@blueprint.get("/audit.csv")
@administrator_page
def site_csv() -> ResponseReturnValue:
    """The same of the whole site."""
    return _csv(None, "audit.csv")


def _page(slug: str | None) -> ResponseReturnValue:
    refused, wanted = None, DeedsWanted()
    try:
        wanted = _wanted()
    except InvalidValueError as refusal:
        refused = refusal
    with database().reading() as session:
        page = audit.page_of_deeds(session, slug, wanted, before=request.args.get("before", type=int))
    shown = render_template(
        "collections/audit.html", slug=slug, page=page, wanted=wanted, address=_address(slug), refused=refused
    )
    return shown if refused is None else (shown, status_of(refused))


def _csv(slug: str | None, name: str) -> ResponseReturnValue:
    wanted, opened = _wanted(), database()

    def below(before: int | None) -> list[Deed]:
        with opened.reading() as session:
            return audit.deeds_before(session, slug, wanted, before)

    return download_in_pieces(audit.csv_pieces(below), name, CSV)


def _wanted() -> DeedsWanted:
    return DeedsWanted(request.args.get("by") or None, request.args.get("action") or None, _at("since"), _at("until"))


def _address(slug: str | None) -> dict[str, Any]:
    """What the address asks for, without what narrows nothing."""
    asked = {name: request.args[name] for name in ("by", "action", "since", "until") if request.args.get(name)}
    return asked if slug is None else {"slug": slug, **asked}


def _at(name: str) -> datetime | None:
    """A day or a moment, in UTC unless it says otherwise; raises `InvalidValueError` for what is neither."""
    text = request.args.get(name, "").strip()
    return None if not text else read_moment(text)
