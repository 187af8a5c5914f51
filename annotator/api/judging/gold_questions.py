"""Gold questions: documents of known grade, one or a file of them; never shown to judges."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.judging.judging import resource
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text, whole
from annotator.files import InputFile
from annotator.web.site.background import report_reading
from annotator.web.site.context import database, now, settings
from annotator.workflows.judging import gold_questions


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


class GoldQuestionsStored(Schema):
    """What became of gold questions, one or a file of them."""

    added = fields.Integer(required=True, metadata={"description": "The number of gold questions that are new."})
    changed = fields.Integer(required=True, metadata={"description": "The number that had another grade."})
    known = fields.Integer(required=True, metadata={"description": "The number that had this grade already."})
    pooled = fields.Integer(
        required=True, metadata={"description": "The number of documents that were added to the pool."}
    )


class FileQuery(Schema):
    """What the file is called."""

    name = Text(load_default="gold-questions", metadata={"description": "The file's name, used in the problems."})


class GoldQuestionQuery(Schema):
    """Which gold question."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    docno = Text(required=True, metadata={"description": "The identifier of the document."})


class RemovedView(Schema):
    """A gold question that is an ordinary document again."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)


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
    Gives(GoldQuestionsStored),
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


@operation(
    resource,
    "POST",
    "/collections/<slug>/gold-questions",
    ORGANISE,
    Gives(GoldQuestionsStored),
    Takes(query=FileQuery, file=True),
)
def import_gold_questions(call: Call) -> object:
    """Import a file of gold questions, completely or not at all: lines of topic, tab, docno, tab, grade."""
    [file] = report_reading([InputFile(call.query["name"], call.content)])
    with database().reading() as session:
        checked = gold_questions.check_questions(session, call.slug, file, unpacked_limit=settings().unpacked_limit)
    with database().transaction() as session:
        stored = gold_questions.store_questions(session, call.slug, checked, added_by_id=caller().id, added_at=now())
        note(session, "test-questions.import", call.slug, subject=file.name, details=vars(stored))
    return stored


@operation(
    resource,
    "DELETE",
    "/collections/<slug>/gold-questions",
    ORGANISE,
    Gives(RemovedView),
    Takes(query=GoldQuestionQuery),
)
def remove_gold_question(call: Call) -> object:
    """Make a gold question an ordinary document again; it stays in the pool, with its judgements."""
    topic, docno = call.query["topic"], call.query["docno"]
    with database().transaction() as session:
        gold_questions.remove_questions(session, call.slug, [(topic, docno)])
        note(session, "test-questions.remove", call.slug, subject=topic)
    return {"topic": topic, "docno": docno}
