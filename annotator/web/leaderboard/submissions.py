"""Submissions: rules, which organisers set; terms and own scores, for participants."""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import (
    BooleanField,
    HiddenField,
    IntegerField,
    StringField,
    TextAreaField,
)
from wtforms.validators import InputRequired, Optional

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.metrics.names import DEFAULT_MEASURES, OFFERED_MEASURES
from annotator.evaluation.runs.tag_rules import GREATEST_TAG_LENGTH
from annotator.storage import Role, ScoresShown
from annotator.web.collections.observer_policy import released_grades
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.leaderboard.board_cells import board_for_template
from annotator.web.leaderboard.measures_wanted import measures_wanted
from annotator.web.leaderboard.own_scores import OwnScores, own_scores
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.forms import Form, done, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.leaderboard import leaderboard, leaderboard_standing
from annotator.workflows.runs import run_rules, submissions
from annotator.workflows.runs.submissions import SubmissionChange

blueprint = Blueprint("submissions", __name__)

SCORES_CSV = "topics"  # the table of one run by topic
ALL_CSV = "all"  # that of every run by every measure and topic


class FilesForm(Form):
    """The files for participants, which organisers choose also in a closed collection."""

    corpus = TextAreaField(
        lazy_gettext("Where the documents are"),
        filters=[unix_lines],
        description=lazy_gettext("How participants get the corpus; addresses become links. Empty: not stated."),
        render_kw={"rows": 4},
    )
    shares_docnos = BooleanField(
        lazy_gettext("Share the docnos"),
        description=lazy_gettext("Participants may download the list of valid docnos."),
    )
    shares_qrels = BooleanField(
        lazy_gettext("Share the qrels of released scores"),
        description=lazy_gettext(
            "Participants may download the version of the qrels from which their scores are computed, for as long as "
            "the scores are released and no more runs are accepted."
        ),
    )

    @property
    def chosen(self) -> SubmissionChange:
        """The change that was entered."""
        return SubmissionChange(
            corpus=self.corpus.data or "", shares_docnos=self.shares_docnos.data, shares_qrels=self.shares_qrels.data
        )


class RulesForm(FilesForm):
    """The rules for submissions, with the files."""

    until = StringField(
        lazy_gettext("Submission deadline"),
        description=lazy_gettext(
            "Such as “2026-05-01 23:59”, in UTC, or followed by another time zone: “AoE”, “+09:00” or "
            "“Asia/Seoul”. Empty: no deadline. Applies to participants only."
        ),
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
    )
    terms = TextAreaField(
        lazy_gettext("Terms in Markdown"),
        filters=[unix_lines],
        description=lazy_gettext(
            "Participants accept them once before they submit a run, and again when you change them, but they can "
            "download files without accepting them. Empty: no terms."
        ),
        render_kw={"rows": 10},
    )
    most_documents = IntegerField(
        lazy_gettext("Maximum documents per topic"),
        [InputRequired()],
        description=lazy_gettext("A run with more documents for a topic is accepted with a warning."),
    )
    tag_start = StringField(
        lazy_gettext("Tags begin with"),
        description=lazy_gettext(
            "Such as “{team}-”, where {team} is the team's name, with underscores for blanks. Empty: any beginning. "
            "Applies to new runs of participants."
        ),
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
    )
    most_tag_characters = IntegerField(
        lazy_gettext("Maximum length of a tag"),
        [Optional()],
        description=lazy_gettext("In characters. Empty: 128, the most for any tag."),
    )
    plain_tags = BooleanField(
        lazy_gettext("Plain tags"),
        description=lazy_gettext("Tags have only letters from A to Z, a to z, digits, “.”, “_” and “-”."),
    )
    most_runs = IntegerField(
        lazy_gettext("Maximum runs per team"),
        [Optional()],
        description=lazy_gettext(
            "Withdrawn and replaced runs do not count, nor do those of closed rounds. Empty: no limit."
        ),
    )


class AcceptanceForm(Form):
    """The version of the terms that a participant accepts."""

    fingerprint = HiddenField(validators=[InputRequired()])


@blueprint.get("/collections/<slug>/submissions")
@collection_page(Role.ORGANISER)
def show(_slug: str) -> ResponseReturnValue:
    """The rules for submissions."""
    return _rules_page(_present_rules())


