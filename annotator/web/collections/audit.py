"""The pages of the audit log: of a collection for its organisers, of the site for administrators."""

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
from annotator.workflows.collections.audit import AuditEntry, AuditFilter

blueprint = Blueprint("audit", __name__)


@blueprint.get("/collections/<slug>/audit")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The newest entries; `?by=`, `?action=`, `?since=` and `?until=` narrow them, `?before=` leads to older ones."""
    return _page(slug)


@blueprint.get("/collections/<slug>/audit.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """All matching entries, one per line."""
    return _csv(slug, f"{slug}-audit.csv")


@blueprint.get("/audit")
@administrator_page
def show_site() -> ResponseReturnValue:
    """The audit log of the whole site."""
    return _page(None)


@blueprint.get("/audit.csv")
@administrator_page
def site_csv() -> ResponseReturnValue:
    """The audit log of the whole site as CSV."""
    return _csv(None, "audit.csv")


def _page(slug: str | None) -> ResponseReturnValue:
    refused, wanted = None, AuditFilter()
    try:
        wanted = _wanted()
    except InvalidValueError as refusal:
        refused = refusal
    page = database().read(audit.audit_page, slug, wanted, before=request.args.get("before", type=int))
    shown = render_template(
        "collections/audit.html", slug=slug, page=page, wanted=wanted, address=_address(slug), refused=refused
    )
    return shown if refused is None else (shown, status_of(refused))


def _csv(slug: str | None, name: str) -> ResponseReturnValue:
    wanted, opened = _wanted(), database()

    def below(before: int | None) -> list[AuditEntry]:
        return opened.read(audit.entries_before, slug, wanted, before)

    return download_in_pieces(audit.csv_pieces(below), name, CSV)


def _wanted() -> AuditFilter:
    return AuditFilter(request.args.get("by") or None, request.args.get("action") or None, _at("since"), _at("until"))


def _address(slug: str | None) -> dict[str, Any]:
    """The arguments for links to this page: those of the query string that are not empty."""
    asked = {name: request.args[name] for name in ("by", "action", "since", "until") if request.args.get(name)}
    return asked if slug is None else {"slug": slug, **asked}


def _at(name: str) -> datetime | None:
    """A day or a time, in UTC unless a zone follows; raises `InvalidValueError` for anything else."""
    text = request.args.get(name, "").strip()
    return None if not text else read_moment(text)
