"""Questions and notes of judges, answers to them, and clarifications for all judges of a topic."""

from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note
from annotator.api.judging.judging import resource
from annotator.api.site.access import ORGANISE, READ, caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, whole
from annotator.storage import Role
from annotator.storage.judging.judge_desk import NoteRow
from annotator.web.site.context import database, now
from annotator.workflows.judging import clarifications, judge_desk, questions
from annotator.workflows.judging.clarifications import ClarificationRow
from annotator.workflows.people.tokens import Scope

MOST_IDS = 1_000
ASK = gate_of([Scope.JUDGE], [Role.JUDGE, Role.ADJUDICATOR])


class QuestionView(Schema):
    """A question of a judge or a participant, and its answer."""

    number = fields.Integer(required=True, metadata={"description": "The number of the question."})
    judge = fields.String(required=True, metadata={"description": "The judge, or the participant, who asked."})
    team = fields.String(
        required=True, allow_none=True, metadata={"description": "The team of the participant; null: a judge asked."}
    )
    run = fields.String(required=True, allow_none=True, metadata={"description": "The run it is about; null: none."})
    topic = fields.String(
        required=True, allow_none=True, metadata={"description": "The topic it is about; null: none."}
    )
    docno = fields.String(
        required=True, allow_none=True, metadata={"description": "The document it is about; null: none."}
    )
    text = fields.String(required=True, metadata={"description": "The question."})
    asked_at = Moment(required=True, metadata={"description": "When it was asked, in UTC."})
    answer = fields.String(required=True, metadata={"description": "The answer; empty before there is one."})
    answered_by = fields.String(required=True, allow_none=True, metadata={"description": "The account that answered."})
    answered_at = Moment(
        required=True, allow_none=True, metadata={"description": "When it was answered, in UTC; null before that."}
    )
    is_public = fields.Boolean(
        required=True,
        metadata={"description": "Whether all judges of the topic, or all participants, see question and answer."},
    )


class OwnQuestionView(Schema):
    """A question of the caller, and its answer."""

    id = fields.String(required=True, metadata={"description": "The sender's id of the question."})
    topic = fields.String(
        required=True, allow_none=True, metadata={"description": "The topic it is about; null: none."}
    )
    docno = fields.String(
        required=True, allow_none=True, metadata={"description": "The document it is about; null: none."}
    )
    text = fields.String(required=True, metadata={"description": "The question."})
    asked_at = Moment(required=True, metadata={"description": "When it was asked, in UTC."})
    answer = fields.String(required=True, metadata={"description": "The answer; empty before there is one."})
    answered_at = Moment(
        required=True, allow_none=True, metadata={"description": "When it was answered, in UTC; null before that."}
    )
    is_new = fields.Boolean(required=True, metadata={"description": "Whether the answer has not been read yet."})


class QuestionBody(Schema):
    """A question about a document that the caller drew, about a topic, or about neither."""

    id = Text(
        required=True,
        metadata={
            "description": "The sender's id: 1 to 64 letters, digits, “-” and “_”. Sent again, it is stored once."
        },
    )
    text = Text(required=True, metadata={"description": "The question."})
    topic = Text(load_default=None, allow_none=True, metadata={"description": "The topic; null: none."})
    assignment = whole(
        load_default=None, allow_none=True, metadata={"description": "The assignment of the document; null: none."}
    )


class ReadBody(Schema):
    """The questions whose answers were read."""

    ids = fields.List(
        Text,
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=MOST_IDS),
        metadata={"description": "The ids of the questions; null for all that are answered."},
    )


class AnswerBody(Schema):
    """The answer to a question."""

    text = Text(required=True, metadata={"description": "The answer; the judge, or the team, is shown it."})
    public = fields.Boolean(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "Whether all judges of the topic, or all participants, see question and answer, not who "
            "asked; null: as before."
        },
    )


class ClarificationBody(Schema):
    """A clarification for all judges of a topic."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    text = Text(required=True, metadata={"description": "The text that all judges of the topic are shown."})


class ClarificationView(Schema):
    """A clarification, or an answer that all judges of the topic see."""

    number = fields.Integer(required=True, metadata={"description": "The number of the clarification."})
    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    question = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The number of the question it answers; null: none."}
    )
    text = fields.String(required=True, metadata={"description": "The text that all judges of the topic are shown."})
    published_by = fields.String(
        required=True, allow_none=True, metadata={"description": "The account that wrote it; null: by command."}
    )
    published_at = Moment(required=True, metadata={"description": "When it was published, in UTC."})
    seen = fields.Integer(required=True, metadata={"description": "The number of judges who have seen it."})


class ShownClarification(Schema):
    """A clarification as judges of the topic see it, without the author of its question."""

    question = fields.String(
        required=True, allow_none=True, metadata={"description": "The question that it answers; null: none."}
    )
    text = fields.String(required=True, metadata={"description": "The text that all judges of the topic are shown."})
    published_at = Moment(required=True, metadata={"description": "When it was published, in UTC."})


class TopicQuery(Schema):
    """The topic whose clarifications are listed."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})


