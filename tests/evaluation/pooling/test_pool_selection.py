"""What judges' words mean to an adaptive strategy, and how a budget is shared among topics."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.pooling.pool_selection import (
    TopicSelection,
    TopicVerdict,
    begin_selection,
    candidates,
    topic_shares,
    verdicts,
    without,
)
from annotator.evaluation.pooling.strategies import parse_strategy
from annotator.evaluation.runs.rankings import encode_documents


class Word(NamedTuple):
    """What a judge said."""

    id: int
    document_id: int
    judge_id: int
    grade: int | None


JO, KIM = 1, 2
DOCNOS = {number: letter for number, letter in enumerate("abcdefghijklmno")}
# The runs of METHODS.md 1.5, by run id; relevant are a, b, g and k.
RUNS = {7: "abcdef", 8: "bghaij", 9: "klmnob"}
RELEVANT = "abgk"
SEED = 1


def packed(runs: dict[int, str]) -> list[tuple[int, bytes]]:
    number = {letter: number for number, letter in DOCNOS.items()}
    return [
        (run_id, encode_documents(np.array([number[letter] for letter in letters], np.int32)))
        for run_id, letters in runs.items()
    ]


def selection(name: str) -> TopicSelection:
    strategy = parse_strategy(name, {"budget": 15, "start_depth": 0, "ties": "first-run"})
    return begin_selection(strategy, "1", packed(RUNS), lambda _: DOCNOS, SEED)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([(1, 5, JO, 1)], [(1, 5, True)]),
        ([(1, 5, JO, 0)], [(1, 5, False)]),
        # A change of mind counts, and stands where it was said.
        ([(1, 5, JO, 1), (2, 6, JO, 1), (3, 5, JO, 0)], [(2, 6, True), (3, 5, False)]),
        # The second opinion changes nothing.
        ([(1, 5, JO, 1), (2, 5, KIM, 0)], [(1, 5, True)]),
        # Jo's last word is younger than Kim's.
        ([(1, 5, JO, 1), (2, 5, KIM, 0), (3, 5, JO, 2)], [(2, 5, False)]),
        ([(1, 5, JO, None)], [(1, 5, None)]),
        ([(1, 5, JO, None), (2, 5, KIM, 1)], [(2, 5, True)]),
        ([(1, 5, KIM, 1), (2, 5, JO, None)], [(1, 5, True)]),
        ([(1, 5, JO, 1), (2, 5, JO, None)], [(2, 5, None)]),
    ],
)
def test_of_several_words_on_a_document_one_counts(
    words: Sequence[tuple[int, int, int, int | None]], expected: Sequence[tuple[int, int, bool | None]]
) -> None:
    found = verdicts([Word(*word) for word in words], relevant_from=1)
    assert [one[:3] for one in found] == expected


def test_a_verdict_names_the_run_from_which_its_document_was_chosen() -> None:
    assert verdicts([Word(1, 5, JO, 1), Word(2, 6, JO, 2)], relevant_from=2, chosen_from={6: 9}) == (
        TopicVerdict(1, 5, is_relevant=False, run_id=None),
        TopicVerdict(2, 6, is_relevant=True, run_id=9),
    )


@pytest.mark.parametrize(
    ("name", "order"), [("mtf", "abcghkldijmenfo"), ("maxmean", "abcghikldmjenfo"), ("hedge", "bacghidjeklmfno")]
)
def test_the_fixture_is_chosen_in_its_order(name: str, order: str) -> None:
    topic, chosen = selection(name), ""
    known: tuple[TopicVerdict, ...] = ()
    for step in range(len(order)):
        [document] = topic.choose(known, [], 1)
        chosen += document.docno
        verdict = TopicVerdict(step, document.document_id, document.docno in RELEVANT, document.run_id)
        known = (*known, verdict)
    assert chosen == order
    assert topic.choose(known, [], 1) == []


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(1, 2), st.sampled_from([None, 0, 1])), max_size=30))
def test_who_was_asked_before_chooses_as_who_begins_anew(said: list[tuple[int, int, int | None]]) -> None:
    words = [Word(id_, *word) for id_, word in enumerate(said, start=1)]
    kept = selection("maxmean-ns")
    for end in range(0, len(words) + 1, 3):
        known = verdicts(words[:end], relevant_from=1)
        assert kept.choose(known, [0, 3], 4) == selection("maxmean-ns").choose(known, [0, 3], 4)


def test_a_choice_tells_every_run_that_has_the_document_with_its_rank() -> None:
    [first] = selection("hedge").choose((), [], 1)
    assert (first.docno, sorted(first.ranks)) == ("b", [(7, 2), (8, 1), (9, 6)])


def test_candidates_are_what_runs_have_and_nobody_has_pooled() -> None:
    strategy = parse_strategy("mtf", {"budget": 5, "depth": 2})
    found = candidates(strategy, packed(RUNS), [0, 14, 90])
    # The first two of each run are a b, b g, k l; a is 0.
    assert [DOCNOS[number] for number in found.tolist()] == ["b", "g", "k", "l"]
    assert (without(found, []).size, without(found, [0, 1, 99]).size) == (4, 3)
    assert candidates(strategy, [], []).size == 0


@pytest.mark.parametrize(
    ("said", "used", "expected"),
    [
        ({"per_topic": 4}, 0, {"10": 4, "9": 2}),
        # 9 gives its two, the rest is 10's.
        ({"budget": 5}, 0, {"9": 2, "10": 3}),
        # Of an odd budget the first topic, by number, gets one more.
        ({"budget": 3}, 0, {"9": 2, "10": 1}),
        ({"budget": 5}, 3, {"9": 1, "10": 1}),
        ({"budget": 5}, 7, {"9": 0, "10": 0}),
    ],
)
def test_a_budget_is_shared_among_topics(said: dict[str, str | int], used: int, expected: dict[str, int]) -> None:
    assert topic_shares(parse_strategy("mtf", said), {"10": 8, "9": 2}, used=used) == expected
