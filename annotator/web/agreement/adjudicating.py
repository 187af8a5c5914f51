"""The judging screen for adjudicators: documents whose judges differ, without who they are, to be decided.

What organisers see of it is in `disagreements`.
"""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.errors import NotFoundError
from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.web.judging.judging import blank_form, opened, recorded, screen
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
# What the screen's script calls: as for judges, less what strategies choose.
protocol = Blueprint("adjudicating_protocol", __name__)
install(protocol)
for_adjudicators = let_in(Role.ADJUDICATOR)


@blueprint.get("/collections/<slug>/adjudicate")
@collection_page(Role.ADJUDICATOR)
def topics(slug: str) -> ResponseReturnValue:
    """The topics with what is in dispute, and what this adjudicator has decided."""
    with database().transaction() as session:
        adjudication.give_back_leases(session, now=now())
    with database().reading() as session:
        work = adjudication.topics_to_adjudicate(session, slug, the_person().id)
        answers = questions.count_new_answers(session, slug, the_person().id)
    return render_template("agreement/adjudication/topics.html", work=work, answers=answers)


@blueprint.get("/collections/<slug>/adjudicate/topics/<path:number>")
@collection_page(Role.ADJUDICATOR)
def next_document(slug: str, number: str) -> ResponseReturnValue:
    """The next document of a topic, or the news that none waits; `?part=2` and so on of a long one."""
    task = database().attempt(
        lambda session: judging.next_task(session, slug, number, the_person().id, now=now(), queue=Queue.ADJUDICATION)
    )
    if task is None:
        return render_template("agreement/adjudication/done.html", number=number)
    return screen(slug, task, blank_form(task), queue=Queue.ADJUDICATION)


@blueprint.get("/collections/<slug>/adjudicate/assignments/<row:assignment_id>")
@collection_page(Role.ADJUDICATOR)
def show(slug: str, assignment_id: int) -> ResponseReturnValue:
    """One of the documents that this adjudicator has or had to decide."""
    task = opened(slug, assignment_id, Queue.ADJUDICATION)
    return screen(slug, task, blank_form(task), queue=Queue.ADJUDICATION)


@blueprint.post("/collections/<slug>/adjudicate/assignments/<row:assignment_id>")
@collection_page(Role.ADJUDICATOR)
def record(slug: str, assignment_id: int) -> ResponseReturnValue:
    """Store a decision and go on to the next document. What was typed is never lost on the way."""
    return recorded(slug, assignment_id, queue=Queue.ADJUDICATION)


@protocol.post("/collections/<slug>/adjudicate/topics/<path:number>/acts")
@for_adjudicators
def acts(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """Store what the adjudicator did, each act by itself, and send documents when few are left in the browser."""
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
        # What is stored is acknowledged, whatever else went wrong.
        return answer(judge, sent, turn.recorded, (), None, say(no_topic.sentence))
    return answer(judge, sent, turn.recorded, documents, counted, stopped)


@protocol.get("/collections/<slug>/adjudicate/session")
@for_adjudicators
def session_now(judge: JudgeHere, slug: str) -> ResponseReturnValue:  # noqa: ARG001 - the guard has used it
    """Who is signed in, with a token for what is sent next."""
    return who(judge)


@protocol.get("/collections/<slug>/adjudicate/assignments/<row:assignment_id>.json")
@for_adjudicators
def document(judge: JudgeHere, slug: str, assignment_id: int) -> ResponseReturnValue:
    """A document that the adjudicator has or had to decide, and the one decided before it."""
    with database().reading() as session:
        shown, previous = judging.open_document(session, slug, assignment_id, judge.id, queue=Queue.ADJUDICATION)
    return as_json(document_json(shown, previous))


@protocol.get("/collections/<slug>/adjudicate/assignments/<row:assignment_id>/parts/<row:part>")
@for_adjudicators
def document_part(judge: JudgeHere, slug: str, assignment_id: int, part: int) -> ResponseReturnValue:
    """A part of one of them, from 1."""
    with database().reading() as session:
        shown, _ = judging.open_document(session, slug, assignment_id, judge.id, queue=Queue.ADJUDICATION)
    return one_part(shown, part)
