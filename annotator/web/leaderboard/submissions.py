"""Submissions: rules, which organisers set; terms and own scores, for participants."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import (
    BooleanField,
    HiddenField,
    IntegerField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.validators import InputRequired

from annotator.errors import ConflictError, NotFoundError
from annotator.moments import write_moment
from annotator.storage import Role, ScoresShown
from annotator.storage.qrels.qrels_versions import LIVE, ReleasedVersion
from annotator.web.collections.observer_policy import released_grades
from annotator.web.collections.round_wanted import RoundWanted
from annotator.web.leaderboard.board_cells import cells
from annotator.web.leaderboard.own_scores import OwnScores, own_scores
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import Form, done, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.leaderboard import leaderboard, leaderboard_standing
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.qrels.qrels_versions import ReleaseRequest, VersionView
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import NEW_VERSION, SubmissionChange

SHOWN: Mapping[ScoresShown, str] = {
    ScoresShown.OWN: lazy_gettext("Only the scores of their team's runs"),
    ScoresShown.BESIDE: lazy_gettext("Their team's scores, with the median and the best of all runs, without names"),
    ScoresShown.WHOLE: lazy_gettext("Also the whole leaderboard, with the names of all runs"),
}


blueprint = Blueprint("submissions", __name__)

SCORES_CSV = "topics"  # the table of one run by topic


class RulesForm(Form):
    """The rules for submissions."""

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
            "Participants accept them once before they submit a run, and again when you change them. Empty: no terms."
        ),
        render_kw={"rows": 10},
    )
    most_documents = IntegerField(
        lazy_gettext("Maximum documents per topic"),
        [InputRequired()],
        description=lazy_gettext("A run with more documents for a topic is accepted with a warning."),
    )


class AcceptanceForm(Form):
    """The version of the terms that a participant accepts."""

    fingerprint = HiddenField(validators=[InputRequired()])


def shown_choices() -> list[SelectChoice]:
    """The levels of a release, with labels."""
    return [SelectChoice(shown.value, words) for shown, words in SHOWN.items()]


def grades_choices(versions: Sequence[VersionView]) -> list[SelectChoice]:
    """The grades to choose from for a release: newly stored ones, a stored version, or live ones."""
    kept = [
        (
            one.number,
            gettext("Version %(number)d of the qrels, kept %(at)s", number=one.number, at=write_moment(one.made_at)),
        )
        for one in versions
    ]
    return [
        SelectChoice(NEW_VERSION, gettext("The current qrels, kept as a version")),
        *(SelectChoice(str(number), words) for number, words in kept),
        SelectChoice(LIVE, gettext("Live: the current qrels whenever they look")),
    ]


class ReleaseForm(Form):
    """What participants see, from when, and whether also while submissions are open."""

    shown = RadioField(
        lazy_gettext("What participants see"),
        choices=shown_choices,
        default=ScoresShown.BESIDE.value,
    )
    qrels = SelectField(
        lazy_gettext("Computed from"),
        choices=(),
        validate_choice=False,  # the workflow rejects unknown versions
        description=lazy_gettext(
            "Scores from a version of the qrels do not change with later judgements, decisions or "
            "settings. The version is kept at once, even for a future release. Live scores change with "
            "every judgement."
        ),
    )
    moment = StringField(
        lazy_gettext("Release at"),
        description=lazy_gettext(
            "Such as “2026-05-01 23:59”, in UTC, or followed by another time zone: “AoE”, “+09:00” or "
            "“Asia/Seoul”. “now” or empty: now. Runs uploaded later get no scores."
        ),
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
    )
    early = BooleanField(
        lazy_gettext("Release the scores before the deadline"),
        description=lazy_gettext(
            "Only runs uploaded before the release get scores; otherwise a team could submit runs until "
            "the scores reveal the grades."
        ),
    )

    @classmethod
    def of(cls, collection: CollectionView) -> "ReleaseForm":
        """The form filled in with the collection's current release."""
        moment = submissions.write_deadline(collection.scores_released_at)
        return cls(formdata=None, shown=collection.scores_shown.value, moment=moment, qrels=_present(collection))


def _present(collection: CollectionView) -> str:
    """The value of the current grades in the form."""
    if collection.scores_released_at is None:
        return NEW_VERSION
    return LIVE if collection.released_version is None else str(collection.released_version.number)


@blueprint.get("/collections/<slug>/submissions")
@collection_page(Role.ORGANISER)
def show(_slug: str) -> ResponseReturnValue:
    """The rules for submissions."""
    return _rules_page(_present_rules(), ReleaseForm.of(the_place().collection))


