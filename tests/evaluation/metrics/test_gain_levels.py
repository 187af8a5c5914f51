"""ndcg_rel, Rndcg, G and binG: worked examples, and every gain against their definitions as plain loops."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measuring import value

from annotator.evaluation.metrics.gains import EXPONENTIAL, LINEAR, Gain
from annotator.evaluation.metrics.measures import Measure

RANKINGS = st.lists(st.integers(0, 12), unique=True, max_size=12)
QRELS = st.dictionaries(st.integers(0, 12), st.integers(-1, 4))
GAINS = st.one_of(
    st.just(LINEAR),
    st.just(EXPONENTIAL),
    st.dictionaries(st.integers(0, 4), st.integers(0, 40).map(lambda quarters: quarters / 4), min_size=1).map(
        lambda gains: Gain(custom=tuple(sorted(gains.items())))
    ),
)


def gains_of(gain: Gain, ranking: Sequence[int], qrels: dict[int, int]) -> tuple[list[float], list[float]]:
    """Give the gains of a ranking's documents, and those of the best possible ranking."""

    def worth(grade: int) -> float:
        exponential = 2.0**grade - 1 if gain.is_exponential else grade
        return 0.0 if grade < 0 else dict(gain.custom).get(grade, exponential)

    best = sorted((worth(grade) for grade in qrels.values()), reverse=True)
    return [worth(qrels.get(number, -1)) for number in ranking], [each for each in best if each > 0]


def discounted(gains: Sequence[float], depth: int) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:depth], 1))


def ndcg(found: Sequence[float], best: Sequence[float], depth: int) -> float:
    return discounted(found, depth) / discounted(best, depth)


def taken(name: str, gain: Gain, ranking: list[int], qrels: dict[int, int]) -> float:
    return value(Measure(name, None, () if gain == LINEAR else (("gain", gain),)), ranking, qrels)


@given(RANKINGS, QRELS, GAINS)
def test_ndcg_rel_is_ndcg_at_each_document_with_a_gain(ranking: list[int], qrels: dict[int, int], gain: Gain) -> None:
    found, best = gains_of(gain, ranking, qrels)
    depths = [rank for rank, each in enumerate(found, 1) if each > 0]
    depths += [max(len(found), len(best))] * (len(best) - len(depths))  # what was missed counts at the end
    expected = sum(ndcg(found, best, depth) for depth in depths) / len(best) if best else 0
    assert taken("ndcg_rel", gain, ranking, qrels) == pytest.approx(expected)


@given(RANKINGS, QRELS, GAINS)
def test_rndcg_is_ndcg_where_each_gain_of_the_best_ranking_ends(
    ranking: list[int], qrels: dict[int, int], gain: Gain
) -> None:
    found, best = gains_of(gain, ranking, qrels)
    depths = [rank for rank in range(1, len(best) + 1) if best[rank - 1 : rank + 1] != [best[rank - 1]] * 2]
    if len(found) > len(best) + 1:
        depths.append(len(found))
    is_relevant = any(grade >= 1 for grade in qrels.values())
    expected = sum(ndcg(found, best, depth) for depth in depths) / len(depths) if best and is_relevant else 0
    assert taken("Rndcg", gain, ranking, qrels) == pytest.approx(expected)


@given(RANKINGS, QRELS, GAINS)
def test_g_is_gain_by_the_gain_missed_above(ranking: list[int], qrels: dict[int, int], gain: Gain) -> None:
    found, best = gains_of(gain, ranking, qrels)
    costs = [max(each, 1) for each in best] + [1.0] * len(found)
    total = sum(
        each / math.log2(2 + sum(costs[:rank]) - sum(found[:rank])) for rank, each in enumerate(found, 1) if each > 0
    )
    assert taken("G", gain, ranking, qrels) == pytest.approx(total / sum(best) if best else 0)


@given(RANKINGS, QRELS, st.integers(1, 3))
def test_bing_is_each_relevant_document_by_the_others_above(
    ranking: list[int], qrels: dict[int, int], relevant_from: int
) -> None:
    relevant = {number for number, grade in qrels.items() if grade >= relevant_from}
    total = sum(
        1 / math.log2(2 + sum(other not in relevant for other in ranking[:place]))
        for place, number in enumerate(ranking)
        if number in relevant
    )
    found = value("binG", ranking, qrels, relevant_from)
    assert found == pytest.approx(total / len(relevant) if relevant else 0)


@pytest.mark.parametrize(
    ("ranking", "qrels", "expected"),
    [
        # The best order ends grade 2 at rank 1 and grade 1 at rank 2; nDCG there: 1/2, (1 + 2/1.58)/(2 + 1/1.58).
        ([1, 2], {1: 1, 2: 2}, (1 / 2 + (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))) / 2),
        ([2, 9], {2: 1}, 1),  # only at rank 1: one more was retrieved
        ([9, 8, 2], {2: 1}, (0 + 1 / 2) / 2),  # at ranks 1 and 3: two more
        ([9, 8, 2], {2: 1, 8: 0}, (0 + 1 / 2) / 2),  # a gain of 0 is none
    ],
)
def test_where_rndcg_is_taken(ranking: list[int], qrels: dict[int, int], expected: float) -> None:
    assert value("Rndcg", ranking, qrels) == pytest.approx(expected)


def test_rndcg_of_a_topic_without_relevant_documents_is_0_as_for_trec_eval() -> None:
    assert value("Rndcg", [1], {1: 1}, relevant_from=1) == 1
    assert value("Rndcg", [1], {1: 1}, relevant_from=2) == 0


def test_a_rank_costs_at_least_1_however_little_there_is_to_gain() -> None:
    # The best order gains 1/2 at rank 1 and 1/4 at rank 2: 2 + (1 + 1) - 1/2, not 2 + (1/2 + 1/4) - 1/2.
    gain = Gain(custom=((1, 0.25), (2, 0.5)))
    assert taken("G", gain, [9, 2], {1: 1, 2: 2}) == pytest.approx(0.5 / math.log2(3.5) / 0.75)


def test_a_gain_too_large_to_be_added_exactly_is_no_obstacle() -> None:
    # In the ranking's order 0.1 is lost beside 1e17, in the best order as well; what remains must not be below 0.
    gain = Gain(custom=((1, 0.1), (2, 1e17), (3, 3e16)))
    for ranking in ([1, 2, 3, 4], [4, 3, 2, 1], [2, 1, 4, 3]):
        assert 0 <= taken("G", gain, ranking, {1: 1, 2: 2, 3: 3, 4: 1}) <= 1
