"""Runs: check, submit and list them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField
from werkzeug.datastructures import MultiDict
from wtforms import BooleanField, IntegerField, RadioField, SelectChoice, StringField
from wtforms.validators import InputRequired, Optional

from annotator.errors import ConflictError, FileRefusedError
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.runs.run_tags import Sender
from annotator.storage import Role, RunType
from annotator.storage.runs.runs import RunDetails
from annotator.web.collections.announcements import news_for_reader
from annotator.web.people.senders import own_team, sender_state
from annotator.web.runs.cost_forms import CostsForm, costs_form
from annotator.web.runs.questionnaire_forms import AnswersForm, answers_form
from annotator.web.runs.review_rows import as_kept, checked_rows, review_page
from annotator.web.runs.task_choices import task_field
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import actor
from annotator.web.site.background import arrived_at, keep_form, keep_form_here, long_form, work
from annotator.web.site.context import database, now, settings, the_place
from annotator.web.site.downloads import JSON, download
from annotator.web.site.forms import Form
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.labels import RUN_TYPES
from annotator.web.site.language import lazy_gettext
from annotator.web.site.uploads import input_files
from annotator.workflows.people import members
from annotator.workflows.runs import (
    questionnaires,
    run_costs,
    run_rules,
    run_upload,
    runs,
    tasks,
    upload_review,
)
from annotator.workflows.runs.questionnaires import Questionnaire, refuse_other_version
from annotator.workflows.runs.run_files import RunEntry
from annotator.workflows.runs.run_upload import Submission

OK = 200
blueprint = Blueprint("runs", __name__)


def type_choices() -> list[SelectChoice]:
    """The types of runs with their labels."""
    return [SelectChoice(value, name) for value, name in RUN_TYPES.items()]


class DetailsForm(Form):
    """The details of a run; organisers also enter the team."""

    team = StringField(lazy_gettext("Team"), description=lazy_gettext("The team of the run. Empty: no change."))
    run_type = RadioField(
        lazy_gettext("Type"),
        choices=type_choices,
        default=RunType.UNKNOWN.value,
        description=lazy_gettext("Manual: a person was involved, even if only in writing the queries."),
    )
    priority = IntegerField(
        lazy_gettext("Priority"),
        [InputRequired()],
        description=lazy_gettext("1 = pooled first, if not all runs of a team can be pooled."),
    )
    description = StringField(lazy_gettext("Description"), description=lazy_gettext("How the system works, in a line."))
    task = task_field(lazy_gettext("none"))

    def given_team(self) -> str | None:
        """The entered team; a participant always submits for their own."""
        return own_team() or (self.team.data or "").strip() or None

    def details(self) -> RunDetails:
        """The details as entered."""
        return RunDetails(
            self.given_team(),
            self.description.data or "",
            RunType(self.run_type.data),
            self.priority.data,
            # The task of a run that is there is not for a participant to change.
            task=(self.task.data or None) if the_place().organises else None,
        )


class RunsForm(DetailsForm):
    """The form for uploading run files."""

    files = MultipleFileField(
        lazy_gettext("Files of runs"),
        [FileRequired()],
        description=lazy_gettext(
            "Six columns per line (topic, Q0, docno, rank, score, tag), or tables, JSON or Parquet; one run per file, "
            "also compressed or in a zip archive. Order is by score; ranks that contradict it get a warning. A CSV "
            "file with the columns file or tag, team, task, type, priority, description gives the metadata of each run."
        ),
    )
    input_format = format_field(Holds.RUNS)
    task = task_field(lazy_gettext("named in the metadata, or that of the replaced run"))
    team = StringField(lazy_gettext("Team"), description=lazy_gettext("The team of the runs; optional."))
    priority = IntegerField(
        lazy_gettext("Priority"),
        [Optional()],
        description=lazy_gettext("1 = pooled first (default). A replaced run keeps its priority."),
    )
    tag_from_file = BooleanField(
        lazy_gettext("Take the tag from the file's name"),
        description=lazy_gettext("For files that share a tag: the name without .gz and .txt counts instead."),
    )
    replaces = BooleanField(
        lazy_gettext("Replace runs with the same tag"),
        description=lazy_gettext("A file with the same tag replaces the run; the older file is kept."),
    )

    def details(self) -> RunDetails:
        """The details as entered; for a corrected run, empty fields keep the stored values."""
        given = super().details()
        return RunDetails(
            given.team,
            given.description or None,
            given.run_type or None,
            given.priority,
            task=self.task.data or None,
        )

    def sender(self) -> Sender:
        """The person who submits these files, with their team."""
        return Sender(self.given_team(), organises=the_place().organises, replaces=self.replaces.data)


@dataclass(frozen=True)
class About:
    """What is stated about runs that are uploaded together: costs, and answers to the questionnaire."""

    costs: CostsForm
    answers: AnswersForm
    asked: Questionnaire
    task: str | None = None  # whose questionnaire it is

    @classmethod
    def of_request(cls, slug: str, fields: MultiDict[str, str] | None = None) -> "About":
        """The fields of this request, or those of an earlier one."""
        with database().reading() as session:
            facts = run_costs.list_facts(session, slug)
            task = _asked_task(tasks.task_titles(session, slug), fields)
            asked = questionnaires.show_questionnaire(session, slug, task)
        return cls(costs_form(facts, fields), answers_form(asked.questions, fields), asked, task)

    @classmethod
    def empty(cls, slug: str) -> "About":
        """The fields of a new form."""
        about = cls.of_request(slug)
        about.answers.show_now(about.asked.number, task=about.task)
        return about

    def validate(self, form: Form) -> bool:
        """Whether both can be read; errors are next to their fields.

        The form of the files has the refusal where other questions were answered than those asked now.
        """
        are_valid = all([self.costs.validate(), self.answers.validate()])
        with form.guard():
            is_of_task = (self.answers.questionnaire_task.data or None) == self.task
            if not is_of_task and self.answers.version != self.asked.number:
                raise ConflictError(
                    "The task that you chose asks other questions. Nothing was stored: answer those that are shown "
                    "now, and choose the files again."
                )
            refuse_other_version(self.asked, self.answers.version)
        self.answers.show_now(self.asked.number, task=self.task)
        return are_valid and form.refusal is None

    @property
    def refused(self) -> bool:
        """Whether a field was rejected."""
        return bool(self.costs.refused or self.answers.refused)

    def status_with(self, form: RunsForm) -> int:
        """The HTTP status of the page with these fields and the form of the files."""
        if form.refused:
            return form.status
        return self.costs.status if self.refused else OK

    def submission(
        self, form: RunsForm, *, tag_from_file: bool = False, entries: Sequence[RunEntry | None] | None = None
    ) -> Submission:
        """What is submitted with the files of the form."""
        return Submission(
            form.sender(),
            form.details(),
            self.costs.statements,
            tag_from_file=tag_from_file,
            entries=entries,
            answers=self.answers.answers,
            asked=self.asked.number,
            asked_task=self.task,
        )


def _asked_task(known: Mapping[str, str], fields: MultiDict[str, str] | None) -> str | None:
    """The task whose questions are answered: that of a form with files, else of the form before it, else `?task=`."""
    sent = request.form if fields is None else fields
    task = sent.get("task") or sent.get("questionnaire_task") or request.args.get("task")
    return task if task in known else None


@blueprint.get("/collections/<slug>/runs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """The current runs, or all submissions (`?show=all`); a participant sees their team's."""
    about = About.empty(slug)
    return _list(slug, RunsForm(formdata=None, task=about.task or ""), about)


