"""A judge's or adjudicator's own judgements, to search and change, and their deferred documents."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person
from annotator.workflows.judging import judge_history
from annotator.workflows.judging.judge_history import CANNOT, HistoryFilter, put_off_by
from annotator.workflows.judging.judge_history import take_up as take_up_again

blueprint = Blueprint("judged", __name__)

LONGEST_WORDS = 200
GREATEST_GRADE = 9


@blueprint.get("/collections/<slug>/judge/judged")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def show(slug: str) -> ResponseReturnValue:
    """The judge's own judgements, newest first, filtered by `?q=`, `?grade=` (or “cannot”), `?topic=`; `?page=`."""
    wanted = _wanted()
    with database().reading() as session:
        found = judge_history.list_judged(session, slug, the_person().id, wanted)
    return render_template("judging/judged.html", found=found, wanted=wanted)


@blueprint.get("/collections/<slug>/judge/put-off")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def put_off(slug: str) -> ResponseReturnValue:
    """The judge's deferred documents."""
    with database().reading() as session:
        rows = put_off_by(session, slug, the_person().id)
    return render_template("judging/put_off.html", rows=rows)


@blueprint.post("/collections/<slug>/judge/put-off/<row:assignment_id>")
@collection_page(Role.JUDGE)
def take_up(slug: str, assignment_id: int) -> ResponseReturnValue:
    """Take a deferred document back and open it."""
    judge_id = the_person().id
    held = database().attempt(lambda session: take_up_again(session, slug, assignment_id, judge_id, now=now()))
    return redirect(url_for("judging.show", slug=slug, assignment_id=held), 303)


def _wanted() -> HistoryFilter:
    """The filter in the query string; malformed values are ignored."""
    grade = request.args.get("grade", "")
    page = request.args.get("page", "")
    return HistoryFilter(
        words=request.args.get("q", "")[:LONGEST_WORDS].replace("\0", ""),
        grade=CANNOT if grade == CANNOT else _number(grade, GREATEST_GRADE),
        topic=request.args.get("topic") or None,
        page=_number(page, 999_999) or 1,
    )


def _number(text: str, greatest: int) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(greatest))
    return int(text) if is_number and int(text) <= greatest else None
