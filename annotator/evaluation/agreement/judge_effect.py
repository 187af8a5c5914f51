"""Whether it matters that judges differ: how the runs would rank by others and by mixtures (Voorhees 2000)."""

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

Grades = NDArray[np.int16]  # one an entry, `NOT_GRADED` where there is none


@dataclass(frozen=True, eq=False)
class GivenGrades:
    """What the judges say of entries (a document of a topic each), one an opinion; each judge at most once of each."""

    entry: NDArray[np.intp]
    judge: NDArray[np.intp]  # place in `judges`
    grade: NDArray[np.int16]
    judges: tuple[str, ...]
    entries: int  # how many there are

    @classmethod
    def of_columns(
        cls, items: Sequence[int], judges: Sequence[str], grades: Sequence[int], place: Mapping[int, int]
    ) -> "GivenGrades":
        """Take them from columns, one value an opinion; `place` says which entry an item is, and has no other items."""
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
        """One judge's grades, one an entry."""
        own = self.judge == judge
        return self.as_grades(self.entry[own], self.grade[own])

    def of_name(self, name: str) -> Grades:
        """The grades of a judge by name, who may have graded nothing."""
        return self.of(self.judges.index(name) if name in self.judges else -1)

    def count(self, name: str) -> int:
        """How many documents a judge graded."""
        return int(np.count_nonzero(self.of_name(name) > NOT_GRADED))

    def as_grades(self, entry: NDArray[np.intp], grade: NDArray[np.int16]) -> Grades:
        """These grades, `NOT_GRADED` for all other entries."""
        grades = np.full(self.entries, NOT_GRADED, np.int16)
        grades[entry] = grade
        return grades

    @property
    def is_shared(self) -> NDArray[np.bool_]:
        """Of each opinion: whether two judges or more have one of its entry."""
        return np.bincount(self.entry, minlength=self.entries)[self.entry] > 1


@dataclass(frozen=True)
class Swap:
    """Neighbours in one ranking that are swapped in another, and how often; 1 is always."""

    upper: str
    lower: str
    share: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """The runs' values and places, from 1, under two sets of grades of the same documents, in the order of the runs."""

    documents: int
    topics: int
    first: tuple[float, ...]
    second: tuple[float, ...]
    first_places: tuple[int, ...]
    second_places: tuple[int, ...]
    similarity: Similarity
    swaps: tuple[Swap, ...]  # neighbours in the first

    def by_place(self, tags: Sequence[str]) -> list[tuple[str, float, float, int, int]]:
        """Each run's tag, its two values and its two places, by its place in the first."""
        rows = zip(tags, self.first, self.second, self.first_places, self.second_places, strict=True)
        return sorted(rows, key=lambda row: (row[3], natural_order(row[0])))


def grades_of_items(settled: Mapping[int, int], place: Mapping[int, int]) -> Grades:
    """Turn grades by item into grades by entry; `place` says which entry each item is."""
    grades = np.full(len(place), NOT_GRADED, np.int16)
    grades[[place[item] for item in settled]] = list(settled.values())
    return grades


def count_differing(first: Grades, second: Grades) -> int:
    """Count the entries that have another grade, or one in one of the two alone."""
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
    """Score the runs by two judges' grades, one an entry, alone; None when they have no document in common.

    Only documents that both graded count, unless they may differ in what they grade: then the values by the first,
    which stay the same, may be given.
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
    """Every two judges with documents in common and how many, those with most first."""
    size = len(given.judges)
    has = np.zeros((given.entries, size), np.float32)  # so that the counting is a product of matrices
    has[given.entry, given.judge] = 1
    counts = (has.T @ has).astype(np.int64)
    pairs = [(first, second, int(counts[first, second])) for first in range(size) for second in range(first + 1, size)]
    return sorted((pair for pair in pairs if pair[2]), key=lambda pair: (-pair[2], pair[0], pair[1]))


def neighbours(tags: Sequence[str], values: Values, others: Values) -> Iterator[Swap]:
    """Every two neighbours by some values, with the share of others, (others, runs), that turn them round."""
    for upper, lower in pairwise(best_first(tags, values)):
        if values[upper] > values[lower]:
            yield Swap(tags[upper], tags[lower], float(np.mean(others[:, upper] < others[:, lower])))


def best_first(tags: Sequence[str], values: Values) -> list[int]:
    """The places of the runs in `tags`, best first, equals by name."""
    return sorted(range(len(tags)), key=lambda place: (-values[place], natural_order(tags[place])))


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
