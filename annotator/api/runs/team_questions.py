"""Questions of participants by program: ask the organisers, and read the team's questions and answers."""

from marshmallow import Schema, fields

from annotator.api.runs.runs import resource
from annotator.api.site.access import caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text
from annotator.storage import Role
from annotator.web.site.context import database, now
from annotator.workflows.people.tokens import Scope
from annotator.workflows.runs import team_questions

PATH = "/collections/<slug>/team/questions"
SEE = gate_of([Scope.READ, Scope.RUNS], [Role.PARTICIPANT])
ASK = gate_of([Scope.RUNS], [Role.PARTICIPANT])


class TeamQuestionView(Schema):
    """A question of the team, and its answer."""

    id = fields.String(
        required=True, attribute="client_id", metadata={"description": "The sender's id of the question."}
    )
    run = fields.String(required=True, allow_none=True, metadata={"description": "The run it is about; null: none."})
    asked_by = fields.String(required=True, metadata={"description": "The member of the team who asked."})
    text = fields.String(required=True, metadata={"description": "The question."})
    asked_at = Moment(required=True, metadata={"description": "When it was asked, in UTC."})
    answer = fields.String(required=True, metadata={"description": "The answer; empty before there is one."})
    answered_at = Moment(
        required=True, allow_none=True, metadata={"description": "When it was answered, in UTC; null before that."}
    )
    is_public = fields.Boolean(
        required=True, metadata={"description": "Whether all participants see question and answer, not who asked."}
    )
    is_new = fields.Boolean(
        required=True, metadata={"description": "Whether the caller asked, and has not read the answer yet."}
    )


class TeamQuestionBody(Schema):
    """A question about a run of the team, or about anything."""

    id = Text(
        required=True,
        metadata={
            "description": "The sender's id: 1 to 64 letters, digits, “-” and “_”. Sent again, it is stored once."
        },
    )
    text = Text(required=True, metadata={"description": "The question."})
    run = Text(load_default=None, allow_none=True, metadata={"description": "The tag of the run; null: none."})


@operation(resource, "GET", PATH, SEE, Gives(TeamQuestionView, many=True), Takes(pages=True))
def list_team_questions(call: Call) -> object:
    """List the questions of the caller's team, newest first; this marks no answer as read."""
    return database().read(team_questions.team_questions, call.slug, caller().id)


@operation(resource, "POST", PATH, ASK, Gives(TeamQuestionView), Takes(body=TeamQuestionBody))
def ask_for_team(call: Call) -> object:
    """Ask the organisers; a question that is sent again under its id is stored once."""
    body = call.body
    database().attempt(
        lambda session: team_questions.ask(
            session,
            call.slug,
            caller().id,
            body["text"],
            client_id=body["id"],
            asked_at=now(),
            run=body["run"],
        )
    )
    rows = database().read(team_questions.team_questions, call.slug, caller().id)
    return next(one for one in rows if one.client_id == body["id"])


@operation(resource, "POST", f"{PATH}/read", ASK, Gives(TeamQuestionView, many=True))
def read_team_answers(call: Call) -> object:
    """Mark the answers to the caller's own questions as read, and return the team's questions."""
    with database().transaction() as session:
        team_questions.read_answers(session, call.slug, caller().id, read_at=now())
    return database().read(team_questions.team_questions, call.slug, caller().id)
