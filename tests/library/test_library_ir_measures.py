"""ir_measures with our provider gives what it gives with its own, and refuses what we do not have."""

import ir_measures
import pytest
from ir_measures import AP, ERR, RR, Bpref, IPrec, Judged, Measure, NumQ, NumRet, P, R, Rprec, Success, nDCG

from annotator.library.ir_measures_provider import provider

QRELS = {
    "1": {"d1": 2, "d2": 0, "d3": 1, "d4": 1},
    "2": {"d1": 1, "d5": 0},
    "3": {"d7": 1},
    "4": {"d8": 2, "d9": 1},
}
RUN = {
    "1": {"d2": 9.0, "d1": 8.0, "d0": 7.5, "d4": 7.0},
    "2": {"d5": 2.0, "d1": 1.0},
    "4": {"d9": 3.0, "d0": 2.0, "d8": 1.0},
}
MEASURES = [
    *(AP, AP(rel=2), AP @ 2, Bpref, IPrec @ 0.1, Judged @ 2, NumRet, P @ 2, P(rel=2) @ 1),
    *(R @ 2, RR, RR @ 1, Rprec, Success @ 1, nDCG, nDCG @ 2),
]


@pytest.mark.parametrize("measure", MEASURES, ids=map(str, MEASURES))
def test_values_are_those_of_its_own_providers(measure: Measure) -> None:
    assert provider.supports(measure)
    by_theirs = {(one.query_id, str(one.measure)): one.value for one in ir_measures.iter_calc([measure], QRELS, RUN)}
    by_ours = {(one.query_id, str(one.measure)): one.value for one in provider.iter_calc([measure], QRELS, RUN)}
    assert by_ours == pytest.approx(by_theirs)
    mean = provider.calc_aggregate([measure], QRELS, RUN)
    assert mean == pytest.approx(ir_measures.calc_aggregate([measure], QRELS, RUN))


def test_exponential_gains_are_those_of_gdeval_which_prints_five_digits() -> None:
    measure = nDCG(dcg="exp-log2") @ 10
    mean = provider.calc_aggregate([measure], QRELS, RUN)
    theirs = ir_measures.calc_aggregate([measure], QRELS, RUN)
    assert mean == pytest.approx(theirs, abs=1e-5)


def test_what_means_something_else_or_is_missing_is_refused() -> None:
    assert not provider.supports(ERR @ 10)
    # Theirs leaves out topics for which the run has nothing.
    assert not provider.supports(NumQ)
    with pytest.raises(ValueError, match="unsupported measure ERR@10"):
        provider.evaluator([P @ 1, ERR @ 10], QRELS)
