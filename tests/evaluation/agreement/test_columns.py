"""Labels from columns are those that plain lists give, and what is counted beside them."""

from array import array
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from labelled import code_labels

from annotator.evaluation.agreement.columns import Columns, Upheld, code_columns, same_grade_of_any_two, upheld
from annotator.evaluation.agreement.report import agreement_of_pairs
from annotator.evaluation.agreement.results import Undefined

GRADES = (0, 1, 2)
JUDGES = {7: "kim", 9: "jo", 11: "ana"}
TOPICS = {3: "t3", 1: "t1", 5: "t5"}
TOPIC_OF_ITEM = [3, 3, 1, 5, 8]  # topic 8 does not count


def columns(rows: Sequence[tuple[int, int, int]]) -> Columns:
    """Judge, item and grade, the earliest first."""
    table = [(id_, judge, item, TOPIC_OF_ITEM[item], grade) for id_, (judge, item, grade) in enumerate(rows, start=1)]
    ids, judges, items, topics, grades = list(zip(*table, strict=True)) or [()] * 5
    own_times = [own_time(judge) for judge in judges]
    return (
        *(array("q", ids), array("q", judges), array("q", items)),
        *(array("q", topics), array("q", grades), array("q", own_times)),
    )


def own_time(judge: int) -> bool:
    """Kim's labels came in a file."""
    return judge != 7


Said = dict[tuple[int, int], int]
said = st.dictionaries(st.tuples(st.sampled_from([7, 9, 11, 13]), st.integers(0, 4)), st.sampled_from(GRADES))


@given(said)
def test_columns_give_the_labels_that_lists_give(said: Said) -> None:
    rows = [(judge, item, grade) for (judge, item), grade in said.items()]
    coded = code_columns([(frozenset([7, 9, 11, 13]), columns(rows))], JUDGES, TOPICS, GRADES)
    counting = [row for row in rows if row[0] in JUDGES and TOPIC_OF_ITEM[row[1]] in TOPICS]
    expected = code_labels(
        [item for _, item, _ in counting],
        [TOPICS[TOPIC_OF_ITEM[item]] for _, item, _ in counting],
        [JUDGES[judge] for judge, _, _ in counting],
        [grade for _, _, grade in counting],
        GRADES,
        own_time=[own_time(judge) for judge, _, _ in counting],
    )
    assert coded.judges == expected.judges
    assert [coded.topics[place] for place in coded.topic] == [expected.topics[place] for place in expected.topic]
    for name in ("item", "judge", "grade", "moment", "own_time"):
        np.testing.assert_array_equal(getattr(coded, name), getattr(expected, name), err_msg=name)


@given(said, st.frozensets(st.sampled_from([7, 9, 11, 13])))
def test_each_judge_is_taken_from_the_piece_that_holds_what_counts(said: Said, newer: frozenset[int]) -> None:
    rows = [(judge, item, grade) for (judge, item), grade in said.items()]
    # Of the newer ones the older piece knows another grade.
    older = [(judge, item, (grade + 1) % 3 if judge in newer else grade) for judge, item, grade in rows]
    everybody = frozenset([7, 9, 11, 13])
    whole = code_columns([(everybody, columns(rows))], JUDGES, TOPICS, GRADES)
    pieces = [(everybody - newer, columns(older)), (newer, columns(rows))]
    parted = code_columns(pieces, JUDGES, TOPICS, GRADES)
    np.testing.assert_array_equal(parted.grade, whole.grade)
    np.testing.assert_array_equal(parted.pair_confusions, whole.pair_confusions)


def test_nothing_said_gives_labels_without_entries() -> None:
    labels = code_columns([], {}, {}, GRADES)
    assert (labels.items, labels.judges, agreement_of_pairs(labels, 1)) == (0, (), [])
    assert same_grade_of_any_two(labels).reason is Undefined.NO_SHARED_DOCUMENT


def test_any_two_grades_of_a_document_are_the_same_so_often() -> None:
    # Item 0: 2 2 1 by three judges, so three pairs, one alike; item 1: 0 0, one pair, alike. 2 of 4.
    rows = [(7, 0, 2), (9, 0, 2), (11, 0, 1), (7, 1, 0), (9, 1, 0), (11, 2, 1)]
    labels = code_columns([(frozenset(JUDGES), columns(rows))], JUDGES, TOPICS, GRADES)
    assert same_grade_of_any_two(labels).value == 0.5


def test_judges_are_upheld_where_the_decision_is_their_grade() -> None:
    rows = [(7, 0, 2), (9, 0, 1), (7, 1, 0), (9, 1, 1), (11, 2, 2), (7, 4, 0)]
    decided = {0: 2, 1: 1, 4: 0}  # item 4 is of a topic that does not count
    pieces = [(frozenset(JUDGES), columns(rows))]
    assert upheld(pieces, JUDGES, TOPICS, decided) == [Upheld("jo", 2, 1), Upheld("kim", 2, 1)]
    assert upheld(pieces, JUDGES, TOPICS, {0: 2})[1].share == 1.0
    assert upheld(pieces, JUDGES, TOPICS, {}) == []
