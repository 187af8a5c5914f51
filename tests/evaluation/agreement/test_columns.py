"""Labels from columns are those that plain lists give, and what is counted beside them."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import code_labels

from annotator.evaluation.agreement.columns import Upheld, code_columns, same_grade_of_any_two, upheld
from annotator.evaluation.agreement.report import agreement_of_pairs
from annotator.evaluation.agreement.results import Undefined
from annotator.evaluation.qrels.topic_judgements import ADJUDICATES, CARRIED, CURRENT, OWN_TIME, JudgementColumns

GRADES = (0, 1, 2)
JUDGES = {7: "kim", 9: "jo", 11: "ana"}
TOPICS = {3: "t3", 1: "t1", 5: "t5"}
TOPIC_OF_ITEM = [1, 1, 3, 5, 8]  # topic 8 does not count


def columns(rows: Sequence[tuple[int, int, int]], *, flags: int = CURRENT) -> JudgementColumns:
    """Judge, item and grade, the earliest first."""
    table = [
        (TOPIC_OF_ITEM[item], item, id_, judge, grade, flags | own_time(judge) * OWN_TIME)
        for id_, (judge, item, grade) in enumerate(rows, start=1)
    ]
    topic, item, id_, judge, grade, flag = np.array(sorted(table), np.int64).reshape(-1, 6).T
    nothing = np.zeros(id_.size, np.int64)
    return JudgementColumns(
        id_, topic, item, item, judge, nothing, grade, flag, nothing, nothing.astype(np.float64), ()
    )


def own_time(judge: int) -> bool:
    """Kim's labels came in a file."""
    return judge != 7


Said = dict[tuple[int, int], int]
said = st.dictionaries(st.tuples(st.sampled_from([7, 9, 11, 13]), st.integers(0, 4)), st.sampled_from(GRADES))


@given(said)
def test_columns_give_the_labels_that_lists_give(said: Said) -> None:
    rows = [(judge, item, grade) for (judge, item), grade in said.items()]
    coded = code_columns(columns(rows), JUDGES, TOPICS, GRADES)
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


@pytest.mark.parametrize("flags", [0, CURRENT | CARRIED, CURRENT | ADJUDICATES])
def test_earlier_carried_and_deciding_grades_are_not_independent(flags: int) -> None:
    assert code_columns(columns([(7, 0, 2)], flags=flags), JUDGES, TOPICS, GRADES).items == 0


def test_nothing_said_gives_labels_without_entries() -> None:
    labels = code_columns(columns([]), {}, {}, GRADES)
    assert (labels.items, labels.judges, agreement_of_pairs(labels, 1)) == (0, (), [])
    assert same_grade_of_any_two(labels).reason is Undefined.NO_SHARED_DOCUMENT


def test_any_two_grades_of_a_document_are_the_same_so_often() -> None:
    # Item 0: 2 2 1 by three judges, so three pairs, one alike; item 1: 0 0, one pair, alike. 2 of 4.
    rows = [(7, 0, 2), (9, 0, 2), (11, 0, 1), (7, 1, 0), (9, 1, 0), (11, 2, 1)]
    labels = code_columns(columns(rows), JUDGES, TOPICS, GRADES)
    assert same_grade_of_any_two(labels).value == 0.5


def test_judges_are_upheld_where_the_decision_is_their_grade() -> None:
    rows = [(7, 0, 2), (9, 0, 1), (7, 1, 0), (9, 1, 1), (11, 2, 2), (7, 4, 0)]
    decided = {0: 2, 1: 1, 4: 0}  # item 4 is of a topic that does not count
    given_grades = columns(rows)
    assert upheld(given_grades, JUDGES, TOPICS, decided) == [Upheld("jo", 2, 1), Upheld("kim", 2, 1)]
    assert upheld(given_grades, JUDGES, TOPICS, {0: 2})[1].share == 1.0
    assert upheld(given_grades, JUDGES, TOPICS, {}) == []
