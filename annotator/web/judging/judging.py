"""The judging screen, which shows no run, rank, score or other judge's grade."""

import math
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from wtforms import HiddenField, IntegerField, SelectChoice, SelectField, TextAreaField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.storage import CannotJudge, Role
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judge_history import ShownDocument
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import Preparation
from annotator.web.judging.judging_documents import ENDPOINTS, batch_json, parts_of
from annotator.web.judging.onward import after
from annotator.web.serving.compression import compressed
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come, choose_if_few
from annotator.web.site.addresses import local_path
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.labels import CANNOT_JUDGE
from annotator.web.site.language import lazy_gettext
from annotator.workflows.judging import (
    act_decisions,
    judge_desk,
    judging,
    preparation,
    questions,
    recording,
    taking_along,
)
from annotator.workflows.judging.judging import JudgingTask, NotPreparedError
from annotator.workflows.people import members

blueprint = Blueprint("judging", __name__)
blueprint.after_request(compressed)

# The pages for what a judge must complete before judging.
PREPARATIONS = {Preparation.GUIDELINES: "guidelines.show", Preparation.TRAINING: "training.show"}

GREATEST_GRADE = 9
MOST_VERSIONS = 1_000_000


@dataclass(frozen=True)
class Part:
    """A part of a document, numbered from 1, as safe HTML; empty for a document without a text."""

    number: int
    of: int
    html: Markup


def reason_choices() -> list[SelectChoice]:
    """The reasons why a document could not be judged."""
    return [SelectChoice(reason.value, words) for reason, words in CANNOT_JUDGE.items()]


class JudgementForm(Form):
    """A grade, or a reason why there is none; the workflow validates the combination."""

    grade = IntegerField(
        lazy_gettext("Grade"),
        [Optional(), NumberRange(0, GREATEST_GRADE, lazy_gettext("This is not a grade of the scale."))],
    )
    cannot_judge = SelectField(lazy_gettext("Cannot judge"), [Optional()], choices=reason_choices)
    note = TextAreaField(
        lazy_gettext("Note"), filters=[unix_lines], render_kw={"rows": 3, "maxlength": act_decisions.LONGEST_NOTE}
    )
    seconds = HiddenField()
    client_id = HiddenField(validators=[InputRequired()])
    guidelines = IntegerField(validators=[Optional(), NumberRange(0, MOST_VERSIONS)])
    later = HiddenField()
    # The id of the judgement to withdraw.
    withdraw = HiddenField()

    def decision(self) -> Decision | None:
        """The judge's decision, None when they deferred the document or withdraw their judgement."""
        if self.later.data or self.withdraw.data:
            return None
        reason = CannotJudge(self.cannot_judge.data) if self.cannot_judge.data else None
        return Decision(self.grade.data, reason, self.note.data or "", _seconds(self.seconds.data))


@blueprint.get("/collections/<slug>/judge")
@collection_page(Role.JUDGE, Role.ORGANISER)
def topics(slug: str) -> ResponseReturnValue:
    """The topics, with the person's judgements and remaining documents."""
    to_come = choices_to_come(slug, the_person().id)
    with database().transaction() as session:  # a transaction, because expired leases are released here
        work = judging.topics_to_judge(session, slug, the_person().id, now=now(), to_come=to_come)
    with database().reading() as session:
        answers = questions.count_new_answers(session, slug, the_person().id)
        taken = taking_along.list_taken(session, slug, now=now(), judge_id=the_person().id)
        preparations = preparation.preparations_of(session, slug, the_person().id)
    return render_template("judging/topics.html", work=work, answers=answers, taken=taken, preparations=preparations)


@blueprint.get("/collections/<slug>/judge/topics/<path:number>")
@collection_page(Role.JUDGE, Role.ORGANISER)
def next_document(slug: str, number: str) -> ResponseReturnValue:
    """The next document of a topic, or a notice that there is none; `?part=2` etc. for a long document.

    An organiser who is no judge yet is asked first.
    """
    if not the_place().judges:
        return render_template("judging/begin.html", number=number)
    try:
        task = _drawn(slug, number)
    except NotPreparedError as refusal:
        return to_preparation(slug, refusal)
    if task is None:
        return render_template("judging/done.html", number=number, onward=after(slug, number, the_person().id))
    return screen(slug, task, blank_form(task), back=page_left(slug))