@blueprint.get("/collections/<slug>/runs/rules.json")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def rules(slug: str) -> ResponseReturnValue:
    """The rules by which runs of this person are checked, for a program that checks them elsewhere."""
    sender = Sender(own_team(), organises=the_place().organises)
    return download(database().read(run_rules.rules_file, slug, sender), f"{slug}-rules.json", JSON)


@blueprint.post("/collections/<slug>/runs/check")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
@long_form("runs.check")
def check(slug: str) -> ResponseReturnValue:
    """Check the files, and keep them for a page with a row for each; nothing is stored."""
    form, about = RunsForm(), About.of_request(slug)
    if all([form.validate(), about.validate(form)]):
        with form.guard():
            return _reviewed(slug, form, about)
    return _list(slug, form, about), about.status_with(form)


@blueprint.post("/collections/<slug>/runs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
@long_form("runs.upload")
def upload(slug: str) -> ResponseReturnValue:
    """Store the runs of all files or of none, and show a receipt; files with problems are kept as by a check."""
    sent_at = arrived_at()  # the time of arrival, as reading a file may end after the deadline
    form, about = RunsForm(), About.of_request(slug)
    if all([form.validate(), about.validate(form)]):
        with form.guard():
            stored = run_upload.upload(
                database(),
                slug,
                input_files(form.files.data, form.input_format.data),
                about.submission(form, tag_from_file=form.tag_from_file.data),
                actor=actor(),
                at=sent_at,
                noted_at=now(),
                unpacked_limit=settings().unpacked_limit,
            )
    if isinstance(form.refusal, FileRefusedError):
        return _reviewed(slug, form, about, form.refusal)
    if form.refused or about.refused:
        return _list(slug, form, about), about.status_with(form)
    report_formats(Holds.RUNS, [run.file for run in stored.runs])
    return redirect(url_for("run.receipt", slug=slug, at=sent_at.isoformat()), 303)


def _reviewed(slug: str, form: RunsForm, about: About, refusal: FileRefusedError | None = None) -> ResponseReturnValue:
    """The page of the files that were checked, after a refusal or before anything is stored; it keeps them."""
    for file in form.files.data:
        file.stream.seek(0)
    files = input_files(form.files.data, form.input_format.data)
    submission = Submission(form.sender(), form.details(), tag_from_file=form.tag_from_file.data)
    with database().reading() as session:
        review = upload_review.review_upload(session, slug, files, submission, unpacked_limit=settings().unpacked_limit)
    found, form.refusal = refusal or review.refusal, None
    answer = as_kept(review, found.sentence if found else None)
    status = form.status if found else OK
    if work() is not None:
        return keep_form(answer, status=status)
    id_ = keep_form_here(slug, answer, status=status)
    return review_page(id_, answer, form, about.costs, about.answers, checked_rows(answer["rows"])), status


def _list(slug: str, form: RunsForm, about: About) -> str:
    place, every = the_place(), request.args.get("show") == "all"
    with database().reading() as session:
        rows = runs.list_runs(session, slug, team=own_team(), every=every)
        silent = members.teams_without_runs(session, slug) if place.organises else []
        same = runs.rankings_sent_twice(session, slug) if place.organises else {}
        answers = [] if place.organises else questionnaires.list_answers(session, slug, team=own_team())
        sender = Sender(own_team(), organises=place.organises)
        own = run_rules.own_rules(session, slug, sender, [] if place.organises else rows)
        # Organisers see them on a page of their own; here they choose one in forms.
        listed = tasks.task_titles(session, slug) if place.organises else tasks.list_tasks(session, slug)
    return render_template(
        "runs/list.html",
        rows=sorted(rows, key=lambda run: run.team or ""),
        every=every,
        silent=silent,
        same=same,
        form=form,
        stated=about.costs,
        answered=about.answers,
        must_answer=[one.run.tag for one in answers if one.missing],
        **({} if place.organises else news_for_reader(slug)),
        sending=sender_state(slug),
        own=own,
        tasks=listed,
        upload_limit=settings().upload_limit,
    )
