"""Rankings joined with qrels: by number or as matched, with condensed lists and strata."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics.join_qrels import judge_matched, judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.qrels.qrels_table import QrelsTable

Documents = NDArray[np.int32]

LISTS = st.lists(st.integers(0, 12), unique=True)
QRELS = st.dictionaries(st.integers(0, 12), st.integers(-2, 3))


def documents(*numbers: int) -> Documents:
    return np.array(numbers, np.int32)


def table_of(qrels: Mapping[int, Mapping[int, int]], strata: Mapping[int, int] | None = None) -> QrelsTable:
    """Make a table of `{topic: {document: grade}}`; `strata` gives a document's stratum in every topic."""
    entries = [(number, grade) for grades in qrels.values() for number, grade in grades.items()]
    return QrelsTable(
        topics=tuple(str(topic) for topic in qrels),
        first=np.cumsum([0, *(len(grades) for grades in qrels.values())]),
        docnos=np.array([str(number).encode() for number, _ in entries], np.bytes_),
        grades=np.array([grade for _, grade in entries], np.int16),
        strata=None if strata is None else np.array([strata[number] for number, _ in entries], np.int32),
    )


def matched(lists: Sequence[Sequence[int]], qrels: Mapping[int, Mapping[int, int]]) -> MatchedRun:
    """Match a run's lists, one a topic of the qrels, one document at a time."""
    rows = []
    before = 0
    for topic, (ranking, grades) in enumerate(zip(lists, qrels.values(), strict=True)):
        places = {number: before + place for place, number in enumerate(grades)}
        rows += [(topic, rank, places[number]) for rank, number in enumerate(ranking, 1) if number in places]
        before += len(grades)
    return MatchedRun(
        tag="run",
        retrieved=np.array([len(ranking) for ranking in lists], np.intp),
        topic=np.array([row[0] for row in rows], np.intp),
        rank=np.array([row[1] for row in rows], np.int32),
        entry=np.array([row[2] for row in rows], np.intp),
        other_topics=0,
    )


def columns(judged: JudgedRankings) -> dict[str, list[int]]:
    """Say all there is in a batch."""
    parts: dict[str, NDArray[np.integer]] = {
        "ranking": judged.ranking,
        "rank": judged.rank,
        "grade": judged.grade,
        "first_row": judged.first_row,
        "retrieved": judged.retrieved,
        "topic": judged.topic,
        "topic_grade": judged.topic_grade,
        "topic_first": judged.topic_first,
        "unjudged_ranking": judged.unjudged.ranking,
        "unjudged_rank": judged.unjudged.rank,
        "of_row": judged.strata.of_row,
        "of_unjudged": judged.strata.of_unjudged,
        "of_grade": judged.strata.of_grade,
        "stratum_topic": judged.strata.topic,
        "pooled": judged.strata.pooled,
    }
    return {name: part.tolist() for name, part in parts.items()}


def test_the_join_keeps_what_is_retrieved_and_listed() -> None:
    rankings = [(7, documents(5, 1, 9, 2)), (8, documents(1, 3)), (7, documents(2)), (9, documents(4))]
    # Ranking 0 finds 1 (grade 2) at rank 2 and 2 (grade 0) at rank 4; 5 is pooled but unjudged, 9 unknown.
    assert columns(judge_rankings(rankings, {7: {1: 2, 2: 0, 5: -1, 6: 3}, 8: {3: 1}})) == {
        "ranking": [0, 0, 1, 2],
        "rank": [2, 4, 2, 1],
        "grade": [2, 0, 1, 0],
        "first_row": [0, 2, 3, 4, 4],
        "retrieved": [4, 2, 1, 1],
        "topic": [0, 1, 0, 2],
        "topic_grade": [3, 2, 0, 1],
        "topic_first": [0, 3, 4, 4],
        "unjudged_ranking": [0],
        "unjudged_rank": [1],
        # Every topic's pool is one stratum.
        "of_row": [0, 0, 1, 0],
        "of_unjudged": [0],
        "of_grade": [0, 0, 0, 1],
        "stratum_topic": [0, 1, 2],
        "pooled": [4, 1, 0],
    }


