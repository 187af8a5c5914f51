"""Settles several judges' grades of one document into one grade, by a policy the organiser chooses.

`POLICIES` need the grades alone. `parse_policy` reads these and the ones that ask who gave a grade: the owner of the
topic, an adjudicator, a named judge, or where the line of relevance is; `settle_opinions` applies any of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Sentence

ONE_JUDGE = "judge:"
THIRD = 3


class Opinion(NamedTuple):
    """A judge's present grade of a pool item, with what a policy may ask about it.

    `place` is 1 for the judge who was the first to grade the item, 2 for the second, and 0 when nobody knows.
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
    by_third: NDArray[np.bool_]  # of each grade: whether the third judge of the item gave it
    first: NDArray[np.intp]  # of each item: where its grades begin
    count: NDArray[np.intp]  # of each item: how many grades, 1 or more


@dataclass(frozen=True)
class Policy:
    """How several grades of one document become one, and the sentence that says so.

    `heard` leaves of an item's opinions those that count, and `choose` settles them; an item of which none counts
    stays without a grade. Every policy chooses one of the grades that were given.
    """

    choose: Callable[[GradesByItem], NDArray[np.int64]]
    sentence: Sentence
    heard: Callable[[Sequence[Opinion], int], Sequence[Opinion]] = lambda opinions, _relevant_from: opinions


def majority(grades: GradesByItem) -> NDArray[np.int64]:
    """Choose the grade given most often; of several, the third judge's if it is one of them, else the lowest."""
    item = np.repeat(np.arange(grades.count.size), grades.count)
    differs = (item[1:] != item[:-1]) | (grades.grade[1:] != grades.grade[:-1])
    starts = np.flatnonzero(np.append(True, differs))  # one entry an item and grade
    votes = np.diff(starts, append=item.size)
    by_third = np.logical_or.reduceat(grades.by_third, starts)
    # Stable, so the lower of two grades stays in front.
    most_votes_first = np.lexsort((~by_third, -votes, item[starts]))
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


def owners(opinions: Sequence[Opinion], _relevant_from: int) -> list[Opinion]:
    """Hear the owner of the topic alone."""
    return [opinion for opinion in opinions if opinion.by_owner]


def any_relevant(opinions: Sequence[Opinion], relevant_from: int) -> list[Opinion]:
    """Hear, of an item that any judge finds relevant, those who do: the union of the relevant sets."""
    found = {opinion.item for opinion in opinions if opinion.grade >= relevant_from}
    return [opinion for opinion in opinions if opinion.grade >= relevant_from or opinion.item not in found]


def all_relevant(opinions: Sequence[Opinion], relevant_from: int) -> list[Opinion]:
    """Hear, of an item that any judge finds not relevant, those who do: the intersection of the relevant sets."""
    refused = {opinion.item for opinion in opinions if opinion.grade < relevant_from}
    return [opinion for opinion in opinions if opinion.grade < relevant_from or opinion.item not in refused]


def named_judge(name: str) -> Policy:
    """Take one judge's word and nobody else's."""

    def heard(opinions: Sequence[Opinion], _relevant_from: int) -> list[Opinion]:
        return [opinion for opinion in opinions if opinion.judge == name]

    return Policy(lowest, Sentence("The grades of one judge, %(judge)s, alone.", {"judge": name}), heard)


def adjudicated_else(policy: Policy, sentence: Sentence) -> Policy:
    """Hear, of an adjudicated item, its adjudicators alone, and of any other those whom the policy hears."""

    def heard(opinions: Sequence[Opinion], relevant_from: int) -> list[Opinion]:
        decided = {opinion.item for opinion in opinions if opinion.adjudicates}
        others = [opinion for opinion in opinions if opinion.item not in decided]
        return [*(opinion for opinion in opinions if opinion.adjudicates), *policy.heard(others, relevant_from)]

    return Policy(policy.choose, sentence, heard)


def parse_policy(name: str) -> Policy:
    """Read a policy: a name of `NAMED_POLICIES`, or `judge:NAME` for one judge's grades alone.

    Raises `InvalidValueError` for any other.
    """
    if name in NAMED_POLICIES:
        return NAMED_POLICIES[name]
    judge = name.removeprefix(ONE_JUDGE)
    if judge and judge != name:
        return named_judge(judge)
    raise InvalidValueError(
        "There is no consensus policy “%(policy)s”; the policies are: %(policies)s, and judge:NAME.",
        policy=name,
        policies=", ".join(NAMED_POLICIES),
    )


