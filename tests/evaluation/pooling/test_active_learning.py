"""Continuous active learning: what is learnt from few texts, in which order it leads, and what it depends on."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.evaluation.pooling.active_learning import (
    learning_batches,
    next_batch,
    order_by_learning,
    presumed_negatives,
    relevance_scores,
    training_hash,
)
from annotator.evaluation.pooling.text_features import Floats, Rows, TextFeatures, count_terms, weighted

CATS = ["cat cat purrs", "a cat sleeps", "cat on a mat", "the purring cat sleeps"]
DOGS = ["dog barks", "a dog runs", "dogs and dog food", "the barking dog runs", "dog on a lead", "a dog digs"]
TEXTS = st.lists(st.sampled_from([*CATS, *DOGS, "", "..."]), min_size=1, max_size=7)
NO_ROWS = np.empty(0, np.intp)


def features_of(texts: Sequence[str]) -> TextFeatures:
    return weighted(count_terms(texts))


def rows(*numbers: int) -> Rows:
    return np.array(numbers, np.intp)


def scores_of(
    texts: Sequence[str], topic: str, relevant: Rows = NO_ROWS, not_relevant: Rows = NO_ROWS, seed: int = 1
) -> Floats | None:
    features = features_of(texts)
    candidates = np.setdiff1d(np.arange(len(texts)), np.append(relevant, not_relevant))
    return relevance_scores(features, topic, relevant, not_relevant, candidates, seed=seed, topic="7", round_=1)


def test_batches_grow_by_a_tenth_rounded_up() -> None:
    # AutoTAR: B + ceil(B / 10).
    sizes = [1]
    while sizes[-1] < 30:
        sizes.append(next_batch(sizes[-1]))
    assert sizes == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 21, 24, 27, 30]


def test_the_topic_alone_ranks_texts_like_it_first() -> None:
    scores = scores_of([*DOGS, *CATS], "sleeping cat")
    assert scores is not None
    assert scores[len(DOGS) :].min() > scores[: len(DOGS)].max()


def test_judgements_outweigh_the_topic() -> None:
    texts = [*DOGS, *CATS]
    scores = scores_of(texts, "cat", relevant=rows(0, 1, 2), not_relevant=rows(6, 7))
    assert scores is not None
    assert scores[3] > scores[9]


def test_texts_without_terms_score_lowest() -> None:
    scores = scores_of(["cat", "dog", "", "..."], "cat")
    assert scores is not None
    assert np.isneginf(scores).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("texts", "topic", "relevant", "not_relevant"),
    [
        (CATS, "", NO_ROWS, NO_ROWS),
        (CATS, "unknown", NO_ROWS, rows(0)),
        (["", "", "cat"], "", rows(0), rows(2)),
        (CATS, "cat", rows(0, 1, 2, 3), NO_ROWS),
        (["", "..."], "cat", NO_ROWS, NO_ROWS),
        ([], "cat", NO_ROWS, NO_ROWS),
    ],
    ids=["no topic", "unknown words", "relevant without text", "nothing else", "no texts", "no documents"],
)
def test_nothing_is_learnt_from(texts: Sequence[str], topic: str, relevant: Rows, not_relevant: Rows) -> None:
    assert scores_of(texts, topic, relevant, not_relevant) is None


def test_identical_texts_and_a_single_one_score_alike() -> None:
    scores = scores_of(["cat and dog"] * 5, "cat")
    assert scores is not None
    assert np.unique(scores).size == 1
    assert scores_of(["cat"], "cat") is not None


@settings(max_examples=examples(60))
@given(TEXTS, st.integers(0, 9), st.data())
def test_scores_depend_on_which_rows_are_given_and_not_on_their_order(
    texts: list[str], seed: int, data: st.DataObject
) -> None:
    features = features_of(texts)
    kinds = data.draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts)))
    given_rows = [[row for row, kind in enumerate(kinds) if kind == number] for number in range(3)]
    otherwise = [data.draw(st.permutations(one)) for one in given_rows]
    first, second = (
        relevance_scores(
            features, "sleeping cat", *(np.array(one, np.intp) for one in several), seed=seed, topic="7", round_=2
        )
        for several in (given_rows, otherwise)
    )
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert first.tolist() == second.tolist()


def test_presumed_negatives_are_a_thousand_with_text_drawn_by_seed_topic_and_round() -> None:
    features = features_of([*(f"word{number}" for number in range(1500)), "", "..."])
    everything = np.arange(1502)
    drawn = presumed_negatives(features, everything, seed=1, topic="7", round_=1)
    assert drawn.size == np.unique(drawn).size == 1000
    assert drawn.max() < 1500
    assert drawn.tolist() == presumed_negatives(features, everything[::-1], seed=1, topic="7", round_=1).tolist()
    for seed, topic, round_ in [(2, "7", 1), (1, "8", 1), (1, "7", 2), (1, "", 71)]:
        other = presumed_negatives(features, everything, seed=seed, topic=topic, round_=round_)
        assert other.tolist() != drawn.tolist()


@settings(max_examples=examples(60))
@given(TEXTS, st.booleans(), st.integers(0, 9), st.sampled_from(["", "cat", "unknown"]))
def test_every_document_is_chosen_once(texts: list[str], grows: bool, seed: int, topic: str) -> None:  # noqa: FBT001
    features = features_of(texts)
    is_relevant = np.array(["cat" in text for text in texts])
    order = order_by_learning(features, topic, is_relevant, seed=seed, grows=grows)
    assert sorted(order.tolist()) == list(range(len(texts)))
    assert order.tolist() == order_by_learning(features, topic, is_relevant, seed=seed, grows=grows).tolist()


def test_what_is_relevant_is_found_before_the_rest() -> None:
    texts = [*DOGS * 3, *CATS]
    is_relevant = np.array(["cat" in text for text in texts])
    order = order_by_learning(features_of(texts), "cat", is_relevant, seed=3, grows=False)
    assert is_relevant[order][: is_relevant.sum()].all()


def test_documents_without_text_come_last_in_the_order_preferred() -> None:
    texts = ["", "cat", "", "dog", ""]
    preference = np.array([0.5, 0.1, 0.2, 0.3, 0.4])
    order = order_by_learning(features_of(texts), "cat", np.zeros(5, np.bool_), seed=1, preference=preference)
    assert order.tolist() == [1, 3, 2, 4, 0]


def test_without_anything_to_learn_the_preference_decides() -> None:
    preference = np.array([0.3, 0.1, 0.2])
    order = order_by_learning(features_of(DOGS[:3]), "", np.zeros(3, np.bool_), seed=1, preference=preference)
    assert order.tolist() == [1, 2, 0]


def test_ties_are_broken_by_the_seed() -> None:
    features = features_of(["cat and dog"] * 30)
    orders = {
        tuple(order_by_learning(features, "cat", np.zeros(30, np.bool_), seed=seed).tolist()) for seed in range(4)
    }
    assert len(orders) == 4
    assert tuple(range(30)) not in orders


def test_batches_have_scores_and_leave_out_what_was_judged_before() -> None:
    texts = [*CATS, *DOGS]
    is_relevant = np.array(["cat" in text for text in texts])
    batches = list(learning_batches(features_of(texts), "", is_relevant, seed=1, judged_before=(0, 4)))
    assert [batch.rows.size for batch in batches] == [1, 2, 3, 2]
    capped = learning_batches(features_of(texts), "", is_relevant, seed=1, judged_before=(0, 4), largest=2)
    assert [batch.rows.size for batch in capped] == [1, 2, 2, 2, 1]
    assert sorted(row for batch in batches for row in batch.rows.tolist()) == [1, 2, 3, 5, 6, 7, 8, 9]
    assert batches[0].scores is not None
    assert batches[1].scores is not None
    assert batches[1].scores[0] >= batches[1].scores[1]


def test_the_hash_of_the_training_depends_on_everything_but_the_order_of_documents() -> None:
    def hashed(
        text: str = "cat",
        relevant: Sequence[str] = ("d1", "d2"),
        other: Sequence[str] = ("d3",),
        presumed: Sequence[str] = ("d4",),
        seed: int = 1,
        topic: str = "7",
        round_: int = 1,
    ) -> str:
        return training_hash(text, relevant, other, presumed, seed=seed, topic=topic, round_=round_)

    assert hashed(relevant=("d2", "d1")) == hashed()
    assert len(bytes.fromhex(hashed())) == 16
    different = {
        hashed(),
        hashed(text="dog"),
        hashed(relevant=("d1",)),
        hashed(relevant=("d1d2",)),
        hashed(relevant=("d1", "d2", "d3"), other=()),
        hashed(other=(), presumed=("d3", "d4")),
        hashed(presumed=()),
        hashed(seed=2),
        hashed(topic="8"),
        hashed(round_=2),
    }
    assert len(different) == 10
