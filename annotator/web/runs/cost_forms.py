"""Forms for system costs: one field per fact, and the facts that organisers add."""

from collections.abc import Callable, Mapping, Sequence

from werkzeug.datastructures import MultiDict
from wtforms import Field, HiddenField, SelectChoice, SelectField, StringField, TextAreaField, ValidationError
from wtforms.validators import InputRequired

from annotator.errors import InvalidValueError
from annotator.evaluation.costs.facts import Fact, FactKind, Per
from annotator.evaluation.costs.statements import Statement
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.labels import COST_ENDS, COST_KINDS
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.translate import say
from annotator.workflows.runs.run_costs import (
    ColumnRequest,
    RunCosts,
    read_lines,
    read_statement,
    write_lines,
    write_value,
)

PREFIX = "fact_"  # keeps the names of facts apart from the attributes of forms
NO_COMPLETION = {"autocomplete": "off", "spellcheck": "false"}


class CostsForm(Form):
    """The costs of a run; its fields are created from the facts of a collection."""

    def __init__(self, *args: object, **values: object) -> None:
        """Create the form without parsed values."""
        super().__init__(*args, **values)
        self.statements_of: dict[str, list[Statement]] = {}

    @property
    def statements(self) -> list[Statement]:
        """The entered values, after validation."""
        return [statement for of_fact in self.statements_of.values() for statement in of_fact]

    @property
    def fact_fields(self) -> list[Field]:
        """The fields of the facts, in their order."""
        return [field for field in self if field.short_name.startswith(PREFIX)]


def costs_form(facts: Sequence[Fact], fields: MultiDict[str, str] | None = None) -> CostsForm:
    """The submitted form, or an empty one; or a form with the `fields` of an earlier request."""
    made: CostsForm = _form_class(facts)() if fields is None else _form_class(facts)(formdata=fields)
    return made


def filled_form(costs: RunCosts) -> CostsForm:
    """The form filled in with the costs of a run."""
    written = {f"{PREFIX}{fact.key}": _written(fact, costs.of(fact)) for fact in costs.facts}
    made: CostsForm = _form_class(costs.facts)(formdata=None, data=written)
    return made


class ColumnForm(Form):
    """A fact to add."""

    key = StringField(
        lazy_gettext("Key"),
        [InputRequired()],
        description=lazy_gettext("The name in commands and files: small letters a to z, digits and _."),
        render_kw={**NO_COMPLETION, "autocapitalize": "none"},
    )
    name = StringField(lazy_gettext("Name"), [InputRequired()], render_kw=NO_COMPLETION)
    kind = SelectField(
        lazy_gettext("Type of value"), choices=lambda: _choices(COST_KINDS, FactKind.NUMBER, FactKind.WORDS)
    )
    unit = StringField(
        lazy_gettext("Unit"),
        description=lazy_gettext("Such as EUR or kWh; empty for text and for counts."),
        render_kw=NO_COMPLETION,
    )
    better = SelectField(lazy_gettext("Better is"), choices=lambda: _choices(COST_ENDS, *COST_ENDS))

    def request(self) -> ColumnRequest:
        """The fact that was entered."""
        return ColumnRequest(
            (self.key.data or "").strip(),
            self.name.data or "",
            self.kind.data,
            self.unit.data or "",
            self.better.data or "",
        )


class ColumnRemovalForm(Form):
    """The fact to remove."""

    key = HiddenField(validators=[InputRequired()])


def _form_class(facts: Sequence[Fact]) -> type[CostsForm]:
    return type("FactsForm", (CostsForm,), {f"{PREFIX}{fact.key}": _field(fact) for fact in facts})


def _field(fact: Fact) -> Field:
    name = say(fact.name)
    label = gettext("%(name)s, in %(unit)s", name=name, unit=fact.unit) if fact.unit else name
    told = {"description": say(fact.help) if fact.help else "", "validators": [_reading(fact)]}
    if fact.per is Per.SYSTEM:
        return StringField(label, render_kw=NO_COMPLETION, **told)
    return TextAreaField(label, filters=[unix_lines], render_kw={**NO_COMPLETION, "rows": 3}, **told)


def _reading(fact: Fact) -> Callable[[CostsForm, Field], None]:
    """A validator that parses the values of a field, and shows errors next to it."""

    def read(form: CostsForm, field: Field) -> None:
        written = field.data or ""
        try:
            if fact.per is Per.SYSTEM:
                statement = read_statement(fact, written)
                form.statements_of[fact.key] = [] if statement is None else [statement]
            else:
                form.statements_of[fact.key] = read_lines(fact, written)
        except InvalidValueError as refusal:
            raise ValidationError(say(refusal.sentence)) from refusal

    return read


def _written(fact: Fact, stated: Sequence[Statement]) -> str:
    if fact.per is not Per.SYSTEM:
        return write_lines(stated)
    return write_value(stated[0]) if stated else ""


def _choices(names: Mapping[str, str], *wanted: str) -> list[SelectChoice]:
    return [SelectChoice(value, names[value]) for value in wanted]
