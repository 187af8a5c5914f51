"""The rules by which a collection checks runs, for programs that check them elsewhere."""

from marshmallow import Schema, fields

from annotator.api.runs.questionnaire import QuestionnaireShown
from annotator.api.runs.runs import resource
from annotator.api.site.access import SEE_RUNS
from annotator.api.site.door import Call, Gives, operation
from annotator.evaluation.runs.run_tags import Sender
from annotator.web.people.senders import own_team
from annotator.web.site.context import database, the_place
from annotator.workflows.runs.run_rules import rules_document


class SenderOfRuns(Schema):
    """Whose runs are checked by these rules."""

    team = fields.String(required=True, allow_none=True, metadata={"description": "Null for organisers."})
    organises = fields.Boolean(required=True, metadata={"description": "Organisers may send runs for every team."})


class RulesForTags(Schema):
    """Which tags a run may have; they have no blanks, and printable characters only.

    Runs that are there may be replaced whatever their tags are.
    """

    start = fields.String(
        required=True, metadata={"description": "How tags of the team begin; empty: with anything, as for organisers."}
    )
    most_characters = fields.Integer(required=True, metadata={"description": "The length of the longest tag."})
    plain = fields.Boolean(
        required=True,
        metadata={"description": "Whether tags have only letters from A to Z, a to z, digits, “.”, “_” and “-”."},
    )
    not_at_the_end = fields.List(
        fields.String, required=True, metadata={"description": "Endings that addresses of the API use."}
    )


class RulesForDocuments(Schema):
    """What is checked of the documents."""

    most_per_topic = fields.Integer(required=True, metadata={"description": "A run with more gets a warning."})
    compared_with = fields.String(
        required=True,
        metadata={
            "description": "What docnos are compared with: “list”, “folder”, “texts” or “nothing”. Those that it does "
            "not have get a warning."
        },
    )


class RuleForTopic(Schema):
    """A topic that a run may have."""

    number = fields.String(required=True, metadata={"description": "The number, as runs have it."})
    title = fields.String(
        required=True, metadata={"description": "The title, by which files of other tools may name it."}
    )
    wanted = fields.Boolean(required=True, metadata={"description": "Whether a run without it gets a warning."})


class RuleForTask(Schema):
    """A task, by whose rules its runs are checked."""

    key = fields.String(required=True, metadata={"description": "The name by which runs refer to it."})
    title = fields.String(required=True, metadata={"description": "The title, in a line."})
    topics = fields.List(
        fields.String,
        required=True,
        metadata={"description": "The numbers of its topics, of those above; another is a problem."},
    )
    formats = fields.List(
        fields.String, required=True, metadata={"description": "The formats in which its runs are taken."}
    )
    most_per_topic = fields.Integer(required=True, metadata={"description": "A run with more gets a warning."})
    most_runs = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The most active runs of the team for it, in each round. Null: any number."},
    )


class RunInUse(Schema):
    """A tag in use."""

    tag = fields.String(required=True)
    team = fields.String(required=True, allow_none=True)
    sha256 = fields.String(required=True, metadata={"description": "Of the file: the same one is refused."})
    withdrawn = fields.Boolean(required=True, metadata={"description": "Its tag cannot be used before it is restored."})
    withdrawn_by_team = fields.Boolean(
        required=True, metadata={"description": "Whether the team withdrew it, and not the organisers."}
    )
    in_closed_round = fields.Boolean(
        required=True, metadata={"description": "Whether it cannot be replaced, as its round is closed."}
    )
    task = fields.String(
        allow_none=True,
        metadata={
            "description": "The key of its task; null for a run from before the tasks. Only where there are any."
        },
    )


class RunRules(Schema):
    """The rules, as a document that `runs check --rules` applies."""

    format = fields.String(required=True, metadata={"description": "“annotator-run-rules”."})
    version = fields.Integer(
        required=True, metadata={"description": "Of the format: 1. Fields may be added without another version."}
    )
    collection = fields.String(required=True)
    sender = fields.Nested(
        SenderOfRuns, required=True, metadata={"description": "Whose runs they are for: the caller's."}
    )
    deadline = fields.String(required=True, allow_none=True, metadata={"description": "Of submissions, in ISO 8601."})
    formats = fields.List(fields.String, required=True, metadata={"description": "The formats of runs that are read."})
    tags = fields.Nested(RulesForTags, required=True, metadata={"description": "What a tag may be."})
    most_runs = fields.Integer(
        required=True,
        allow_none=True,
        metadata={
            "description": "The most active runs of the team; runs of closed rounds do not count. Null: any number."
        },
    )
    documents = fields.Nested(
        RulesForDocuments, required=True, metadata={"description": "What is checked of the documents."}
    )
    topics = fields.List(
        fields.Nested(RuleForTopic),
        required=True,
        metadata={"description": "The topics that a run may have; another is a problem."},
    )
    questionnaire = fields.Nested(
        QuestionnaireShown,
        required=True,
        metadata={"description": "What is asked about every run; answers are sent with it."},
    )
    tasks = fields.List(
        fields.Nested(RuleForTask),
        metadata={"description": "The tasks, by whose rules runs are checked; only where the collection has any."},
    )
    runs = fields.List(
        fields.Nested(RunInUse),
        required=True,
        metadata={"description": "The current runs: for participants those of their team."},
    )


@operation(resource, "GET", "/collections/<slug>/run-rules", SEE_RUNS, Gives(RunRules))
def show_run_rules(call: Call) -> object:
    """Show the rules by which the runs of the caller are checked, so that a program can check them elsewhere."""
    return database().read(rules_document, call.slug, Sender(own_team(), organises=the_place().organises))
