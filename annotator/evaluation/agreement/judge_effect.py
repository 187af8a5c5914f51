"""The effect of judge disagreement on the ranking of runs: single judges and random mixtures (Voorhees 2000)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.rank_correlation import Similarity, places, similarities, similarity_of

Grades = NDArray[np.int16]  # one value an entry, `NOT_GRADED` without a grade


@dataclass(frozen=True, eq=False)
class GivenGrades:
    """The judges' grades of entries (documents of topics), one value an opinion; at most one a judge and entry."""

    entry: NDArray[np.intp]
    judge: NDArray[np.intp]  # index into `judges`
    grade: NDArray[np.int16]
    judges: tuple[str, ...]
    entries: int  # number of entries

    @classmethod
    def of_columns(
        cls, items: Sequence[int], judges: Sequence[str], grades: Sequence[int], place: Mapping[int, int]
    ) -> "GivenGrades":
        """Build from columns, one value an opinion; `place` maps items to entries and has no other items."""
        names = tuple(sorted(set(judges)))
        number = {name: place for place, name in enumerate(names)}
        return cls(
            np.array([place[item] for item in items], np.intp),
            np.array([number[name] for name in judges], np.intp),
            np.array(grades, np.int16),
            names,
            len(place),
        )

    def of(self, judge: int) -> Grades:
        """One judge's grades, one value an entry."""
        own = self.judge == judge
        return self.as_grades(self.entry[own], self.grade[own])

    def of_name(self, name: str) -> Grades:
        """The grades of a judge by name; all `NOT_GRADED` for an unknown name."""
        return self.of(self.judges.index(name) if name in self.judges else -1)

    def count(self, name: str) -> int:
        """The number of documents a judge graded."""
        return int(np.count_nonzero(self.of_name(name) > NOT_GRADED))

    def counts_of(self, name: str, scale: Sequence[int]) -> tuple[int, ...]:
        """The number of documents to which a judge gave each grade of the scale."""
        grades = self.of_name(name)
        return tuple(int(np.count_nonzero(grades == grade)) for grade in scale)

    def as_grades(self, entry: NDArray[np.intp], grade: NDArray[np.int16]) -> Grades:
        """Spread these grades over all entries, `NOT_GRADED` for the others."""
        grades = np.full(self.entries, NOT_GRADED, np.int16)
        grades[entry] = grade
        return grades

    @property
    def is_shared(self) -> NDArray[np.bool_]:
        """Whether the entry of each opinion has two judges or more."""
        return np.bincount(self.entry, minlength=self.entries)[self.entry] > 1


@dataclass(frozen=True)
class Swap:
    """Two neighbours in one ranking, and the share of other rankings that swap them; 1 is always."""

    upper: str
    lower: str
    share: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """The runs' values and ranks, from 1, under two sets of grades of the same documents, in the order of the runs."""

    documents: int
    topics: int
    first: tuple[float, ...]
    second: tuple[float, ...]
    first_places: tuple[int, ...]
    second_places: tuple[int, ...]
    similarity: Similarity
    swaps: tuple[Swap, ...]  # neighbours in the first ranking that the second swaps

    def by_place(self, tags: Sequence[str]) -> list[tuple[str, float, float, int, int]]:
        """Return (tag, first value, second value, first rank, second rank) of each run, by the first rank."""
        rows = zip(tags, self.first, self.second, self.first_places, self.second_places, strict=True)
        return sorted(rows, key=lambda row: (row[3], natural_order(row[0])))


def grades_of_items(settled: Mapping[int, int], place: Mapping[int, int]) -> Grades:
    """Convert {item: grade} to grades by entry; `place` maps each item to its entry."""
    grades = np.full(len(place), NOT_GRADED, np.int16)
    grades[[place[item] for item in settled]] = list(settled.values())
    return grades


def count_differing(first: Grades, second: Grades) -> int:
    """Count the entries whose grades differ, or that only one of the two has graded."""
    return int(np.count_nonzero(first != second))


def compare(
    tags: Sequence[str],
    runs: RegradedRuns,
    first: Grades,
    second: Grades,
    scoring: Scoring,
    *,
    same_documents: bool = True,
    first_values: Values | None = None,
) -> Comparison | None:
    """Score the runs by two sets of grades, one value an entry; None when they have no document in common.

    Only documents graded in both count, unless the graded documents may differ: then the values by the first,
    which do not change, may be given.
    """
    common = (first > NOT_GRADED) & (second > NOT_GRADED)
    if not common.any():
        return None
    if same_documents:
        first, second = (np.where(common, grades, np.int16(NOT_GRADED)) for grades in (first, second))
    values = [runs.means(first, scoring) if first_values is None else first_values, runs.means(second, scoring)]
    in_order = [scoring.order(of_one) for of_one in values]
    return Comparison(
        documents=int(np.count_nonzero(common)),
        topics=np.unique(runs.entry_topic[common]).size,
        first=tuple(values[0].tolist()),
        second=tuple(values[1].tolist()),
        first_places=tuple(places(in_order[0]).tolist()),
        second_places=tuple(places(in_order[1]).tolist()),
        similarity=similarity_of(in_order[0].tolist(), in_order[1].tolist()),
        swaps=tuple(swap for swap in neighbours(tags, in_order[0], in_order[1][np.newaxis]) if swap.share),
    )