@blueprint.post("/collections/<slug>/submissions")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Change the rules for submissions."""
    form = RulesForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            change = SubmissionChange(
                deadline=submissions.read_deadline(form.until.data or ""),
                terms=form.terms.data or "",
                most_documents=form.most_documents.data,
            )
            submissions.change_submissions(session, slug, change)
            note(session, "collections.set", slug, details=change.details())
    if form.refused:
        return _rules_page(form, ReleaseForm.of(the_place().collection)), form.status
    return done(gettext("Submission rules saved."), ".show", slug=slug)


@blueprint.post("/collections/<slug>/submissions/release")
@collection_page(Role.ORGANISER)
def release(slug: str) -> ResponseReturnValue:
    """Set which scores participants see, and from when."""
    form = ReleaseForm()
    if form.validate():
        with form.guard():
            version = _release(slug, form, now())
    if form.refused:
        return _rules_page(_present_rules(), form), form.status
    flash(gettext("Settings for the release of scores saved."))
    if version is not None:
        number, at = version.number, write_moment(version.kept_at)
        flash(gettext("They are computed from version %(number)d of the qrels, kept %(at)s.", number=number, at=at))
    return redirect(url_for(".show", slug=slug), 303)


def _release(slug: str, form: ReleaseForm, at: datetime) -> ReleasedVersion | None:
    """Release scores as the form says and return the qrels version, which is stored now if that was chosen."""
    shown, wanted, made = ScoresShown(form.shown.data), form.qrels.data or None, None
    if submissions.keeps_version(wanted, shown, the_place().collection.scores_released_at):
        # Settling takes a while and must not block other writers.
        made = database().read(qrels.export_qrels, slug, made_at=at)
    request = ReleaseRequest(_moment(form.moment.data or "", at), shown, wanted, form.early.data)
    with database().transaction() as session:
        released = qrels_versions.release_scores(session, slug, request, made, by_id=the_person().id, at=at)
        if released.new_version is not None:
            note(session, "qrels.keep", slug, subject=released.new_version)
        row, version = released.collection, released.collection.released_version
        details = {"shown": form.shown.data, "from": row.scores_released_at, "qrels": version and version.number}
        note(session, "scores.release", slug, details=details)
    return version


@blueprint.post("/collections/<slug>/submissions/take-back")
@collection_page(Role.ORGANISER)
def take_back(slug: str) -> ResponseReturnValue:
    """Withhold scores from participants again."""
    with database().transaction() as session:
        submissions.take_scores_back(session, slug)
        note(session, "scores.take-back", slug)
    return done(gettext("Participants see no scores any more."), ".show", slug=slug)


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
    """The released scores of the participant's runs; one run by topic: `?run=TAG&m=AP`.

    For one round only: `?round=2&residual=n`.
    """
    found, nothing_yet, of_round = None, None, RoundWanted.of_request()
    if the_place().sees is not ScoresShown.NOTHING:
        try:
            found = _own_scores(slug, of_round)
        except ConflictError as refusal:
            nothing_yet = refusal.sentence
    helps = leaderboard.measure_help(found.board.measures) if found else {}
    return render_template(
        "runs/submissions/scores.html",
        found=found,
        cells=cells,
        nothing_yet=nothing_yet,
        helps=helps,
        csv=SCORES_CSV,
        of_round=of_round,
    )


@blueprint.get("/collections/<slug>/scores.csv")
@collection_page(Role.PARTICIPANT)
def scores_csv(slug: str) -> ResponseReturnValue:
    """The scores as CSV in full precision; one run by topic with `?table=topics&run=TAG&m=AP`."""
    found = _own_scores(slug, RoundWanted.of_request())
    if request.args.get("table") != SCORES_CSV:
        return download(leaderboard.leaderboard_csv(found.board), f"{slug}-scores.csv", CSV)
    if found.standing is None:
        raise NotFoundError("Your team has no run that is scored.")
    beside = the_place().sees is not ScoresShown.OWN
    return download(leaderboard_standing.standing_csv(found.standing, beside=beside), f"{slug}-topics.csv", CSV)


def _own_scores(slug: str, of_round: RoundWanted) -> OwnScores:
    """The team's scores, with the run and the measure of the query string by topic."""
    grades = released_grades(of_round.number, residual=of_round.residual)
    return own_scores(slug, run=request.args.get("run"), measure=request.args.get("m"), grades=grades)


def _present_rules() -> RulesForm:
    present = the_place().collection
    return RulesForm(
        formdata=None,
        until=submissions.write_deadline(present.submissions_until, present.submissions_until_written),
        terms=present.terms,
        most_documents=present.most_documents,
    )


def _moment(written: str, at: datetime) -> datetime | None:
    """The entered time; None keeps the stored one, whose seconds the form does not show."""
    present = the_place().collection.scores_released_at
    if present is not None and written.strip() == submissions.write_deadline(present):
        return None
    return submissions.read_release_moment(written) or at


def _rules_page(form: RulesForm, releasing: ReleaseForm) -> str:
    versions = database().read(qrels_versions.list_versions, the_place().collection.slug)
    releasing.qrels.choices = grades_choices(versions)
    return render_template("runs/submissions/rules.html", form=form, releasing=releasing)


def _terms_page(slug: str, form: AcceptanceForm) -> str:
    """The current terms, also after outdated ones were rejected."""
    present = database().read(submissions.show_terms, slug, the_person().id)
    return render_template("runs/submissions/terms.html", terms=present, form=form)
