"""The cost report: cost and effectiveness of every run, the runs within a bound, and the Pareto front."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.costs.facts import KNOWN_FACTS, Fact, FactKind
from annotator.evaluation.costs.statements import Statement, read_address, read_detail, read_statement
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.measures import Better


def pareto_front(
    values: Sequence[float | None], costs: Sequence[float | None], *, value_better: Better, cost_better: Better
) -> list[bool]:
    """Return whether each run is on the Pareto front: no other is at least as good on both criteria and better on one.

    `values` and `costs` have one number a run, None if missing: such a run is not on the front and dominates none.
    Runs equal on both criteria are on it together. If a criterion has no direction, there is no front.
    """
    if Better.NEITHER in {value_better, cost_better}:
        return [False] * len(values)
    value, cost = _the_more_the_better(values, value_better), _the_more_the_better(costs, cost_better)
    # Comparisons with NaN are false, so a run without a number neither dominates nor is dominated.
    at_least = (value[None, :] >= value[:, None]) & (cost[None, :] >= cost[:, None])
    more = (value[None, :] > value[:, None]) | (cost[None, :] > cost[:, None])
    is_beaten = (at_least & more).any(axis=1)
    has_both = ~(np.isnan(value) | np.isnan(cost))
    front: list[bool] = (has_both & ~is_beaten).tolist()
    return front


def _the_more_the_better(numbers: Sequence[float | None], better: Better) -> np.ndarray:
    told = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
    return told if better is Better.MORE else -told


USUAL_COSTS = ("latency_p95", "latency_p50")


@dataclass(frozen=True)
class CostColumn:
    """A fact, with one of its details if it has details."""

    fact: Fact
    detail: str = ""

    @property
    def address(self) -> str:
        """The name of the column in commands and query strings."""
        return Statement(self.fact.key, self.detail).address


@dataclass(frozen=True)
class CostedRun:
    """A run and its stated facts, by address."""

    tag: str
    team: str | None
    statements: Mapping[str, Statement]

    def number(self, column: CostColumn) -> float | None:
        """The run's number in that column, None if not stated."""
        statement = self.statements.get(column.address)
        return statement.number if statement is not None else None


@dataclass(frozen=True)
class Question:
    """The cost to compare with the measure (None: a latency, if any run states one), and its bound as written."""

    cost: str | None = None
    within: str = ""


@dataclass(frozen=True)
class CostRow:
    """A run with its value, None without a score, and the requested cost, None if not stated."""

    run: CostedRun
    value: float | None
    cost: float | None
    is_on_front: bool


@dataclass(frozen=True)
class CostReport:
    """Every run within the bound, best first; `board` is the leaderboard, None without scores.

    `axes` are the costs that can be requested; with a bound, `over` runs exceed it and `silent` ones do not state the
    cost, and both are left out.
    """

    board: Leaderboard | None
    columns: tuple[CostColumn, ...]
    axes: tuple[CostColumn, ...]
    axis: CostColumn
    within: float | None
    rows: tuple[CostRow, ...]
    over: int
    silent: int

    @property
    def points(self) -> list[CostRow]:
        """The rows with both numbers, by cost ascending, then by value descending."""
        both = [row for row in self.rows if row.cost is not None and row.value is not None]
        return sorted(both, key=lambda row: (row.cost or 0, -(row.value or 0)))

    @property
    def has_front(self) -> bool:
        """Whether both criteria have a direction."""
        return self.board is not None and Better.NEITHER not in {self.board.better, self.axis.fact.better}


def make_report(
    facts: Mapping[str, Fact], runs: Sequence[CostedRun], board: Leaderboard | None, question: Question
) -> CostReport:
    """Combine the stated costs with the values of the board's first measure.

    Raises `NotFoundError` for an unknown cost, `InvalidValueError` for a cost that is not numeric and for an invalid
    bound.
    """
    columns = _columns(facts, runs)
    axis = _axis(facts, columns, question.cost)
    bound = read_statement(axis.fact, question.within, axis.detail)
    within = None if bound is None else bound.number
    values = {row.tag: row.values[0] for row in board.rows} if board is not None else {}
    kept = [run for run in runs if within is None or _is_within(run.number(axis), within, axis.fact.better)]
    silent = sum(run.number(axis) is None for run in runs) if within is not None else 0
    return CostReport(
        board=board,
        columns=columns,
        axes=tuple(column for column in columns if column.fact.kind is FactKind.NUMBER),
        axis=axis,
        within=within,
        rows=_rows(kept, values, axis, board.better if board is not None else Better.NEITHER),
        over=len(runs) - len(kept) - silent,
        silent=silent,
    )


def _rows(
    runs: Sequence[CostedRun], scores: Mapping[str, float], axis: CostColumn, better: Better
) -> tuple[CostRow, ...]:
    values, costs = [scores.get(run.tag) for run in runs], [run.number(axis) for run in runs]
    front = pareto_front(values, costs, value_better=better, cost_better=axis.fact.better)
    rows = [CostRow(*row) for row in zip(runs, values, costs, front, strict=True)]
    sign = 1 if better is Better.LESS else -1
    return tuple(sorted(rows, key=lambda row: (row.value is None, sign * (row.value or 0), natural_order(row.run.tag))))


def _columns(facts: Mapping[str, Fact], runs: Sequence[CostedRun]) -> tuple[CostColumn, ...]:
    """List the columns that any run states, in the order of the facts and their details."""
    stated = {(one.fact, one.detail) for run in runs for one in run.statements.values()}
    return tuple(
        CostColumn(fact, detail)
        for key, fact in facts.items()
        for detail in sorted((detail for of, detail in stated if of == key), key=natural_order)
    )


def _axis(facts: Mapping[str, Fact], columns: Sequence[CostColumn], asked: str | None) -> CostColumn:
    if asked is not None:
        fact, detail = read_address(facts, asked)
        if fact.kind is not FactKind.NUMBER:
            raise InvalidValueError(
                "“%(key)s” is not a numeric column, so runs cannot be compared by it.", key=fact.key
            )
        return CostColumn(fact, read_detail(fact, detail))
    stated = {column.address: column for column in columns}
    usual = [stated[address] for address in USUAL_COSTS if address in stated]
    others = [column for column in columns if column.fact.better is not Better.NEITHER]
    return next(iter([*usual, *others]), CostColumn(KNOWN_FACTS[USUAL_COSTS[0]]))


def _is_within(number: float | None, bound: float, better: Better) -> bool:
    """Whether a number is at most the bound, or at least if more is better."""
    if number is None:
        return False
    return number >= bound if better is Better.MORE else number <= bound
