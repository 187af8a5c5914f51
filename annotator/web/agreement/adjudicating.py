"""The judging screen for adjudicators: documents whose judges differ, without who they are, to be decided.

What organisers see of it is `adjudication`.
"""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.web.judging.judging import blank_form, opened, recorded, screen
from annotator.web.serving.compression import compressed
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person
from annotator.workflows.agreement import adjudication
from annotator.workflows.judging import judging, questions

blueprint = Blueprint("adjudicating", __name__)
blueprint.after_request(compressed)


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
