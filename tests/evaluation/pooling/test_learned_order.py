"""The order in which a classifier finds the documents of a topic relevant, and its packed form."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.pooling import pool_simulation
from annotator.evaluation.pooling.learned_order import (
    CandidateTexts,
    LearnedOrder,
    Training,
    learn_order,
)
from annotator.evaluation.pooling.pool_simulation import TopicTexts, simulate, trials
from annotator.evaluation.pooling.strategies import parse_strategy
from annotator.evaluation.pooling.text_features import count_terms, weighted
from annotator.evaluation.pooling.topic_runs import topic_runs

# Documents 10 to 15; the last has no text, and 14 is no candidate.
TEXTS = ("solar cells", "a striker scored", "solar power at night", "the bank", "solar panels", "")
SOME = st.lists(st.tuples(st.integers(0, 99), st.floats(-5, 5, width=32)), max_size=8, unique_by=lambda one: one[0])


def candidates() -> CandidateTexts:
    documents = np.arange(10, 16, dtype=np.int32)
    return CandidateTexts(documents, documents != 14, [f"d{one}" for one in documents], weighted(count_terms(TEXTS)))


def training(labels: Mapping[int, bool], *, text: str = "solar power", seed: int = 1, number: int = 1) -> Training:
    return Training("7", text, labels, seed, number)


def test_unjudged_candidates_with_a_text_are_ranked_by_their_likeness_to_relevant_ones() -> None:
    order = learn_order(candidates(), training({10: True, 11: False})).order
    assert order is not None
    assert (order.documents.tolist(), order.ranks.tolist()) == ([12, 13], [1, 2])
    assert order.scores[0] > order.scores[1]


def test_a_judged_document_is_learned_from_though_it_is_no_candidate() -> None:
    learned = learn_order(candidates(), training({14: True, 11: False}, text="?")).order
    assert learned is not None
    assert learned.documents.tolist()[:2] == [10, 12]


@pytest.mark.parametrize("labels", [{}, {11: False}, {15: True}])
def test_without_a_relevant_text_there_is_nothing_to_learn(labels: dict[int, bool]) -> None:
    assert learn_order(candidates(), training(labels, text="?!")).order is None


def test_the_hash_hangs_on_labels_round_seed_and_text_of_the_topic() -> None:
    trainings = [
        training({10: True}),
        training({10: False}),
        training({}),
        training({10: True}, number=2),
        training({10: True}, seed=2),
        training({10: True}, text="solar"),
    ]
    hashes = [learn_order(candidates(), one).training_hash for one in trainings]
    assert len(set(hashes)) == len(hashes)
    assert learn_order(candidates(), training({10: True})).training_hash == hashes[0]


@given(rows=SOME, out=st.frozensets(st.integers(0, 99)), count=st.integers(0, 9))
def test_a_packed_order_is_the_same_and_skips_what_is_out(
    rows: list[tuple[int, float]], out: frozenset[int], count: int
) -> None:
    documents, scores = zip(*rows, strict=True) if rows else ((), ())
    ranks = np.arange(1, len(rows) + 1, dtype=np.int32)
    order = LearnedOrder(np.array(documents, np.int32), ranks, np.array(scores, np.float32))
    again = LearnedOrder.unpack(order.pack())
    assert len(order.pack()) == 12 * len(rows)
    first = again.first(count, out)
    expected = [(d, r, s) for (d, s), r in zip(rows, ranks.tolist(), strict=True) if d not in out][:count]
    assert list(zip(first.documents.tolist(), first.ranks.tolist(), first.scores.tolist(), strict=True)) == expected


def test_a_simulation_finds_relevant_texts_that_the_run_has_last() -> None:
    texts = [f"a striker scored in city{number}" for number in range(20)]
    texts += [f"solar power of panels in city{number}" for number in range(5)]
    runs = topic_runs("1", [np.arange(25, dtype=np.int32)], {number: f"d{number:02}" for number in range(25)})
    relevant = {number: number >= 20 for number in range(25)}
    strategy = parse_strategy("cal", {"budget": 25, "start_depth": 2})
    features = TopicTexts("solar power", weighted(count_terms(texts)))
    order = simulate(strategy, runs, relevant, texts=features)
    assert sorted(order.tolist()) == list(range(25))
    assert (order[:2].tolist(), sorted(order[2:7].tolist())) == ([0, 1], [20, 21, 22, 23, 24])
    assert simulate(strategy, runs, relevant, texts=features, most=4).tolist() == order[:4].tolist()
    # Without texts, by reciprocal rank fusion.
    assert simulate(strategy, runs, relevant).tolist() == list(range(25))
    judged = {number: relevant[number] for number in range(0, 25, 2)}
    assert sorted(simulate(strategy, runs, judged, texts=features).tolist()) == sorted(judged)


def test_where_nothing_can_be_learned_all_other_strategies_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = {trial.strategy.name for trial in trials((), (0,), None)}
    monkeypatch.setattr(pool_simulation, "can_learn", lambda: False)
    assert everywhere - {trial.strategy.name for trial in trials((), (0,), None)} == {"cal"}