def settle_opinions(policy: Policy, opinions: Sequence[Opinion], relevant_from: int) -> dict[int, int]:
    """Settle opinions, at most one a judge and item, into {item: grade}, items ascending.

    Items on which nobody is heard are missing. Judgements that say only that a document cannot be judged are not among
    the opinions.
    """
    heard = policy.heard(opinions, relevant_from)
    columns = np.array([(one.item, one.grade, one.place == THIRD) for one in heard], np.int64).reshape(-1, 3)
    items, grades = _settle(policy, columns[:, 0], columns[:, 1], columns[:, 2].astype(np.bool_))
    return dict(zip(items.tolist(), grades.tolist(), strict=True))


def disputed_items(opinions: Iterable[Opinion], relevant_from: int | None = None) -> set[int]:
    """The items whose judges differ and that no adjudicator has decided.

    With `relevant_from`, those alone whose judges differ on whether the document is relevant.
    """
    given: dict[int, set[int]] = {}
    decided = set()
    for opinion in opinions:
        said = opinion.grade if relevant_from is None else int(opinion.grade >= relevant_from)
        given.setdefault(opinion.item, set()).add(said)
        if opinion.adjudicates:
            decided.add(opinion.item)
    return {item for item, said in given.items() if len(said) > 1} - decided


def settle_all(
    policy: str, items: NDArray[np.int64], grades: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Settle many items at once, given one entry a judgement; the result has one an item, ascending, and its grade.

    Who gave a grade and who was third is not known here, and the policies are those of `POLICIES` alone. Judgements
    that say only that a document cannot be judged are not among them. Raises `InvalidValueError` for an unknown policy.
    """
    if policy not in POLICIES:
        raise InvalidValueError(
            "There is no consensus policy “%(policy)s”; the policies are: %(policies)s.",
            policy=policy,
            policies=", ".join(POLICIES),
        )
    return _settle(POLICIES[policy], items, grades, np.zeros(items.size, np.bool_))


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


def _settle(
    policy: Policy, items: NDArray[np.int64], grades: NDArray[np.int64], by_third: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if items.size == 0:
        return items, grades
    order = np.lexsort((grades, items))
    settled, first, count = np.unique(items[order], return_index=True, return_counts=True)
    return settled, policy.choose(GradesByItem(grades[order], by_third[order], first, count))


# These need nothing but grades; of a tie, who was third is not known.
POLICIES = {
    "majority": Policy(
        majority, Sentence("The grade most judges gave; when several are given equally often, the lowest of them.")
    ),
    "median": Policy(median, Sentence("The middle grade; with an even number of judges, the lower of the two middle.")),
    "lowest": Policy(lowest, Sentence("The lowest grade any judge gave.")),
    "highest": Policy(highest, Sentence("The highest grade any judge gave.")),
}
_ALL_HEARD_OR_SOME = {
    "owner": Policy(lowest, Sentence("The grade of the topic's owner; without one, the document stays out."), owners),
    **POLICIES,
    "majority": Policy(
        majority,
        Sentence(
            "The grade most judges gave; when several are given equally often, the third judge's if it is one of them, "
            "otherwise the lowest of them."
        ),
    ),
    "any-relevant": Policy(
        median,
        Sentence(
            "Relevant as soon as one judge says so: the middle of the relevant grades, or of all if there is none."
        ),
        any_relevant,
    ),
    "all-relevant": Policy(
        median,
        Sentence(
            "Relevant only if every judge says so: the middle of the grades that are not relevant, or of all if there "
            "is none."
        ),
        all_relevant,
    ),
}
_ADJUDICATED_ELSE = {
    "owner": Sentence("The adjudicator's grade; where there is none, that of the topic's owner."),
    "majority": Sentence("The adjudicator's grade; where there is none, the one most judges gave."),
    "median": Sentence("The adjudicator's grade; where there is none, the middle one."),
    "lowest": Sentence("The adjudicator's grade; where there is none, the lowest."),
    "highest": Sentence("The adjudicator's grade; where there is none, the highest."),
    "any-relevant": Sentence("The adjudicator's grade; where there is none, relevant as soon as one judge says so."),
    "all-relevant": Sentence("The adjudicator's grade; where there is none, relevant only if every judge says so."),
}
NAMED_POLICIES = {
    **_ALL_HEARD_OR_SOME,
    **{
        f"adjudicated-else-{name}": adjudicated_else(_ALL_HEARD_OR_SOME[name], sentence)
        for name, sentence in _ADJUDICATED_ELSE.items()
    },
}
