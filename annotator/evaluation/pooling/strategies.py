"""The strategies by name: what each takes, and how it is explained, asked for, stored and put to work."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.sample_sizes import Allocation
from annotator.evaluation.pooling import static_strategies
from annotator.evaluation.pooling.adaptive import DECIMALS, Adaptive, Hedge, LastMaxMean, MaxMean, MoveToFront, Update
from annotator.evaluation.pooling.learned_order import BatchSize, CandidateSet, ContinuousLearning
from annotator.evaluation.pooling.least_certain import LeastCertain
from annotator.evaluation.pooling.parameters import read_parameter, show
from annotator.evaluation.pooling.probability_sample import Known, KnownOfTopic, Layout, OpenStratum, probability_sample
from annotator.evaluation.pooling.strata import Band, Stratum, stratified
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns, Weights
from annotator.evaluation.stopping.rule_notation import WrittenRule


class StrategyKind(Enum):
    """How a strategy says what is to be judged."""

    DEPTH = "depth"  # the whole of its order, down to a depth
    ORDER = "order"  # the first of its order, as far as the budget goes
    ADAPTIVE = "adaptive"  # one document after the other, from the judgements so far
    SAMPLE = "sample"  # a share of each stratum


# With the default; None where that is "no limit", or where a value is required.
BUDGETED: Mapping[str, str | None] = {"budget": None, "per_topic": None, "depth": None, "ties": "rrf"}
STARTED: Mapping[str, str | None] = {**BUDGETED, "start_depth": "10"}
BUDGETS = ("budget", "per_topic")
AMOUNTS = (*BUDGETS, "until")


@dataclass(frozen=True)
class Definition:
    """A strategy without its parameters."""

    kind: StrategyKind
    works_by: Callable[..., Any]  # its docstring explains the strategy
    takes: Mapping[str, str | None]
    needs: tuple[str, ...] = ()  # exactly one of these is required
    decimals: int | None = None  # of the weights that it compares: recorded with a pool, and nobody's choice
    reads_scores: bool = False  # whether runs' scores are to be loaded for it
    requires: tuple[str, ...] = ()  # parameters without which it cannot work
    learns: bool = False  # whether a worker trains a classifier of texts for it, between the choices

    @property
    def help(self) -> str:
        """What it does, and where it is from."""
        return inspect.getdoc(self.works_by) or ""

    @property
    def sentence(self) -> str:
        """What it does, in the one sentence with which the help begins."""
        return self.help.split("\n", 1)[0]


@dataclass(frozen=True)
class Strategy:
    """A strategy as asked for. `parse_strategy` makes them and checks what fits together."""

    name: str
    depth: int | None = None
    budget: int | None = None  # in total, over all topics
    per_topic: int | None = None
    start_depth: int = 0
    update: Update = Update.ALL
    ties: Ties = Ties.RRF
    strata: tuple[Band, ...] = ()
    decimals: int | None = None
    machine: str | None = None
    certainty_depth: int = 0
    bands: tuple[int, ...] = ()
    allocation: Allocation = Allocation.NEYMAN
    candidates: CandidateSet = CandidateSet.POOLED
    batch: BatchSize = BatchSize.GROW
    until: WrittenRule | None = None  # instead of a budget: the rule that ends the choices for a topic

    @property
    def definition(self) -> Definition:
        """The definition of the strategy, without its parameters."""
        return STRATEGIES[self.name]

    @property
    def parameters(self) -> dict[str, str | int]:
        """All that it takes and that holds, as it can be stored: `parse_strategy` reads it."""
        values = {name: getattr(self, name) for name in self.definition.takes}
        if self.decimals is not None:
            values["decimals"] = self.decimals
        return {name: show(value) for name, value in values.items() if value is not None}

    @property
    def candidate_depth(self) -> int | None:
        """How deep it looks into runs, for `topic_runs`; None for all the way."""
        return self.strata[-1].last if self.strata else self.depth

    def order(self, runs: TopicRuns, seed: int) -> NDArray[np.int32]:
        """Order the candidates; for strategies of the kinds depth and order."""
        weigh: Callable[[TopicRuns], Weights] = self.definition.works_by
        return static_strategies.in_order(runs, weigh(runs), self.ties, seed=seed)

    def start(self, runs: TopicRuns, seed: int) -> NDArray[np.int32]:
        """Give the documents to judge before an adaptive strategy chooses, as a growing depth takes them in."""
        order = static_strategies.in_order(runs, static_strategies.depth(runs), self.ties, seed=seed)
        return order[: np.count_nonzero(runs.best_rank <= self.start_depth)]

    def begin(self, runs: TopicRuns, seed: int, chances: Mapping[int, float] | None = None) -> Adaptive:
        """Put an adaptive strategy to work on a topic; the seed is of random ties, the chances are of a machine."""
        adaptive: Callable[..., Adaptive] = self.definition.works_by
        said: dict[str, object] = {
            name: getattr(self, name) for name in ("update", "ties") if name in self.definition.takes
        }
        if self.definition.decimals is not None:
            said["decimals"] = self.decimals
        if "machine" in self.definition.takes:
            said["chances"] = chances
        return adaptive(runs, seed=seed, **said)

    @property
    def divides_budget(self) -> bool:
        """Whether it is a sample whose budget is divided among the strata of all topics."""
        return self.definition.kind is StrategyKind.SAMPLE and self.budget is not None

    def sample(self, runs: TopicRuns, seed: int) -> tuple[Stratum, ...]:
        """Draw the sample of a stratified strategy."""
        return stratified(runs, self.strata, seed)

    def layout(self, known: Known) -> Layout:
        """Lay out the strata of a sample whose budget is divided among them."""
        return Layout.of(self.certainty_depth, self.bands, self.depth or 1, known)

    def open_strata(self, runs: TopicRuns, known: Known, topic: int | None, seed: int) -> tuple[OpenStratum, ...]:
        """Form the strata of a topic, among which the budget is divided; `topic` is its key in `known`."""
        of_topic = KnownOfTopic() if topic is None else known.topics.get(topic, KnownOfTopic())
        return probability_sample(runs, of_topic, self.layout(known), seed)


STRATEGIES: Mapping[str, Definition] = {
    "depth": Definition(StrategyKind.DEPTH, static_strategies.depth, {"depth": None}, needs=("depth",)),
    "rrf": Definition(StrategyKind.ORDER, static_strategies.rrf, BUDGETED, BUDGETS),
    "borda": Definition(StrategyKind.ORDER, static_strategies.borda, BUDGETED, BUDGETS),
    "rbp": Definition(StrategyKind.ORDER, static_strategies.rbp, BUDGETED, BUDGETS),
    "combmnz": Definition(StrategyKind.ORDER, static_strategies.combmnz, BUDGETED, BUDGETS, reads_scores=True),
    "ntcir": Definition(StrategyKind.ORDER, static_strategies.ntcir, BUDGETED, BUDGETS),
    "mtf": Definition(StrategyKind.ADAPTIVE, MoveToFront, STARTED, BUDGETS),
    "maxmean": Definition(StrategyKind.ADAPTIVE, MaxMean, {**STARTED, "update": "all"}, BUDGETS),
    "maxmean-ns": Definition(
        StrategyKind.ADAPTIVE, LastMaxMean, {**STARTED, "update": "all", "ties": "random"}, BUDGETS
    ),
    "hedge": Definition(StrategyKind.ADAPTIVE, Hedge, STARTED, BUDGETS, decimals=DECIMALS),
    "lara": Definition(
        StrategyKind.ADAPTIVE, LeastCertain, {**STARTED, "machine": None}, BUDGETS, requires=("machine",)
    ),
    "cal": Definition(
        StrategyKind.ADAPTIVE,
        ContinuousLearning,
        {
            "budget": None,
            "per_topic": None,
            "until": None,
            "depth": None,
            "start_depth": "10",
            "candidates": "pooled",
            "batch": "grow",
        },
        AMOUNTS,
        learns=True,
    ),
    "stratified": Definition(StrategyKind.SAMPLE, stratified, {"strata": "1-10:1, 11-50:0.2, 51-100:0.05"}),
    "sample": Definition(
        StrategyKind.SAMPLE,
        probability_sample,
        {
            "budget": None,
            "machine": None,
            "depth": "100",
            "certainty_depth": "3",
            "bands": "10, 30",
            "allocation": "neyman",
        },
        needs=("budget",),
    ),
}

# Strategies whose classifier a worker trains.
LEARNING = tuple(name for name, definition in STRATEGIES.items() if definition.learns)


def parse_strategy(name: str, said: Mapping[str, str | int]) -> Strategy:
    """Read a strategy's name and parameters, as people, commands and the database say them.

    Raises `InvalidValueError` for an unknown strategy, naming the nearest ones, for a parameter it does not take, for
    a value that cannot be, and when it is not said how much is to be judged.
    """
    if name.lower() not in STRATEGIES:
        raise _unknown(name)
    name = name.lower()
    definition = STRATEGIES[name]
    for parameter in said:
        if parameter not in definition.takes:
            raise InvalidValueError(
                "The strategy %(name)s takes no %(parameter)s; it takes %(takes)s.",
                name=name,
                parameter=parameter,
                takes=", ".join(definition.takes),
            )
    _check_amount(name, [parameter for parameter in definition.needs if parameter in said])
    if any(parameter not in said for parameter in definition.requires):
        raise InvalidValueError("The strategy %(name)s needs the name of a machine judge.", name=name)
    written = {**definition.takes, **said}
    values = {each: read_parameter(each, str(value)) for each, value in written.items() if value is not None}
    return Strategy(name, decimals=definition.decimals, **values)  # type: ignore[arg-type]  # each parameter is read as what its field is


def _check_amount(name: str, amounts: Sequence[str]) -> None:
    needs = STRATEGIES[name].needs
    if needs == ("depth",) and not amounts:
        raise InvalidValueError("The strategy %(name)s needs a depth.", name=name)
    if needs == ("budget",) and not amounts:
        raise InvalidValueError(
            "The strategy %(name)s needs a budget: how many documents are to be judged in total.", name=name
        )
    if needs == AMOUNTS and len(amounts) != 1:
        raise InvalidValueError(
            "The strategy %(name)s needs exactly one of these: a budget in total (budget), one for each topic "
            "(per_topic), or a stopping rule that ends it (until).",
            name=name,
        )
    if needs and not amounts:
        raise InvalidValueError(
            "The strategy %(name)s needs a budget: how many documents are to be judged, in total or for each topic.",
            name=name,
        )
    if len(amounts) > 1:
        raise InvalidValueError(
            "The strategy %(name)s takes a budget in total or one for each topic, not both.", name=name
        )


def _unknown(name: str) -> InvalidValueError:
    near = get_close_matches(name.lower(), STRATEGIES, n=3, cutoff=0.5)
    if near:
        return InvalidValueError(
            "There is no strategy “%(name)s”; the nearest names are: %(nearest)s.", name=name, nearest=", ".join(near)
        )
    return InvalidValueError(
        "There is no strategy “%(name)s”; the strategies are: %(names)s.", name=name, names=", ".join(STRATEGIES)
    )
