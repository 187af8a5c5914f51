"""Labels become numbers, and the whole report comes from them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import code_labels, krippendorff_alpha
from thorough import examples

from annotator.errors import InvalidValueError
from annotator.evaluation.agreement.kappa import (
    Weighting,
    mean_difference,
    negative_agreement,
    overlap,
    positive_agreement,
    same_grade,
)
from annotator.evaluation.agreement.labels import Labels, confusion_matrix, kinds_of
from annotator.evaluation.agreement.many_judges import Level, fleiss_kappa
from annotator.evaluation.agreement.report import (
    Moment,
    OverTime,
    agreement_of_all,
    agreement_of_judges,
    agreement_of_pairs,
    agreement_of_topics,
    agreement_on_grades,
    interval_of_all,
    running_alpha,
    running_kappa,
)
from annotator.evaluation.agreement.results import Undefined

at_leisure = settings(max_examples=examples(60))

SCALE = (0, 1, 2)
# Item, topic, judge, grade. Jo and Kim share 1, 2, 3 and 5; Lou shares 1 with both and 4 with nobody.
JUDGED = [
    (1, "7", "Jo", 0),
    (1, "7", "Kim", 0),
    (2, "7", "Kim", 2),
    (2, "7", "Jo", 1),
    (3, "9", "Jo", 2),
    (3, "9", "Kim", 2),
    (1, "7", "Lou", 1),
    (4, "9", "Lou", 2),
    (5, "9", "Jo", 0),
    (5, "9", "Kim", 1),
]


def labels_of(rows: list[tuple[int, str, str, int]], scale: tuple[int, ...] = SCALE) -> Labels:
    items = [item for item, *_ in rows]
    topics, judges = [row[1] for row in rows], [row[2] for row in rows]
    return code_labels(items, topics, judges, [row[3] for row in rows], scale)


def test_labels_are_coded_by_item_judge_topic_and_place_in_the_scale() -> None:
    labels = labels_of(JUDGED)
    assert (labels.items, labels.judges, labels.topics) == (5, ("Jo", "Kim", "Lou"), ("7", "9"))
    assert labels.grade_counts.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 2], [0, 0, 1], [1, 1, 0]]


def test_of_two_judgements_of_one_judge_the_later_counts() -> None:
    twice = [(1, "7", "Jo", 0), (1, "7", "Kim", 2), (1, "7", "Jo", 2)]
    assert labels_of(twice).grade_counts.tolist() == [[0, 0, 2]]


def test_grades_outside_the_scale_are_refused_all_of_them() -> None:
    with pytest.raises(InvalidValueError, match="The grades 5, 9 are not in the scale"):
        labels_of([(1, "7", "Jo", 9), (1, "7", "Kim", 5), (2, "7", "Kim", 1)])


def test_pairs_are_measured_on_what_both_graded() -> None:
    jo_kim, jo_lou, kim_lou = agreement_of_pairs(labels_of(JUDGED), 1)
    assert [(pair.first, pair.second) for pair in (jo_kim, jo_lou, kim_lou)] == [
        ("Jo", "Kim"),
        ("Jo", "Lou"),
        ("Kim", "Lou"),
    ]
    assert jo_kim.kappa.confusion.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 1]]
    # Both relevant: 2 and 3. Either: 2, 3 and 5. Jo's 0, 1, 2, 0 less Kim's 0, 2, 2, 1 is -2, over 4 documents.
    assert (jo_kim.same.value, jo_kim.overlap.value, jo_kim.difference.value) == (2 / 4, 2 / 3, -2 / 4)
    assert (jo_kim.positive.value, jo_kim.negative.value) == (2 * 2 / 5, 2 * 1 / 3)
    assert jo_lou.kappa.n == 1


def test_each_topic_grade_and_judge_is_measured_by_itself() -> None:
    labels = labels_of(JUDGED)
    seven, nine = agreement_of_topics(labels, Level.NOMINAL)
    # Topic 7: items 1 (0, 0, 1) and 2 (1, 2): of 5 grades, each 0 is shared by one of the two other judges.
    assert (seven.topic, seven.items_shared) == ("7", 2)
    assert seven.same.value == pytest.approx((1 / 2 + 1 / 2) / 5)
    alone = [row for row in JUDGED if row[1] == "7"]
    assert seven.alpha.value == krippendorff_alpha(labels_of(alone).grade_counts, SCALE, Level.NOMINAL).value
    assert (nine.topic, nine.items_shared) == ("9", 2)
    assert nine.same.value == pytest.approx(2 / 4)
    # Grade 1 was given to shared documents 1, 2 and 5, each time by one judge.
    assert [found.same.value for found in agreement_on_grades(labels)] == [
        pytest.approx(1 / 3),
        0,
        pytest.approx(2 / 3),
    ]
    jo, _, lou = agreement_of_judges(labels)
    # Lou's 1 against two times 0.
    assert (lou.judge, lou.pairs, lou.difference.value) == ("Lou", 2, 1)
    assert (jo.pairs, jo.difference.value) == (5, -3 / 5)


def test_all_together_are_measured_by_every_coefficient() -> None:
    labels = labels_of(JUDGED)
    report = agreement_of_all(labels, 1)
    assert (report.judgements, report.items, report.items_shared) == (10, 5, 4)
    assert report.alpha[Level.ORDINAL] == krippendorff_alpha(labels.grade_counts, SCALE, Level.ORDINAL)
    assert report.fleiss.reason is Undefined.UNEQUAL_NUMBERS
    # Only item 1 was graded by all three, 0, 0 and 1.
    assert report.overlap.value == 0


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], Undefined.NO_JUDGEMENT),
        ([(1, "7", "Jo", 0), (2, "7", "Jo", 1)], Undefined.ONE_JUDGE),
        ([(1, "7", "Jo", 0), (2, "7", "Kim", 1)], Undefined.NO_SHARED_DOCUMENT),
        ([(1, "7", "Jo", 1), (1, "7", "Kim", 1)], Undefined.SINGLE_GRADE_OF_ALL),
    ],
)
def test_where_nothing_can_be_compared_the_report_says_why(
    rows: list[tuple[int, str, str, int]], reason: Undefined
) -> None:
    labels = labels_of(rows)
    report = agreement_of_all(labels, 1)
    assert {found.reason for found in [*report.alpha.values(), report.fleiss, report.conger]} == {reason}
    assert all(pair.kappa.value is None for pair in agreement_of_pairs(labels, 1))
    assert all(judge.kappa.value is None for judge in agreement_of_judges(labels))
    assert all(topic.alpha.value is None for topic in agreement_of_topics(labels))
    assert len(agreement_on_grades(labels)) == 3
    assert interval_of_all(labels).interval is None
    assert all(moment.value is None for moment in running_alpha(labels).moments)


def test_a_judge_whose_documents_nobody_else_graded_is_told_so() -> None:
    rows = [(1, "7", "Jo", 1), (1, "7", "Kim", 1), (2, "7", "Lou", 0)]
    jo, _, lou = agreement_of_judges(labels_of(rows))
    assert (lou.pairs, lou.kappa.reason, lou.difference.reason) == (0, Undefined.ALONE, Undefined.ALONE)
    assert (jo.pairs, jo.kappa.reason, jo.difference.value) == (1, Undefined.SINGLE_GRADE_OF_ALL, 0)


def test_two_judges_with_nothing_in_common_get_a_reason_for_every_figure() -> None:
    (pair,) = agreement_of_pairs(labels_of([(1, "7", "Jo", 0), (2, "7", "Kim", 1)]), 1)
    figures = [pair.scott, pair.gwet, pair.uniform, pair.same, pair.positive, pair.negative, pair.overlap]
    assert {figure.reason for figure in [*figures, pair.difference]} == {Undefined.NO_OVERLAP}
    assert pair.kappa.reason is Undefined.NO_OVERLAP


def test_shares_without_a_document_to_divide_by_say_so() -> None:
    table = np.array([[[3, 0], [0, 0]]])
    assert positive_agreement(table, 1)[0].reason is Undefined.NOTHING_RELEVANT
    assert overlap(table, 1)[0].reason is Undefined.NOTHING_RELEVANT
    assert negative_agreement(table[:, ::-1, ::-1], 1)[0].reason is Undefined.EVERYTHING_RELEVANT
    assert (negative_agreement(table, 1)[0].value, same_grade(table)[0].value) == (1, 1)


def test_the_relevant_sets_depend_on_the_least_relevant_grade() -> None:
    # Rows 0 to 2. From 1: both 4 + 1 + 2 + 3 = 10, either 16 - 5 = 11. From 2: both 3, either 3 + 2 + 1 = 6.
    table = np.array([[[5, 1, 0], [0, 4, 1], [0, 2, 3]]])
    assert [overlap(table, least)[0].value for least in (1, 2)] == [10 / 11, 3 / 6]
    assert positive_agreement(table, 2)[0].value == 2 * 3 / (4 + 5)


def test_who_is_stricter_is_told_in_grades_not_in_places() -> None:
    # On the scale 0, 1, 4 the first judge gave 1 where the second gave 4: -3 over two documents.
    assert mean_difference(np.array([[[1, 0, 0], [0, 0, 1], [0, 0, 0]]]), [0, 1, 4])[0].value == -3 / 2


def test_kappa_runs_over_the_documents_both_had_graded_by_then() -> None:
    moments = running_kappa(labels_of(JUDGED), "Jo", "Kim").moments
    # 1: one grade only. 1, 2: (0, 0), (1, 2): p_o = 1/2, p_e = 1/4. 3: p_o = 2/3, p_e = (1 + 0 + 2) / 9.
    # 5: p_o = 1/2, p_e = (2 x 1 + 1 x 1 + 1 x 2) / 16.
    expected = [None, 1 / 3, 1 / 2, (8 - 5) / 11]
    assert [moment.items for moment in moments] == [1, 2, 3, 4]
    assert [moment.value for moment in moments] == [value and pytest.approx(value) for value in expected]


def test_lines_over_time_end_with_the_value_of_now_and_have_no_more_points_than_wanted() -> None:
    labels = labels_of(JUDGED)
    (pair, *_) = agreement_of_pairs(labels, 1, Weighting.LINEAR)
    assert running_kappa(labels, "Jo", "Kim", Weighting.LINEAR, points=2).moments[-1] == Moment(4, pair.kappa.value)
    for points in (1, 2, 3, 50):
        moments = running_alpha(labels, Level.ORDINAL, points).moments
        assert len(moments) == min(points, 4)
        assert moments[-1].items == 4
        assert moments[-1].value == pytest.approx(krippendorff_alpha(labels.grade_counts, SCALE, Level.ORDINAL).value)


def test_over_time_only_grades_with_a_time_of_their_own_count() -> None:
    items, judges = [item for item in range(6) for _ in "ab"], [*"ab"] * 6
    topics, given = ["7"] * 12, [0, 1, 1, 1, 0, 0, 2, 1, 2, 2, 0, 0]
    # What b says of the first two documents came in a file.
    own_time = [item > 1 or judge == "a" for item, judge in zip(items, judges, strict=True)]
    labels = code_labels(items, topics, judges, given, SCALE, own_time=own_time)
    timed = code_labels(items[4:], topics[4:], judges[4:], given[4:], SCALE)
    alpha, kappa = running_alpha(labels), running_kappa(labels, "a", "b")
    assert (alpha.left_out, kappa.left_out) == (2, 2)
    assert (alpha.moments, kappa.moments) == (running_alpha(timed).moments, running_kappa(timed, "a", "b").moments)
    assert [moment.items for moment in kappa.moments] == [1, 2, 3, 4]
    of_files = code_labels(items, topics, judges, given, SCALE, own_time=[False] * 12)
    assert running_alpha(of_files) == running_kappa(of_files, "a", "b") == OverTime((), 12)
    # All the rest is measured of all grades.
    assert agreement_of_all(of_files, 1).items_shared == 6


def test_the_intervals_of_a_pair_contain_its_kappa() -> None:
    rows = [
        (item, str(item // 12), judge, (item * (place + 1) // 5) % 3)
        for item in range(60)
        for place, judge in enumerate("ab")
    ]
    labels = labels_of(rows)
    (pair,) = agreement_of_pairs(labels, 1)
    assert pair.kappa.value is not None
    for interval in (pair.by_topics.interval, pair.kappa.interval):
        assert interval is not None
        assert interval[0] < pair.kappa.value < interval[1]
    assert pair.by_topics.topics == interval_of_all(labels).topics == 5


ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.just("1"), st.sampled_from(["Jo", "Kim", "Lou", "Max"]), st.sampled_from(SCALE)),
    max_size=16,
)


@at_leisure
@given(ROWS)
def test_the_matrices_of_all_pairs_are_those_of_each_pair(rows: list[tuple[int, str, str, int]]) -> None:
    labels = labels_of(rows)
    given_by: dict[str, dict[int, int]] = {}
    for item, _, judge, grade in rows:
        given_by.setdefault(judge, {})[item] = grade
    expected = []
    for one, other in combinations(sorted(given_by), 2):
        common = sorted(given_by[one].keys() & given_by[other].keys())
        first, second = (np.array([given_by[name][item] for item in common], np.int64) for name in (one, other))
        expected.append(confusion_matrix(first, second, SCALE).tolist())
    assert labels.pair_confusions.tolist() == expected


@at_leisure
@given(ROWS)
def test_a_report_of_two_judges_is_symmetric(rows: list[tuple[int, str, str, int]]) -> None:
    pairs = agreement_of_pairs(labels_of([row for row in rows if row[2] in {"Jo", "Kim"}]), 1)
    swapped = agreement_of_pairs(
        labels_of(
            [(row[0], row[1], {"Jo": "Z", "Kim": "A"}[row[2]], row[3]) for row in rows if row[2] in {"Jo", "Kim"}]
        ),
        1,
    )
    for pair, other in zip(pairs, swapped, strict=True):
        assert (pair.kappa.value, pair.scott, pair.gwet) == (other.kappa.value, other.scott, other.gwet)
        assert (pair.uniform, pair.same, pair.positive) == (other.uniform, other.same, other.positive)
        assert (pair.negative, pair.overlap) == (other.negative, other.overlap)
        if pair.difference.value is not None and other.difference.value is not None:
            assert pair.difference.value == -other.difference.value


@at_leisure
@given(ROWS)
def test_shares_lie_between_0_and_1_and_overlap_never_exceeds_positive_agreement(
    rows: list[tuple[int, str, str, int]],
) -> None:
    for pair in agreement_of_pairs(labels_of(rows), 1):
        for share in (pair.same, pair.positive, pair.negative, pair.overlap):
            assert (share.value is None) == (share.reason is not None)
            assert share.value is None or 0 <= share.value <= 1
        if pair.overlap.value is not None and pair.positive.value is not None:
            assert pair.overlap.value <= pair.positive.value
        if pair.kappa.value is not None and pair.kappa.observed is not None:
            assert pair.kappa.value <= pair.kappa.observed


@at_leisure
@given(st.lists(st.lists(st.integers(0, 400), min_size=9, max_size=9), max_size=8))
def test_kinds_are_the_different_rows_however_large_their_counts(rows: list[list[int]]) -> None:
    counts = np.array([*rows, *rows[:3]], np.int64).reshape(-1, 9)
    kinds, kind = kinds_of(counts)
    assert kinds[kind].tolist() == counts.tolist()
    assert len(kinds) == len({tuple(row) for row in counts.tolist()})


def test_fleiss_kappa_of_a_complete_design_is_in_the_report() -> None:
    labels = labels_of([row for row in JUDGED if row[2] != "Lou"])
    assert agreement_of_all(labels, 1).fleiss == fleiss_kappa(labels.grade_counts)
