"""Several judges' grades of one document become one."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import Opinion, disputed, settle
from thorough import examples

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.consensus import (
    ADJUDICATED_ELSE,
    NAMED_POLICIES,
    judge_of,
    parse_policy,
)

# These need nothing but grades, where nobody was third.
POLICIES = ("highest", "lowest", "majority", "median")

at_leisure = settings(max_examples=examples(60))


@pytest.mark.parametrize(
    ("grades", "majority", "median", "lowest", "highest"),
    [
        ([2], 2, 2, 2, 2),
        ([0, 2], 0, 0, 0, 2),
        ([3, 1, 3], 3, 3, 1, 3),
        ([0, 1, 2], 0, 1, 0, 2),
        ([3, 2, 3, 2], 2, 2, 2, 3),  # a tie of 2 and 3: the lower
        ([0, 0, 3, 3, 3], 3, 3, 0, 3),
        ([0, 1, 3, 3], 3, 1, 0, 3),
        ([-2, 1, 1], 1, 1, -2, 1),  # a scale may have grades below 0, such as spam
    ],
)
def test_each_policy_settles_by_its_rule(
    grades: list[int], majority: int, median: int, lowest: int, highest: int
) -> None:
    settled = {policy: settled_grade(policy, grades) for policy in POLICIES}
    assert settled == {"majority": majority, "median": median, "lowest": lowest, "highest": highest}


def settled_grade(policy: str, grades: list[int]) -> int:
    """The grades of one document, each by another judge of whom nobody knows when they came."""
    opinions = [Opinion(0, grade, str(number)) for number, grade in enumerate(grades)]
    return settle(policy, opinions, 1)[0]


def test_many_items_are_settled_each_by_its_own_grades() -> None:
    given_grades = [(9, 1), (4, 2), (9, 0), (4, 2), (9, 1)]
    opinions = [Opinion(item, grade, str(number)) for number, (item, grade) in enumerate(given_grades)]
    assert list(settle("majority", opinions, 1).items()) == [(4, 2), (9, 1)]
    assert settle("majority", [], 1) == {}


@at_leisure
@given(st.sampled_from(POLICIES), st.lists(st.integers(-2, 4), min_size=1))
def test_the_settled_grade_is_one_that_a_judge_gave(policy: str, grades: list[int]) -> None:
    assert settled_grade(policy, grades) in grades


@at_leisure
@given(st.sampled_from(POLICIES), st.integers(-2, 4), st.integers(1, 5))
def test_judges_who_agree_are_followed(policy: str, grade: int, judges: int) -> None:
    assert settled_grade(policy, [grade] * judges) == grade


# Jo owns the topic, Kim came second, Lou third, and Ada decides.
JO, KIM, LOU = Opinion(1, 0, "Jo", 1, by_owner=True), Opinion(1, 2, "Kim", 2), Opinion(1, 1, "Lou", 3)
ADA = Opinion(1, 3, "Ada", 4, adjudicates=True)


@pytest.mark.parametrize(
    ("policy", "of_two", "of_three", "adjudicated"),
    [
        # Jo 0 and Kim 2; then Lou 1; then Ada 3. Relevant from 2.
        ("owner", 0, 0, 0),
        ("majority", 0, 1, 1),  # the third judge settles the tie; of two, the lower
        ("median", 0, 1, 1),
        ("lowest", 0, 0, 0),
        ("highest", 2, 2, 3),
        ("any-relevant", 2, 2, 2),  # the middle of 2; of 2 and 3
        ("all-relevant", 0, 0, 0),  # the middle of 0; of 0 and 1, the lower
        ("judge:Kim", 2, 2, 2),
        ("judge:Lou", None, 1, 1),
        ("owner-else-majority", 0, 0, 0),
        ("adjudicated-else-owner", 0, 0, 3),
        ("adjudicated-else-owner-else-majority", 0, 0, 3),
        ("adjudicated-else-majority", 0, 1, 3),
        ("adjudicated-else-median", 0, 1, 3),
        ("adjudicated-else-lowest", 0, 0, 3),
        ("adjudicated-else-highest", 2, 2, 3),
        ("adjudicated-else-any-relevant", 2, 2, 3),
        ("adjudicated-else-all-relevant", 0, 0, 3),
    ],
)
def test_a_policy_hears_whom_it_says(policy: str, of_two: int | None, of_three: int, adjudicated: int) -> None:
    stages = [[JO, KIM], [JO, KIM, LOU], [JO, KIM, LOU, ADA]]
    found = [settle(policy, opinions, 2).get(1) for opinions in stages]
    assert found == [of_two, of_three, adjudicated]


@pytest.mark.parametrize(
    ("grades", "settled"),
    [
        ([0, 2, 2], 2),  # the third judge makes a majority
        ([2, 2, 0], 2),  # the third judge is outvoted
        ([2, 0, 1], 1),
        ([0, 0, 2, 2], 2),
        ([2, 2, 0, 0], 0),
        ([1, 1, 0, 2, 2], 1),  # the third judge's 0 is not among those given most often
    ],
)
def test_of_a_tie_the_third_judge_decides_if_what_they_gave_is_tied(grades: list[int], settled: int) -> None:
    opinions = [Opinion(7, grade, f"judge {place}", place) for place, grade in enumerate(grades, 1)]
    assert settle("majority", opinions, 1) == {7: settled}
    assert settle("majority", opinions[::-1], 1) == {7: settled}


def test_items_on_which_nobody_is_heard_are_left_out() -> None:
    opinions = [JO, KIM, Opinion(2, 1, "Kim", 1)]
    assert settle("owner", opinions, 1) == {1: 0}
    assert settle("judge:Nobody", opinions, 1) == {}
    assert settle("adjudicated-else-owner", [ADA, Opinion(2, 1, "Kim")], 1) == {1: 3}


# Jo owns the topic and graded only item 1; Kim came before Lou and Lou before Max.
OWNED_IN_PART = [
    JO,
    KIM,
    *(Opinion(2, grade, judge, place) for judge, grade, place in (("Kim", 2, 1), ("Lou", 0, 2), ("Max", 2, 3))),
    *(Opinion(3, grade, judge, place) for judge, grade, place in (("Kim", 2, 1), ("Lou", 1, 2))),
    *(Opinion(4, grade, judge, place) for judge, grade, place in (("Kim", 0, 1), ("Lou", 2, 2), ("Max", 1, 3))),
    *(Opinion(5, 1, "Kim", 1), Opinion(5, 0, "Ada", 2, adjudicates=True)),
]


@pytest.mark.parametrize(
    ("policy", "settled"),
    [
        ("owner", {1: 0}),
        ("adjudicated-else-owner", {1: 0, 5: 0}),
        # What the owner graded is the owner's; of the rest the majority's, ties as in that policy.
        ("owner-else-majority", {1: 0, 2: 2, 3: 1, 4: 1, 5: 0}),
        ("adjudicated-else-owner-else-majority", {1: 0, 2: 2, 3: 1, 4: 1, 5: 0}),
    ],
)
def test_what_the_owner_did_not_grade_has_the_majoritys_grade_or_none(policy: str, settled: dict[int, int]) -> None:
    assert settle(policy, OWNED_IN_PART, 1) == settled


def test_of_what_the_owner_did_not_grade_ties_are_broken_as_by_the_majority() -> None:
    without_owner = [opinion for opinion in OWNED_IN_PART if opinion.item != 1]
    by_majority = settle("majority", without_owner, 1)
    assert settle("owner-else-majority", without_owner, 1) == by_majority


@pytest.mark.parametrize(
    ("grades", "union", "intersection"),
    [
        ([0, 0, 3], 3, 0),
        ([1, 0, 1], 1, 0),
        ([1, 2, 3], 2, 2),  # all find it relevant: the middle
        ([0, 0], 0, 0),
        ([1, 3], 1, 1),
        ([0, 1, 3], 1, 0),
    ],
)
def test_union_and_intersection_of_the_relevant_sets(grades: list[int], union: int, intersection: int) -> None:
    opinions = [Opinion(7, grade, f"judge {place}") for place, grade in enumerate(grades)]
    found = [settle(f"{which}-relevant", opinions, 1)[7] for which in ("any", "all")]
    assert found == [union, intersection]


def test_items_in_dispute_are_those_that_differ_and_that_nobody_has_decided() -> None:
    opinions = [
        JO,
        KIM,
        Opinion(2, 2, "Jo"),
        Opinion(2, 3, "Kim"),
        Opinion(3, 1, "Jo"),
        Opinion(3, 1, "Kim"),
        Opinion(4, 0, "Jo"),
    ]
    assert disputed(opinions) == {1, 2}
    assert disputed([*opinions, ADA]) == {2}
    assert disputed([]) == set()


@pytest.mark.parametrize("name", ["vote", "judge:", "adjudicated-else-", "adjudicated-else-judge:Kim", ""])
def test_an_unknown_name_of_a_policy_is_refused(name: str) -> None:
    with pytest.raises(
        InvalidValueError,
        match=r"the policies are: owner, owner-else-majority, majority, majority-first, median, .*, and judge:NAME\.",
    ):
        parse_policy(name)


OPINION = st.builds(
    Opinion,
    st.integers(0, 4),
    st.integers(0, 3),
    st.sampled_from(["Jo", "Kim", "Lou"]),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
OPINIONS = st.lists(OPINION, max_size=12)
EVERY_POLICY = st.sampled_from([*NAMED_POLICIES, "judge:Kim"])


def by_the_rules(name: str, opinions: list[Opinion], relevant_from: int) -> int | None:
    """The grade of one item, read off the sentences of the policies."""
    if name.startswith(ADJUDICATED_ELSE):
        decisions = [one.grade for one in opinions if one.adjudicates]
        return (
            decisions[-1] if decisions else by_the_rules(name.removeprefix(ADJUDICATED_ELSE), opinions, relevant_from)
        )
    grades = sorted(one.grade for one in opinions)
    by_owner = [one.grade for one in opinions if one.by_owner]
    relevant = [grade for grade in grades if grade >= relevant_from]
    not_relevant = [grade for grade in grades if grade < relevant_from]
    if name in {"owner-else-majority", "majority", "majority-first"}:
        counted = [one for one in opinions if one.by_owner] if by_owner and name.startswith("owner") else opinions
        return by_majority(counted, THIRD if name != "majority-first" else THIRD_OR_FIRST)
    rules: dict[str, Callable[[], int | None]] = {
        "owner": lambda: min(by_owner, default=None),
        "median": lambda: grades[(len(grades) - 1) // 2],
        "lowest": lambda: grades[0],
        "highest": lambda: grades[-1],
        "any-relevant": lambda: middle(relevant or grades),
        "all-relevant": lambda: middle(not_relevant or grades),
        "judge:Kim": lambda: min((one.grade for one in opinions if one.judge == "Kim"), default=None),
    }
    return rules[name]()


THIRD, THIRD_OR_FIRST = (3,), (3, 1)


def middle(grades: list[int]) -> int:
    return grades[(len(grades) - 1) // 2]


def by_majority(opinions: list[Opinion], of_a_tie: tuple[int, ...]) -> int:
    given = [one.grade for one in opinions]
    tied = {grade for grade in given if given.count(grade) == max(map(given.count, given))}
    for place in of_a_tie:
        if preferred := [one.grade for one in opinions if one.place == place and one.grade in tied]:
            tied = set(preferred)
    return min(tied)


@at_leisure
@given(EVERY_POLICY, st.lists(OPINION, min_size=1, max_size=7).map(lambda few: [one._replace(item=1) for one in few]))
def test_every_policy_follows_its_rules(name: str, opinions: list[Opinion]) -> None:
    settled = by_the_rules(name, opinions, 2)
    assert settle(name, opinions, 2) == ({} if settled is None else {1: settled})


@at_leisure
@given(EVERY_POLICY, OPINIONS)
def test_every_policy_chooses_a_grade_that_was_given_to_the_item(name: str, opinions: list[Opinion]) -> None:
    settled = settle(name, opinions, 2)
    given_grades = {(opinion.item, opinion.grade) for opinion in opinions}
    assert settled.items() <= given_grades


@at_leisure
@given(EVERY_POLICY, OPINIONS)
def test_every_policy_settles_an_item_by_its_own_opinions(name: str, opinions: list[Opinion]) -> None:
    alone = {
        item: grade
        for wanted in {opinion.item for opinion in opinions}
        for item, grade in settle(name, [each for each in opinions if each.item == wanted], 2).items()
    }
    assert settle(name, opinions, 2) == alone


@at_leisure
@given(OPINIONS)
def test_relevance_follows_any_and_all(opinions: list[Opinion]) -> None:
    union, intersection = (settle(f"{which}-relevant", opinions, 2) for which in ("any", "all"))
    for item in {opinion.item for opinion in opinions}:
        relevant = [opinion.grade >= 2 for opinion in opinions if opinion.item == item]
        assert (union[item] >= 2, intersection[item] >= 2) == (any(relevant), all(relevant))


def test_a_policy_may_name_the_judge_whose_grades_it_takes() -> None:
    assert [judge_of(name) for name in ("judge:Kim", "judge:judge:x", "majority")] == ["Kim", "judge:x", None]


def test_every_policy_says_in_a_sentence_what_it_does() -> None:
    policies = [*NAMED_POLICIES.values(), parse_policy("judge:Kim")]
    assert all(str(policy.sentence).endswith(".") for policy in policies)
    assert len({str(policy.sentence) for policy in policies}) == len(policies)
    assert str(policies[-1].sentence) == "Only the grades of the judge Kim."


@pytest.mark.parametrize("name", [name for name in NAMED_POLICIES if name.startswith(ADJUDICATED_ELSE)])
def test_of_several_adjudicators_the_last_decides_whatever_the_rule_for_judges(name: str) -> None:
    judges = [Opinion(1, 0, "ann", 1, by_owner=True), Opinion(1, 2, "bob", 2)]
    deciding = [Opinion(1, grade, f"ada{grade}", 3, adjudicates=True) for grade in (2, 0, 1)]
    assert settle(name, [*judges, *deciding], 1) == {1: 1}
    assert settle(name, [*deciding[::-1], *judges], 1) == {1: 2}


def test_of_two_judges_who_differ_the_first_counts_by_majority_first() -> None:
    opinions = [Opinion(1, 2, "ana", 1), Opinion(1, 0, "ben", 2), Opinion(2, 0, "ben", 1), Opinion(2, 2, "ana", 2)]
    assert settle("majority-first", opinions, 1) == {1: 2, 2: 0}
    assert settle("majority", opinions, 1) == {1: 0, 2: 0}
    three = [Opinion(1, 0, "ana", 1), Opinion(1, 1, "ben", 2), Opinion(1, 2, "cem", 3)]
    assert settle("majority-first", three, 1) == {1: 2}
    agreed = [Opinion(1, 2, "ana", 1), Opinion(1, 1, "ben", 2), Opinion(1, 1, "cem", 3), Opinion(1, 2, "dan", 4)]
    assert settle("majority-first", agreed, 1) == {1: 1}
    unknown = [Opinion(1, 2, "ana"), Opinion(1, 1, "ben")]
    assert settle("majority-first", unknown, 1) == {1: 1}
    decided = [*opinions, Opinion(1, 1, "eve", 3, adjudicates=True)]
    assert settle("adjudicated-else-majority-first", decided, 1) == {1: 1, 2: 0}


def test_an_overlap_sample_is_graded_as_high_as_the_documents_judged_once() -> None:
    random = np.random.default_rng(1)
    first, second = random.integers(0, 4, 4_000), random.integers(0, 4, 4_000)
    opinions = [
        Opinion(item, grade, judge, place)
        for item, grades in enumerate(zip(first.tolist(), second.tolist(), strict=True))
        for place, (judge, grade) in enumerate(zip(("ana", "ben"), grades, strict=True), start=1)
    ]
    means = {
        policy: float(np.mean(list(settle(policy, opinions, 1).values())))
        for policy in ("majority-first", "majority", "highest")
    }
    assert means["majority-first"] == float(first.mean())
    assert means["majority"] < float(first.mean()) - 0.5
    assert means["highest"] > float(first.mean()) + 0.5
