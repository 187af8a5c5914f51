"""Static strategies: how documents are weighed, what settles ties, and what must not show in an order."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from thorough import examples

from annotator.evaluation.pooling import static_strategies as static
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns, Weights, topic_runs

# Each strategy has its own examples.
few_examples = settings(max_examples=examples(25))
WEIGHINGS = [
    static.depth,
    static.rrf,
    static.borda,
    static.rbp,
    static.combmnz,
    static.ntcir,
]
Weighing = Callable[[TopicRuns], Weights]
RUNS = st.lists(st.lists(st.integers(0, 14), unique=True, max_size=12), max_size=6)

# Three runs whose orders another program computed for this project: ties to the first run.
FIXTURE = ["abcdef", "bghaij", "klmnob"]


def ranked(runs: Sequence[Sequence[int]]) -> list[NDArray[np.int32]]:
    return [np.array(run, np.int32) for run in runs]


def descending(runs: Sequence[Sequence[int]]) -> list[Weights]:
    return [-np.arange(len(run), dtype=np.float64) for run in runs]


def of_letters(runs: Sequence[str], scores: Sequence[Sequence[float]] | None = None) -> TopicRuns:
    numbers = [[ord(letter) for letter in run] for run in runs]
    docnos = {number: chr(number) for run in numbers for number in run}
    levels = descending(numbers) if scores is None else [np.array(each, np.float64) for each in scores]
    return topic_runs("7", ranked(numbers), docnos, scores=levels)


def letters(documents: NDArray[np.int32]) -> str:
    return "".join(map(chr, documents.tolist()))


def weights_of(runs: TopicRuns, weights: Weights) -> dict[str, float]:
    return dict(zip(runs.docnos, weights.tolist(), strict=True))


def numbered(runs: Sequence[Sequence[int]], numbers: Sequence[int]) -> TopicRuns:
    """The runs with other document numbers, the docnos being D00 to D14 whatever the numbers."""
    docnos = {number: f"D{name:02}" for name, number in enumerate(numbers)}
    lists = ranked([[numbers[name] for name in run] for run in runs])
    return topic_runs("7", lists, docnos, scores=descending(runs))


@pytest.mark.parametrize(
    "weigh",
    [static.rrf, static.borda, static.rbp, static.ntcir],
    ids=lambda weigh: weigh.__name__,
)
def test_the_fixture_of_three_runs(weigh: Weighing) -> None:
    runs = of_letters(FIXTURE)
    assert letters(static.in_order(runs, weigh(runs), Ties.FIRST_RUN)) == "bakglchmdneiofj"


def test_weights_of_two_short_runs_by_hand() -> None:
    # Run 1 has a at rank 1 and b at 2; run 2 has b at 1. c = 2 candidates.
    runs = of_letters(["ab", "b"], [[9.0, 3.0], [5.0]])
    assert weights_of(runs, static.rrf(runs)) == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61})
    # Borda: run 1 gives a 2 and b 1; run 2 gives b 2 and what is left, 1, to a.
    assert weights_of(runs, static.borda(runs)) == {"a": 3, "b": 3}
    assert weights_of(runs, static.rbp(runs)) == pytest.approx({"a": 0.2, "b": 0.2 * 0.8 + 0.2})
    # CombMNZ: 9 and 3 become 1 and 0; the only score of run 2 becomes 1. a: 1 run * 1; b: 2 runs * (0 + 1).
    assert weights_of(runs, static.combmnz(runs)) == {"a": 1, "b": 2}
    assert weights_of(runs, static.depth(runs)) == {"a": -1, "b": -1}


def test_borda_gives_what_is_left_evenly_to_documents_a_run_does_not_have() -> None:
    # c = 5. Run 1 gives a 5, b 4 and (3 + 2 + 1) / 3 = 2 to each of c, d, e; run 2 gives c 5, d 4, e 3 and 1.5 to a, b.
    runs = of_letters(["ab", "cde"])
    assert weights_of(runs, static.borda(runs)) == {"a": 6.5, "b": 5.5, "c": 7, "d": 6, "e": 5}


def test_ntcir_puts_the_number_of_runs_before_the_sum_of_ranks() -> None:
    # b is in three runs at ranks 3, 3, 3; a in two at 1, 2 (sum 3); c in two at 1, 1 (sum 2).
    runs = of_letters(["axb", "cab", "czb"])
    assert letters(static.in_order(runs, static.ntcir(runs))) == "bcaxz"


def test_combmnz_brings_scores_to_a_unit_before_the_depth_cuts() -> None:
    # Scores 4, 3, 0 become 1, 0.75, 0; cut after the second rank, b keeps its 0.75.
    runs = topic_runs("7", ranked([[1, 2, 3]]), {1: "a", 2: "b", 3: "c"}, scores=[np.array([4.0, 3.0, 0.0])], depth=2)
    assert weights_of(runs, static.combmnz(runs)) == {"a": 1, "b": 0.75}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([2.0, 2.0], {"a": 1, "b": 1}), ([1.7e308, -1.7e308], {"a": 1, "b": 0})],
    ids=["all equal", "as far apart as numbers go"],
)
def test_combmnz_of_scores_without_or_with_too_great_a_span(scores: list[float], expected: dict[str, float]) -> None:
    runs = of_letters(["ab"], [scores])
    assert weights_of(runs, static.combmnz(runs)) == expected


def test_combmnz_without_scores_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="scores"):
        static.combmnz(topic_runs("7", ranked([[1]]), {1: "a"}))


def test_documents_of_equal_weight_go_by_rrf_weight_then_docno() -> None:
    # All have best rank 1 or 2. a: 1/61; b: 1/62 + 1/62; c: 1/61, so b (0.0323) before a, c (0.0164); then d, e.
    runs = of_letters(["cb", "ab"])
    assert letters(static.in_order(runs, np.zeros(3))) == "bac"


def test_documents_of_equal_weight_may_go_by_the_first_run() -> None:
    runs = of_letters(["cb", "ab"])
    assert letters(static.in_order(runs, np.zeros(3), Ties.FIRST_RUN)) == "bca"


def test_documents_with_the_same_ranks_in_other_runs_weigh_the_same_to_the_last_bit() -> None:
    # a has ranks 1, 2, 3 in runs 1 to 3, b and c the same in another order: in floating point, the order of adding
    # 1/61, 1/62 and 1/63 matters.
    runs = of_letters(["abc", "cab", "bca"])
    assert len(set(static.rrf(runs).tolist())) == len(set(static.rbp(runs).tolist())) == 1
    assert letters(static.in_order(runs, static.rrf(runs))) == "abc"


@pytest.mark.parametrize("weigh", WEIGHINGS)
@pytest.mark.parametrize("runs", [[], [""], ["", ""]])
def test_runs_without_documents_have_an_empty_order(weigh: Weighing, runs: list[str]) -> None:
    nothing = of_letters(runs)
    assert static.in_order(nothing, weigh(nothing)).size == 0


@pytest.mark.parametrize("weigh", WEIGHINGS)
@few_examples
@given(runs=RUNS)
def test_an_order_has_every_candidate_once(weigh: Weighing, runs: list[list[int]]) -> None:
    topic = numbered(runs, range(15))
    assert sorted(static.in_order(topic, weigh(topic)).tolist()) == sorted({name for run in runs for name in run})


@pytest.mark.parametrize("weigh", WEIGHINGS)
@few_examples
@given(runs=RUNS, numbers=st.permutations(range(15)), shuffle=st.randoms(use_true_random=False))
def test_neither_numbers_nor_the_order_of_upload_show_in_an_order(
    weigh: Weighing, runs: list[list[int]], numbers: list[int], shuffle: Random
) -> None:
    shuffled = shuffle.sample(runs, len(runs))
    one, other = numbered(runs, range(15)), numbered(shuffled, numbers)
    names = [numbers.index(number) for number in static.in_order(other, weigh(other)).tolist()]
    assert names == static.in_order(one, weigh(one)).tolist()


@given(RUNS)
def test_weights_are_their_definitions(runs: list[list[int]]) -> None:
    topic = numbered(runs, range(15))
    ranks = {
        name: [run.index(name) + 1 for run in runs if name in run]
        for name in sorted({name for r in runs for name in r})
    }
    rrf = [float(sum(Fraction(1, 60 + rank) for rank in each)) for each in ranks.values()]
    rbp = [float(sum(Fraction(1, 5) * Fraction(4, 5) ** (rank - 1) for rank in each)) for each in ranks.values()]
    assert static.rrf(topic).tolist() == pytest.approx(rrf)
    assert static.rbp(topic).tolist() == pytest.approx(rbp)
    assert topic.best_rank.tolist() == [min(each) for each in ranks.values()]
    # Every run has all the points from 1 to c to give.
    assert static.borda(topic).sum() == len(runs) * len(ranks) * (len(ranks) + 1) / 2


@given(RUNS, st.integers(1, 12))
def test_a_depth_leaves_the_candidates_of_the_depth_pool(runs: list[list[int]], depth: int) -> None:
    topic = topic_runs("7", ranked(runs), {number: str(number) for number in range(15)}, depth=depth)
    assert set(topic.documents.tolist()) == {name for run in runs for name in run[:depth]}


@given(RUNS)
def test_holders_are_the_runs_that_have_the_document(runs: list[list[int]]) -> None:
    topic = numbered(runs, range(15))
    for place, name in enumerate(topic.documents.tolist()):
        rows, ranks = topic.holders(place)
        held = zip(topic.given[rows].tolist(), ranks.tolist(), strict=True)
        assert set(held) == {(index, run.index(name) + 1) for index, run in enumerate(runs) if name in run}