class NoteView(Schema):
    """What a judge noted as relevant for a topic."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    text = fields.String(required=True, metadata={"description": "The note of the judge on the topic."})
    changed_at = Moment(required=True, metadata={"description": "When the note was changed, in UTC."})


class RemovedClarification(Schema):
    """A clarification that judges no longer see."""

    number = fields.Integer(required=True, metadata={"description": "The number of the clarification."})


@operation(resource, "GET", "/collections/<slug>/questions", READ, Gives(QuestionView, many=True), Takes(pages=True))
def list_questions(call: Call) -> object:
    """List the questions of judges and participants, unanswered ones first."""
    return [{**vars(one), "number": one.id} for one in database().read(questions.list_questions, call.slug)]


@operation(
    resource,
    "PUT",
    "/collections/<slug>/questions/<row:number>/answer",
    ORGANISE,
    Gives(QuestionView),
    Takes(body=AnswerBody),
)
def answer_question(call: Call) -> object:
    """Answer a question of a judge or a participant, or change its answer."""
    number, public = int(call.path["number"]), call.body["public"]
    with database().transaction() as session:
        questions.answer(
            session,
            call.slug,
            number,
            call.body["text"],
            answered_by_id=caller().id,
            answered_at=now(),
            public=public,
        )
        details = {} if public is None else {"public": public}
        note(session, "questions.answer", call.slug, subject=number, details=details)
    rows = database().read(questions.list_questions, call.slug)
    return next({**vars(one), "number": one.id} for one in rows if one.id == number)


@operation(
    resource, "GET", "/collections/<slug>/judging/questions", ASK, Gives(OwnQuestionView, many=True), Takes(pages=True)
)
def list_own_questions(call: Call) -> object:
    """List the caller's questions with their answers, newest first; reading them here marks no answer as read."""
    rows = database().read(questions.own_questions, call.slug, caller().id)
    return [{**vars(one), "id": one.client_id, "is_new": one.is_new} for one in rows]


@operation(
    resource, "POST", "/collections/<slug>/judging/questions", ASK, Gives(OwnQuestionView), Takes(body=QuestionBody)
)
def ask_question(call: Call) -> object:
    """Ask the organisers; a question that is sent again under its id is stored once."""
    body = call.body
    database().attempt(
        lambda session: questions.ask(
            session,
            call.slug,
            caller().id,
            body["text"],
            client_id=body["id"],
            asked_at=now(),
            topic=body["topic"],
            assignment_id=body["assignment"],
        )
    )
    rows = database().read(questions.own_questions, call.slug, caller().id)
    return next({**vars(one), "id": one.client_id, "is_new": one.is_new} for one in rows if one.client_id == body["id"])


@operation(
    resource,
    "POST",
    "/collections/<slug>/judging/questions/read",
    ASK,
    Gives(OwnQuestionView, many=True),
    Takes(body=ReadBody),
)
def read_answers(call: Call) -> object:
    """Mark the answers to the caller's questions as read, and return their questions."""
    with database().transaction() as session:
        questions.read_answers(session, call.slug, caller().id, read_at=now(), client_ids=call.body["ids"])
    return list_own_questions(call)


@operation(
    resource,
    "GET",
    "/collections/<slug>/judging/clarifications",
    ASK,
    Gives(ShownClarification, many=True),
    Takes(query=TopicQuery, pages=True),
)
def show_clarifications(call: Call) -> object:
    """Show the clarifications of a topic to its judges, newest first; this marks none as seen."""
    return database().read(clarifications.show_clarifications, call.slug, call.query["topic"], caller().id)


@operation(resource, "GET", "/collections/<slug>/notes", READ, Gives(NoteView, many=True), Takes(pages=True))
def list_notes(call: Call) -> object:
    """List what the judges noted as relevant, by topic and judge."""
    rows: list[NoteRow] = database().read(judge_desk.list_notes, call.slug)
    return rows


@operation(
    resource,
    "GET",
    "/collections/<slug>/clarifications",
    READ,
    Gives(ClarificationView, many=True),
    Takes(pages=True),
)
def list_clarifications(call: Call) -> object:
    """List the clarifications and the public answers, newest first."""
    return list(map(_clarification, database().read(clarifications.list_clarifications, call.slug)))


@operation(resource, "GET", "/collections/<slug>/clarifications/<row:number>", READ, Gives(ClarificationView))
def show_clarification(call: Call) -> object:
    """Show a clarification or a public answer."""
    number = int(call.path["number"])
    return _clarification(database().read(clarifications.show_clarification, call.slug, number))


@operation(
    resource,
    "POST",
    "/collections/<slug>/clarifications",
    ORGANISE,
    Gives(ClarificationView, 201),
    Takes(body=ClarificationBody),
)
def add_clarification(call: Call) -> object:
    """Add a clarification for all judges of a topic; each is shown it once, beside the topic."""
    topic = call.body["topic"]
    with database().transaction() as session:
        number = clarifications.clarify(
            session, call.slug, topic, call.body["text"], published_by_id=caller().id, published_at=now()
        )
        note(session, "clarifications.add", call.slug, subject=topic)
    return _clarification(database().read(clarifications.show_clarification, call.slug, number))


@operation(resource, "DELETE", "/collections/<slug>/clarifications/<row:number>", ORGANISE, Gives(RemovedClarification))
def remove_clarification(call: Call) -> object:
    """Withdraw a clarification; a public answer becomes private again."""
    number = int(call.path["number"])
    with database().transaction() as session:
        clarifications.remove(session, call.slug, number)
        note(session, "clarifications.remove", call.slug, subject=number)
    return {"number": number}


def _clarification(row: ClarificationRow) -> dict[str, object]:
    return {**vars(row), "number": row.id, "question": row.question_id}
