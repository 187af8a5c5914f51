"""What organisers say of the scores that participants see: how much of them, and from when on."""

from collections.abc import Mapping

from wtforms import BooleanField, RadioField, SelectChoice, StringField

from annotator.storage import ScoresShown
from annotator.web.forms import Form
from annotator.web.language import lazy_gettext
from annotator.workflows import submissions
from annotator.workflows.collection import CollectionView

SHOWN: Mapping[ScoresShown, str] = {
    ScoresShown.OWN: lazy_gettext("The scores of their team's runs, and nothing beside them"),
    ScoresShown.BESIDE: lazy_gettext("Their team's scores, beside the median and the best of all runs without names"),
    ScoresShown.WHOLE: lazy_gettext("The same, and the whole leaderboard with the names of all runs"),
}


def shown_choices() -> list[SelectChoice]:
    """How much there is to choose from, in words."""
    return [SelectChoice(shown.value, words) for shown, words in SHOWN.items()]


class ReleaseForm(Form):
    """How much participants see, from when on, and whether also while runs are still taken."""

    shown = RadioField(
        lazy_gettext("What participants see"),
        choices=shown_choices,
        default=ScoresShown.BESIDE.value,
    )
    moment = StringField(
        lazy_gettext("From when on"),
        description=lazy_gettext(
            "Such as “2026-05-01 23:59”, in UTC; another time zone stands behind it: “AoE”, “+09:00” or “Asia/Seoul”. "
            "“now” or empty: from now on. Runs uploaded later get no scores."
        ),
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
    )
    early = BooleanField(
        lazy_gettext("Release the scores early, while runs are still taken"),
        description=lazy_gettext(
            "Only runs uploaded before the release get scores. Before the deadline a team could otherwise try out runs "
            "until the scores tell the grades."
        ),
    )

    @classmethod
    def of(cls, collection: CollectionView) -> "ReleaseForm":
        """The form with what is decided."""
        moment = submissions.write_deadline(collection.scores_released_at)
        return cls(formdata=None, shown=collection.scores_shown.value, moment=moment)
