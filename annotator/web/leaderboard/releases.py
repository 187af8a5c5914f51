"""The release of scores to participants: which scores, from which qrels and from when."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, RadioField, SelectChoice, SelectField, StringField, TextAreaField

from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.moments import write_moment
from annotator.storage import PublicScores, Role, ScoresShown
from annotator.storage.qrels.qrels_versions import LIVE, ReleasedVersion
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, done, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.leaderboard.leaderboard import split_names
from annotator.workflows.leaderboard.public_scores import PublicChange, PublicSettings, change_public, show_public
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.qrels.qrels_sharing import shared_by_release
from annotator.workflows.qrels.qrels_versions import ReleaseRequest, VersionView
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import NEW_VERSION

SHOWN: Mapping[ScoresShown, str] = {
    ScoresShown.OWN: lazy_gettext("Only the scores of their team's runs"),
    ScoresShown.BESIDE: lazy_gettext(
        "Their team's scores, with the worst, the median and the best of all runs, without names"
    ),
    ScoresShown.WHOLE: lazy_gettext("Also the whole leaderboard, with the names of all runs"),
}
PUBLIC: Mapping[PublicScores, str] = {
    PublicScores.NOTHING: lazy_gettext("Nothing: there are no public pages"),
    PublicScores.TASK: lazy_gettext("The page of the task, also before the release, without a leaderboard"),
    PublicScores.RELATIVE: lazy_gettext("Whether each run is above or below the median of all runs, without scores"),
    PublicScores.EVERYTHING: lazy_gettext("The scores of all runs"),
}


blueprint = Blueprint("releases", __name__)


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


class PublicForm(Form):
    """What everybody may read without signing in."""

    scores = RadioField(
        lazy_gettext("What everybody sees"),
        choices=lambda: [SelectChoice(one.value, words) for one, words in PUBLIC.items()],
        default=PublicScores.NOTHING.value,
    )
    veiled = BooleanField(
        lazy_gettext("Replace the names of teams and runs by pseudonyms"),
        description=lazy_gettext("They are those of the release kit."),
    )
    measures = StringField(
        lazy_gettext("Measures"),
        description=lazy_gettext("The runs are in the order of the first."),
        render_kw={"autocapitalize": "none", "spellcheck": "false"},
    )
    description = TextAreaField(lazy_gettext("Description of the task"), filters=[unix_lines], render_kw={"rows": 4})
    guidelines = BooleanField(lazy_gettext("Show the guidelines of the judges"))
    citation = TextAreaField(
        lazy_gettext("How to cite"),
        filters=[unix_lines],
        description=lazy_gettext("Empty: the organisers of the task, with its title and the year."),
        render_kw={"rows": 2},
    )
    allowed = TextAreaField(
        lazy_gettext("Names that may occur in the texts"),
        filters=[unix_lines],
        description=lazy_gettext(
            "With pseudonyms, a text with a name of a team or run is refused. Enter names that are ordinary words "
            "there, one per line."
        ),
        render_kw={"rows": 2, "spellcheck": "false"},
    )

    @classmethod
    def of(cls, settings: PublicSettings) -> "PublicForm":
        """The form filled in with the present choice."""
        return cls(
            formdata=None,
            scores=settings.scores.value,
            veiled=settings.veiled,
            measures=", ".join(settings.measures or DEFAULT_MEASURES),
            description=settings.description,
            guidelines=settings.guidelines,
            citation=settings.citation,
            allowed="\n".join(settings.allowed),
        )

    def change(self) -> PublicChange:
        """What the form asks for; the usual measures are stored as none, so that they stay the usual ones."""
        written = (self.measures.data or "").strip()
        measures = tuple(split_names(written)) if written else ()
        lines = (line.strip() for line in (self.allowed.data or "").splitlines())
        return PublicChange(
            scores=PublicScores(self.scores.data),
            veiled=self.veiled.data,
            measures=() if measures == tuple(DEFAULT_MEASURES) else measures,
            description=self.description.data or "",
            guidelines=self.guidelines.data,
            citation=self.citation.data or "",
            allowed=tuple(line for line in lines if line),
        )


def _present(collection: CollectionView) -> str:
    """The value of the current grades in the form."""
    if collection.scores_released_at is None:
        return NEW_VERSION
    return LIVE if collection.released_version is None else str(collection.released_version.number)


@blueprint.get("/collections/<slug>/release")
@collection_page(Role.ORGANISER)
def show(_slug: str) -> ResponseReturnValue:
    """The current release and the form that changes it."""
    return _page(ReleaseForm.of(the_place().collection))


@blueprint.post("/collections/<slug>/release")
@collection_page(Role.ORGANISER)
def release(slug: str) -> ResponseReturnValue:
    """Set which scores participants see, and from when."""
    form = ReleaseForm()
    if form.validate():
        with form.guard():
            version = _release(slug, form, now())
    if form.refused:
        return _page(form), form.status
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
        made = database().read(qrels.export_qrels, slug, to_keep=True, made_at=at)
    request = ReleaseRequest(_moment(form.moment.data or "", at), shown, wanted, form.early.data)
    storing = qrels_versions.storing_for_release(database(), slug, made)
    with storing as stored, database().transaction() as session:
        released = qrels_versions.release_scores(session, slug, request, stored, by_id=the_person().id, at=at)
        if released.new_version is not None:
            note(session, "qrels.keep", slug, subject=released.new_version)
        row, version = released.collection, released.collection.released_version
        details = {"shown": form.shown.data, "from": row.scores_released_at, "qrels": version and version.number}
        note(session, "scores.release", slug, details=details)
    return version


@blueprint.post("/collections/<slug>/release/take-back")
@collection_page(Role.ORGANISER)
def take_back(slug: str) -> ResponseReturnValue:
    """Withhold scores from participants again."""
    with database().transaction() as session:
        submissions.take_scores_back(session, slug)
        note(session, "scores.take-back", slug)
    return done(gettext("Participants see no scores any more."), ".show", slug=slug)


def _moment(written: str, at: datetime) -> datetime | None:
    """The entered time; None keeps the stored one, whose seconds the form does not show."""
    present = the_place().collection.scores_released_at
    if present is not None and written.strip() == submissions.write_deadline(present):
        return None
    return submissions.read_release_moment(written) or at


@blueprint.post("/collections/<slug>/release/public")
@collection_page(Role.ORGANISER)
def publish(slug: str) -> ResponseReturnValue:
    """Set what everybody may read without signing in."""
    form = PublicForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            settings = change_public(session, slug, form.change())
            note(session, "scores.publish", slug, details=settings.noted)
    if form.refused:
        return _page(ReleaseForm.of(the_place().collection), form), form.status
    return done(gettext("The public pages are saved."), ".show", slug=slug)


def _page(form: ReleaseForm, public_form: PublicForm | None = None) -> str:
    slug = the_place().collection.slug
    with database().reading() as session:
        versions = qrels_versions.list_versions(session, slug)
        settings = show_public(session, slug)
    form.qrels.choices = grades_choices(versions)
    return render_template(
        "leaderboard/release.html",
        of_qrels=shared_by_release(the_place().collection, at=now()),
        form=form,
        public_form=public_form or PublicForm.of(settings),
        is_public=settings.scores is PublicScores.TASK
        or (settings.scores is not PublicScores.NOTHING and the_place().sees is not ScoresShown.NOTHING),
    )
