"""Numbers of documents: one for each docno, whatever the hashes, in the order in which they first come."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.evaluation.formats import table_tokens
from annotator.evaluation.formats.table_tokens import words_of_docnos
from annotator.evaluation.runs.docno_numbers import FIRST_ROOM, DocnoNumbers

# Lengths on both sides of a word's eight bytes, beginnings in common, letters of several bytes.
DOCNOS = st.text("ab漢", min_size=1, max_size=10) | st.sampled_from(["a" * 8, "a" * 16, "a" * 17, "a" * 256, "b" * 9])


def numbered(numbers: DocnoNumbers, docnos: list[str]) -> list[int]:
    found: list[int] = numbers.numbers_of(words_of_docnos(np.array([docno.encode() for docno in docnos]))).tolist()
    return found


@settings(max_examples=examples(200))
@given(batches=st.lists(st.lists(DOCNOS, min_size=1, max_size=30), max_size=5), hashes_collide=st.booleans())
def test_numbers_are_those_of_a_dictionary(batches: list[list[str]], *, hashes_collide: bool) -> None:
    numbers, expected = DocnoNumbers(), dict[str, int]()
    with pytest.MonkeyPatch.context() as patch:
        if hashes_collide:
            patch.setattr(table_tokens, "LAST_FACTOR", np.uint64(0))  # every hash is 0
            numbers._are_short = False  # noqa: SLF001 - for then the true hash would be enough
        for batch in batches:
            found = numbered(numbers, batch)
            if not hashes_collide:  # of docnos with one hash the first alone is sure to get the next number
                assert found == [expected.setdefault(docno, len(expected)) for docno in batch]
            expected.update(zip(batch, found, strict=True))
            assert numbered(numbers, batch) == found
        assert sorted(expected.values()) == list(range(numbers.count))
        assert numbers.find([*expected, "never"]).tolist() == [*expected.values(), -1]
        assert numbers.docnos_of(np.array(list(expected.values()), np.int32)) == list(expected)


def test_there_is_room_for_many_and_few() -> None:
    numbers = DocnoNumbers()
    docnos = [f"document-{number}" for number in range(5 * FIRST_ROOM)]
    for start in range(0, len(docnos), 3000):
        assert numbered(numbers, docnos[start : start + 3000])[0] == start
    assert numbered(numbers, docnos) == list(range(len(docnos)))
    assert numbers.find([]).tolist() == []
    assert numbers.docnos_of(np.array([], np.int32)) == []


@given(st.lists(st.text("ab\x7f漢", min_size=1, max_size=12), min_size=1, unique=True))
def test_the_order_is_that_of_the_bytes(docnos: list[str]) -> None:
    numbers = DocnoNumbers()
    ordered = numbers.docnos_of(numbers.in_byte_order(np.array(numbered(numbers, docnos), np.int32)))
    assert ordered == sorted(docnos, key=str.encode)
