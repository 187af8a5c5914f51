"""Several judges' grades of one document become one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.consensus import POLICIES, settle, settle_all, settle_each

JUDGEMENTS = st.lists(st.tuples(st.integers(0, 6), st.integers(-2, 4)), max_size=40)


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
    settled = {policy: settle(policy, grades) for policy in POLICIES}
    assert settled == {"majority": majority, "median": median, "lowest": lowest, "highest": highest}


def test_many_items_are_settled_each_by_its_own_grades() -> None:
    items, grades = settle_all("majority", np.array([9, 4, 9, 4, 9]), np.array([1, 2, 0, 2, 1]))
    assert items.tolist() == [4, 9]
    assert grades.tolist() == [2, 1]


def test_plain_pairs_are_settled_as_arrays_are() -> None:
    assert settle_each("lowest", [(9, 1), (4, 2), (9, 0)]) == {4: 2, 9: 0}
    assert settle_each("lowest", []) == {}


@given(st.sampled_from(sorted(POLICIES)), JUDGEMENTS)
def test_settling_all_at_once_agrees_with_one_at_a_time(policy: str, judgements: list[tuple[int, int]]) -> None:
    columns = np.array(judgements, np.int64).reshape(-1, 2)
    items, grades = settle_all(policy, columns[:, 0], columns[:, 1])
    assert dict(zip(items.tolist(), grades.tolist(), strict=True)) == {
        item: settle(policy, [grade for other, grade in judgements if other == item]) for item, _ in judgements
    }


@given(st.sampled_from(sorted(POLICIES)), st.lists(st.integers(-2, 4), min_size=1))
def test_the_settled_grade_is_one_that_a_judge_gave(policy: str, grades: list[int]) -> None:
    assert settle(policy, grades) in grades


@given(st.sampled_from(sorted(POLICIES)), st.integers(-2, 4), st.integers(1, 5))
def test_judges_who_agree_are_followed(policy: str, grade: int, judges: int) -> None:
    assert settle(policy, [grade] * judges) == grade


def test_an_unknown_policy_is_refused_by_naming_the_known() -> None:
    with pytest.raises(InvalidValueError, match=r"“vote”; the policies are: majority, median, lowest, highest\."):
        settle("vote", [1])


def test_no_grade_at_all_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no grade to settle"):
        settle("majority", [])


def test_every_policy_says_in_a_sentence_what_it_does() -> None:
    assert all(str(policy.sentence).endswith(".") for policy in POLICIES.values())
    assert len({str(policy.sentence) for policy in POLICIES.values()}) == len(POLICIES)
