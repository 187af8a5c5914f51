"""What holds for every measure: golden values, edges, ranges, independence, and how topics are summarised."""

import inspect
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measuring import batch, value

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.evaluating import evaluate
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.measures import MEASURES, Cutoff, Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.setting import Values, geometric_means, means, totals
from annotator.evaluation.runs.rankings import trec_order

GOLDEN = Path(__file__).parents[2] / "golden" / "measures"
EXPECTED = [
    (case.name, *line.split("\t"))
    for case in sorted(path for path in GOLDEN.iterdir() if path.is_dir())
    for line in (case / "expected").read_text().splitlines()
]
COUNTS = {"NumQ", "NumRet", "NumRel", "NumRelRet", "num_nonrel_judged_ret", "TP", "FP", "FN", "TN"}
GEOMETRIC = {"GMAP", "GMBpref"}
WITHOUT_END = {"CG", "DCG", "utility", "infNDCG", "last_rel", "loss_e", "loss_er", "WSS"}  # may be above 1, or below 0
# What they say when nothing was retrieved or judged is tested with each.
NOT_0_FOR_NOTHING = {"Accuracy", "Unjudged", "RBPResidual", "loss_e", "loss_r", "loss_er"}
CUTOFFS: dict[Cutoff, tuple[int | float | None, ...]] = {
    Cutoff.NEVER: (None,),
    Cutoff.POSSIBLE: (None, 1, 3, 10),
    Cutoff.NEEDED: (1, 3, 10),
    Cutoff.LEVEL: (0.0, 0.3, 1.0),
}
ALL = [
    Measure(name, cutoff, (("docs", 60),) if "docs" in definition.takes else ())
    for name, definition in MEASURES.items()
    if not definition.by_subtopic  # these are tested with subtopics
    for cutoff in CUTOFFS[definition.cutoff]
]
SHARES = [measure for measure in ALL if measure.name not in COUNTS | WITHOUT_END]
ZERO_FOR_NOTHING = [measure for measure in SHARES if measure.name not in NOT_0_FOR_NOTHING]

RANKINGS = st.lists(st.integers(0, 20), unique=True, max_size=15)
QRELS = st.dictionaries(st.integers(0, 20), st.integers(-1, 3))


def golden_values(case: str, measure: Measure) -> dict[str, float]:
    """Score a golden case, from its two files to a value a topic and one for all."""
    if measure.definition.by_subtopic:
        scores = evaluate(GOLDEN / case / "qrels", GOLDEN / case / "run", measure).scores
        return dict(zip(scores.topics, scores.values[0, :, 0].tolist(), strict=True)) | {"all": scores.means[0, 0]}
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


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize(
    ("ranking", "qrels"),
    [
        ([], {1: 1, 2: 0}),  # nothing retrieved
        ([], {}),
        ([1, 2], {}),  # nothing judged
        ([1, 2], {1: -1, 2: -2}),  # everything pooled but unjudged
        ([1, 2], {3: 1}),  # nothing retrieved is judged
    ],
)
def test_without_anything_judged_in_the_ranking_a_measure_is_0(
    ranking: list[int], qrels: dict[int, int], *, judged_only: bool
) -> None:
    for measure in ZERO_FOR_NOTHING:
        assert value(measure, ranking, qrels, judged_only=judged_only) == 0, measure


def test_without_anything_relevant_a_measure_is_0() -> None:
    for measure in ZERO_FOR_NOTHING:
        assert measure.name == "Judged" or value(measure, [1, 2], {1: 0, 2: 0}) == 0, measure


@given(
    st.lists(st.tuples(st.integers(0, 2), RANKINGS), max_size=4),
    st.dictionaries(st.integers(0, 1), QRELS),
    st.integers(1, 3),
)
def test_every_value_is_a_number(
    rankings: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]], relevant_from: int
) -> None:
    judged = judge_rankings([(topic, np.array(ranking, np.int32)) for topic, ranking in rankings], qrels)
    for measure, judged_only in product(ALL, (False, True)):
        values = measure.values(judged, relevant_from, judged_only=judged_only)
        assert values.shape == (len(rankings),), measure
        assert values.dtype == np.float64, measure
        assert np.isfinite(values).all(), measure


@given(RANKINGS, QRELS, st.integers(1, 3))
def test_values_stay_between_0_and_1(ranking: list[int], qrels: dict[int, int], relevant_from: int) -> None:
    judged = batch(ranking, qrels=qrels)
    for measure in SHARES:
        # Sums of shares may pass 1 by their rounding.
        assert 0 <= measure.values(judged, relevant_from)[0] <= 1 + 1e-12, measure


