"""Consensus: combines several judges' grades of one document into one, by a policy the organiser chooses.

A policy may depend on the judge of a grade (the owner of the topic, an adjudicator, a named judge) and on the least
relevant grade. `parse_policy` parses any policy, and `settle_opinions` applies it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Sentence

ONE_JUDGE = "judge:"
ADJUDICATED_ELSE = "adjudicated-else-"
FIRST, THIRD = 1, 3


class Opinion(NamedTuple):
    """A judge's current grade of a pool item, with the attributes that policies use.

    Of several adjudications of an item, the last one in a list decides.
    `place` is 1 for the judge who was the first to grade the item, 2 for the second, and 0 when that is unknown.
    """

    item: int
    grade: int
    judge: str
    place: int = 0
    by_owner: bool = False
    adjudicates: bool = False


@dataclass(frozen=True, eq=False)
class GradesByItem:
    """Grades by item, and within an item from the lowest to the highest."""

    grade: NDArray[np.int64]
    place: NDArray[
        np.intp
    ]  # of each grade: position of its judge in the order of first judgement, from 1; 0 if unknown
    first: NDArray[np.intp]  # of each item: index of its first grade
    count: NDArray[np.intp]  # of each item: number of grades, 1 or more


@dataclass(frozen=True)
class Policy:
    """A rule that combines several grades of one document, and its description.

    `counted` selects the opinions that count, and `choose` combines them; an item without counted opinions has no
    grade. Every policy chooses one of the given grades, so an item on which all agree keeps its grade,
    unless the policy `needs_its_judge`, whose grade may be missing.
    """

    choose: Callable[[GradesByItem], NDArray[np.int64]]
    sentence: Sentence
    counted: Callable[[Sequence[Opinion], int], Sequence[Opinion]] | None = None  # None: all opinions count
    needs_its_judge: bool = False


def majority(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the most frequent grade; in a tie, the third judge's if it is one of them, else the lowest."""
    return _most_votes(grades, grades.place == THIRD)


