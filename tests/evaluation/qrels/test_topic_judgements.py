"""Judgements as columns: whatever is stored, packing and unpacking give it back in one order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_judgements import Stored

from annotator.evaluation.qrels.topic_judgements import (
    CURRENT,
    NO_GRADE,
    JudgementColumns,
    PackedTopic,
    columns_of,
    pack_topics,
    unpack_topics,
)


def packed_and_unpacked(columns: JudgementColumns, topics: list[int]) -> JudgementColumns:
    return unpack_topics(pack_topics(columns, topics))


def as_lists(columns: JudgementColumns) -> dict[str, object]:
    return {
        name: [value.decode() for value in values] if name == "docnos" else values.tolist()
        for name, values in vars(columns).items()
        if name != "is_graded"
    }


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 3)), unique=True), st.randoms())
def test_whatever_their_order_they_come_back_by_topic_docno_and_first_judgement(
    keys: list[tuple[int, int, int]], random: object
) -> None:
    stored = Stored()
    random.shuffle(keys)  # type: ignore[attr-defined]
    for number, (topic, document, judge) in enumerate(keys):
        stored.add(
            number + 1, topic, document, judge, grade=None if number % 5 == 0 else number % 3, seconds=number / 3
        )
    columns = columns_of(stored)
    expected = sorted((topic, f"d{document}", number + 1) for number, (topic, document, _) in enumerate(keys))
    assert [
        (topic, docno(columns, index), id_)
        for index, (topic, id_) in enumerate(zip(columns.topic, columns.id, strict=True))
    ] == expected
    assert [grade == NO_GRADE for grade in columns.grade] == [id_ % 5 == 1 for id_ in columns.id]
    back = packed_and_unpacked(columns, [1, 2, 3, 4, 5])
    assert as_lists(back) == as_lists(columns)


def docno(columns: JudgementColumns, index: int) -> str:
    name: bytes = columns.docnos[columns.place[index]]
    return name.decode()


def test_a_judge_who_changed_a_judgement_keeps_the_place_of_the_first() -> None:
    stored = Stored()
    stored.add(1, 1, 1, judge=7, current=0)
    stored.add(2, 1, 1, judge=8)
    stored.add(3, 1, 1, judge=7, replaces=1)
    columns = columns_of(stored)
    current = columns.where(columns.have(CURRENT))
    assert (columns.id.tolist(), current.id.tolist(), current.judge.tolist()) == ([1, 3, 2], [3, 2], [7, 8])


def test_withdrawn_judgements_are_left_out_and_their_documents_with_them() -> None:
    stored = Stored()
    stored.add(1, 1, 1, judge=7, current=0)
    stored.add(2, 1, 1, judge=7, grade=None, current=0, withdraws=1, replaces=1)
    stored.add(3, 1, 2, judge=7)
    columns = columns_of(stored)
    assert (columns.id.tolist(), columns.docnos) == ([3], [b"d2"])


def test_nothing_is_packed_to_nothing() -> None:
    nothing = columns_of(Stored())
    assert pack_topics(nothing, [1]) == {1: PackedTopic(b"", b"", b"")}
    assert as_lists(unpack_topics({})) == as_lists(packed_and_unpacked(nothing, [1, 2])) == as_lists(nothing)


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_a_number_that_does_not_fit_is_refused(number: int) -> None:
    stored = Stored()
    stored.add(1, 1, 1, judge=7, grade=number)
    with pytest.raises(OverflowError):
        pack_topics(columns_of(stored), [1])


def test_docnos_and_seconds_may_be_left_away() -> None:
    stored = Stored()
    stored.add(1, 1, 1, judge=7, seconds=2.5)
    packed = {
        topic: one._replace(seconds=b"", docnos=b"") for topic, one in pack_topics(columns_of(stored), [1]).items()
    }
    columns = unpack_topics(packed)
    assert (columns.id.tolist(), columns.docnos, np.isnan(columns.seconds).tolist()) == ([1], [], [True])


def test_some_are_chosen_with_the_places_of_their_docnos() -> None:
    stored = Stored()
    for document in (1, 2, 3):
        stored.add(document, 1, document, judge=7 + document)
    columns = columns_of(stored)
    some = columns.where(columns.by([8, 10]))
    assert (some.id.tolist(), [docno(some, index) for index in range(2)]) == ([1, 3], ["d1", "d3"])
    assert columns.where(columns.by([8, 9, 10])) is columns
