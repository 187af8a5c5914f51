"""Measures of orders of screening, against a plain loop over the ranks, as CLEF eHealth 2017 defines them."""

from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measuring import value
from thorough import examples

from annotator.evaluation.metrics.names import parse_measures

MEASURES = (
    *("last_rel", "WSS@0.95", "WSS@1", "norm_area", "NCG@0.1", "NCG@0.5", "NCG@1", "loss_e", "loss_r", "loss_er"),
)


def expected(relevant: list[bool], not_shown: list[bool]) -> dict[str, float]:
    """The values of a topic whose documents are shown in this order, except the last ones."""
    documents, existing = len(relevant) + len(not_shown), sum(relevant) + sum(not_shown)
    found, area, last, last_of_95, wanted = 0, 0.0, 0, 0, round(0.95 * existing)
    looks = [0] * 11

    def look(rank: int) -> None:
        if rank % max(documents // 10, 1) == 0:
            looks[10 * rank // documents :] = [found] * len(looks[10 * rank // documents :])

    for rank, is_relevant in enumerate(relevant, 1):
        area += found + 0.5 * is_relevant
        if is_relevant:
            last_of_95 = rank if found < wanted else last_of_95
            found, last = found + 1, rank
        look(rank)
    for rank, _ in enumerate(not_shown, len(relevant) + 1):
        area += found
        look(rank)
    effort = (len(relevant) / (existing + 100) * 100 / documents) ** 2
    missed = (1 - (found / existing if existing else 0)) ** 2
    most = existing * documents - existing**2 / 2
    return {
        "last_rel": last,
        "WSS@0.95": (documents - last_of_95) / documents - 0.05 if wanted and found >= wanted else 0,
        "WSS@1": (documents - last) / documents if existing and found == existing else 0,
        "norm_area": area / most if existing else 0,
        "NCG@0.1": looks[0] / existing if existing else 0,
        "NCG@0.5": looks[4] / existing if existing else 0,
        "NCG@1": looks[9] / existing if existing else 0,
        "loss_e": effort,
        "loss_r": missed,
        "loss_er": effort + missed,
    }


@settings(max_examples=examples(200))
@given(st.lists(st.booleans(), min_size=1, max_size=60), st.lists(st.booleans(), max_size=20))
def test_values_are_those_of_a_loop_over_the_ranks(shown: list[bool], not_shown: list[bool]) -> None:
    qrels = {place: int(is_relevant) for place, is_relevant in enumerate([*shown, *not_shown], 1)}
    ranking = list(range(1, len(shown) + 1))
    wanted = expected(shown, not_shown)
    if len(qrels) >= 10:
        values = {measure: value(measure, ranking, qrels) for measure in MEASURES}
        assert {m: v for m, v in values.items() if not isclose(v, wanted[m], abs_tol=1e-12)} == {}


def test_the_best_order_has_an_area_of_1_and_the_worst_saves_nothing() -> None:
    qrels = {1: 1, 2: 1, **dict.fromkeys(range(3, 11), 0)}
    best, worst = list(range(1, 11)), list(range(10, 0, -1))
    assert (value("norm_area", best, qrels), value("last_rel", best, qrels), value("WSS@1", best, qrels)) == (1, 2, 0.8)
    assert (value("last_rel", worst, qrels), value("WSS@1", worst, qrels)) == (10, 0)
    # Sampling has 95 % of them after 95 % of the documents.
    assert value("WSS@0.95", worst, qrels) == pytest.approx(-0.05)


def test_documents_that_are_not_judged_lengthen_the_order() -> None:
    # The third document is the only relevant one of two: it is below the curve from rank 3 to 4.
    assert value("norm_area", [8, 9, 1, 2], {1: 1, 2: 0}) == pytest.approx(1.5 / 1.5)
    assert value("norm_area", [8, 9, 7, 1], {1: 1, 2: 0}) == pytest.approx(0.5 / 1.5)
    # Half is found after three of four documents, where sampling finds it after two.
    assert value("WSS@0.5", [8, 9, 1, 2], {1: 1, 2: 1}) == pytest.approx(-0.25)


def test_the_name_tar_stands_for_the_measures_of_the_task() -> None:
    names = [str(measure) for measure in parse_measures(["TAR"])]
    assert names[:3] == ["last_rel", "WSS@0.95", "WSS@1"]
    assert names[3:13] == [f"NCG@{share / 10:g}" for share in range(1, 11)]
    assert names[13:] == ["norm_area", "AP", "loss_e", "loss_r", "loss_er"]
