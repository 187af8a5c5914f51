"""Judging by a program: topics with work, assigned documents, judgements; and all judgements, for organisers.

Responses to a judge contain no runs, ranks, scores or other judges' judgements, as on the judging screen.
"""

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

from flask import Response
from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note_export
from annotator.api.site.access import JUDGE, READ, caller
from annotator.api.site.door import JSON, Call, Gives, Takes, operation, resource_of
from annotator.api.site.problems import problem
from annotator.api.site.values import GREATEST, Text, one_of, whole
from annotator.evaluation.outputs.registry import WRITTEN_BY
from annotator.storage import CannotJudge
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import REASONS
from annotator.web.site.adaptive import choices_to_come, choose_if_few
from annotator.web.site.context import database, now
from annotator.web.site.downloads import written, written_response
from annotator.web.site.error_pages import status_of
from annotator.web.site.json_answers import MOST_BYTES
from annotator.workflows.judging import judgement_files, judging
from annotator.workflows.judging.act_decisions import MOST_PASSAGES, Act, Refusal
from annotator.workflows.judging.judging import JudgingTask
from annotator.workflows.judging.recording import MOST_ACTS, record_acts

resource = resource_of("judging", "Judging by a program; the caller is the judge.")

JUDGEMENT_FORMATS = WRITTEN_BY["judgements export"]
LEAST_GRADE = -GREATEST
NOTHING_DRAWN: Mapping[str, object] = {"topic": None, "documents": [], "judged": 0, "waiting": 0}


class TopicWork(Schema):
    """A topic as the caller sees it: what they judged of it, and what waits for them."""

    number = fields.String(required=True)
    title = fields.String(required=True)
    judged = fields.Integer(required=True)
    waiting = fields.Integer(required=True)
    put_off = fields.Integer(required=True)
    owned = fields.Boolean(required=True)
    dropped = fields.Boolean(required=True)


class DrawBody(Schema):
    """The topic whose documents are drawn."""

    topic = Text(required=True)


class TopicWords(Schema):
    """What a topic says."""

    number = fields.String(required=True)
    title = fields.String(required=True)
    description = fields.String(required=True)
    narrative = fields.String(required=True)
    language = fields.String(required=True, allow_none=True)


class DocumentInHand(Schema):
    """A document to judge; grades name its assignment."""

    assignment = fields.Integer(required=True, attribute="assignment_id")
    docno = fields.String(required=True)
    title = fields.String(required=True)
    body = fields.String(required=True, allow_none=True, metadata={"description": "Null when there is no text."})
    url = fields.String(required=True, allow_none=True)
    language = fields.String(required=True, allow_none=True)


class Drawn(Schema):
    """Documents in the caller's hands, at most eight; the topic is null when nothing waits."""

    topic = fields.Nested(TopicWords, required=True, allow_none=True)
    documents = fields.List(fields.Nested(DocumentInHand), required=True)
    judged = fields.Integer(required=True)
    waiting = fields.Integer(required=True)


class PassageBody(Schema):
    """Words of a document that are kept as evidence; places count characters of its text, from 0."""

    start = whole(required=True)
    end = whole(required=True)
    text = Text(required=True)


class JudgementBody(Schema):
    """A grade, or why there is none. The id is the sender's own: sent again, it is stored once."""

    id = Text(required=True, metadata={"description": "1 to 64 letters, digits, “-” and “_”."})
    assignment = whole(required=True)
    grade = whole(LEAST_GRADE, load_default=None, allow_none=True)
    cannot_judge = one_of(REASONS, load_default=None, allow_none=True)
    note = Text(load_default="")
    seconds = fields.Float(
        load_default=None, allow_none=True, metadata={"description": "The seconds of active judging."}
    )
    guidelines = whole(
        load_default=None, allow_none=True, metadata={"description": "The version of the guidelines that was followed."}
    )
    evidence = fields.List(fields.Nested(PassageBody), load_default=list, validate=validate.Length(max=MOST_PASSAGES))


class JudgementsBody(Schema):
    """Judgements, each stored or refused by itself."""

    judgements = fields.List(
        fields.Nested(JudgementBody), required=True, validate=validate.Length(min=1, max=MOST_ACTS)
    )


class RefusedJudgement(Schema):
    """A judgement that was not stored, and why."""

    id = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)


class Stored(Schema):
    """The ids of what is stored, now or since an earlier time, and what is not."""

    acknowledged = fields.List(fields.String, required=True)
    refused = fields.List(fields.Nested(RefusedJudgement), required=True)


