"""Statistics of one judge: lenience and agreement compared with the others, drift of both, and pace.

No figure is a verdict on a judge; it shows where to look.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import median

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.evaluation.significance.distributions import special

NORMAL_QUANTILE = 1.959963984540054  # 97.5 % normal quantile, for intervals of 95 %

Interval = tuple[float, float]


@dataclass(frozen=True)
class Share:
    """A share `count` / `of`, `of` being 1 or more, with Wilson's 95 % interval."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """From 0 to 1."""
        return self.count / self.of

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share."""
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True)
class Change:
    """A difference of shares; `margin` is half the 95 % interval, None if the variance is unknown."""

    value: float
    margin: float | None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval, limited to -1 and 1."""
        if self.margin is None:
            return None
        low, high = self.value - self.margin, self.value + self.margin
        return (max(low, min(-1.0, self.value)), min(high, max(1.0, self.value)))

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.margin is not None and abs(self.value) > self.margin


@dataclass(frozen=True)
class Lenience:
    """The judge's share of relevant grades and that of the others on the same topics, with the same topic weights."""

    documents: int  # documents of this judge, in topics with other judges
    own: float
    others: float
    difference: Change  # own share minus others'; above 0 this judge is the more lenient


def wilson_interval(count: int, of: int) -> Interval:
    """Wilson's score interval of 95 % for a share (JASA 1927), valid for small samples and for shares of 0 and 1."""
    share, z2 = count / of, NORMAL_QUANTILE**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    margin = NORMAL_QUANTILE * sqrt(share * (1 - share) / of + z2 / (4 * of**2)) / (1 + z2 / of)
    # For shares of 0 and 1 the formula gives 0 and 1 up to rounding.
    return (0.0 if count == 0 else middle - margin, 1.0 if count == of else middle + margin)


def share_of(count: int, of: int) -> Share | None:
    """Return the share, None when `of` is 0."""
    return Share(count, of) if of else None


def difference_by_topic(
    own: NDArray[np.int64], own_of: NDArray[np.int64], others: NDArray[np.int64], others_of: NDArray[np.int64]
) -> Lenience | None:
    """Compare two shares of relevant documents topic by topic, arrays with one entry a topic; None without a topic.

    Mantel and Haenszel's difference of shares with the variance of Sato (Biometrics 1989), which holds for few topics
    with many documents and for many with few. Grades are taken as independent; for documents that both judged
    the interval is too wide rather than too narrow. With zero variance there is no interval.
    """
    both = (own_of > 0) & (others_of > 0)
    a, n, b, m = (column[both].astype(np.float64) for column in (own, own_of, others, others_of))
    if not n.size:
        return None
    total = n + m
    weight = n * m / total
    of_own, of_others = (float((weight * x / size).sum() / weight.sum()) for x, size in ((a, n), (b, m)))
    difference = of_own - of_others
    p = ((n**2 * b - m**2 * a + n * m * (m - n) / 2) / total**2).sum()
    q = ((a * (m - b) + b * (n - a)) / (2 * total)).sum()
    variance = float((difference * p + q) / weight.sum() ** 2)
    return Lenience(
        int(n.sum()), of_own, of_others, Change(difference, NORMAL_QUANTILE * sqrt(variance) if variance > 0 else None)
    )


def lenience_of_judges(
    judge: NDArray[np.intp], topic: NDArray[np.intp], relevant: NDArray[np.bool_], judges: int
) -> list[Lenience | None]:
    """Compare each of `judges` judges with the others, topic by topic; columns have one entry a grade.

    None for a judge whose topics nobody else graded.
    """
    topics = int(topic.max(initial=-1)) + 1
    cells = judge * topics + topic
    of = np.bincount(cells, minlength=judges * topics).reshape(judges, topics)
    found = np.bincount(cells[relevant], minlength=judges * topics).reshape(judges, topics)
    all_of, all_found = of.sum(axis=0), found.sum(axis=0)
    return [difference_by_topic(found[one], of[one], all_found - found[one], all_of - of[one]) for one in range(judges)]


def change_of_means(first: NDArray[np.float64], second: NDArray[np.float64]) -> Change | None:
    """The mean of the second values minus that of the first, with Welch's interval; None when either is empty."""
    if not first.size or not second.size:
        return None
    difference = float(second.mean() - first.mean())
    if first.size == 1 or second.size == 1:
        return Change(difference, None)
    errors = np.array([one.var(ddof=1) / one.size for one in (first, second)])
    if not errors.any():
        return Change(difference, None)
    degrees = errors.sum() ** 2 / (errors[0] ** 2 / (first.size - 1) + errors[1] ** 2 / (second.size - 1))
    return Change(difference, float(special().stdtrit(degrees, 0.975) * sqrt(errors.sum())))