def judges_in_common(given: GivenGrades) -> list[tuple[int, int, int]]:
    """List every two judges with common documents and their number, most first."""
    size = len(given.judges)
    has = np.zeros((given.entries, size), np.float32)  # so that counting is a matrix product
    has[given.entry, given.judge] = 1
    counts = (has.T @ has).astype(np.int64)
    pairs = [(first, second, int(counts[first, second])) for first in range(size) for second in range(first + 1, size)]
    return sorted((pair for pair in pairs if pair[2]), key=lambda pair: (-pair[2], pair[0], pair[1]))


def neighbours(tags: Sequence[str], values: Values, others: Values) -> Iterator[Swap]:
    """Yield every two neighbours in the ranking by `values`, with the share of others, (others, runs), that swap."""
    for upper, lower in pairwise(best_first(tags, values)):
        if values[upper] > values[lower]:
            yield Swap(tags[upper], tags[lower], float(np.mean(others[:, upper] < others[:, lower])))


def best_first(tags: Sequence[str], values: Values) -> list[int]:
    """Return the indices of the runs in `tags`, best first, ties by name."""
    return sorted(range(len(tags)), key=lambda place: (-values[place], natural_order(tags[place])))


# For a topic with many judges, this many orders of them are drawn instead of all.
MOST_ORDERS = 24
MOST_VALUES = 1 << 22  # product of draws, runs and topics at a time
SHARE_OF_DRAWS = (0.025, 0.975)  # percentiles that bound 95 % of the draws


@dataclass(frozen=True)
class RunRange:
    """A run's values over all draws, and its best and worst rank, from 1; ties share a rank."""

    tag: str
    mean: float
    low: float
    high: float
    best_place: int
    worst_place: int


@dataclass(frozen=True)
class Spread:
    """A coefficient over many pairs of draws: its mean and the bounds of 95 % of them."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class MixtureEffect:
    """The effect of random mixtures of judges on the ranking of runs.

    `runs` are best first by mean value; `tau` and the others compare each draw with the next.
    """

    draws: int
    seed: int
    documents: int
    topics: int
    runs: tuple[RunRange, ...]
    swaps: tuple[Swap, ...]  # every two neighbours in the ranking by mean value
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

    For every draw and topic, the judges are put in random order, and a document has the grade of the first judge in
    that order who graded it. Only documents with two judges or more count, so that all draws have the same documents.
    Calls `advance` as often as `steps_of_mixing` returns.
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
    by_order = np.stack(scored)  # shape: orders, runs, topics; only topics with shared documents
    values = _draw(by_order, orders.count, scoring, draws, np.random.default_rng([seed, 1]))
    advance()
    return _effect(tags, values, scoring, draws, seed, np.unique(given.entry).size, by_order.shape[2])


def steps_of_mixing(runs: RegradedRuns, given: GivenGrades) -> int:
    """The number of calls of `advance` by `mix_judges`."""
    shared = given.is_shared
    judges = _judges_by_topic(runs, given.entry[shared], given.judge[shared])
    return max((_orders_of(len(of_topic)) for of_topic in judges), default=-1) + 1


@dataclass(frozen=True, eq=False)
class _Orders:
    """Orders of the judges of each topic."""

    count: NDArray[np.intp]  # for each topic with shared documents
    # As many as the largest number of a topic, repeated cyclically. For each opinion, its judge's position.
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
    # Do not compute the factorial of a hundred judges.
    return min(factorial(min(judges, MOST_ORDERS)), MOST_ORDERS)


def _some_orders(judges: Sequence[int], chance: np.random.Generator) -> list[list[int]]:
    """Return all orders of a few judges, or as many random orders of more."""
    wanted = _orders_of(len(judges))
    if factorial(min(len(judges), MOST_ORDERS)) == wanted:
        return [list(order) for order in islice(permutations(judges), wanted)]
    return [chance.permutation(judges).tolist() for _ in range(wanted)]


def _first_in_order(given: GivenGrades, late: NDArray[np.intp]) -> Grades:
    """Return for each entry the grade of the first judge in the order; opinions are sorted by entry."""
    begins = np.flatnonzero(np.diff(given.entry, prepend=-1))
    # One number to minimise: the position of the judge, then the index of the opinion.
    opinions = np.arange(late.size)
    first = np.minimum.reduceat(late * late.size + opinions, begins) % late.size
    return given.as_grades(given.entry[first], given.grade[first])


def _draw(
    by_order: Values, count: NDArray[np.intp], scoring: Scoring, draws: int, chance: np.random.Generator
) -> Values:
    """Compute the runs' values in each draw, (draws, runs), with one random order for every topic."""
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