def test_a_document_judged_for_one_topic_is_unjudged_for_the_next() -> None:
    judged = judge_rankings([(1, documents(4, 5)), (2, documents(4, 5))], {1: {4: 1}, 2: {5: 1}})
    assert judged.rank.tolist() == [1, 2]


def test_documents_numbered_above_all_judged_ones_are_unjudged() -> None:
    judged = judge_rankings([(1, documents(4, 5, 2**31 - 1))], {1: {4: 1}})
    assert judged.rank.tolist() == [1]


def test_relevant_rows_know_what_stands_above_them() -> None:
    judged = judge_rankings([(1, documents(1, 2, 9, 3, 4)), (1, documents(4, 1))], {1: {1: 0, 2: 2, 3: 0, 4: 1, 5: 1}})
    rows = judged.at_least(1)
    assert rows.ranking.tolist() == [0, 0, 1]
    assert rows.rank.tolist() == [2, 5, 1]
    assert rows.grade.tolist() == [2, 1, 1]
    assert rows.nth.tolist() == [1, 2, 1]
    assert rows.nonrelevant_above.tolist() == [1, 2, 0]
    assert rows.precision.tolist() == [1 / 2, 2 / 5, 1]
    assert rows.retrieved.tolist() == [2, 1]
    assert rows.existing.tolist() == [3, 3]
    assert judged.at_least(1) is rows


def test_a_higher_bar_turns_relevant_documents_into_judged_ones_above() -> None:
    judged = judge_rankings([(1, documents(1, 2))], {1: {1: 1, 2: 2}})
    assert judged.at_least(1).nonrelevant_above.tolist() == [0, 0]
    assert judged.at_least(2).nonrelevant_above.tolist() == [1]


def test_topics_know_their_grades() -> None:
    rankings = [(topic, documents()) for topic in (1, 2, 3, 4)]
    judged = judge_rankings(rankings, {1: {1: 0, 2: 3}, 2: {1: -1}, 4: {1: 1, 2: 1, 3: 0}})
    assert judged.best_grade.tolist() == [3, 0, 0, 1]
    assert judged.existing(1).tolist() == [1, 0, 0, 2]
    assert judged.existing(2).tolist() == [1, 0, 0, 0]


def test_condensed_lists_are_without_unjudged_documents() -> None:
    rankings = [(1, documents(9, 1, 5, 2)), (1, documents(9)), (1, documents(2, 1))]
    condensed = judge_rankings(rankings, {1: {1: 1, 2: 0, 5: -1, 6: 2}}).judged_only
    assert condensed.ranking.tolist() == [0, 0, 2, 2]
    assert condensed.rank.tolist() == [1, 2, 1, 2]
    assert condensed.grade.tolist() == [1, 0, 0, 1]
    assert condensed.retrieved.tolist() == [2, 0, 2]
    assert condensed.unjudged.ranking.tolist() == condensed.unjudged.rank.tolist() == []
    assert condensed.strata.of_unjudged.tolist() == []
    assert condensed.at_least(1).rank.tolist() == [1, 2]
    assert condensed.at_least(1).existing.tolist() == [2, 2, 2]


@given(st.lists(LISTS, max_size=4), QRELS)
def test_condensed_lists_are_what_is_joined_without_unjudged_documents(
    lists: list[list[int]], grades: dict[int, int]
) -> None:
    condensed = judge_rankings([(1, documents(*numbers)) for numbers in lists], {1: grades}).judged_only
    shorter = [[number for number in numbers if grades.get(number, -1) >= 0] for numbers in lists]
    joined = judge_rankings([(1, documents(*numbers)) for numbers in shorter], {1: grades})
    assert columns(condensed) == columns(joined)
    for grade in (1, 2):
        for name in ("ranking", "rank", "nth", "nonrelevant_above", "retrieved", "existing"):
            one, other = (getattr(batch.at_least(grade), name).tolist() for batch in (condensed, joined))
            assert one == other, name


