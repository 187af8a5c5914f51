"""Random mixtures of judges: how far the values and places of the runs depend on who judged (Voorhees 2000)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.judge_effect import GivenGrades, Grades, Swap, best_first, neighbours
from annotator.evaluation.leaderboard.rescoring import RegradedRuns, Scoring
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.rank_correlation import places, similarities

# For a topic with many judges, so many orders of them are drawn instead of all.
MOST_ORDERS = 24
MOST_VALUES = 1 << 22  # of draws, runs and topics at a time
SHARE_OF_DRAWS = (0.025, 0.975)  # between these 95 % of the draws lie


@dataclass(frozen=True)
class RunRange:
    """A run's values over all draws, and the best and worst place it had, from 1; equals share one."""

    tag: str
    mean: float
    low: float
    high: float
    best_place: int
    worst_place: int


@dataclass(frozen=True)
class Spread:
    """A coefficient over many pairs of draws: its mean, and between what 95 % of them lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class MixtureEffect:
    """What random mixtures of judges make of the runs.

    `runs` are best first by the mean; `tau` and the others compare each draw with the next.
    """

    draws: int
    seed: int
    documents: int
    topics: int
    runs: tuple[RunRange, ...]
    swaps: tuple[Swap, ...]  # every two neighbours by the mean
    tau: Spread | None
    tau_ap: Spread | None
    rbo: Spread | None


def mix_judges(
    tags: Sequence[str],
    runs: RegradedRuns,
    given: GivenGrades,
    scoring: Scoring,
    *,
    draws: int,
    seed: int,
    advance: Callable[[], None],
) -> MixtureEffect | None:
    """Score the runs by random mixtures of judges, topic by topic; None when no document has two judges.

    For every draw and topic a judge is drawn whose grades of the topic count; a document which they did not grade has
    the grade of the next who is drawn. With two judges of a topic, it is the one's or the other's. Only documents with
    two judges or more count, so that every draw is about the same ones. Calls `advance` as often as `steps_of_mixing`.
    """
    shared = given.is_shared
    if not shared.any():
        return None
    by_entry = np.flatnonzero(shared)[np.argsort(given.entry[shared], kind="stable")]
    given = replace(given, entry=given.entry[by_entry], judge=given.judge[by_entry], grade=given.grade[by_entry])
    orders = _orders(runs, given, np.random.default_rng(seed))
    scored = []
    for priority in orders.priorities:
        scored.append(runs.score(_first_in_order(given, priority), scoring).values)
        advance()
    by_order = np.stack(scored)  # orders, runs, topics: of every order the same topics, those with shared documents
    values = _draw(by_order, orders.count, scoring, draws, np.random.default_rng([seed, 1]))
    advance()
    return _effect(tags, values, scoring, draws, seed, np.unique(given.entry).size, by_order.shape[2])


def steps_of_mixing(runs: RegradedRuns, given: GivenGrades) -> int:
    """How often `mix_judges` calls `advance`."""
    shared = given.is_shared
    judges = _judges_by_topic(runs, given.entry[shared], given.judge[shared])
    return max((_orders_of(len(of_topic)) for of_topic in judges), default=-1) + 1


@dataclass(frozen=True, eq=False)
class _Orders:
    """Orders of each topic's judges."""

    count: NDArray[np.intp]  # of each topic that has shared documents
    # As many as the most that a topic has; topics with fewer begin again. Of each opinion, how late it is asked for.
    priorities: Iterator[NDArray[np.intp]]


def _orders(runs: RegradedRuns, given: GivenGrades, chance: np.random.Generator) -> _Orders:
    judges = _judges_by_topic(runs, given.entry, given.judge)
    topics, place = np.unique(runs.entry_topic[given.entry], return_inverse=True)
    of_topic = [_some_orders(of_one, chance) for of_one in judges]

    def priorities() -> Iterator[NDArray[np.intp]]:
        late = np.zeros((topics.size, len(given.judges)), np.intp)
        for number in range(max(map(len, of_topic))):
            for topic, choices in enumerate(of_topic):
                order = choices[number % len(choices)]
                late[topic, order] = np.arange(len(order))
            yield late[place, given.judge]

    return _Orders(np.array([len(choices) for choices in of_topic]), priorities())


def _judges_by_topic(runs: RegradedRuns, entry: NDArray[np.intp], judge: NDArray[np.intp]) -> list[list[int]]:
    topic = runs.entry_topic[entry]
    return [np.unique(judge[topic == one]).tolist() for one in np.unique(topic)]


def _orders_of(judges: int) -> int:
    # The factorial of a hundred judges is not worth computing.
    return min(factorial(min(judges, MOST_ORDERS)), MOST_ORDERS)


def _some_orders(judges: Sequence[int], chance: np.random.Generator) -> list[list[int]]:
    """All orders of a few judges, of more as many at random."""
    wanted = _orders_of(len(judges))
    if factorial(min(len(judges), MOST_ORDERS)) == wanted:
        return [list(order) for order in islice(permutations(judges), wanted)]
    return [chance.permutation(judges).tolist() for _ in range(wanted)]


def _first_in_order(given: GivenGrades, late: NDArray[np.intp]) -> Grades:
    """For each entry the grade of the first judge in the order; opinions are sorted by entry."""
    begins = np.flatnonzero(np.diff(given.entry, prepend=-1))
    # One number to take the least of: how late, and under it which opinion.
    opinions = np.arange(late.size)
    first = np.minimum.reduceat(late * late.size + opinions, begins) % late.size
    return given.as_grades(given.entry[first], given.grade[first])


def _draw(
    by_order: Values, count: NDArray[np.intp], scoring: Scoring, draws: int, chance: np.random.Generator
) -> Values:
    """The runs' values in each draw, (draws, runs), of every topic by one of its orders."""
    _, runs, topics = by_order.shape
    chosen = chance.integers(0, count, (draws, topics))
    step = max(MOST_VALUES // max(runs * topics, 1), 1)
    drawn = [
        # Advanced indexing puts its axes, draws and topics, first.
        scoring.measure.over_topics(by_order[some, :, np.arange(topics)].transpose(0, 2, 1))
        for some in np.split(chosen, range(step, draws, step))
    ]
    return np.concatenate(drawn)


def _effect(
    tags: Sequence[str], values: Values, scoring: Scoring, draws: int, seed: int, documents: int, topics: int
) -> MixtureEffect:
    in_order = scoring.order(values)
    mean = values.mean(axis=0)
    order = best_first(tags, scoring.order(mean))
    of_draws = np.array([places(of_draw) for of_draw in in_order])
    columns = (mean, values.min(axis=0), values.max(axis=0), of_draws.min(axis=0), of_draws.max(axis=0))
    rows = list(zip(tags, *(column.tolist() for column in columns), strict=True))
    alike = similarities(in_order[:-1], in_order[1:])
    return MixtureEffect(
        *(draws, seed, documents, topics),
        runs=tuple(RunRange(*rows[place]) for place in order),
        swaps=tuple(neighbours(tags, scoring.order(mean), in_order)),
        tau=_spread([one.tau for one in alike]),
        tau_ap=_spread([one.tau_ap for one in alike]),
        rbo=_spread([one.rbo for one in alike]),
    )


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = np.array([value for value in values if value is not None])
    return Spread(float(known.mean()), *np.quantile(known, SHARE_OF_DRAWS).tolist()) if known.size else None
