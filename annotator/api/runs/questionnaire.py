"""The questionnaire about runs: its questions, the answers of a run, and those of all runs."""

from flask import Response
from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note, note_export
from annotator.api.runs.runs import resource
from annotator.api.site.access import ORGANISE, READ, SEE_RUNS, SEND_RUNS, caller
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, text
from annotator.api.site.values import Moment, Text, one_of, whole
from annotator.evaluation.runs.questionnaires import MOST_CHOICES, MOST_QUESTIONS, AnswerKind
from annotator.web.people.senders import own_team
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV
from annotator.workflows.runs import questionnaires
from annotator.workflows.runs.questionnaires import Questionnaire, RunAnswers, Seen, as_plain, questions_of


class RunQuestionBody(Schema):
    """A question about every run."""

    key = Text(required=True, metadata={"description": "The name by which answers refer to it."})
    text = Text(required=True, metadata={"description": "What is asked."})
    kind = one_of(AnswerKind, load_default=AnswerKind.TEXT.value, metadata={"description": "The type of the answer."})
    required = fields.Boolean(load_default=False, metadata={"description": "Whether a team must answer it."})
    choices = fields.List(
        Text,
        load_default=[],
        validate=validate.Length(max=MOST_CHOICES),
        metadata={"description": "What can be answered, where the kind is choice."},
    )


class QuestionnaireBody(Schema):
    """The questions that are asked about every run from now on."""

    questions = fields.List(
        fields.Nested(RunQuestionBody),
        required=True,
        validate=validate.Length(max=MOST_QUESTIONS),
        metadata={"description": "The questions in their order; an empty list asks nothing."},
    )
    after = whole(
        metadata={"description": "The version that you read; refused (409) if it is not the newest any more."},
    )


class QuestionnaireQuery(Schema):
    """The task whose questionnaire is meant."""

    task = Text(
        load_default=None,
        metadata={
            "description": "The key of a task: about its runs; one without its own asks what the collection asks."
        },
    )


class QuestionnaireShown(Schema):
    """The questions asked now."""

    number = fields.Integer(required=True, metadata={"description": "The version, 0 while nothing was ever asked."})
    questions = fields.List(
        fields.Nested(RunQuestionBody),
        required=True,
        metadata={"description": "The questions that are asked now, in their order."},
    )


class KeptAnswerShown(Schema):
    """An answer with its question as it was answered."""

    key = fields.String(required=True, metadata={"description": "The key of the question."})
    question = fields.String(required=True, metadata={"description": "The question as it was answered."})
    kind = fields.String(required=True, metadata={"description": "The type of the answer."})
    answer = fields.String(required=True, metadata={"description": "The answer; yes or no where that was asked."})
    version = fields.Integer(required=True, metadata={"description": "The version of the questionnaire that asked."})
    counts = fields.Boolean(required=True, metadata={"description": "Whether the same is still asked."})
    answered_at = Moment(required=True, metadata={"description": "When it was answered, in UTC."})


class RunAnswersShown(Schema):
    """What was answered about a run."""

    run = fields.String(required=True, metadata={"description": "The tag of the run."})
    team = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The team of the run; null for runs of the organisers."},
    )
    answers = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"description": "By key, what was answered to the questions asked now."},
    )
    version = fields.Integer(
        required=True, metadata={"description": "The version of the questionnaire that is asked now."}
    )
    missing = fields.List(
        fields.String,
        required=True,
        metadata={"description": "Keys of required questions without an answer, such as those asked since."},
    )
    kept = fields.List(
        fields.Nested(KeptAnswerShown),
        required=True,
        metadata={"description": "Every answer that is kept, each with its question."},
    )


class RunAnswersBody(Schema):
    """Answers to change."""

    answers = fields.Dict(
        keys=Text(),
        required=True,
        metadata={"description": "By key; an empty text takes an answer back, and those left out stay."},
    )
    version = whole(
        metadata={
            "description": "The version of the questionnaire that they answer; refused (409) if it is not asked any "
            "more. With If-Match they are also refused if the answers have changed."
        },
    )


