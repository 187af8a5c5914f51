"""How one judge's grades stand beside the others': lenience, agreement, and how both change as the work goes on.

Nothing here says that a judge is bad: the figures say where to look.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.judge_shares import (
    Change,
    Lenience,
    Share,
    change_of_lenience,
    change_of_means,
    difference_by_topic,
)

MOST_STRETCHES = 10  # into which the work of a judge is cut, to be looked at over time
FEWEST_IN_STRETCH = 5


@dataclass(frozen=True)
class Stretch:
    """Some documents judged one after the other, the last of them being the `until`th that this judge graded.

    `agreement` and `difference` are None without others on the same documents, or on the same topics.
    """

    until: int
    relevant: float
    difference: float | None
    agreement: float | None


@dataclass(frozen=True)
class Drift:
    """What changed from the first half of a judge's work to the second, each None when a half has nothing to compare.

    `untimed` grades are left out: those that came in a file have its order, and no time of their own.
    `agreement`: with others on the same documents. `lenience`: the share found relevant less that of the others on the
    same topics, so that harder topics in one half do not count as a change of the judge.
    """

    agreement: Change | None
    lenience: Change | None
    untimed: int = 0


@dataclass(frozen=True)
class Work:
    """What one judge's grades say beside those of the others.

    `agreement`: the share of the others' grades of the same documents that are the same, over `shared` documents; None
    without such documents.
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
    """Grades a column each, in the order in which they were given; `agreement` is NaN where no other judge graded."""

    judge: NDArray[np.intp]
    topic: NDArray[np.intp]
    relevant: NDArray[np.bool_]
    agreement: NDArray[np.float64]
    of_topic: NDArray[np.int64]  # grades, by topic, of all judges
    relevant_of_topic: NDArray[np.int64]


def work_of_judges(
    judges: Sequence[int],
    topics: Sequence[int],
    items: Sequence[int],
    grades: Sequence[int],
    relevant_from: int,
    timed: Sequence[bool] | None = None,
) -> dict[int, Work]:
    """Compare each judge with the others; a column each, one entry a judge and item, in the order in time.

    Where some entries are not `timed`, what changed over time is told of the others.
    """
    if not judges:
        return {}
    names, judge = np.unique(np.array(judges), return_inverse=True)
    _, topic = np.unique(np.array(topics), return_inverse=True)
    grade = np.array(grades)
    relevant = grade >= relevant_from
    words = _Words(
        judge,
        topic,
        relevant,
        _agreement_with_others(np.array(items), grade),
        np.bincount(topic),
        np.bincount(topic, weights=relevant).astype(np.int64),
    )
    by_judge = np.split(np.argsort(judge, kind="stable"), np.cumsum(np.bincount(judge))[:-1])
    is_timed = np.ones(judge.size, np.bool_) if timed is None else np.array(timed, np.bool_)
    return {name: _work(words, own, own[is_timed[own]]) for name, own in zip(names.tolist(), by_judge, strict=True)}


def _agreement_with_others(items: NDArray[np.int64], grade: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each grade, the share of the item's other grades that are the same; NaN when there is no other."""
    _, item, of_item = np.unique(items, return_inverse=True, return_counts=True)
    _, cell, same = np.unique(item * (np.ptp(grade) + 1) + grade - grade.min(), return_inverse=True, return_counts=True)
    others = of_item[item] - 1
    agreement = np.full(grade.size, np.nan)
    np.divide(same[cell] - 1, others, out=agreement, where=others > 0)
    return agreement


def _work(words: _Words, own: NDArray[np.intp], timed: NDArray[np.intp]) -> Work:
    """Of one judge, whose entries are `own`, and those `timed` in the order in time."""
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
    """How some of a judge's entries compare with all that the others said of the same topics."""
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
    """Cut the work into stretches of about the same length, as many as make sense."""
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
