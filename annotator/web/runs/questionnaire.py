"""The questionnaire about runs: organisers write it and see the answers; teams answer and change their answers."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError
from annotator.storage import Role
from annotator.web.people.senders import own_team, sender_state
from annotator.web.runs.questionnaire_forms import (
    AnswersForm,
    QuestionnaireForm,
    QuestionRow,
    answers_form,
    question_rows,
    whole_number,
)
from annotator.web.runs.task_choices import tasks_here
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import done
from annotator.web.site.language import gettext
from annotator.workflows.runs import questionnaires
from annotator.workflows.runs.questionnaires import RunAnswers, Seen, questions_of

blueprint = Blueprint("questionnaire", __name__)

EVERY = "every"  # the table of all answers that were ever kept


@blueprint.get("/collections/<slug>/questionnaire")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The questions, and the answers of every active run."""
    present = database().read(questionnaires.show_questionnaire, slug, _task())
    form = QuestionnaireForm(formdata=None, after=str(present.number))
    return _page(slug, form, question_rows(present.questions))


@blueprint.post("/collections/<slug>/questionnaire")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Ask the questions that were entered from now on."""
    form, rows = QuestionnaireForm(), question_rows((), request.form)
    if form.validate():
        with form.guard():
            after = whole_number(form.after.data)
            if not rows or after is None:
                raise InvalidValueError("The form has no questions. Open its page again.")
            questions = questions_of([row.plain() for row in rows if row.is_question])
            with database().transaction() as session:
                made = questionnaires.set_questionnaire(
                    session, slug, questions, made_by_id=the_person().id, at=now(), after=after, task=_task()
                )
                if made.is_new:
                    details = {"questions": [one.key for one in made.questions], "task": _task()}
                    note(session, "questionnaire.set", slug, subject=str(made.number), details=details)
    if form.refused:
        return _page(slug, form, rows), form.status
    return done(gettext("Questionnaire saved."), ".show", slug=slug, task=_task())


@blueprint.get("/collections/<slug>/questionnaire/answers.csv")
@collection_page(Role.ORGANISER)
def answers_csv(slug: str) -> ResponseReturnValue:
    """The answers of the active runs, or with `?table=every` all that were ever kept, each with its question."""
    every = request.args.get("table") == EVERY
    write = questionnaires.every_answer_csv if every else questionnaires.answers_csv
    content = database().read(write, slug)
    note_export("questionnaire.export", slug, details={"table": EVERY if every else "active"})
    return download(content, f"{slug}-answers.csv", CSV)


@blueprint.get("/collections/<slug>/runs/answers")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show_run(slug: str) -> ResponseReturnValue:
    """The answers about a run (`?tag=`), and the form to change them."""
    found = _answers(slug)
    form = answers_form(found.questions, filled=found.suggested)
    form.show_now(found.asked.number, found.fingerprint)
    return _run_page(slug, found, form)


@blueprint.post("/collections/<slug>/runs/answers")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def answer_run(slug: str) -> ResponseReturnValue:
    """Change the answers about a run; participants until the deadline."""
    found = _answers(slug)
    form = answers_form(found.questions)
    seen = Seen(form.version, form.seen_answers.data or "")
    # What answers other questions need not fit those of now: the workflow refuses it as such.
    if form.validate() or seen != Seen(found.asked.number, found.fingerprint):
        with form.guard(), database().transaction() as session:
            by_id, team = the_person().id, own_team()
            keys = questionnaires.change_answers(
                session, slug, found.run.tag, form.answers, at=now(), by_id=by_id, team=team, seen=seen
            )
            note(session, "questionnaire.answer", slug, subject=found.run.tag, details={"questions": keys})
    if form.refused:
        if form.refusal is not None:
            form.show_now(found.asked.number, found.fingerprint)
        return _run_page(slug, found, form), form.status
    return done(gettext("Answers saved."), "run.show", slug=slug, tag=found.run.tag)


def _task() -> str | None:
    """The task whose questions are shown (`?task=`)."""
    return request.args.get("task") or None


def _answers(slug: str) -> RunAnswers:
    return database().read(questionnaires.show_answers, slug, request.args.get("tag", ""), team=own_team())


def _page(slug: str, form: QuestionnaireForm, rows: list[QuestionRow]) -> str:
    with database().reading() as session:
        present = questionnaires.show_questionnaire(session, slug, _task())
        every = questionnaires.list_answers(session, slug)
    return render_template(
        "runs/questionnaire/show.html",
        form=form,
        rows=rows,
        questions=present.questions,
        answers=[one for one in every if one.asked.number == present.number],
        every=EVERY,
        tasks=tasks_here(),
        task=_task(),
    )


def _run_page(slug: str, found: RunAnswers, form: AnswersForm) -> str:
    return render_template("runs/questionnaire/run.html", found=found, form=form, sending=sender_state(slug))
