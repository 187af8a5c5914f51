"""The measures: worked examples, their edges, and what must hold for every ranking."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.means import mean_over_topics, means, totals
from annotator.evaluation.metrics.measures import MEASURES, Cutoff, Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.rankings import JudgedRankings, judge_rankings, trec_order

GOLDEN = Path(__file__).parents[1] / "golden" / "measures"
EXPECTED = [
    (case.name, *line.split("\t"))
    for case in sorted(path for path in GOLDEN.iterdir() if path.is_dir())
    for line in (case / "expected").read_text().splitlines()
]
COUNTS = {"NumRet", "NumRel", "NumRelRet"}
SHARES = [
    Measure(name, cutoff)
    for name, definition in MEASURES.items()
    if name not in COUNTS
    for cutoff in (None, 1, 3, 10)
    if (cutoff is None and definition.cutoff is not Cutoff.NEEDED)
    or (cutoff is not None and definition.cutoff is not Cutoff.NEVER)
]

RANKINGS = st.lists(st.integers(0, 20), unique=True, max_size=15)
QRELS = st.dictionaries(st.integers(0, 20), st.integers(-1, 3))


def batch(*rankings: Sequence[int], qrels: Mapping[int, int]) -> JudgedRankings:
    """Join rankings of one topic with its qrels."""
    return judge_rankings([(1, np.array(ranking, np.int32)) for ranking in rankings], {1: qrels})


def value(measure: str | Measure, ranking: Sequence[int], qrels: Mapping[int, int], relevant_from: int = 1) -> float:
    """Take a measure of one ranking."""
    parsed = parse_measure(measure) if isinstance(measure, str) else measure
    return float(parsed.values(batch(ranking, qrels=qrels), relevant_from)[0])


def golden_values(case: str, measure: Measure) -> dict[str, float]:
    """Score a golden case, from its two files to a value a topic and one for all."""
    run = [line.split() for line in (GOLDEN / case / "run").read_text().splitlines()]
    judgements = [line.split() for line in (GOLDEN / case / "qrels").read_text().splitlines()]
    topics = sorted({row[0] for row in judgements})
    rankings = []
    for topic in topics:
        rows = [row for row in run if row[0] == topic]
        order = trec_order(np.array([row[2].encode() for row in rows]), np.array([float(row[4]) for row in rows]))
        rankings.append((int(topic), np.array([int(rows[index][2][1:]) for index in order], np.int32)))
    qrels = {int(topic): {int(row[2][1:]): int(row[3]) for row in judgements if row[0] == topic} for topic in topics}
    values = measure.values(judge_rankings(rankings, qrels), 1)
    return dict(zip(topics, values.tolist(), strict=True)) | {"all": float(measure.over_topics(values))}


@pytest.mark.parametrize(("case", "measure", "topic", "expected"), EXPECTED)
def test_golden_cases_agree_to_the_printed_digit(case: str, measure: str, topic: str, expected: str) -> None:
    assert f"{golden_values(case, parse_measure(measure))[topic]:.4f}" == expected


def test_every_measure_has_a_golden_value() -> None:
    assert {parse_measure(measure).name for _, measure, _, _ in EXPECTED} == set(MEASURES)


@pytest.mark.parametrize("measure", SHARES, ids=str)
@pytest.mark.parametrize(
    ("ranking", "qrels"),
    [
        ([], {1: 1, 2: 0}),  # nothing retrieved
        ([], {}),
        ([1, 2], {}),  # nothing judged
        ([1, 2], {1: -1, 2: -2}),  # everything pooled but unjudged
    ],
)
def test_without_anything_judged_in_the_ranking_a_measure_is_0(
    measure: Measure, ranking: list[int], qrels: dict[int, int]
) -> None:
    assert value(measure, ranking, qrels) == 0


@pytest.mark.parametrize("measure", [measure for measure in SHARES if measure.name != "Judged"], ids=str)
def test_without_anything_relevant_a_measure_is_0(measure: Measure) -> None:
    assert value(measure, [1, 2], {1: 0, 2: 0}) == 0


@pytest.mark.parametrize(
    ("measure", "ranking", "qrels", "expected"),
    [
        ("P@10", [1, 2], {1: 1, 2: 1}, 2 / 10),  # a short ranking is filled up
        ("Judged@10", [1, 2, 3], {1: 1, 2: 0}, 2 / 3),  # and here is not
        ("AP@1", [1, 2], {1: 1, 2: 1}, 1 / 2),  # divided by both relevant documents, not by the cutoff's one
        ("nDCG@1", [2, 1], {1: 2, 2: 1}, 1 / 2),  # the best first document has grade 2
        ("nDCG", [1], {1: 1, 2: 1}, 1 / (1 + 1 / math.log2(3))),  # the best ranking has both, retrieved or not
        ("nDCG", [1, 2], {1: -1, 2: 1}, 1 / math.log2(3)),  # a grade below 0 takes nothing away
        ("RR@2", [8, 9, 1], {1: 1}, 0),
        ("Rprec", [9, 1, 2], {1: 1, 2: 1}, 1 / 2),
        ("Bpref", [9, 1, 8], {1: 1}, 1),  # nothing judged not relevant: unjudged ones are passed over
        ("Bpref", [2, 3, 1], {1: 1, 2: 0, 3: 0}, 0),  # min(2, 1) / min(2, 1) = 1
        ("Bpref", [2, 1], {1: 1, 2: 0, 3: 0, 4: 1}, (1 - 1 / 2) / 2),
        ("Bpref", [2, 1], {1: 1, 2: 0, 3: 1, 4: 1}, 0),  # the only one judged not relevant: min(1, 3) / min(1, 3) = 1
        ("SetR", [9, 1], {1: 1, 2: 1}, 1 / 2),
        ("NumRet", [9, 1], {1: 1, 2: 1}, 2),
        ("NumRel", [9, 1], {1: 1, 2: 1}, 2),
        ("NumRelRet", [9, 1], {1: 1, 2: 1}, 1),
        ("NumRel", [], {1: 1, 2: -1}, 1),
    ],
)
def test_measures_at_their_edges(measure: str, ranking: list[int], qrels: dict[int, int], expected: float) -> None:
    assert value(measure, ranking, qrels) == expected


def test_the_collection_says_what_is_relevant_unless_the_measure_does() -> None:
    ranking, qrels = [1, 2], {1: 1, 2: 2}
    assert value("RR", ranking, qrels, relevant_from=1) == 1
    assert value("RR", ranking, qrels, relevant_from=2) == 1 / 2
    assert value("RR(rel=1)", ranking, qrels, relevant_from=2) == 1
    assert value("nDCG", ranking, qrels, relevant_from=2) == value("nDCG", ranking, qrels, relevant_from=1)


def test_the_logarithm_is_the_c_librarys_at_every_rank() -> None:
    # np.log2(1621) can differ from it in the last digit, by processor.
    assert value("nDCG", [*range(1, 1620), 0], {0: 1}) == 1 / math.log2(1621)


def test_rankings_of_a_batch_do_not_know_of_each_other() -> None:
    rankings, qrels = [[1, 2, 3], [], [3, 9, 1], [9]], {1: 2, 2: 0, 3: 1}
    for measure in [*SHARES, *map(Measure, COUNTS)]:
        together = measure.values(batch(*rankings, qrels=qrels), 1).tolist()
        assert together == [value(measure, ranking, qrels) for ranking in rankings], measure


@pytest.mark.parametrize("name", [name for name, definition in MEASURES.items() if definition.cutoff is Cutoff.NEEDED])
def test_a_measure_made_without_the_cutoff_it_needs_fails(name: str) -> None:
    with pytest.raises(ValueError, match="needs a cutoff"):
        value(Measure(name), [1], {1: 1})


@given(RANKINGS, QRELS, st.integers(1, 3))
def test_values_stay_between_0_and_1(ranking: list[int], qrels: dict[int, int], relevant_from: int) -> None:
    judged = batch(ranking, qrels=qrels)
    for measure in SHARES:
        # Sums of shares may pass 1 by their rounding.
        assert 0 <= measure.values(judged, relevant_from)[0] <= 1 + 1e-12, measure


@given(RANKINGS, QRELS, st.sampled_from([{}, {99: 0}, {99: -1}]))
def test_a_document_without_relevance_at_the_end_changes_nothing(
    ranking: list[int], qrels: dict[int, int], more: dict[int, int]
) -> None:
    both = batch(ranking, [*ranking, 99], qrels=qrels | more)
    for measure in (Measure("AP"), Measure("RR"), Measure("nDCG"), Measure("Rprec"), Measure("Bpref")):
        before, after = measure.values(both, 1).tolist()
        assert before == after, measure


@given(st.permutations(range(8)), st.lists(st.integers(-1, 3), min_size=8, max_size=8), st.data())
def test_moving_a_better_document_up_never_lowers_a_value(
    ranking: list[int], grades: list[int], data: st.DataObject
) -> None:
    upper, lower = sorted(data.draw(st.lists(st.integers(0, 7), min_size=2, max_size=2, unique=True)))
    swapped = list(ranking)
    swapped[upper], swapped[lower] = ranking[lower], ranking[upper]
    if grades[swapped[upper]] < grades[ranking[upper]]:
        ranking, swapped = swapped, ranking
    both = batch(ranking, swapped, qrels=dict(enumerate(grades)))
    for measure in ("nDCG", "nDCG@3", "AP", "AP@3", "RR", "P@3", "R@3", "Success@3", "Rprec"):
        before, after = parse_measure(measure).values(both, 1).tolist()
        assert after >= before - 1e-12, measure


def test_topics_are_averaged_in_the_order_of_their_numbers_bytes() -> None:
    # In the order 10, 2, 9: (1e16 - 1e16 + 1) / 3; in the order 2, 9, 10 the 1 would be lost.
    assert mean_over_topics({"9": 1.0, "2": -1e16, "10": 1e16}) == 1 / 3


def test_values_are_added_one_after_the_other() -> None:
    # Ten times 0.1 so added is 0.9999999999999999; in pairs, or with compensation, it would be 1.
    assert mean_over_topics({str(number): 0.1 for number in range(10)}) == 0.9999999999999999 / 10
    assert means(np.full((2, 10), 0.1)).tolist() == [0.9999999999999999 / 10] * 2


def test_counts_are_added_up_over_topics_and_other_measures_averaged() -> None:
    values: Values = np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
    summed = {name for name in MEASURES if Measure(name).over_topics(values).tolist() == totals(values).tolist()}
    assert summed == COUNTS
    assert Measure("AP").over_topics(values).tolist() == [3, 1]


def test_no_topic_has_no_mean() -> None:
    with pytest.raises(InvalidValueError, match="no topic to average over"):
        mean_over_topics({})


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_explains_its_range_and_its_edges(name: str) -> None:
    explained = Measure(name).help
    assert "from 0" in explained.lower() or "otherwise 0" in explained
    assert "trec_eval:" in explained or "ir_measures:" in explained
