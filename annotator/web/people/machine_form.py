"""What forms ask of a machine that judges: its model, its prompt, and when it gave its labels."""

from wtforms import DateField, StringField, TextAreaField
from wtforms.validators import InputRequired, Optional

from annotator.storage.agreement.machines import MachineFacts
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.language import lazy_gettext


class MachineFields(Form):
    """The fields that say what a machine is."""

    model = StringField(
        lazy_gettext("Model"), description=lazy_gettext("With its version."), render_kw={"autocomplete": "off"}
    )
    prompt = TextAreaField(lazy_gettext("Prompt"), render_kw={"rows": "4"})
    labelled_on = DateField(lazy_gettext("Date of its labels"), [Optional()])

    @property
    def facts(self) -> MachineFacts:
        """What was said."""
        return MachineFacts((self.model.data or "").strip(), unix_lines(self.prompt.data) or "", self.labelled_on.data)


class MarkForm(MachineFields):
    """A judge that is a machine, or is taken for one no longer."""

    judge = StringField(
        lazy_gettext("Name of the judge"),
        [InputRequired()],
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
