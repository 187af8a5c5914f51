"""Measures of the C/W/L framework and Compat: the values that ir_measures has, and what follows of their form."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as some
from ir_measures import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, SDCG, Compat, Measure
from measuring import batch, value

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.names import parse_measure

IN_IR_MEASURES = [
    *(INST(max_rel=3), INST(T=2.5, max_rel=3), INST(min_rel=1, max_rel=2), INSQ(max_rel=3), INSQ(T=0.2, max_rel=3)),
    *(NERR8(max_rel=3) @ 1, NERR8(max_rel=3) @ 5, NERR9(max_rel=3) @ 4, NERR10(max_rel=3), NERR10(p=0.5, max_rel=3)),
    *(NERR11(max_rel=3), NERR11(T=3.0, min_rel=1, max_rel=3), SDCG(max_rel=3) @ 5, SDCG(max_rel=4) @ 1000),
    *(BPM(max_rel=3) @ 10, BPM(T=2.0, min_rel=1, max_rel=3) @ 3, BPM(max_rel=3) @ 1),
    *(Compat, Compat(p=0.8), Compat(p=0.8, normalize=False)),
]
GAINS = ("INST", "INSQ", "BPM@3", "SDCG@3", "NERR8@3", "NERR9@3", "NERR10", "NERR11")
rankings = some.lists(some.integers(0, 25), unique=True, min_size=1, max_size=20)
qrels_of_a_topic = some.dictionaries(some.integers(0, 25), some.integers(-1, 4), min_size=1, max_size=20)


@pytest.mark.parametrize("measure", IN_IR_MEASURES, ids=map(str, IN_IR_MEASURES))
@given(rankings, qrels_of_a_topic)
def test_values_are_those_of_ir_measures(measure: Measure, ranking: list[int], qrels: dict[int, int]) -> None:
    # Without ties, which it orders as they come; its scores here are above 0.
    run = {"1": {str(document): float(len(ranking) - place) for place, document in enumerate(ranking)}}
    [theirs] = ir_measures.iter_calc([measure], {"1": {str(document): grade for document, grade in qrels.items()}}, run)
    assert value(str(measure), ranking, qrels) == pytest.approx(theirs.value, rel=1e-9, abs=1e-12)


def test_ranks_after_the_thousandth_are_not_looked_at() -> None:
    ranking = list(range(1, 1203))
    before, after = {1000: 1}, {1001: 1}
    for name in ("INSQ", "INST", "NERR10(p=0.999)", "NERR11", "SDCG@5000", "BPM@5000"):
        assert value(name, ranking, before) > 0, name
        assert value(name, ranking, after) == 0, name


def test_many_rankings_at_once_have_the_values_of_each() -> None:
    several = [[place % 7, 8, 9, place % 5 + 10] for place in range(1100)]
    qrels = {3: 2, 5: 1, 9: 1, 12: 3}
    together = parse_measure("INST(max=3)").values(batch(*several, qrels=qrels), 1)
    assert together.tolist() == [value("INST(max=3)", ranking, qrels) for ranking in several]


@given(rankings, qrels_of_a_topic)
def test_a_ranking_of_nothing_but_the_best_grade_is_worth_1(ranking: list[int], qrels: dict[int, int]) -> None:
    best = dict.fromkeys(range(1000), 4) | {1000 + document: grade for document, grade in qrels.items()}
    for name in GAINS:
        assert value(name, list(range(1000)), best) == pytest.approx(1), name
    assert (
        value("Compat", [*range(1000), *(1000 + document for document in ranking)], dict.fromkeys(range(1000), 4)) == 1
    )


@given(some.permutations(range(8)), some.lists(some.integers(0, 3), min_size=8, max_size=8), some.integers(0, 6))
def test_exchanging_neighbours_for_the_better_never_lowers_a_measure_whose_weights_fall(
    ranking: list[int], grades: list[int], upper: int
) -> None:
    swapped = list(ranking)
    swapped[upper : upper + 2] = reversed(ranking[upper : upper + 2])
    if grades[swapped[upper]] < grades[ranking[upper]]:
        ranking, swapped = swapped, ranking
    both = batch(ranking, swapped, qrels=dict(enumerate(grades)))
    for name in ("INSQ(max=3)", "SDCG(max=3)@5", "Compat", "Compat(p=0.5)"):
        before, after = parse_measure(name).values(both, 1).tolist()
        assert after >= before - 1e-12, name


@given(rankings, qrels_of_a_topic)
def test_the_ideal_ranking_has_a_compatibility_of_1(ranking: list[int], qrels: dict[int, int]) -> None:
    ideal = sorted((document for document, grade in qrels.items() if grade > 0), key=lambda one: -qrels[one])
    expected = 1 if ideal else 0
    below = [document for document in ranking if document not in ideal]
    assert value("Compat(p=0.7)", ideal, qrels) == expected
    assert value("Compat(p=0.7)", [*ideal, *below], qrels) == pytest.approx(expected)


def test_grades_outside_the_scale_count_as_its_ends() -> None:
    assert value("INSQ(min_rel=1,max=2)", [1, 2, 3], {1: 4, 2: 0, 3: 1}) == value("INSQ(max=1)", [1], {1: 1})


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("INST(T=0.2)", "The T of INST must be 0.25 or more, not 0.2."),
        ("INST(min_rel=2,max_rel=2)", "The min_rel of INST must be below max, and 2 is not below 2."),
        ("INST@10", "INST takes no cutoff; write just INST."),
        ("BPM(T=1,min_rel=1)", "BPM needs a cutoff, such as BPM@10."),
        ("INSQ(min_rel=1000)", "The min_rel of INSQ must be a whole number from 0 to 999, not “1000”."),
        ("Compat(normalize=yes)", "The normalize of Compat must be True or False, not “yes”."),
        ("Compat(p=1)", "The p of Compat must be a number between 0 and 1, not “1”."),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        parse_measure(written)
    assert str(refused.value) == sentence


def test_a_least_grade_above_all_of_the_qrels_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="best grade must be above min_rel, and 1 is not above 1"):
        value("INST(min_rel=1)", [1, 2], {1: 1, 2: 0})


@pytest.mark.parametrize("measure", IN_IR_MEASURES, ids=map(str, IN_IR_MEASURES))
def test_names_are_read_as_ir_measures_writes_them_and_written_so(measure: Measure) -> None:
    ours = parse_measure(str(measure))
    theirs = ir_measures.parse_measure(ours.in_ir_measures)
    theirs.validate_params()  # type: ignore[no-untyped-call]
    assert {**theirs.params} == {**measure.params}
    assert parse_measure(ours.in_ir_measures) == ours
