"""A judge's or adjudicator's own judgements, to search and change, and their deferred documents."""

from typing import Any
from uuid import uuid4

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, IntegerField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.errors import InvalidValueError
from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.translate import say
from annotator.workflows.judging import judge_history
from annotator.workflows.judging.judge_history import CANNOT, HistoryFilter, SortKey, put_off_by
from annotator.workflows.judging.judge_history import take_up as take_up_again

blueprint = Blueprint("judged", __name__)

LONGEST_WORDS = 200
GREATEST_GRADE = 9


class GradeForm(Form):
    """Another grade for a judged document, or none to withdraw the judgement."""

    grade = IntegerField(
        validators=[Optional(), NumberRange(0, GREATEST_GRADE, lazy_gettext("This is not a grade of the scale."))]
    )
    withdraw = HiddenField()
    client_id = HiddenField(validators=[InputRequired()])

    @property
    def is_empty(self) -> bool:
        """Whether neither is given, which would otherwise withdraw."""
        return self.grade.data is None and not self.withdraw.data


@blueprint.get("/collections/<slug>/judge/judged")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def show(slug: str) -> ResponseReturnValue:
    """The judge's own judgements, newest first, filtered by `?q=`, `?grade=` (or “cannot”), `?topic=`; `?page=`.

    `?sort=` and `?order=` choose another order.
    """
    return _list(slug)


@blueprint.post("/collections/<slug>/judge/judged/<row:assignment_id>")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def change(slug: str, assignment_id: int) -> ResponseReturnValue:
    """Give a judged document another grade or withdraw its judgement, and show the list; to a script, the row alone."""
    form, judge_id, is_script = GradeForm(), the_person().id, "fragment" in request.form
    if form.validate():
        with form.guard():
            if form.is_empty:
                raise InvalidValueError("This is not a grade of the scale.")
            database().attempt(
                lambda session: judge_history.change_judgement(
                    session,
                    slug,
                    assignment_id,
                    judge_id,
                    None if form.withdraw.data else form.grade.data,
                    queues=_queues(),
                    client_id=form.client_id.data,
                    judged_at=now(),
                )
            )
    if form.refused and is_script:
        return (say(form.refusal.sentence) if form.refusal else ""), form.status
    if form.refused:
        return _list(slug, form), form.status
    if is_script:
        with database().reading() as session:
            row = judge_history.judged_row(session, slug, judge_id, assignment_id)
        return render_template("judging/_judged_row.html", row=row, query=_query(_wanted()), new_id=new_id)
    if form.withdraw.data:
        flash(gettext("Judgement withdrawn. The document waits for you again."))
    return redirect(url_for(".show", slug=slug, _anchor=f"row-{assignment_id}", **_query(_wanted())), 303)


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


def _list(slug: str, form: GradeForm | None = None) -> str:
    wanted = _wanted()
    with database().reading() as session:
        found = judge_history.list_judged(session, slug, the_person().id, wanted)
    return render_template(
        "judging/judged.html",
        found=found,
        wanted=wanted,
        query=_query(wanted),
        form=form or GradeForm(formdata=None),
        new_id=new_id,
    )


def new_id() -> str:
    """An id for a judgement, so that a form that is sent twice is stored once."""
    return uuid4().hex


def _queues() -> frozenset[Queue]:
    """The queues of the person's roles."""
    place = the_place()
    held = {Queue.JUDGING: place.judges, Queue.ADJUDICATION: place.adjudicates}
    return frozenset(queue for queue, has in held.items() if has)


def _query(wanted: HistoryFilter) -> dict[str, Any]:
    """The query string of a filter, without what is usual."""
    is_usual = wanted.sort == SortKey.ORDER
    asked = {
        "q": wanted.words or None,
        "grade": wanted.grade,
        "topic": wanted.topic,
        "page": wanted.page if wanted.page > 1 else None,
        "sort": None if is_usual else wanted.sort.value,
        "order": "ascending" if wanted.is_ascending else None,
    }
    return {name: value for name, value in asked.items() if value is not None}


def _wanted() -> HistoryFilter:
    """The filter in the query string; malformed values are ignored."""
    grade = request.args.get("grade", "")
    page, sort = request.args.get("page", ""), request.args.get("sort", "")
    return HistoryFilter(
        words=request.args.get("q", "")[:LONGEST_WORDS].replace("\0", ""),
        grade=CANNOT if grade == CANNOT else _number(grade, GREATEST_GRADE),
        topic=request.args.get("topic") or None,
        page=_number(page, 999_999) or 1,
        sort=SortKey(sort) if sort in set(SortKey) else SortKey.ORDER,
        is_ascending=request.args.get("order") == "ascending",
    )


def _number(text: str, greatest: int) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(greatest))
    return int(text) if is_number and int(text) <= greatest else None