@blueprint.post("/collections/<slug>/judge/topics/<path:number>")
@collection_page(Role.JUDGE, Role.ORGANISER)
def begin(slug: str, number: str) -> ResponseReturnValue:
    """Give an organiser the role of a judge, unless held, and go on to the next document of the topic."""
    if not the_place().judges:
        with database().transaction() as session:
            if members.become_judge(session, slug, the_person().id, added_at=now()):
                details = {"role": Role.JUDGE.value, "team": None}
                note(session, "members.add", slug, subject=the_person().name, details=details)
    return redirect(url_for(".next_document", slug=slug, number=number), 303)


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>")
@collection_page(Role.JUDGE)
def show(slug: str, assignment_id: int) -> ResponseReturnValue:
    """A document assigned to this judge, with their grade; `?back=` is the page that led to it."""
    task = opened(slug, assignment_id)
    return screen(slug, task, blank_form(task), back=page_left(slug))


@blueprint.post("/collections/<slug>/judge/assignments/<row:assignment_id>")
@collection_page(Role.JUDGE)
def record(slug: str, assignment_id: int) -> ResponseReturnValue:
    """Store a judgement and go on to the next document, or back to the page of `?back=`.

    After an error the form keeps its input.
    """
    return recorded(slug, assignment_id, back=page_left(slug))


def recorded(
    slug: str, assignment_id: int, *, back: str | None = None, queue: Queue = Queue.JUDGING
) -> ResponseReturnValue:
    """Store the submitted form and go on, or show it again with its errors."""
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
                    withdraws=form.withdraw.data or None,
                    queue=queue,
                )
            )
    if form.refused:
        return screen(slug, opened(slug, assignment_id, queue), form, back=back, queue=queue)
    return redirect(back or url_for(".next_document", slug=slug, number=number), 303)


def to_preparation(slug: str, refusal: NotPreparedError) -> ResponseReturnValue:
    """Redirect a judge to the page of what they must complete first."""
    return redirect(url_for(PREPARATIONS[refusal.preparation], slug=slug), 303)


def _drawn(slug: str, number: str) -> JudgingTask | None:
    """Draw the next documents, after an adaptive strategy has chosen some if few are left.

    Concurrent requests may add or draw documents first: then it chooses again, so that no judge gets a notice that
    nothing is left while there are candidates.
    """
    while True:
        has_chosen = choose_if_few(slug, number, the_person().id)
        task = database().attempt(lambda session: judging.next_task(session, slug, number, the_person().id, now=now()))
        if task is not None or not has_chosen:
            return task


def opened(slug: str, assignment_id: int, queue: Queue = Queue.JUDGING) -> JudgingTask:
    """An assigned document of this person in one of their queues."""
    with database().reading() as session:
        return judging.open_task(session, slug, assignment_id, the_person().id, now=now(), queue=queue)


def blank_form(task: JudgingTask) -> JudgementForm:
    """A form with a new id, and the note of an earlier judgement."""
    return JudgementForm(formdata=None, client_id=uuid4().hex, note=task.decision.note if task.decision else "")


def screen(
    slug: str, task: JudgingTask, form: JudgementForm, *, back: str | None = None, queue: Queue = Queue.JUDGING
) -> ResponseReturnValue:
    """A document with its topic, and the initial data for the screen's script."""
    with database().reading() as session:
        beside = judge_desk.show_beside(session, slug, task.topic_number, the_person().id)
        kept = taking_along.show_kept(session, slug, task.topic_number, the_person().id, now=now())
    to_come = choices_to_come(slug, the_person().id).get(task.topic_number, 0) if queue == Queue.JUDGING else 0
    page = render_template(
        "judging/task.html",
        task=task,
        guidelines=beside.guidelines,
        form=form,
        to_come=to_come,
        back=back,
        batch=batch_json(slug, task, beside, to_come=to_come, back=back, queue=queue, kept=kept),
        part=part_of(task.documents[0]),
        pages=ENDPOINTS[queue][0],
        decides=queue == Queue.ADJUDICATION,
    )
    response = make_response(page, form.status if form.refused else 200)
    # Cached for the browser's back button; revalidated when opened again.
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def part_of(document: ShownDocument) -> Part:
    """The part of the document given by `?part=`."""
    parts = parts_of(document)
    number = min(max(request.args.get("part", 1, type=int), 1), max(len(parts), 1))
    return Part(number, max(len(parts), 1), parts[number - 1] if parts else Markup())


def page_left(slug: str) -> str | None:
    """The address of `?back=`, a search or the judge's own judgements; None when it is no such page."""
    address = local_path(request.args.get("back"))
    pages = (url_for("search.show", slug=slug), url_for("judged.show", slug=slug))
    return address if address and urlsplit(address).path in pages else None


def _seconds(text: str | None) -> float | None:
    """The seconds measured by the page; malformed values do not invalidate a judgement."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
