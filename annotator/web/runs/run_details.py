"""What a team says of a run, as a form."""

from wtforms import IntegerField, RadioField, SelectChoice, StringField
from wtforms.validators import InputRequired

from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.web.people.senders import own_team
from annotator.web.site.forms import Form
from annotator.web.site.labels import RUN_TYPES
from annotator.web.site.language import lazy_gettext


def type_choices() -> list[SelectChoice]:
    """The types of runs by their names."""
    return [SelectChoice(value, name) for value, name in RUN_TYPES.items()]


class DetailsForm(Form):
    """What a team says of a run; organisers say for which team."""

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

    def given_team(self) -> str | None:
        """A participant's runs are their own team's, whatever was entered."""
        return own_team() or (self.team.data or "").strip() or None

    def details(self) -> RunDetails:
        """What was entered, to stand as it is."""
        return RunDetails(
            self.given_team(), self.description.data or "", RunType(self.run_type.data), self.priority.data
        )
