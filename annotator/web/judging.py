"""The judging screen. No run, rank, score or other judge's grade comes near these pages."""

import math
from urllib.parse import urlsplit
from uuid import uuid4

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, IntegerField, SelectChoice, SelectField, TextAreaField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.storage import CannotJudge, Role
from annotator.storage.judging import Decision
from annotator.web.access import collection_page
from annotator.web.addresses import local_path
from annotator.web.choosing import choices_to_come, choose_if_few
from annotator.web.context import database, now, the_person
from annotator.web.forms import Form, unix_lines
from annotator.web.language import lazy_gettext
from annotator.web.words import CANNOT_JUDGE
from annotator.workflows import guidelines, judging, recording
from annotator.workflows.judging import JudgingTask

blueprint = Blueprint("judging", __name__)

GREATEST_GRADE = 9
MOST_VERSIONS = 1_000_000


def reason_choices() -> list[SelectChoice]:
    """Why a document could not be judged."""
    return [SelectChoice(reason.value, words) for reason, words in CANNOT_JUDGE.items()]


class JudgementForm(Form):
    """A grade, or why there is none; which of the two the workflow checks."""

    grade = IntegerField(
        lazy_gettext("Grade"),
        [Optional(), NumberRange(0, GREATEST_GRADE, lazy_gettext("This is not a grade of the scale."))],
    )
    cannot_judge = SelectField(lazy_gettext("Cannot judge"), [Optional()], choices=reason_choices)
    note = TextAreaField(lazy_gettext("Note"), filters=[unix_lines], render_kw={"rows": 3})
    seconds = HiddenField()
    client_id = HiddenField(validators=[InputRequired()])
    guidelines = IntegerField(validators=[Optional(), NumberRange(0, MOST_VERSIONS)])

    def decision(self) -> Decision:
        """What the judge said."""
        reason = CannotJudge(self.cannot_judge.data) if self.cannot_judge.data else None
        return Decision(self.grade.data, reason, self.note.data or "", _seconds(self.seconds.data))


@blueprint.get("/collections/<slug>/judge")
@collection_page(Role.JUDGE)
def topics(slug: str) -> ResponseReturnValue:
    """The topics with what this judge has judged and what waits for them."""
    to_come = choices_to_come(slug)
    with database().transaction() as session:  # leases that ran out are given back on the way
        work = judging.topics_to_judge(session, slug, the_person().id, now=now(), to_come=to_come)
    return render_template("judging/topics.html", work=work)


@blueprint.get("/collections/<slug>/judge/topics/<path:number>")
@collection_page(Role.JUDGE)
def next_document(slug: str, number: str) -> ResponseReturnValue:
    """The next document of a topic, or the news that none waits."""
    task = _drawn(slug, number)
    if task is None:
        return render_template("judging/done.html", number=number)
    return _screen(slug, task, _blank_form(task))


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>")
@collection_page(Role.JUDGE)
def show(slug: str, assignment_id: int) -> ResponseReturnValue:
    """One of the judge's own documents, with the grade they gave it; `?back=` is the search it was found by."""
    task = _open(slug, assignment_id)
    return _screen(slug, task, _blank_form(task))


@blueprint.post("/collections/<slug>/judge/assignments/<row:assignment_id>")
@collection_page(Role.JUDGE)
def record(slug: str, assignment_id: int) -> ResponseReturnValue:
    """Store a judgement and go on to the next document, or back to the search that `?back=` names.

    What was typed is never lost on the way.
    """
    form = JudgementForm()
    if form.validate():
        with form.guard():
            number = database().attempt(
                lambda session: recording.record_judgement(
                    session,
                    slug,
                    assignment_id,
                    the_person().id,
                    form.decision(),
                    client_id=form.client_id.data,
                    judged_at=now(),
                    guidelines=form.guidelines.data,
                )
            )
    if form.refused:
        return _screen(slug, _open(slug, assignment_id), form, status=form.status)
    return redirect(_search_left(slug) or url_for(".next_document", slug=slug, number=number), 303)


@blueprint.get("/collections/<slug>/judge/judged")
@collection_page(Role.JUDGE)
def judged(slug: str) -> ResponseReturnValue:
    """What this judge has judged, newest first."""
    with database().reading() as session:
        rows = recording.judged_by(session, slug, the_person().id)
    return render_template("judging/judged.html", rows=rows)


def _drawn(slug: str, number: str) -> JudgingTask | None:
    """Draw the next document, after an adaptive strategy has chosen some if few are left.

    Others may be quicker, at adding or at drawing what was added: then it chooses again, so that nobody is sent away
    while there is something to choose.
    """
    while True:
        has_chosen = choose_if_few(slug, number)
        task = database().attempt(lambda session: judging.next_task(session, slug, number, the_person().id, now=now()))
        if task is not None or not has_chosen:
            return task


def _open(slug: str, assignment_id: int) -> JudgingTask:
    with database().reading() as session:
        return judging.open_task(session, slug, assignment_id, the_person().id)


def _blank_form(task: JudgingTask) -> JudgementForm:
    """A form with an id of its own, in which the note of an earlier judgement can be kept."""
    return JudgementForm(formdata=None, client_id=uuid4().hex, note=task.decision.note if task.decision else "")


def _screen(slug: str, task: JudgingTask, form: JudgementForm, status: int = 200) -> ResponseReturnValue:
    with database().reading() as session:
        in_force = guidelines.show_guidelines(session, slug)
    to_come = choices_to_come(slug).get(task.topic_number, 0)
    page = render_template(
        "judging/task.html", task=task, guidelines=in_force, form=form, to_come=to_come, back=_search_left(slug)
    )
    response = make_response(page, status)
    # Kept by the browser, so that its back button shows the document before; asked for anew when opened anew.
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _search_left(slug: str) -> str | None:
    """The address of the search that the judge left for this document; None when `?back=` is no such address."""
    address = local_path(request.args.get("back"))
    return address if address and urlsplit(address).path == url_for("search.show", slug=slug) else None


def _seconds(text: str | None) -> float | None:
    """The seconds a page counted; nonsense is no reason to refuse a judgement."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