def majority_first(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the most frequent grade; in a tie, the third judge's if it is one of them, else the first judge's.

    Where the overlap sample is judged twice, the first judge's grade keeps it comparable with the documents that have
    only one: the lowest would lower it, the highest raise it, document by document that the two differ on.
    """
    return _most_votes(grades, grades.place == THIRD, grades.place == FIRST)


def _most_votes(grades: GradesByItem, *preferred: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Choose the most frequent grade; in a tie, the one that a preferred judge gave, else the lowest."""
    item = np.repeat(np.arange(grades.count.size), grades.count)
    differs = (item[1:] != item[:-1]) | (grades.grade[1:] != grades.grade[:-1])
    starts = np.flatnonzero(np.append(True, differs))  # one entry for each item and grade
    votes = np.diff(starts, append=item.size)
    # The last key is the primary one. Stable, so the lower of two grades stays first.
    passed_over = [~np.logical_or.reduceat(one, starts) for one in reversed(preferred)]
    most_votes_first = np.lexsort((*passed_over, -votes, item[starts]))
    _, first = np.unique(item[starts], return_index=True)
    return grades.grade.take(starts[most_votes_first[first]])


def median(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the median; of two middle grades, the lower."""
    return grades.grade.take(grades.first + (grades.count - 1) // 2)


def lowest(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the lowest grade."""
    return grades.grade.take(grades.first)


def highest(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the highest grade."""
    return grades.grade.take(grades.first + grades.count - 1)


def owners(opinions: Sequence[Opinion], _relevant_from: int) -> list[Opinion]:
    """Count only the grade of the topic's owner; none when the owner has not judged."""
    return [opinion for opinion in opinions if opinion.by_owner]


def owners_else_everybody(opinions: Sequence[Opinion], _relevant_from: int) -> list[Opinion]:
    """Count only the owner's grade for items that the owner graded, all grades for the others."""
    owned = {opinion.item for opinion in opinions if opinion.by_owner}
    return [opinion for opinion in opinions if opinion.by_owner or opinion.item not in owned]


def any_relevant(opinions: Sequence[Opinion], relevant_from: int) -> list[Opinion]:
    """For an item that any judge finds relevant, count only the relevant grades: the union of the relevant sets."""
    found = {opinion.item for opinion in opinions if opinion.grade >= relevant_from}
    return [opinion for opinion in opinions if opinion.grade >= relevant_from or opinion.item not in found]


def all_relevant(opinions: Sequence[Opinion], relevant_from: int) -> list[Opinion]:
    """For an item that any judge finds not relevant, count only those grades: the intersection of the relevant sets."""
    refused = {opinion.item for opinion in opinions if opinion.grade < relevant_from}
    return [opinion for opinion in opinions if opinion.grade < relevant_from or opinion.item not in refused]


def named_judge(name: str) -> Policy:
    """Count only the grades of one judge."""

    def counted(opinions: Sequence[Opinion], _relevant_from: int) -> list[Opinion]:
        return [opinion for opinion in opinions if opinion.judge == name]

    return Policy(
        lowest, Sentence("Only the grades of the judge %(judge)s.", {"judge": name}), counted, needs_its_judge=True
    )


def adjudicated_else(policy: Policy, sentence: Sentence) -> Policy:
    """For an adjudicated item count only its last adjudication, for others what the policy counts."""

    def counted(opinions: Sequence[Opinion], relevant_from: int) -> list[Opinion]:
        decided = {opinion.item: opinion for opinion in opinions if opinion.adjudicates}
        others = [opinion for opinion in opinions if opinion.item not in decided]
        if policy.counted is not None:
            others = list(policy.counted(others, relevant_from))
        return [*decided.values(), *others]

    return Policy(policy.choose, sentence, counted, policy.needs_its_judge)


def asks_for_owner(policy: str) -> bool:
    """Whether a policy treats the grade of the topic's owner specially."""
    return judge_of(policy) is None and "owner" in policy.split("-")


def judge_of(policy: str) -> str | None:
    """The name of the only judge a policy counts, None for other policies."""
    name = policy.removeprefix(ONE_JUDGE)
    return name if name != policy else None


def parse_policy(name: str) -> Policy:
    """Parse a policy: a name in `NAMED_POLICIES`, or `judge:NAME` for one judge's grades alone.

    Raises `InvalidValueError` for any other.
    """
    if name in NAMED_POLICIES:
        return NAMED_POLICIES[name]
    judge = judge_of(name)
    if judge:
        return named_judge(judge)
    raise InvalidValueError(
        "There is no consensus policy “%(policy)s”; the policies are: %(policies)s, and judge:NAME.",
        policy=name,
        policies=", ".join(NAMED_POLICIES),
    )


def settle_opinions(policy: Policy, opinions: Sequence[Opinion], relevant_from: int) -> dict[int, int]:
    """Combine opinions, at most one a judge and item, into {item: grade}, items ascending.

    Items without a counted opinion are missing. A document that a judge could not judge has no opinion.
    """
    counted = opinions if policy.counted is None else policy.counted(opinions, relevant_from)
    columns = ([opinion.item for opinion in counted], [opinion.grade for opinion in counted])
    return settle_grades(policy, *columns, [opinion.place for opinion in counted])


def settle_grades(policy: Policy, items: Sequence[int], grades: Sequence[int], places: Sequence[int]) -> dict[int, int]:
    """Combine grades that all count, given as columns, into {item: grade}, items ascending."""
    if not items:
        return {}
    item, grade = np.array(items, np.int64), np.array(grades, np.int64)
    order = np.lexsort((grade, item))
    settled, first, count = np.unique(item[order], return_index=True, return_counts=True)
    chosen = policy.choose(GradesByItem(grade[order], np.array(places, np.intp)[order], first, count))
    return dict(zip(settled.tolist(), chosen.tolist(), strict=True))


def disputed_items(opinions: Iterable[Opinion], relevant_from: int | None = None) -> set[int]:
    """Return the items whose judges disagree and that are not adjudicated.

    With `relevant_from`, only those whose judges disagree on whether the document is relevant.
    """
    given: dict[int, set[int]] = {}
    decided = set()
    for opinion in opinions:
        grade = opinion.grade if relevant_from is None else int(opinion.grade >= relevant_from)
        given.setdefault(opinion.item, set()).add(grade)
        if opinion.adjudicates:
            decided.add(opinion.item)
    return {item for item, grades in given.items() if len(grades) > 1} - decided


_NOT_ADJUDICATED = {
    "owner": Policy(
        lowest,
        Sentence("The grade of the topic's owner; without one, the document stays out."),
        owners,
        needs_its_judge=True,
    ),
    "owner-else-majority": Policy(
        majority,
        Sentence(
            "The grade of the topic's owner; without one, the grade most judges gave; ties: the third "
            "judge decides, otherwise the lowest grade."
        ),
        owners_else_everybody,
    ),
    "majority": Policy(
        majority,
        Sentence("The grade most judges gave; ties: the third judge decides, otherwise the lowest grade."),
    ),
    "majority-first": Policy(
        majority_first,
        Sentence("The grade most judges gave; ties: the third judge decides, otherwise the judge who judged first."),
    ),
    "median": Policy(
        median, Sentence("The median grade; with an even number of judges, the lower of the two in the middle.")
    ),
    "lowest": Policy(lowest, Sentence("The lowest grade any judge gave.")),
    "highest": Policy(highest, Sentence("The highest grade any judge gave.")),
    "any-relevant": Policy(
        median,
        Sentence(
            "Relevant if any judge finds it relevant: the median of the relevant grades, or of all if there is none."
        ),
        any_relevant,
    ),
    "all-relevant": Policy(
        median,
        Sentence(
            "Relevant only if every judge finds it relevant: the median of the grades that are not relevant, or of "
            "all if there is none."
        ),
        all_relevant,
    ),
}
_ADJUDICATED = {
    "owner": Sentence("The adjudicators' latest grade; where there is none, that of the topic's owner."),
    "owner-else-majority": Sentence(
        "The adjudicators' latest grade; where there is none, that of the topic's owner; where the owner gave none, "
        "the grade most judges gave; ties: the third judge decides, otherwise the lowest grade."
    ),
    "majority": Sentence("The adjudicators' latest grade; where there is none, the one most judges gave."),
    "majority-first": Sentence(
        "The adjudicators' latest grade; where there is none, the one most judges gave; ties: the judge who "
        "judged first."
    ),
    "median": Sentence("The adjudicators' latest grade; where there is none, the median."),
    "lowest": Sentence("The adjudicators' latest grade; where there is none, the lowest."),
    "highest": Sentence("The adjudicators' latest grade; where there is none, the highest."),
    "any-relevant": Sentence(
        "The adjudicators' latest grade; where there is none, relevant if any judge finds it relevant."
    ),
    "all-relevant": Sentence(
        "The adjudicators' latest grade; where there is none, relevant only if every judge finds it relevant."
    ),
}
NAMED_POLICIES = {
    **_NOT_ADJUDICATED,
    **{
        f"{ADJUDICATED_ELSE}{name}": adjudicated_else(_NOT_ADJUDICATED[name], sentence)
        for name, sentence in _ADJUDICATED.items()
    },
}