def test_rankings_of_a_batch_do_not_know_of_each_other() -> None:
    qrels = {1: {1: 2, 2: 0, 3: 2, 9: -1}, 2: {1: 2, 4: 2}, 3: {1: 2, 2: 1}}
    rankings = [(1, [1, 2, 3]), (1, []), (2, [4, 9]), (3, [2, 5, 1]), (1, [3, 9, 1]), (2, [8, 7, 6, 1]), (1, [9])]
    judged = judge_rankings([(topic, np.array(ranking, np.int32)) for topic, ranking in rankings], qrels)
    for measure in ALL:
        together = measure.values(judged, 1).tolist()
        assert together == [value(measure, ranking, qrels[topic]) for topic, ranking in rankings], measure


@given(RANKINGS, QRELS, st.sampled_from([{}, {99: 0}, {99: -1}]))
def test_a_document_without_relevance_at_the_end_changes_nothing(
    ranking: list[int], qrels: dict[int, int], more: dict[int, int]
) -> None:
    both = batch(ranking, [*ranking, 99], qrels=qrels | more)
    for name in ("AP", "RR", "nDCG", "Rprec", "Bpref", "infAP", "IPrec@0.4", "11ptAvg", "binG", "G", "ndcg_rel"):
        before, after = parse_measure(name).values(both, 1).tolist()
        assert before == after, name


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
    for measure in ("nDCG", "nDCG@3", "AP", "AP@3", "RR", "P@3", "R@3", "Success@3", "Rprec", "IPrec@0.5", "binG"):
        before, after = parse_measure(measure).values(both, 1).tolist()
        assert after >= before - 1e-12, measure


def test_the_collection_says_what_is_relevant_unless_the_measure_does() -> None:
    ranking, qrels = [1, 2], {1: 1, 2: 2}
    assert value("RR", ranking, qrels, relevant_from=1) == 1
    assert value("RR", ranking, qrels, relevant_from=2) == 1 / 2
    assert value("RR(rel=1)", ranking, qrels, relevant_from=2) == 1
    assert value("nDCG", ranking, qrels, relevant_from=2) == value("nDCG", ranking, qrels, relevant_from=1)


@pytest.mark.parametrize(
    "name", [one.name for one in ALL if one.definition.cutoff is Cutoff.NEEDED and one.cutoff == 1]
)
def test_a_measure_made_without_the_cutoff_it_needs_fails(name: str) -> None:
    with pytest.raises(ValueError, match="needs a cutoff"):
        value(Measure(name), [1], {1: 1})


def test_values_are_added_one_after_the_other() -> None:
    # Ten times 0.1 so added is 0.9999999999999999; in pairs, or with compensation, it would be 1.
    assert means(np.array([1e16, -1e16, 1.0])) == 1 / 3
    assert means(np.full((2, 10), 0.1)).tolist() == [0.9999999999999999 / 10] * 2


def test_counts_are_added_up_over_topics_and_other_measures_averaged() -> None:
    values: Values = np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
    ways = {name: Measure(name).over_topics(values).tolist() for name in MEASURES}
    assert {name for name, result in ways.items() if result == totals(values).tolist()} == COUNTS
    assert {name for name, result in ways.items() if result == geometric_means(values).tolist()} == GEOMETRIC
    assert ways["AP"] == [3, 1]


def test_the_geometric_mean_takes_a_hundred_thousandth_for_0() -> None:
    # The root of 0.00001 * 0.1, and of 0.5 * 0.5.
    assert geometric_means(np.array([[0, 0.1], [0.5, 0.5]])) == pytest.approx([0.001, 0.5])


@pytest.mark.parametrize("summarise", [means, totals, geometric_means])
def test_no_topic_has_no_mean(summarise: object) -> None:
    assert callable(summarise)
    with pytest.raises(InvalidValueError, match="no topic to average over"):
        summarise(np.empty((2, 0)))


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_explains_its_range_and_its_edges(name: str) -> None:
    explained = Measure(name).help
    assert explained == inspect.getdoc(MEASURES[name].function)
    assert re.search(r"\b[Ff]rom (0|minus)\b|otherwise 0", explained)
    # A name elsewhere, or where it was published.
    assert re.search(r"(trec_eval|ir_measures|gdeval|NTCIREVAL):\s|\b(19|20)[0-9][0-9]\.", explained)