class RunAnswersQuery(Schema):
    """The format of the answers."""

    format = one_of(
        ["json", "csv", "every-csv"],
        load_default="json",
        metadata={
            "description": "As JSON, as CSV with a column for each question, or as CSV of every answer that is kept."
        },
    )


@operation(
    resource,
    "GET",
    "/collections/<slug>/questionnaire",
    SEE_RUNS,
    Gives(QuestionnaireShown),
    Takes(query=QuestionnaireQuery),
)
def show_questionnaire(call: Call) -> object:
    """Show what is asked about every run, or about the runs of a task."""
    return _shown(database().read(questionnaires.show_questionnaire, call.slug, call.query["task"]))


@operation(
    resource,
    "PUT",
    "/collections/<slug>/questionnaire",
    ORGANISE,
    Gives(QuestionnaireShown),
    Takes(query=QuestionnaireQuery, body=QuestionnaireBody),
)
def set_questionnaire(call: Call) -> object:
    """Ask these questions from now on; answers that were given are kept with their questions."""
    questions, task = questions_of(call.body["questions"]), call.query["task"]
    with database().transaction() as session:
        made = questionnaires.set_questionnaire(
            session, call.slug, questions, made_by_id=caller().id, at=now(), after=call.body.get("after"), task=task
        )
        if made.is_new:
            keys = [one.key for one in made.questions]
            details = {"questions": keys, "task": task}
            note(session, "questionnaire.set", call.slug, subject=str(made.number), details=details)
    return _shown(made)


@operation(
    resource,
    "GET",
    "/collections/<slug>/questionnaire/answers",
    READ,
    Gives(RunAnswersShown, many=True, media=[CSV]),
    Takes(query=RunAnswersQuery),
)
def list_answers(call: Call) -> Response:
    """List the answers about all active runs; `every-csv` has all that were ever kept."""
    match call.query["format"]:
        case "csv":
            content, table = database().read(questionnaires.answers_csv, call.slug), "active"
        case "every-csv":
            content, table = database().read(questionnaires.every_answer_csv, call.slug), "every"
        case _:
            rows = database().read(questionnaires.list_answers, call.slug)
            note_export("questionnaire.export", call.slug, details={"table": "active"})
            return as_json(RunAnswersShown(many=True).dump(map(_answers, rows)))
    note_export("questionnaire.export", call.slug, details={"table": table})
    return text(content, CSV)


@operation(resource, "GET", "/collections/<slug>/runs/<path:tag>/answers", SEE_RUNS, Gives(RunAnswersShown))
def show_answers(call: Call) -> object:
    """Show what was answered about a run."""
    return _of_run(call)


@operation(
    resource,
    "PATCH",
    "/collections/<slug>/runs/<path:tag>/answers",
    SEND_RUNS,
    Gives(RunAnswersShown),
    Takes(body=RunAnswersBody),
)
def change_answers(call: Call) -> object:
    """Change answers about a run; participants those of their team's runs, until the deadline."""
    tag, team = call.path["tag"], own_team()
    seen = Seen(call.body.get("version"))
    with database().transaction() as session:
        keys = questionnaires.change_answers(
            session, call.slug, tag, call.body["answers"], at=now(), by_id=caller().id, team=team, seen=seen
        )
        note(session, "questionnaire.answer", call.slug, subject=tag, details={"questions": keys})
    return _of_run(call)


def _of_run(call: Call) -> dict[str, object]:
    return _answers(database().read(questionnaires.show_answers, call.slug, call.path["tag"], team=own_team()))


def _shown(asked: Questionnaire) -> dict[str, object]:
    return {"number": asked.number, "questions": as_plain(asked.questions)}


def _answers(one: RunAnswers) -> dict[str, object]:
    kept = [
        {
            "key": answer.question.key,
            "question": answer.question.text,
            "kind": answer.question.kind,
            "answer": answer.answer,
            "version": answer.version,
            "counts": answer.counts,
            "answered_at": answer.answered_at,
        }
        for answer in one.kept
    ]
    return {
        "run": one.run.tag,
        "team": one.run.team,
        "answers": dict(one.answers),
        "version": one.asked.number,
        "missing": list(one.missing),
        "kept": kept,
    }
