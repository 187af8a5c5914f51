"""Consensus: combines several judges' grades of one document into one, by a policy the organiser chooses.

A policy may depend on the judge of a grade (the owner of the topic, an adjudicator, a named judge) and on the least
relevant grade. `parse_policy` parses any policy, and `settle_opinions` applies it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.qrels.topic_judgements import Flags, Ids, begins_of

ONE_JUDGE = "judge:"
ADJUDICATED_ELSE = "adjudicated-else-"
FIRST, THIRD = 1, 3
NOBODY = -1


@dataclass(frozen=True, eq=False)
class Opinions:
    """Judges' current grades as columns, at most one a judge and item; the opinions on an item stand together.

    `place` is 1 for the judge who was the first to grade the item, 2 for the second, and 0 when that is unknown. Of
    several adjudications of an item, the last one decides. `judges` maps names to the numbers in `judge`.
    """

    item: Ids
    grade: Ids
    judge: Ids
    place: Ids
    by_owner: Flags
    adjudicates: Flags
    is_machine: Flags
    judges: Mapping[str, int]

    @classmethod
    def of(
        cls,
        items: Sequence[int],
        grades: Sequence[int],
        judges: Sequence[str],
        places: Sequence[int],
        by_owner: Sequence[bool],
        adjudicates: Sequence[bool],
        is_machine: Sequence[bool],
    ) -> "Opinions":
        """Take columns in any order of the items."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(judges))}
        item = np.array(items, np.int64)
        order = np.argsort(item, kind="stable")
        judge = np.array([numbers[name] for name in judges], np.int64)
        grade, place = (np.array(column, np.int64)[order] for column in (grades, places))
        owns, decides, machine = (np.array(column, np.bool_)[order] for column in (by_owner, adjudicates, is_machine))
        return cls(item[order], grade, judge[order], place, owns, decides, machine, numbers)

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The index of the first opinion on each item."""
        return np.flatnonzero(begins_of(self.item))

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """The number of each opinion's item, from 0."""
        return np.cumsum(begins_of(self.item)) - 1

    def any(self, flags: Flags) -> Flags:
        """For each item whether any of its opinions has the flag."""
        return np.logical_or.reduceat(flags, self.first) if flags.size else flags

    def lowest(self, values: Ids) -> Ids:
        """For each item the lowest of its opinions' values."""
        return np.asarray(np.minimum.reduceat(values, self.first)) if values.size else values

    def highest(self, values: Ids) -> Ids:
        """For each item the highest of its opinions' values."""
        return np.asarray(np.maximum.reduceat(values, self.first)) if values.size else values


@dataclass(frozen=True, eq=False)
class GradesByItem:
    """Grades by item, and within an item from the lowest to the highest."""

    grade: Ids
    place: Ids  # of each grade: position of its judge in the order of first judgement, from 1; 0 if unknown
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
    counted: Callable[[Opinions, int], Flags] | None = None  # None: all opinions count
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


def owners(opinions: Opinions, _relevant_from: int) -> Flags:
    """Count only the grade of the topic's owner; none when the owner has not judged."""
    return opinions.by_owner


def owners_else_everybody(opinions: Opinions, _relevant_from: int) -> Flags:
    """Count only the owner's grade for items that the owner graded, all grades for the others."""
    return _else_all(opinions, opinions.by_owner)


def any_relevant(opinions: Opinions, relevant_from: int) -> Flags:
    """For an item that any judge finds relevant, count only the relevant grades: the union of the relevant sets."""
    return _else_all(opinions, opinions.grade >= relevant_from)


def all_relevant(opinions: Opinions, relevant_from: int) -> Flags:
    """For an item that any judge finds not relevant, count only those grades: the intersection of the relevant sets."""
    return _else_all(opinions, opinions.grade < relevant_from)


def _else_all(opinions: Opinions, preferred: Flags) -> Flags:
    """Count the preferred opinions of items that have any, all of the others."""
    return preferred | ~opinions.any(preferred)[opinions.group]


def named_judge(name: str) -> Policy:
    """Count only the grades of one judge."""

    def counted(opinions: Opinions, _relevant_from: int) -> Flags:
        return np.asarray(opinions.judge == opinions.judges.get(name, NOBODY), np.bool_)

    return Policy(
        lowest, Sentence("Only the grades of the judge %(judge)s.", {"judge": name}), counted, needs_its_judge=True
    )


def adjudicated_else(policy: Policy, sentence: Sentence) -> Policy:
    """For an adjudicated item count only its last adjudication, for others what the policy counts."""

    def counted(opinions: Opinions, relevant_from: int) -> Flags:
        last = opinions.highest(np.where(opinions.adjudicates, np.arange(opinions.item.size), NOBODY))
        is_decided = last > NOBODY
        counts = ~is_decided[opinions.group]
        if policy.counted is not None:
            counts &= policy.counted(opinions, relevant_from)
        counts[last[is_decided]] = True
        return counts

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


def settle_opinions(policy: Policy, opinions: Opinions, relevant_from: int) -> tuple[Flags, Ids]:
    """Combine opinions; returns for each item, in their order, whether it has a grade, and the grade, else 0.

    Items without a counted opinion have none. A document that a judge could not judge has no opinion.
    """
    low, high = opinions.lowest(opinions.grade), opinions.highest(opinions.grade)
    # Most items have one grade, which every policy chooses, unless it lacks its judge.
    concerned = np.ones(low.size, np.bool_) if policy.needs_its_judge else low != high
    counts = concerned[opinions.group]
    if policy.counted is not None and counts.any():
        counts = counts & policy.counted(opinions, relevant_from)
    item, grade, place = (column[counts] for column in (opinions.group, opinions.grade, opinions.place))
    has_grade, grades = ~concerned, np.where(concerned, 0, low)
    if item.size:
        order = np.lexsort((grade, item))
        item = item[order]
        first = np.flatnonzero(begins_of(item))
        by_item = GradesByItem(grade[order], place[order], first, np.diff(first, append=item.size))
        grades[item[first]] = policy.choose(by_item)
        has_grade[item[first]] = True
    return has_grade, grades


def disputed_items(opinions: Opinions) -> Flags:
    """For each item whether its human judges disagree, and no person has adjudicated it."""
    bounds = np.iinfo(np.int64)
    low = opinions.lowest(np.where(opinions.is_machine, bounds.max, opinions.grade))
    high = opinions.highest(np.where(opinions.is_machine, bounds.min, opinions.grade))
    return (low < high) & ~decided_items(opinions)


def decided_items(opinions: Opinions) -> Flags:
    """For each item whether a person has adjudicated it."""
    return opinions.any(opinions.adjudicates & ~opinions.is_machine)


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