class FormatQuery(Schema):
    """As what."""

    format = one_of(
        list(JUDGEMENT_FORMATS),
        load_default="jsonl",
        metadata={
            "description": "Tasks for Label Studio contain the current judgements of documents that have a text."
        },
    )
    pseudonyms = fields.Boolean(
        load_default=False, metadata={"description": "Replace the names of people by pseudonyms, in notes too."}
    )
    judge = Text(
        load_default="",
        metadata={"description": "In the format judge: whose labels are written; without it, the only machine's."},
    )


class LabellingTask(Schema):
    """In the format label-studio: a judged document with its judgements."""

    data = fields.Dict(required=True, metadata={"description": "The topic and the document."})
    annotations = fields.List(fields.Dict, required=True, metadata={"description": "The judgements of people."})
    predictions = fields.List(fields.Dict, required=True, metadata={"description": "Those of machines."})


@operation(resource, "GET", "/collections/<slug>/judging", JUDGE, Gives(TopicWork, many=True), Takes(pages=True))
def list_work(call: Call) -> object:
    """List the topics that have documents for the caller."""
    to_come = choices_to_come(call.slug)
    with database().transaction() as session:  # a transaction, because expired leases are released here
        return judging.topics_to_judge(session, call.slug, caller().id, now=now(), to_come=to_come)


@operation(resource, "POST", "/collections/<slug>/judging/documents", JUDGE, Gives(Drawn), Takes(body=DrawBody))
def draw_documents(call: Call) -> object:
    """Draw documents of a topic: those the caller already holds, and further ones up to eight.

    Documents are reserved for 30 minutes, renewed by every call of the judge. Drawing again before judging returns the
    same documents.
    """
    while True:
        has_chosen = choose_if_few(call.slug, call.body["topic"], caller().id)
        task = database().attempt(
            lambda session: judging.next_task(session, call.slug, call.body["topic"], caller().id, now=now())
        )
        if task is not None:
            return drawn_documents(task)
        if not has_chosen:
            return NOTHING_DRAWN


@operation(
    resource,
    "POST",
    "/collections/<slug>/judgements",
    JUDGE,
    Gives(Stored),
    Takes(body=JudgementsBody, most_bytes=MOST_BYTES),
)
def judge(call: Call) -> object:
    """Store judgements, each under its sender's id; a repeated judgement is acknowledged again and stored once.

    Late judgements are not refused. If nothing is stored, the status is that of the first refusal.
    """
    return stored_judgements(call, Queue.JUDGING)


@operation(
    resource,
    "GET",
    "/collections/<slug>/judgements",
    READ,
    Gives(LabellingTask, many=True, media=sorted({one.media for one in JUDGEMENT_FORMATS.values()} - {JSON})),
    Takes(query=FormatQuery),
)
def export_judgements(call: Call) -> Response:
    """Export all judgements: who gave which grade to what, when, and what was replaced."""
    asked = call.query
    secret = token_hex(3) if asked["pseudonyms"] else None
    with database().reading() as session:
        made = judgement_files.judgement_file(session, call.slug, asked["format"], secret=secret, judge=asked["judge"])
        file = written(made.pieces)
    note_export("judgements.export", call.slug, details={name: asked[name] for name in ("format", "pseudonyms")})
    return written_response(file, made.format.media)


def stored_judgements(call: Call, queue: Queue) -> object:
    """Store the caller's judgements in their queue; what is stored and what is refused, as `Stored` describes it."""
    at, acts = now(), [_act(one) for one in call.body["judgements"]]
    stored = database().attempt(
        lambda session: record_acts(session, call.slug, caller().id, acts, received_at=at, queue=queue)
    )
    refused = [_refused(one) for one in stored.refused]
    if refused and not stored.acknowledged:
        first = stored.refused[0].error
        return problem(status_of(first), str(first), refused=refused)
    return {"acknowledged": stored.acknowledged, "refused": refused}


def drawn_documents(task: JudgingTask) -> dict[str, object]:
    """The documents in the caller's hands with their topic, as `Drawn` describes them."""
    words = ("number", "title", "description", "narrative", "language")
    return {
        "topic": {name: getattr(task, f"topic_{name}") for name in words},
        "documents": task.documents,
        "judged": task.judged,
        "waiting": task.waiting,
    }


def _act(body: Mapping[str, Any]) -> Act:
    reason = None if body["cannot_judge"] is None else CannotJudge(body["cannot_judge"])
    evidence: Sequence[Mapping[str, Any]] = body["evidence"]
    return Act(
        id=body["id"],
        assignment_id=body["assignment"],
        decision=Decision(body["grade"], reason, body["note"], body["seconds"]),
        guidelines=body["guidelines"],
        evidence=tuple(Passage(**one) for one in evidence),
    )


def _refused(refusal: Refusal) -> dict[str, object]:
    return {"id": refusal.id, "status": status_of(refusal.error), "detail": str(refusal.error)}
