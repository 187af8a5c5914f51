"""Settles several judges' grades of one document into one grade, by a policy the organiser chooses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Sentence


@dataclass(frozen=True, eq=False)
class GradesByItem:
    """Grades by item, and within an item from the lowest to the highest."""

    grade: NDArray[np.int64]
    first: NDArray[np.intp]  # of each item: where its grades begin
    count: NDArray[np.intp]  # of each item: how many grades, 1 or more


@dataclass(frozen=True)
class Policy:
    """How several grades of one document become one, and the sentence that says so."""

    choose: Callable[[GradesByItem], NDArray[np.int64]]
    sentence: Sentence


def majority(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the grade given most often; of several, the lowest."""
    item = np.repeat(np.arange(grades.count.size), grades.count)
    differs = (item[1:] != item[:-1]) | (grades.grade[1:] != grades.grade[:-1])
    starts = np.flatnonzero(np.append(True, differs))  # one entry an item and grade
    votes = np.diff(starts, append=item.size)
    most_votes_first = np.lexsort((-votes, item[starts]))  # stable, so the lower of two grades stays in front
    _, first = np.unique(item[starts], return_index=True)
    return grades.grade.take(starts[most_votes_first[first]])


def median(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the middle grade; of two in the middle, the lower."""
    return grades.grade.take(grades.first + (grades.count - 1) // 2)


def lowest(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the lowest grade."""
    return grades.grade.take(grades.first)


def highest(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the highest grade."""
    return grades.grade.take(grades.first + grades.count - 1)


def settle_all(
    policy: str, items: NDArray[np.int64], grades: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Settle many items at once, given one entry a judgement; the result has one an item, ascending, and its grade.

    Judgements that say only that a document cannot be judged are not among them. Raises `InvalidValueError` for an
    unknown policy.
    """
    if policy not in POLICIES:
        raise InvalidValueError(
            "There is no consensus policy “%(policy)s”; the policies are: %(policies)s.",
            policy=policy,
            policies=", ".join(POLICIES),
        )
    if items.size == 0:
        return items, grades
    order = np.lexsort((grades, items))
    settled, first, count = np.unique(items[order], return_index=True, return_counts=True)
    return settled, POLICIES[policy].choose(GradesByItem(grades[order], first, count))


def settle_each(policy: str, judgements: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Settle (item, grade) pairs, one a judgement, into {item: grade}; `settle_all` on plain values."""
    pairs = np.array(judgements, np.int64).reshape(-1, 2)
    items, grades = settle_all(policy, pairs[:, 0], pairs[:, 1])
    return dict(zip(items.tolist(), grades.tolist(), strict=True))


def settle(policy: str, grades: Sequence[int]) -> int:
    """Settle the grades of one document.

    Raises `InvalidValueError` for an unknown policy and when there is no grade.
    """
    if not grades:
        raise InvalidValueError("Nobody has graded this document, so there is no grade to settle.")
    _, settled = settle_all(policy, np.zeros(len(grades), np.int64), np.array(grades, np.int64))
    return int(settled[0])


POLICIES = {
    "majority": Policy(
        majority, Sentence("The grade most judges gave; when several are given equally often, the lowest of them.")
    ),
    "median": Policy(median, Sentence("The middle grade; with an even number of judges, the lower of the two middle.")),
    "lowest": Policy(lowest, Sentence("The lowest grade any judge gave.")),
    "highest": Policy(highest, Sentence("The highest grade any judge gave.")),
}
