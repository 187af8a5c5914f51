"""Adjudication by a program: disputed documents for an adjudicator, and an organiser's decision on a disagreement.

Responses to an adjudicator contain no names of judges, and their grades only where the collection shows them.
"""

from uuid import uuid4

from marshmallow import Schema, fields

from annotator.api.agreement.agreement import resource
from annotator.api.judging.judging import (
    NOTHING_DRAWN,
    DocumentInHand,
    DrawBody,
    Drawn,
    JudgementsBody,
    Stored,
    drawn_documents,
    stored_judgements,
)
from annotator.api.site.access import ORGANISE, caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text, whole
from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judge_history import JudgeNote, ShownDocument
from annotator.storage.judging.leases import Decision
from annotator.web.site.context import database, now
from annotator.web.site.json_answers import MOST_BYTES
from annotator.workflows.agreement import adjudication
from annotator.workflows.agreement.deciding import decide_disagreement
from annotator.workflows.judging import judging
from annotator.workflows.people.tokens import Scope

ADJUDICATE = gate_of([Scope.JUDGE], [Role.ADJUDICATOR])


class DisputedTopicView(Schema):
    """A topic as the caller sees it: its documents in dispute, and those that they decided."""

    number = fields.String(required=True, metadata={"description": "The number of the topic."})
    title = fields.String(required=True)
    in_dispute = fields.Integer(
        required=True, metadata={"description": "The number of documents in dispute that the caller did not judge."}
    )
    waiting = fields.Integer(
        required=True, metadata={"description": "The number of those that the caller can draw or holds."}
    )
    decided = fields.Integer(required=True, metadata={"description": "The number of documents the caller decided."})
    put_off = fields.Integer(required=True)
    dropped = fields.Boolean(required=True)


class AnonymousNote(Schema):
    """What a judge noted on a document, without the name of the judge."""

    note = fields.String(required=True, metadata={"description": "The note of the judge; may be empty."})
    evidence = fields.List(
        fields.String, required=True, metadata={"description": "Passages that the judge marked as evidence."}
    )
    grade = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The grade of the judge, where the collection shows grades to adjudicators."},
    )


class DisputedDocument(DocumentInHand):
    """A document to decide; decisions name its assignment."""

    given = fields.List(
        fields.Integer,
        required=True,
        metadata={
            "description": "The different grades of the judges; empty unless the collection shows them to adjudicators."
        },
    )
    notes = fields.List(
        fields.Nested(AnonymousNote),
        required=True,
        metadata={"description": "Notes and evidence of the judges, without names, in random order."},
    )


class DrawnDisputes(Drawn):
    """Documents in the caller's hands, at most eight; the topic is null when nothing waits."""

    documents = fields.List(
        fields.Nested(DisputedDocument), required=True, metadata={"description": "The documents to decide."}
    )
    judged = fields.Integer(
        required=True, metadata={"description": "The number of documents of the topic that the caller decided."}
    )


class DecisionBody(Schema):
    """The decision on one disagreement."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    docno = Text(required=True)
    grade = whole(0, 9, required=True, metadata={"description": "The grade that counts."})
    note = Text(load_default="", metadata={"description": "The reason for the decision."})
    id = Text(
        load_default=None,
        metadata={"description": "An id of the sender's own, by which a decision that is sent again is stored once."},
    )


class DecidedView(Schema):
    """A decision that is stored."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)
    grade = fields.Integer(required=True, metadata={"description": "The grade that counts."})
    adjudicator = fields.String(required=True, metadata={"description": "The account that decided: the caller."})


@operation(
    resource,
    "GET",
    "/collections/<slug>/adjudicating",
    ADJUDICATE,
    Gives(DisputedTopicView, many=True),
    Takes(pages=True),
)
def list_disputed_topics(call: Call) -> object:
    """List the topics that have documents in dispute for the caller, or decided by them."""
    with database().transaction() as session:
        adjudication.give_back_leases(session, now=now())
    return database().read(adjudication.topics_to_adjudicate, call.slug, caller().id)


@operation(
    resource,
    "POST",
    "/collections/<slug>/adjudicating/documents",
    ADJUDICATE,
    Gives(DrawnDisputes),
    Takes(body=DrawBody),
)
def draw_disputes(call: Call) -> object:
    """Draw disputed documents of a topic: those the caller already holds, and further ones up to eight.

    Documents are reserved for 30 minutes, renewed by every call of the adjudicator.
    """
    task = database().attempt(
        lambda session: judging.next_task(
            session, call.slug, call.body["topic"], caller().id, now=now(), queue=Queue.ADJUDICATION
        )
    )
    if task is None:
        return NOTHING_DRAWN
    return {**drawn_documents(task), "documents": list(map(_document, task.documents))}


@operation(
    resource,
    "POST",
    "/collections/<slug>/adjudicating/decisions",
    ADJUDICATE,
    Gives(Stored),
    Takes(body=JudgementsBody, most_bytes=MOST_BYTES),
)
def adjudicate(call: Call) -> object:
    """Store decisions on documents that the caller drew, each under its sender's id, as judgements are stored."""
    return stored_judgements(call, Queue.ADJUDICATION)


@operation(
    resource,
    "POST",
    "/collections/<slug>/disagreements/decisions",
    ORGANISE,
    Gives(DecidedView),
    Takes(body=DecisionBody),
)
def decide(call: Call) -> object:
    """Decide a disagreement, as an adjudication by the caller; deciding again replaces their earlier decision."""
    topic, docno, grade = (call.body[name] for name in ("topic", "docno", "grade"))
    with database().transaction() as session:
        decide_disagreement(
            session,
            call.slug,
            topic,
            docno,
            caller().id,
            Decision(grade, None, call.body["note"]),
            client_id=call.body["id"] or uuid4().hex,
            decided_at=now(),
        )
    return {"topic": topic, "docno": docno, "grade": grade, "adjudicator": caller().name}


def _document(document: ShownDocument) -> dict[str, object]:
    return {**vars(document), "notes": list(map(_note, document.notes))}


def _note(note: JudgeNote) -> dict[str, object]:
    return {
        "note": note.note,
        "evidence": [passage.text for passage in note.evidence],
        "grade": None if note.decision is None else note.decision.grade,
    }
