"""Gold questions, documents of known grade; and the judges' questions to organisers, with their answers."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.judging.judging import resource
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, whole
from annotator.web.site.context import database, now
from annotator.workflows.judging import gold_questions, questions


class GoldQuestionBody(Schema):
    """A document with its correct grade."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    docno = Text(required=True)
    grade = whole(0, 9, required=True, metadata={"description": "The correct grade."})


class GoldQuestionView(Schema):
    """A gold question with its answers."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)
    title = fields.String(required=True)
    known_grade = fields.Integer(required=True, metadata={"description": "The correct grade."})
    answered = fields.Integer(required=True, metadata={"description": "The number of judges who gave it a grade."})
    right = fields.Integer(required=True, metadata={"description": "The number of judges who gave it this grade."})
    could_not = fields.Integer(required=True, metadata={"description": "The number of judges who could not judge it."})


class GoldQuestionStored(Schema):
    """What became of a gold question: one of the first three is 1."""

    added = fields.Integer(required=True, metadata={"description": "1 if it is new."})
    changed = fields.Integer(required=True, metadata={"description": "1 if it had another grade."})
    known = fields.Integer(required=True, metadata={"description": "1 if it had this grade already."})
    pooled = fields.Integer(required=True, metadata={"description": "1 if the document was added to the pool."})


class QuestionView(Schema):
    """A question of a judge, and its answer."""

    number = fields.Integer(required=True, metadata={"description": "The number of the question."})
    judge = fields.String(required=True, metadata={"description": "The judge who asked."})
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


class AnswerBody(Schema):
    """The answer to a question."""

    text = Text(required=True, metadata={"description": "The answer; the judge is shown it."})


@operation(
    resource,
    "GET",
    "/collections/<slug>/gold-questions",
    READ,
    Gives(GoldQuestionView, many=True),
    Takes(pages=True),
)
def list_gold_questions(call: Call) -> object:
    """List the gold questions, by topic and docno, with how judges answered them."""
    return list(database().read(gold_questions.show_answers, call.slug).questions)


@operation(
    resource,
    "PUT",
    "/collections/<slug>/gold-questions",
    ORGANISE,
    Gives(GoldQuestionStored),
    Takes(body=GoldQuestionBody),
)
def set_gold_question(call: Call) -> object:
    """Make a document a gold question, or change its correct grade; a document outside the pool is added to it."""
    topic, docno, grade = (call.body[name] for name in ("topic", "docno", "grade"))
    with database().transaction() as session:
        stored = gold_questions.add_question(
            session, call.slug, topic, docno, grade, added_by_id=caller().id, added_at=now()
        )
        note(session, "test-questions.add", call.slug, subject=topic, details=vars(stored))
    return stored


@operation(resource, "GET", "/collections/<slug>/questions", READ, Gives(QuestionView, many=True), Takes(pages=True))
def list_questions(call: Call) -> object:
    """List the judges' questions, unanswered ones first."""
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
    """Answer a question of a judge, or change its answer."""
    number = int(call.path["number"])
    with database().transaction() as session:
        questions.answer(session, call.slug, number, call.body["text"], answered_by_id=caller().id, answered_at=now())
        note(session, "questions.answer", call.slug, subject=number)
    rows = database().read(questions.list_questions, call.slug)
    return next({**vars(one), "number": one.id} for one in rows if one.id == number)