def change_of_lenience(first: Lenience | None, second: Lenience | None) -> Change | None:
    """The lenience of the second minus that of the first, on different documents; None when either is None.

    Both are compared with the same others, which makes the interval too wide rather than too narrow.
    """
    if first is None or second is None:
        return None
    value = second.difference.value - first.difference.value
    one, other = first.difference.margin, second.difference.margin
    return Change(value, None if one is None or other is None else hypot(one, other))


MOST_STRETCHES = 10  # segments of a judge's work over time
FEWEST_IN_STRETCH = 5
MOST_GAPS = 8  # of the numbers in a table, for each value


@dataclass(frozen=True)
class Stretch:
    """A segment of the documents of a judge in order of judgement; the last is the `until`th that this judge graded.

    `agreement` and `difference` are None if no other judge has the same documents, or the same topics.
    """

    until: int
    relevant: float
    difference: float | None
    agreement: float | None


@dataclass(frozen=True)
class Drift:
    """The change from the first half of a judge's work to the second; None when a half has nothing to compare.

    `untimed` grades are left out: those of a file, which have no time of their own.
    `agreement`: with others on the same documents. `lenience`: the share found relevant less that of the others on the
    same topics, so that harder topics in one half do not count as a change of the judge.
    """

    agreement: Change | None
    lenience: Change | None
    untimed: int = 0


@dataclass(frozen=True)
class Work:
    """One judge's grades compared with those of the others.

    `agreement`: the mean share of the others' grades of the same document that are equal, over `shared` documents;
    None without such documents.
    """

    graded: int
    relevant: Share
    shared: int
    agreement: float | None
    lenience: Lenience | None
    drift: Drift
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, eq=False)
class _Words:
    """Columns of grades in order of time; `agreement` is NaN for documents that no other judge graded."""

    judge: NDArray[np.intp]
    topic: NDArray[np.intp]
    relevant: NDArray[np.bool_]
    agreement: NDArray[np.float64]
    of_topic: NDArray[np.int64]  # grades of all judges, by topic
    relevant_of_topic: NDArray[np.int64]


def work_of_judges(
    judges: ArrayLike,
    topics: ArrayLike,
    items: ArrayLike,
    grades: ArrayLike,
    relevant_from: int,
    timed: ArrayLike | None = None,
) -> dict[int, Work]:
    """Compare each judge with the others; columns have one entry a judge and item, in order of time.

    Drift is computed from the entries that are `timed`.
    """
    names, judge = _coded(np.asarray(judges, np.int64))
    if not names.size:
        return {}
    _, topic = _coded(np.asarray(topics, np.int64))
    grade = np.asarray(grades, np.int64)
    relevant = grade >= relevant_from
    words = _Words(
        judge,
        topic,
        relevant,
        _agreement_with_others(np.asarray(items, np.int64), grade),
        np.bincount(topic),
        np.bincount(topic, weights=relevant).astype(np.int64),
    )
    by_judge = np.split(np.argsort(judge, kind="stable"), np.cumsum(np.bincount(judge))[:-1])
    is_timed = np.ones(judge.size, np.bool_) if timed is None else np.asarray(timed, np.bool_)
    return {name: _work(words, own, own[is_timed[own]]) for name, own in zip(names.tolist(), by_judge, strict=True)}


