"""The pages that everybody may read: the task and its leaderboard, without sign-in and without a cookie."""

import hashlib

from flask import Blueprint, Response, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, BusyError, NotFoundError
from annotator.evaluation.publishing.public_board import PublicTask
from annotator.reporting.public_pages import NAMES, STYLE, PageLinks, message_page
from annotator.reporting.words import Words
from annotator.storage import Role
from annotator.web.leaderboard.public_memory import exported_pages, public_memory
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.web.site.context import database, now
from annotator.web.site.downloads import ZIP, download
from annotator.web.site.language import chosen_language

blueprint = Blueprint("public_pages", __name__)

RETRY_SECONDS = 5
NOT_FOUND, BUSY = 404, 503


@blueprint.get("/tasks/<slug>")
def show_task(slug: str) -> ResponseReturnValue:
    """The page of the task."""
    return _answer(slug)


@blueprint.get("/tasks/<slug>/leaderboard")
def show_board(slug: str) -> ResponseReturnValue:
    """The leaderboard, sorted by a measure or by name: `?sort=AP`; of one of several tasks: `?task=KEY`."""
    return _answer(slug, is_board=True)


def _answer(slug: str, *, is_board: bool = False) -> ResponseReturnValue:
    """The page with its ETag; browsers and proxies ask each time whether it is still that, as it may be withdrawn."""
    asked = next((code for code in NAMES if code == request.args.get("language")), None)
    language = asked or chosen_language()
    try:
        kept = public_memory().find(database(), slug, at=now())
        part = _part(kept.task) if is_board else None
        order = _order(kept.task) if is_board else None
    except BusyError as busy:
        return _message(BUSY, busy, language)
    except AnnotatorError as refusal:
        return _message(NOT_FOUND, refusal, language)
    links = _links(slug, kept.task, asked, order, part)
    content = public_memory().page(kept, links, language=language, order=order, part=part)
    response = Response(content, mimetype="text/html")
    response.set_etag(hashlib.sha256(content).hexdigest())
    response.headers["Cache-Control"] = "public, no-cache"
    return response.make_conditional(request)


def _order(task: PublicTask) -> str:
    orders = task.orders
    if not orders:
        raise NotFoundError("The leaderboard of the collection is not public.")
    order = request.args.get("sort", orders[0])
    if order not in orders:
        raise NotFoundError("The leaderboard cannot be sorted by “%(order)s”.", order=order)
    return order


def _part(task: PublicTask) -> str | None:
    """The requested task of several, by default the first that has a leaderboard; None in a collection with one."""
    usual = next(iter(task.boards), None)
    key = request.args.get("task", usual)
    if key != usual and key not in task.boards:
        raise NotFoundError("There is no leaderboard of a task “%(key)s”.", key=key)
    return key


def _links(slug: str, task: PublicTask, asked: str | None, order: str | None, part: str | None) -> PageLinks:
    """Links that keep a language that was chosen by an address: there is no cookie to remember it."""
    usual, first = next(iter(task.orders), None), next(iter(task.boards), None)

    def board(one: str | None, language: str | None, key: str | None = part) -> str:
        task_key = None if key == first else key
        return url_for(".show_board", slug=slug, sort=None if one == usual else one, task=task_key, language=language)

    def page(language: str) -> str:
        return url_for(".show_task", slug=slug, language=language) if order is None else board(order, language)

    return PageLinks(
        task=url_for(".show_task", slug=slug, language=asked),
        boards={one: board(one, asked) for one in task.orders},
        languages={one: page(one) for one in NAMES},
        style=url_for("static", filename=STYLE),
        registration=url_for("registration.begin", slug=slug),
        parts={key: board(usual, asked, key) for key in task.boards},
    )


def _message(status: int, refusal: AnnotatorError, language: str) -> Response:
    """Why there is no page; what is not public is not found, whatever the reason."""
    words = Words(language)
    if status == BUSY:
        title, text = words.gettext("Busy at the moment"), words.say(refusal.sentence)
    else:
        title, text = words.gettext("Page not found"), words.gettext("There is no such page, or it is not public.")
    style = url_for("static", filename=STYLE)
    response = Response(message_page(title, text, language=language, style=style), status, mimetype="text/html")
    if status == BUSY:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


@blueprint.get("/collections/<slug>/release/pages.zip")
@collection_page(Role.ORGANISER)
def export(slug: str) -> ResponseReturnValue:
    """The public pages as a zip file, for another web site."""
    content = exported_pages(slug)
    note_export("scores.export-pages", slug)
    return download(content, f"{slug}-pages.zip", ZIP)
