"""The form that describes a pool, for planning and building, with the parameters of each strategy."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from flask import request
from wtforms import (
    HiddenField,
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
)
from wtforms.validators import Optional, ValidationError

from annotator.storage import Showing
from annotator.storage.pools.pools import PoolRequest
from annotator.web.site.forms import Form, NumberField, WholeNumberField
from annotator.web.site.language import lazy_gettext
from annotator.workflows.pools.pools import (
    USUAL_AMOUNT,
    USUAL_BUDGET,
    USUAL_DEPTH,
    USUAL_STRATEGY,
    StrategyHelp,
    list_strategies,
)
from annotator.workflows.pools.sample_planning import USUAL_DIFFERENCE, USUAL_HALF_WIDTH, PrecisionWanted

# As `TAG=K, TAG=K`; a tag may contain an equals sign.
OWN_DEPTH = re.compile(r"([^\s,]+)=([0-9]{1,9})")

# Parameters with a field of the same name.
TAKEN = (
    *("depth", "start_depth", "strata", "update", "ties"),
    *("machine", "certainty_depth", "bands", "allocation"),
    *("candidates", "batch", "until"),
)


class PoolForm(Form):
    """The description of a pool; the workflow validates the combination."""

    strategy = HiddenField(default=USUAL_STRATEGY)
    depth = WholeNumberField(
        lazy_gettext("Depth"),
        [Optional()],
        description=lazy_gettext("Documents taken from the top of each run; empty for all, where allowed."),
    )
    amount = WholeNumberField(lazy_gettext("Documents to judge"), [Optional()])
    amount_of = SelectField(
        lazy_gettext("Counted"),
        default="per_topic",
        choices=[
            SelectChoice("per_topic", lazy_gettext("for each topic")),
            SelectChoice("budget", lazy_gettext("in total, divided evenly over the topics")),
        ],
    )
    until = StringField(
        lazy_gettext("Until a stopping rule"),
        description=lazy_gettext(
            "Instead of a number: a rule such as knee, in-a-row(in_a_row=30) or target-set(target=0.9), by which each "
            "topic ends; leave the number empty."
        ),
    )
    start_depth = WholeNumberField(
        lazy_gettext("Depth to start with"),
        [Optional()],
        description=lazy_gettext(
            "Documents pooled from every run first, so that every run contributes; empty for 10, 0 for none."
        ),
    )
    strata = StringField(
        lazy_gettext("Strata"),
        description=lazy_gettext(
            "Bands of ranks with the share of each to judge; empty for 1-10:1, 11-50:0.2, 51-100:0.05."
        ),
    )
    machine = SelectField(
        lazy_gettext("Machine judge"), default="", choices=[SelectChoice("", "")], validate_choice=False
    )
    certainty_depth = WholeNumberField(
        lazy_gettext("Depth judged whole"),
        [Optional()],
        description=lazy_gettext("Documents judged of every run in any case; empty for 3, 0 for none."),
    )
    bands = StringField(
        lazy_gettext("Bands end at ranks"),
        description=lazy_gettext("Strata are bands of ranks and the machine's grades in each; empty for 10, 30."),
    )
    allocation = SelectField(
        lazy_gettext("Allocation"),
        default="neyman",
        choices=[
            SelectChoice("neyman", lazy_gettext("Neyman: for the least error")),
            SelectChoice("proportional", lazy_gettext("proportional to the size of a stratum")),
            SelectChoice("equal", lazy_gettext("equal")),
        ],
    )
    update = SelectField(
        lazy_gettext("Update rule"),
        default="all",
        choices=[
            SelectChoice("all", lazy_gettext("every run that has the document")),
            SelectChoice("pulled", lazy_gettext("only the run it was chosen from")),
        ],
    )
    ties = SelectField(
        lazy_gettext("Tie-breaking"),
        default="",
        choices=[
            SelectChoice("", lazy_gettext("the default: random with maxmean-ns, otherwise RRF")),
            SelectChoice("rrf", lazy_gettext("highest in RRF")),
            SelectChoice("first-run", lazy_gettext("order of the first run")),
            SelectChoice("random", lazy_gettext("random, by the seed")),
        ],
    )
    candidates = SelectField(
        lazy_gettext("Candidates"),
        default="pooled",
        choices=[
            SelectChoice("pooled", lazy_gettext("documents of the runs")),
            SelectChoice("corpus", lazy_gettext("all documents with a text")),
        ],
    )
    batch = SelectField(
        lazy_gettext("Training again after"),
        default="grow",
        choices=[
            SelectChoice("grow", lazy_gettext("1 judgement, then a tenth more every time")),
            SelectChoice("1", lazy_gettext("every judgement")),
        ],
    )
    priority = WholeNumberField(
        lazy_gettext("Priority"),
        [Optional()],
        description=lazy_gettext("Only runs to which their team gave this priority or a better one; empty for all."),
    )
    per_team = WholeNumberField(
        lazy_gettext("Runs per team"),
        [Optional()],
        description=lazy_gettext("At most so many runs of each team, those of the best priority first; empty for all."),
    )
    depth_of = StringField(
        lazy_gettext("Runs with another depth"),
        description=lazy_gettext("Such as bm25=20, dense=5."),
    )
    showing = RadioField(
        lazy_gettext("Judges see what is added"),
        default=Showing.RANDOM.value,
        choices=[
            SelectChoice(Showing.RANDOM.value, lazy_gettext("in random order, mixed with what is pooled already")),
            SelectChoice(Showing.DOCNO.value, lazy_gettext("by docno, after what is pooled already")),
            SelectChoice(
                Showing.SELECTION.value,
                lazy_gettext("in the order of the strategy: this hints at the runs, and the manifest records it"),
            ),
        ],
    )
    seed = WholeNumberField(
        lazy_gettext("Seed"),
        [Optional()],
        description=lazy_gettext("For the random order and for samples; empty keeps that of the previous version."),
    )
    hours = NumberField(
        lazy_gettext("Hours for judging"),
        [Optional()],
        description=lazy_gettext("Total of all judges; the chart shows how far they reach."),
    )
    half_width = NumberField(
        lazy_gettext("Interval of ±"),
        [Optional()],
        description=lazy_gettext("How many documents the sample takes for it; empty for 0.02."),
    )
    difference = NumberField(
        lazy_gettext("Difference of two runs"),
        [Optional()],
        description=lazy_gettext("How many documents the sample takes to find it with a power of 0.8; empty for 0.05."),
    )
    # The workflow checks that tags exist: runs may have changed since the page was loaded.
    runs = SelectMultipleField(lazy_gettext("Runs"), validate_choice=False)

    def validate_depth_of(self, field: StringField) -> None:
        """Reject text that is not a list of tags and depths."""
        if field.data and OWN_DEPTH.sub("", field.data).strip(" ,\t"):
            raise ValidationError(lazy_gettext("Write tags and depths such as bm25=20, dense=5."))

    @classmethod
    def of_query(cls) -> "PoolForm":
        """The form filled in from the query string, with defaults for what is missing."""
        form = cls(request.args, meta={"csrf": False})
        form.fill_in()
        return form

    def fill_in(self) -> None:
        """Fill empty required fields with defaults."""
        if not self.strategy.data:
            self.strategy.data = USUAL_STRATEGY
        if "depth" not in request.values and self.strategy.data == USUAL_STRATEGY:
            self.depth.data = USUAL_DEPTH
        if "amount" not in request.values and not self.until.data:
            self.amount.data = USUAL_AMOUNT if self.takes("per_topic") else USUAL_BUDGET

    def offer_machines(self, names: Iterable[str]) -> None:
        """Let these machine judges be chosen, or none."""
        self.machine.choices = [
            SelectChoice(
                "",
                lazy_gettext("none: bands of ranks alone")
                if not self.requires_machine
                else lazy_gettext("Choose a machine judge"),
            ),
            *(SelectChoice(name, name) for name in names),
        ]

    @property
    def requires_machine(self) -> bool:
        """Whether the strategy cannot do without a machine judge."""
        return self.chosen is not None and self.chosen.needs_machine

    @property
    def query(self) -> str:
        """The entered values as a query string for a page with the form."""
        return urlencode(
            [
                (name, value)
                for name, value in request.form.items(multi=True)
                if name in self.data and name != "csrf_token"
            ]
        )

    @property
    def chosen(self) -> StrategyHelp | None:
        """The selected strategy, None for an unknown name."""
        return list_strategies().get(self.strategy.data)

    @property
    def precision(self) -> PrecisionWanted:
        """The precision that a sample should have."""
        half_width, difference = self.half_width.data, self.difference.data
        return PrecisionWanted(
            USUAL_HALF_WIDTH if half_width is None else half_width,
            USUAL_DIFFERENCE if difference is None else difference,
        )

    @property
    def described(self) -> PoolRequest:
        """The described pool, as a request to the workflow."""
        own = OWN_DEPTH.findall(self.depth_of.data or "") if self.takes("depth_of") else []
        return PoolRequest(
            self.strategy.data or USUAL_STRATEGY,
            self._parameters(),
            self.runs.data or None,
            self.priority.data,
            {tag: int(depth) for tag, depth in own},
            per_team=self.per_team.data,
        )

    def takes(self, name: str) -> bool:
        """Whether the strategy takes a parameter; depths of single runs require a depth."""
        if self.chosen is None:
            return False
        if name == "depth_of":
            return self.chosen.name == USUAL_STRATEGY
        names = {parameter.name for parameter in self.chosen.parameters}
        return name in names or (name == "amount" and "budget" in names)

    def _parameters(self) -> Mapping[str, str | int]:
        parameters = {name: getattr(self, name).data for name in TAKEN if self.takes(name)}
        if self.takes("amount"):
            parameters[(self.amount_of.data or "per_topic") if self.takes("per_topic") else "budget"] = self.amount.data
        return {name: value for name, value in parameters.items() if value not in {None, ""}}
