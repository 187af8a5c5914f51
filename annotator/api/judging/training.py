"""The training of judges: its documents, its rules, the results of the judges; for organisers."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.judging.judging import resource
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, whole
from annotator.files import InputFile
from annotator.web.site.background import report_reading
from annotator.web.site.context import database, settings
from annotator.workflows.judging import training
from annotator.workflows.judging.training import MOST_IN_AN_ATTEMPT, TrainingResult

PERCENT = 100
NO_MARK = {"description": "The percentage of right answers that judges need before real work; null: none is required."}
ALL_DOCUMENTS = {"description": "The number of documents that an attempt draws; null: all."}


class TrainingDocument(Schema):
    """A document of the training, with its correct grade."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)
    title = fields.String(required=True)
    grade = fields.Integer(required=True, metadata={"description": "The correct grade."})
    explanation = fields.String(required=True, metadata={"description": "Why it has this grade; may be empty."})
    right = fields.Integer(required=True, metadata={"description": "The number of right answers."})
    answered = fields.Integer(required=True, metadata={"description": "The number of answers, over all attempts."})


class TrainingView(Schema):
    """The rules and the documents of the training."""

    pass_mark = fields.Integer(required=True, allow_none=True, metadata=NO_MARK)
    size = fields.Integer(required=True, allow_none=True, metadata=ALL_DOCUMENTS)
    documents = fields.List(
        fields.Nested(TrainingDocument),
        required=True,
        attribute="rows",
        metadata={"description": "The documents, in the order in which they were added."},
    )


class RulesBody(Schema):
    """The pass mark, and the size of an attempt."""

    pass_mark = whole(0, PERCENT, required=True, allow_none=True, metadata=NO_MARK)
    size = whole(1, MOST_IN_AN_ATTEMPT, required=True, allow_none=True, metadata=ALL_DOCUMENTS)


class TrainingFileQuery(Schema):
    """What the file is called."""

    name = Text(load_default="training", metadata={"description": "The file's name, used in the problems."})


class ClearingQuery(Schema):
    """Whether judges' answers are deleted, too."""

    with_answers = fields.Boolean(
        load_default=False, metadata={"description": "Delete the answers and the results of the judges, too."}
    )


class TrainingCount(Schema):
    """How many documents were added or removed."""

    documents = fields.Integer(required=True, metadata={"description": "The number of documents."})


class AttemptView(Schema):
    """One attempt of a judge."""

    number = fields.Integer(required=True, metadata={"description": "The number of the attempt, from 1."})
    answered = fields.Integer(required=True, metadata={"description": "The number of documents that were answered."})
    right = fields.Integer(required=True, metadata={"description": "The number of right answers."})
    of = fields.Integer(required=True, metadata={"description": "The number of documents of the attempt."})
    is_finished = fields.Boolean(required=True, metadata={"description": "Whether every document was answered."})
    begun_at = Moment(required=True, metadata={"description": "When it was begun, in UTC."})
    last_at = Moment(required=True, metadata={"description": "When its last answer was given, in UTC."})


class ResultView(Schema):
    """What a judge has reached in the training."""

    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    passed = fields.Boolean(required=True, metadata={"description": "Whether an attempt passed."})
    attempts = fields.List(
        fields.Nested(AttemptView), required=True, metadata={"description": "The attempts; empty before the first."}
    )


@operation(resource, "GET", "/collections/<slug>/training", READ, Gives(TrainingView))
def show_training(call: Call) -> object:
    """Show the rules and the documents of the training, with the number of right answers to each."""
    return database().read(training.show_training, call.slug)


@operation(
    resource, "GET", "/collections/<slug>/training/results", READ, Gives(ResultView, many=True), Takes(pages=True)
)
def list_training_results(call: Call) -> object:
    """List the results of every judge, by name, also of those who have not begun."""
    rows: list[TrainingResult] = database().read(training.training_results, call.slug)
    return rows


@operation(
    resource,
    "POST",
    "/collections/<slug>/training",
    ORGANISE,
    Gives(TrainingCount),
    Takes(query=TrainingFileQuery, file=True),
)
def import_training(call: Call) -> object:
    """Add a file of documents to the training, completely or not at all.

    Its lines are topic, tab, docno, tab, correct grade, tab, explanation, in the order of showing.
    """
    [file] = report_reading([InputFile(call.query["name"], call.content)])
    with database().reading() as session:
        checked = training.check_training(session, call.slug, file, unpacked_limit=settings().unpacked_limit)
    with database().transaction() as session:
        count = training.store_training(session, call.slug, checked)
        note(session, "training.import", call.slug, subject=file.name, details={"documents": count})
    return {"documents": count}


@operation(resource, "PUT", "/collections/<slug>/training/rules", ORGANISE, Gives(TrainingView), Takes(body=RulesBody))
def set_training_rules(call: Call) -> object:
    """Set the pass mark and the number of documents of an attempt."""
    mark, size = call.body["pass_mark"], call.body["size"]
    with database().transaction() as session:
        training.set_rules(session, call.slug, mark, size)
        note(session, "training.pass-mark", call.slug, details={"percent": mark, "documents": size})
    return show_training(call)


@operation(
    resource, "DELETE", "/collections/<slug>/training", ORGANISE, Gives(TrainingCount), Takes(query=ClearingQuery)
)
def clear_training(call: Call) -> object:
    """Remove all documents of the training; refused where judges have answered, unless their answers go, too."""
    with_answers = call.query["with_answers"]
    with database().transaction() as session:
        count = training.clear_training(session, call.slug, with_answers=with_answers)
        note(session, "training.clear", call.slug, details={"documents": count, "answers": with_answers})
    return {"documents": count}
