"""The judging screen for adjudicators: documents with differing judgements to decide, without the judges' names.

The organisers' view of adjudication is in `disagreements`.
"""

from typing import Any

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.errors import NotFoundError
from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.web.judging.judging import blank_form, opened, page_left, recorded, screen
from annotator.web.judging.judging_acts import read_sent
from annotator.web.judging.judging_documents import document_json
from annotator.web.judging.judging_protocol import (
    REFILLED_BELOW,
    answer,
    as_json,
    drawn,
    install,
    let_in,
    one_part,
    who,
)
from annotator.web.judging.onward import onward_json
from annotator.web.serving.compression import compressed
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person
from annotator.web.site.json_answers import sent_json
from annotator.web.site.translate import say
from annotator.workflows.agreement import adjudication
from annotator.workflows.judging import judging, judging_turn, questions
from annotator.workflows.judging.judge_access import JudgeHere
from annotator.workflows.judging.judging_turn import submit

blueprint = Blueprint("adjudicating", __name__)
blueprint.after_request(compressed)
# The addresses called by the screen's script: as for judges, except for adaptive pools.
protocol = Blueprint("adjudicating_protocol", __name__)
install(protocol)
for_adjudicators = let_in(Role.ADJUDICATOR)


@blueprint.get("/collections/<slug>/adjudicate")
@collection_page(Role.ADJUDICATOR)
def topics(slug: str) -> ResponseReturnValue:
    """The topics, with the disputed documents and this adjudicator's decisions."""
    with database().transaction() as session:
        adjudication.give_back_leases(session, now=now())
    with database().reading() as session:
        work = adjudication.topics_to_adjudicate(session, slug, the_person().id)
        answers = questions.count_new_answers(session, slug, the_person().id)
    return render_template("agreement/adjudication/topics.html", work=work, answers=answers)


@blueprint.get("/collections/<slug>/adjudicate/topics/<path:number>")
@collection_page(Role.ADJUDICATOR)
def next_document(slug: str, number: str) -> ResponseReturnValue:
    """The next document of a topic, or a notice that there is none; `?part=2` etc. for a long document."""
    task = database().attempt(
        lambda session: judging.next_task(session, slug, number, the_person().id, now=now(), queue=Queue.ADJUDICATION)
    )
    if task is None:
        onward = _following(slug, number, the_person().id)
        return render_template("agreement/adjudication/done.html", number=number, onward=onward)
    return screen(slug, task, blank_form(task), queue=Queue.ADJUDICATION)


@blueprint.get("/collections/<slug>/adjudicate/assignments/<row:assignment_id>")
@collection_page(Role.ADJUDICATOR)
def show(slug: str, assignment_id: int) -> ResponseReturnValue:
    """A document assigned to this adjudicator, with their decision; `?back=` is the page that led to it."""
    task = opened(slug, assignment_id, Queue.ADJUDICATION)
    return screen(slug, task, blank_form(task), back=page_left(slug), queue=Queue.ADJUDICATION)


@blueprint.post("/collections/<slug>/adjudicate/assignments/<row:assignment_id>")
@collection_page(Role.ADJUDICATOR)
def record(slug: str, assignment_id: int) -> ResponseReturnValue:
    """Store a decision and go on to the next document, or back to the page of `?back=`.

    After an error the form keeps its input.
    """
    return recorded(slug, assignment_id, back=page_left(slug), queue=Queue.ADJUDICATION)


@protocol.post("/collections/<slug>/adjudicate/topics/<path:number>/acts")
@for_adjudicators
def acts(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """Store the adjudicator's acts, each independently, and return documents when the browser has few left."""
    sent = read_sent(sent_json())
    at = now()
    holds = sent.holds if sent.draws and len(sent.holds) < REFILLED_BELOW else None
    turn = database().attempt(
        lambda session: submit(
            session,
            slug,
            number,
            judge.id,
            sent.acts,
            holds=holds,
            known=None,
            at=at,
            shown=sent.holds,
            queue=Queue.ADJUDICATION,
        )
    )
    try:
        documents, stopped = drawn(turn, sent)
        counted = database().read(
            judging_turn.count_topic, slug, number, judge.id, to_come=0, now=at, queue=Queue.ADJUDICATION
        )
    except NotFoundError as no_topic:
        if not turn.recorded.acknowledged:
            raise
        # Stored acts are acknowledged even when another step failed.
        return answer(judge, sent, turn, (), None, say(no_topic.sentence))
    return answer(judge, sent, turn, documents, counted, stopped)


@protocol.get("/collections/<slug>/adjudicate/next/<path:number>")
@for_adjudicators
def topic_after(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """The topic with which this adjudicator continues after one, or why there is none."""
    return as_json(_following(slug, number, judge.id))


def _following(slug: str, number: str, judge_id: int) -> dict[str, Any]:
    """The topic with which an adjudicator continues after one, or why there is none."""
    with database().transaction() as session:
        adjudication.give_back_leases(session, now=now())
    return onward_json(slug, database().read(adjudication.next_topic, slug, number, judge_id), Queue.ADJUDICATION)


@protocol.get("/collections/<slug>/adjudicate/session")
@for_adjudicators
def session_now(judge: JudgeHere, slug: str) -> ResponseReturnValue:  # noqa: ARG001 - used by the guard
    """The signed-in person and a CSRF token for the next requests."""
    return who(judge)


@protocol.get("/collections/<slug>/adjudicate/assignments/<row:assignment_id>.json")
@for_adjudicators
def document(judge: JudgeHere, slug: str, assignment_id: int) -> ResponseReturnValue:
    """A document assigned to this adjudicator, and the one decided before it."""
    with database().reading() as session:
        shown, previous = judging.open_document(session, slug, assignment_id, judge.id, queue=Queue.ADJUDICATION)
    return as_json(document_json(shown, previous))


@protocol.get("/collections/<slug>/adjudicate/assignments/<row:assignment_id>/parts/<row:part>")
@for_adjudicators
def document_part(judge: JudgeHere, slug: str, assignment_id: int, part: int) -> ResponseReturnValue:
    """One part of such a document, counted from 1."""
    with database().reading() as session:
        shown, _ = judging.open_document(session, slug, assignment_id, judge.id, queue=Queue.ADJUDICATION)
    return one_part(shown, part)
