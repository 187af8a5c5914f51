"""ir_measures with our provider gives what it gives with its own, and refuses what we do not have."""

import ir_measures
import pytest
from ir_measures import (
    AP,
    AP_IA,
    BPM,
    ERR,
    ERR_IA,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    NRBP,
    P_IA,
    RR,
    SDCG,
    Bpref,
    Compat,
    IPrec,
    Judged,
    Measure,
    NumQ,
    NumRet,
    P,
    Qrel,
    R,
    Rprec,
    SetAP,
    StRecall,
    Success,
    alpha_DCG,
    alpha_nDCG,
    infAP,
    nDCG,
    nERR_IA,
    nNRBP,
)

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
    *(R @ 2, RR, RR @ 1, Rprec, Success @ 1, nDCG, nDCG @ 2, infAP, SetAP),
    *(INST(max_rel=2), INSQ(max_rel=2), BPM(T=1.0, min_rel=1, max_rel=2) @ 10, SDCG(max_rel=2) @ 5, Compat(p=0.8)),
    *(NERR8(max_rel=2) @ 5, NERR9(max_rel=2) @ 5, NERR10(p=0.8, max_rel=2), NERR11(T=2.0, max_rel=2)),
]
SUBTOPIC_QRELS = [
    *(Qrel("1", "d1", 1, "a"), Qrel("1", "d1", 1, "b"), Qrel("1", "d2", 1, "b"), Qrel("1", "d4", 0, "a")),
    *(Qrel("2", "d1", 1, "a"), Qrel("2", "d5", 2, "b"), Qrel("3", "d7", 1, "a")),
]
BY_SUBTOPIC = [
    *(alpha_DCG @ 5, alpha_nDCG @ 10, alpha_nDCG(alpha=0.3) @ 5, ERR_IA @ 5, nERR_IA @ 5, NRBP, nNRBP(beta=0.8)),
    *(P_IA @ 2, AP_IA, AP_IA(rel=2), StRecall @ 1),
]


@pytest.mark.parametrize("measure", MEASURES, ids=map(str, MEASURES))
def test_values_are_those_of_its_own_providers(measure: Measure) -> None:
    assert provider.supports(measure)
    by_theirs = {(one.query_id, str(one.measure)): one.value for one in ir_measures.iter_calc([measure], QRELS, RUN)}
    by_ours = {(one.query_id, str(one.measure)): one.value for one in provider.iter_calc([measure], QRELS, RUN)}
    assert by_ours == pytest.approx(by_theirs)
    mean = provider.calc_aggregate([measure], QRELS, RUN)
    assert mean == pytest.approx(ir_measures.calc_aggregate([measure], QRELS, RUN))


@pytest.mark.parametrize("measure", BY_SUBTOPIC, ids=map(str, BY_SUBTOPIC))
def test_values_by_subtopic_are_those_of_ndeval(measure: Measure) -> None:
    assert provider.supports(measure)
    mean = provider.calc_aggregate([measure], SUBTOPIC_QRELS, RUN)
    assert mean == pytest.approx(ir_measures.calc_aggregate([measure], SUBTOPIC_QRELS, RUN))
    assert provider.calc_aggregate([measure], QRELS, RUN) == pytest.approx(
        ir_measures.calc_aggregate([measure], QRELS, RUN)
    )


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