@given(
    st.dictionaries(st.integers(0, 9), QRELS, min_size=1, max_size=3),
    st.lists(st.lists(LISTS, min_size=3, max_size=3), min_size=1, max_size=3),
)
def test_matched_runs_join_as_numbered_rankings_do(
    qrels: dict[int, dict[int, int]], runs: list[list[list[int]]]
) -> None:
    runs = [lists[: len(qrels)] for lists in runs]
    joined = judge_matched(table_of(qrels), [matched(lists, qrels) for lists in runs])
    numbered = judge_rankings(
        [(topic, documents(*numbers)) for lists in runs for topic, numbers in zip(qrels, lists, strict=True)], qrels
    )
    assert columns(joined) == columns(numbered)


def test_strata_are_numbered_over_all_topics() -> None:
    qrels = {1: {1: 1, 2: 0, 3: -1, 4: 2}, 2: {1: 0, 3: -1}}
    strata = {1: 0, 2: 0, 3: 5, 4: 5}
    judged = judge_matched(table_of(qrels, strata), [matched([[3, 4, 9, 1], [3, 1]], qrels)])
    # Of topic 1 the stratum with 1 and 2, and that with 3 and 4; of topic 2 one with 1, and one with 3.
    assert judged.strata.topic.tolist() == [0, 0, 1, 1]
    assert judged.strata.pooled.tolist() == [2, 2, 1, 1]
    assert judged.grade.tolist() == [2, 1, 0]
    assert judged.strata.of_row.tolist() == [1, 0, 2]
    assert judged.unjudged.ranking.tolist() == [0, 1]
    assert judged.strata.of_unjudged.tolist() == [1, 3]
    assert judged.topic_grade.tolist() == [2, 1, 0, 0]
    assert judged.strata.of_grade.tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize("rankings", [[], [(1, documents())]])
def test_nothing_to_join_gives_an_empty_batch(rankings: list[tuple[int, Documents]]) -> None:
    judged = judge_rankings(rankings, {})
    assert judged.rank.size == 0
    assert judged.retrieved.tolist() == [0] * len(rankings)
    assert judged.at_least(1).existing.tolist() == [0] * len(rankings)
    assert judged.judged_only.retrieved.tolist() == [0] * len(rankings)


@pytest.mark.parametrize("grade", [2**15, -(2**15), -(2**15) - 1])
def test_a_grade_too_large_for_the_table_is_refused(grade: int) -> None:
    with pytest.raises(InvalidValueError, match="Grades must lie between -32767 and 32767"):
        judge_rankings([(1, documents(1))], {1: {1: grade}})


@given(
    st.lists(st.tuples(st.integers(1, 3), LISTS), max_size=6),
    st.dictionaries(st.integers(1, 3), QRELS),
)
def test_the_join_agrees_with_looking_up_one_document_at_a_time(
    rankings: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]]
) -> None:
    judged = judge_rankings([(topic, documents(*numbers)) for topic, numbers in rankings], qrels)
    listed = [
        (index, rank, qrels[topic][number])
        for index, (topic, numbers) in enumerate(rankings)
        for rank, number in enumerate(numbers, 1)
        if number in qrels.get(topic, {})
    ]
    found = zip(judged.ranking.tolist(), judged.rank.tolist(), judged.grade.tolist(), strict=True)
    assert list(found) == [row for row in listed if row[2] >= 0]
    unjudged = zip(judged.unjudged.ranking.tolist(), judged.unjudged.rank.tolist(), strict=True)
    assert list(unjudged) == [row[:2] for row in listed if row[2] < 0]