@blueprint.post("/collections/<slug>/submissions")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Change the rules for submissions."""
    form = RulesForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            change = replace(
                form.chosen,
                deadline=submissions.read_deadline(form.until.data or ""),
                terms=form.terms.data or "",
                most_documents=form.most_documents.data,
                tag_start=form.tag_start.data or "",
                most_tag_characters=_number_or(form.most_tag_characters, GREATEST_TAG_LENGTH),
                plain_tags=form.plain_tags.data,
                most_runs=_number_or(form.most_runs, 0),
            )
            submissions.change_submissions(session, slug, change)
            note(session, "collections.set", slug, details=change.details())
    if form.refused:
        return _rules_page(form), form.status
    return done(gettext("Submission rules saved."), ".show", slug=slug)


@blueprint.post("/collections/<slug>/submissions/files")
@collection_page(Role.ORGANISER)
def change_files(slug: str) -> ResponseReturnValue:
    """Change the files for participants alone, also in a closed collection."""
    form = FilesForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            submissions.change_submissions(session, slug, form.chosen)
            note(session, "collections.set", slug, details=form.chosen.details())
    if form.refused:
        return _rules_page(form), form.status
    return done(gettext("Files for participants saved."), ".show", slug=slug)


@blueprint.get("/collections/<slug>/terms")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def terms(slug: str) -> ResponseReturnValue:
    """The terms of the task."""
    return _terms_page(slug, AcceptanceForm(formdata=None))


@blueprint.post("/collections/<slug>/terms")
@collection_page(Role.PARTICIPANT)
def accept(slug: str) -> ResponseReturnValue:
    """Accept the displayed terms."""
    form = AcceptanceForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            submissions.accept_terms(session, slug, the_person().id, fingerprint=form.fingerprint.data or "", at=now())
            note(session, "terms.accept", slug)
    if form.refused:
        return _terms_page(slug, form), form.status
    return done(gettext("You have accepted the terms."), "runs.show", slug=slug)


@blueprint.get("/collections/<slug>/scores")
@collection_page(Role.PARTICIPANT)
def scores(slug: str) -> ResponseReturnValue:
    """The released scores of the participant's runs by `?m=AP&other=P@7`; one run by topic: `?run=TAG&by=AP`.

    For one round only: `?round=2&residual=n`; of one task: `?task=KEY`, by default that of the run.
    """
    found, refused, scope, measures = None, None, ScopeWanted.of_request(), measures_wanted()
    if the_place().sees is not ScoresShown.NOTHING:
        try:
            found = _own_scores(slug, scope)
            scope = replace(scope, task=found.task)
        except (ConflictError, InvalidValueError) as refusal:
            refused = refusal
    page = render_template(
        "runs/submissions/scores.html",
        found=found,
        **board_for_template(found.board if found else None),
        refused=refused,
        helps=leaderboard.measure_help(found.board.measures) if found else {},
        csv=SCORES_CSV,
        all_csv=ALL_CSV,
        scope=scope,
        measures=measures,
        offered=OFFERED_MEASURES,
        query={**({} if measures == DEFAULT_MEASURES else {"m": measures}), **scope.query},
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/scores.csv")
@collection_page(Role.PARTICIPANT)
def scores_csv(slug: str) -> ResponseReturnValue:
    """The scores as CSV in full precision; one run by topic with `?table=topics&run=TAG&by=AP`, or `table=all`."""
    table = request.args.get("table")
    found = _own_scores(slug, ScopeWanted.of_request(), with_all=table == ALL_CSV)
    if table not in {SCORES_CSV, ALL_CSV}:
        return download(leaderboard.leaderboard_csv(found.board), f"{slug}-scores.csv", CSV)
    if found.standing is None:
        raise NotFoundError("Your team has no run that is scored.")
    beside = the_place().sees is not ScoresShown.OWN
    shown = [found.standing] if table == SCORES_CSV else found.standings
    name = f"{slug}-topics.csv" if table == SCORES_CSV else f"{slug}-all-topics.csv"
    return download(leaderboard_standing.standings_csv(shown, beside=beside), name, CSV)


def _own_scores(slug: str, scope: ScopeWanted, *, with_all: bool = False) -> OwnScores:
    """The team's scores by the measures of the query string, with its run by topic by one of them."""
    grades = released_grades(scope.round, residual=scope.residual, task=scope.task)
    run, measure = request.args.get("run"), request.args.get("by")
    return own_scores(slug, measures_wanted(), run=run, measure=measure, grades=grades, with_all=with_all)


def _present_rules() -> RulesForm:
    present = the_place().collection
    return RulesForm(
        formdata=None,
        until=submissions.write_deadline(present.submissions_until, present.submissions_until_written),
        terms=present.terms,
        most_documents=present.most_documents,
        tag_start=present.tag_start,
        most_tag_characters=present.most_tag_characters,
        plain_tags=present.plain_tags,
        most_runs=present.most_runs or None,
        corpus=present.corpus,
        shares_docnos=present.shares_docnos,
        shares_qrels=present.shares_qrels,
    )


def _number_or(field: IntegerField, number: int) -> int:
    """The entered number, or this one where the field is empty."""
    return number if field.data is None else field.data


def _rules_page(form: FilesForm) -> str:
    """The rules with this form; a form of files alone is shown as such, also if the collection was reopened since."""
    alike = database().read(run_rules.teams_with_one_start, the_place().collection.slug)
    return render_template("runs/submissions/rules.html", form=form, alike=alike, of_rules=isinstance(form, RulesForm))


def _terms_page(slug: str, form: AcceptanceForm) -> str:
    """The current terms, also after outdated ones were rejected."""
    present = database().read(submissions.show_terms, slug, the_person().id)
    return render_template("runs/submissions/terms.html", terms=present, form=form)