def _agreement_with_others(items: NDArray[np.int64], grade: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each grade, the share of the item's other grades that are equal; NaN when there is no other."""
    item = _coded(items)[1]
    cell = _coded(item * (np.ptp(grade) + 1) + grade - grade.min())[1]
    of_item, same = np.bincount(item), np.bincount(cell)
    others = of_item[item] - 1
    agreement = np.full(grade.size, np.nan)
    np.divide(same[cell] - 1, others, out=agreement, where=others > 0)
    return agreement


def _coded(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct values in order, and the index of each value; without sorting where they lie close together."""
    least, most = values.min(initial=0), values.max(initial=0)
    if most - least > MOST_GAPS * values.size:
        names, codes = np.unique(values, return_inverse=True)
        return names, codes
    is_there = np.bincount(values - least, minlength=1) > 0
    is_there &= values.size > 0
    return np.flatnonzero(is_there) + least, (np.cumsum(is_there) - 1)[values - least]


def _work(words: _Words, own: NDArray[np.intp], timed: NDArray[np.intp]) -> Work:
    """Compute the statistics of the judge whose entries are `own`."""
    shared = _known(words.agreement[own])
    compare = _beside_others(words, own)
    halves = np.array_split(timed, 2)
    return Work(
        own.size,
        Share(int(words.relevant[own].sum()), own.size),
        shared.size,
        float(shared.mean()) if shared.size else None,
        compare(own),
        Drift(
            change_of_means(*(_known(words.agreement[half]) for half in halves)),
            change_of_lenience(*map(compare, halves)),
            own.size - timed.size,
        ),
        tuple(_stretches(words, timed, compare)) if timed.size else (),
    )


def _beside_others(words: _Words, own: NDArray[np.intp]) -> Callable[[NDArray[np.intp]], Lenience | None]:
    """Return a function from some of a judge's entries to their lenience against all others on the same topics."""
    size = words.of_topic.size
    own_of, own_relevant = _by_topic(words, own, size)
    others_of, others_relevant = words.of_topic - own_of, words.relevant_of_topic - own_relevant

    def compare(some: NDArray[np.intp]) -> Lenience | None:
        of, relevant = _by_topic(words, some, size)
        return difference_by_topic(relevant, of, others_relevant, others_of)

    return compare


def _by_topic(words: _Words, some: NDArray[np.intp], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    topic = words.topic[some]
    relevant = np.bincount(topic[words.relevant[some]], minlength=size)
    return np.bincount(topic, minlength=size), relevant


def _stretches(
    words: _Words, own: NDArray[np.intp], compare: Callable[[NDArray[np.intp]], Lenience | None]
) -> Iterator[Stretch]:
    """Split the work into segments of about equal length, not too short."""
    until = 0
    for some in np.array_split(own, max(1, min(MOST_STRETCHES, own.size // FEWEST_IN_STRETCH))):
        until += some.size
        lenience, agreement = compare(some), _known(words.agreement[some])
        yield Stretch(
            until,
            float(words.relevant[some].mean()),
            lenience.difference.value if lenience else None,
            float(agreement.mean()) if agreement.size else None,
        )


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


SECONDS_AN_HOUR = 3600
# The fastest reading rate is about 600 words a minute, scanning for a single word (Carver, "Reading rate",
# Journal of Reading 36, 1992; silent reading is near 240, Brysbaert, Journal of Memory and Language 109, 2019): of six
# characters each, 60 characters a second. A glance at a title may be enough to judge, so that no more than so many
# characters are counted: at most two seconds.
CHARACTERS_A_SECOND = 60
CHARACTERS_TO_SEE = 120


@dataclass(frozen=True)
class Pace:
    """The time a judge took for a document, over those with known seconds; half took the median or less."""

    documents: int
    median_seconds: float
    documents_an_hour: float


@dataclass(frozen=True)
class Streak:
    """Consecutive documents that were judged very fast: from `start`, counted from 0, up to before `stop`."""

    start: int
    stop: int
    median_seconds: float

    @property
    def length(self) -> int:
        """The number of documents."""
        return self.stop - self.start


def pace(seconds: Sequence[float]) -> Pace | None:
    """Compute the pace; None when no seconds are known.

    The median is the time of a typical document, and the total gives the rate an hour, to which a few long ones matter.
    """
    if not seconds or not (total := sum(seconds)):
        return None
    return Pace(len(seconds), float(np.median(seconds)), len(seconds) * SECONDS_AN_HOUR / total)


def fast_below(own: float, others: Sequence[float], fraction: float) -> float:
    """Return the threshold in seconds for a very fast judgement: a fraction of the greater of own and crowd's median.

    The crowd's is the median of the other judges' medians; without it, a judge who is always fast would never be
    flagged.
    """
    return fraction * max(own, median(others) if others else 0.0)


def least_seconds(characters: int) -> float:
    """The minimum number of seconds for any judge to read a document of this length."""
    return min(characters, CHARACTERS_TO_SEE) / CHARACTERS_A_SECOND


def fast_streaks(seconds: ArrayLike, below: ArrayLike, least_length: int) -> list[Streak]:
    """Find runs of at least `least_length` consecutive documents that each took less than its threshold in `below`.

    A document with unknown seconds, NaN, ends a streak.
    """
    times = np.asarray(seconds, np.float64)
    is_fast = np.concatenate([[False], times < np.asarray(below, np.float64), [False]])
    starts, stops = np.flatnonzero(~is_fast[:-1] & is_fast[1:]), np.flatnonzero(is_fast[:-1] & ~is_fast[1:])
    return [
        Streak(start, stop, float(np.median(times[start:stop])))
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        if stop - start >= least_length
    ]
