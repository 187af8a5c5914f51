"""What organisers say of the scores that participants see: how much of them, and from when on."""

from collections.abc import Mapping, Sequence

from wtforms import BooleanField, RadioField, SelectChoice, SelectField, StringField

from annotator.moments import write_moment
from annotator.storage import ScoresShown
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.qrels.qrels_versions import VersionView
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import NEW_VERSION

SHOWN: Mapping[ScoresShown, str] = {
    ScoresShown.OWN: lazy_gettext("Only the scores of their team's runs"),
    ScoresShown.BESIDE: lazy_gettext("Their team's scores, with the median and the best of all runs, without names"),
    ScoresShown.WHOLE: lazy_gettext("Also the whole leaderboard, with the names of all runs"),
}


def shown_choices() -> list[SelectChoice]:
    """How much there is to choose from, in words."""
    return [SelectChoice(shown.value, words) for shown, words in SHOWN.items()]


def grades_choices(versions: Sequence[VersionView]) -> list[SelectChoice]:
    """The grades there are to choose from: those of now, kept, a version that is kept, or live ones."""
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
    """How much participants see, from when on, and whether also while runs are still taken."""

    shown = RadioField(
        lazy_gettext("What participants see"),
        choices=shown_choices,
        default=ScoresShown.BESIDE.value,
    )
    qrels = SelectField(
        lazy_gettext("Computed from"),
        choices=(),
        validate_choice=False,  # the workflow refuses a version that there is not
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
        """The form with what is decided."""
        moment = submissions.write_deadline(collection.scores_released_at)
        return cls(formdata=None, shown=collection.scores_shown.value, moment=moment, qrels=_present(collection))


def _present(collection: CollectionView) -> str:
    """The grades that the form shows as chosen."""
    if collection.scores_released_at is None:
        return NEW_VERSION
    return LIVE if collection.released_version is None else str(collection.released_version.number)
