"""Questions of participants: they ask about a run or anything, and their team is shown the answers."""

from uuid import uuid4

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, SelectChoice, SelectField, TextAreaField
from wtforms.validators import InputRequired

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.runs import runs, team_questions

blueprint = Blueprint("team_questions", __name__)


class TeamQuestionForm(Form):
    """A question, perhaps about a run."""

    text = TextAreaField(lazy_gettext("Your question"), [InputRequired()], filters=[unix_lines], render_kw={"rows": 5})
    # The workflow knows the runs of the team.
    run = SelectField(lazy_gettext("About"), validate_choice=False)
    client_id = HiddenField(validators=[InputRequired()])


@blueprint.get("/collections/<slug>/team/questions")
@collection_page(Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """The team's questions and answers; opening the page marks answers to one's own as read. `?run=` is preselected."""
    return _page(slug, TeamQuestionForm(formdata=None, client_id=uuid4().hex, run=request.args.get("run", "")))


@blueprint.post("/collections/<slug>/team/questions")
@collection_page(Role.PARTICIPANT)
def ask(slug: str) -> ResponseReturnValue:
    """Store a question."""
    form = TeamQuestionForm()
    if form.validate():
        person_id, asked_at = the_person().id, now()
        with form.guard():
            database().attempt(
                lambda session: team_questions.ask(
                    session,
                    slug,
                    person_id,
                    form.text.data or "",
                    client_id=form.client_id.data or "",
                    asked_at=asked_at,
                    run=form.run.data or None,
                )
            )
    if form.refused:
        return _page(slug, form), form.status
    flash(gettext("Question sent. The answer will appear here."))
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: TeamQuestionForm) -> str:
    person_id = the_person().id
    with database().reading() as session:
        rows = team_questions.team_questions(session, slug, person_id)
        sent = runs.list_runs(session, slug, team=the_place().team)
    if any(row.is_new for row in rows):
        with database().transaction() as session:
            team_questions.read_answers(session, slug, person_id, read_at=now())
    of_run = [SelectChoice(one.tag, gettext("Run %(tag)s", tag=one.tag)) for one in sent]
    form.run.choices = [SelectChoice("", gettext("About anything")), *of_run]
    return render_template("runs/questions.html", rows=rows, form=form)
