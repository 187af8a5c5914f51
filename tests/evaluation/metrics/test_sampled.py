"""xinfAP and infNDCG: by hand, against plain loops, equal to AP and nDCG when all is judged, and unbiased when not."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics import graded, incomplete, ranked, sampled
from annotator.evaluation.metrics.gains import EXPONENTIAL, LINEAR, Gain
from annotator.evaluation.metrics.join_qrels import judge_matched
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values
from annotator.evaluation.qrels.qrels_table import QrelsTable

EPSILON = 1e-5

# Of the simulation: in the pool are documents that some system has in its top 100, in strata by their best rank.
TOPICS, SYSTEMS, SAMPLES, DOCUMENT_COUNT = 12, 5, 300, 250
DEPTHS = (10, 40, 100)
RATES = (1.0, 0.3, 0.2)  # of each stratum drawn

Measured = Callable[[JudgedRankings, Setting], Values]
Grades = NDArray[np.integer]  # shape: samples, topics, documents
TOP_HEAVY = Gain(custom=((0, 0.5), (1, 9.0), (2, 4.0)))

Pool = Mapping[int, tuple[int, int]]  # stratum and grade by document; a grade of -1: not drawn into the sample

DOCUMENTS = st.integers(0, 12)
RANKING = st.lists(DOCUMENTS, unique=True, max_size=10)
POOL = st.dictionaries(DOCUMENTS, st.tuples(st.integers(0, 2), st.sampled_from([-1, -1, 0, 1, 2, 3])), max_size=12)
JUDGED_POOL = st.dictionaries(DOCUMENTS, st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12)
CUTOFF = st.one_of(st.none(), st.integers(1, 11))
GAINS = st.sampled_from([LINEAR, EXPONENTIAL, TOP_HEAVY])


def join(pools: Sequence[Pool], *runs: Sequence[Sequence[int]]) -> JudgedRankings:
    """Join runs, a ranking for each topic, with each topic's pool."""
    first = np.cumsum([0, *map(len, pools)]).astype(np.intp)
    strata = np.array([stratum for pool in pools for stratum, _ in pool.values()], np.int32)
    grades = np.array([grade for pool in pools for _, grade in pool.values()], np.int16)
    docnos = np.array([str(one).encode() for pool in pools for one in pool] or [b""], np.bytes_)[: grades.size]
    table = QrelsTable(tuple(map(str, range(len(pools)))), first, docnos, grades, strata)
    return judge_matched(table, [matched(table, pools, run) for run in runs])


def matched(table: QrelsTable, pools: Sequence[Pool], run: Sequence[Sequence[int]]) -> MatchedRun:
    entries = [
        {document: place + begin for place, document in enumerate(pool)}
        for pool, begin in zip(pools, table.first.tolist(), strict=False)
    ]
    found = [
        (topic, rank, entries[topic][document])
        for topic, ranking in enumerate(run)
        for rank, document in enumerate(ranking, start=1)
        if document in entries[topic]
    ]
    columns = np.array(found, np.intp).reshape(-1, 3)
    retrieved = np.array([len(ranking) for ranking in run], np.intp)
    return MatchedRun("run", retrieved, columns[:, 0], columns[:, 1].astype(np.int32), columns[:, 2], 0)


def sizes(pool: Pool, least: int) -> dict[int, int]:
    """Count the documents of each stratum with this grade or a better one."""
    strata = {stratum for stratum, _ in pool.values()}
    return {one: sum(stratum == one and grade >= least for stratum, grade in pool.values()) for one in strata}


def xinfap(ranking: Sequence[int], pool: Pool, relevant_from: int, *, is_prior: bool) -> float:
    """As published, one document after the other."""
    pooled, judged, relevant = (sizes(pool, least) for least in (-1, 0, relevant_from))
    total = sum(pooled[one] * relevant[one] / judged[one] for one in pooled if judged[one])
    found = 0.0
    for rank, document in enumerate(ranking, start=1):
        if document not in pool or pool[document][1] < relevant_from:
            continue
        expected = 0.0
        above = {one: pool[one] for one in ranking[: rank - 1] if one in pool}
        for stratum, listed in sizes(above, -1).items():
            seen, good = sizes(above, 0)[stratum], sizes(above, relevant_from)[stratum]
            rate = (good + EPSILON) / (seen + 2 * EPSILON)
            if is_prior and not seen:
                rate = relevant[stratum] / judged[stratum] if judged[stratum] else 0
            expected += listed * rate
        stratum = pool[document][0]
        found += pooled[stratum] / judged[stratum] * (1 / rank + expected / rank)
    return found / total if total else 0.0


def worth(gain: Gain, grade: int) -> float:
    return 2.0**grade - 1 if gain.is_exponential else dict(gain.custom).get(grade, float(grade))


def infndcg(ranking: Sequence[int], pool: Pool, gain: Gain, cutoff: int | None) -> float:
    """As published, the best list by NIST's rule: the estimated number of each grade's documents, halves up."""
    pooled, judged = sizes(pool, -1), sizes(pool, 0)
    found = sum(
        pooled[pool[one][0]] / judged[pool[one][0]] * worth(gain, pool[one][1]) / math.log2(rank + 1)
        for rank, one in enumerate(ranking[:cutoff], start=1)
        if one in pool and pool[one][1] >= 0
    )
    best = []
    for grade in range(4):
        of_grade = [stratum for stratum, one in pool.values() if one == grade]
        estimated = sum((Fraction(pooled[stratum], judged[stratum]) for stratum in of_grade), start=Fraction(0))
        best += [worth(gain, grade)] * math.floor(estimated + Fraction(1, 2))
    best = sorted(best, reverse=True)[:cutoff]
    most = sum(one / math.log2(rank + 1) for rank, one in enumerate(best, start=1))
    return found / most if most else 0.0


# Stratum 0 with 2 documents, both judged; stratum 1 with 6, of which 3 judged: each stands for 2.
SAMPLE: Pool = {1: (0, 1), 2: (0, 0), 3: (1, -1), 4: (1, 2), 5: (1, -1), 6: (1, 0), 7: (1, 1), 8: (1, -1)}


def test_xinfap_by_hand() -> None:
    judged = join([SAMPLE], [[1, 3, 4, 2, 9, 7]])
    # Estimated relevant: 2 * 1/2 + 6 * 2/3 = 5.
    # 1 at rank 1: 1. 4 at rank 3: 1/3 of 1, of the 1 above in stratum 0 (all judged relevant) and of the 1 above in
    # stratum 1, of which nothing is judged: one half. 7 at rank 6: 1/6 of 1, of 2 in stratum 0, half of the judged
    # relevant, and of 2 in stratum 1, all of the one judged relevant; 9 is not in the pool. 4 and 7 count twice.
    published = (1 + 2 * (1 + 1 + 1 / 2) / 3 + 2 * (1 + 1 + 2) / 6) / 5
    assert sampled.stratified_average_precision(judged, Setting()) == pytest.approx(published, abs=EPSILON)
    # With prior=stratum the one above in stratum 1 is relevant with probability 2/3.
    prior = (1 + 2 * (1 + 1 + 2 / 3) / 3 + 2 * (1 + 1 + 2) / 6) / 5
    assert sampled.stratified_average_precision(judged, Setting(prior="stratum")) == pytest.approx(prior, abs=EPSILON)


def test_infndcg_by_hand() -> None:
    judged = join([SAMPLE], [[1, 3, 4, 2, 9, 7]])
    # 4, of grade 2, and 7, of grade 1, count twice; estimated are 2 documents of grade 2 and 1 + 2 of grade 1.
    discount = [math.log2(rank + 1) for rank in range(7)]
    found = 1 / discount[1] + 2 * 2 / discount[3] + 2 * 1 / discount[6]
    best = 2 / discount[1] + 2 / discount[2] + 1 / discount[3] + 1 / discount[4] + 1 / discount[5]
    assert sampled.stratified_ndcg(judged, Setting()) == pytest.approx(found / best)
    at_3 = (1 / discount[1] + 2 * 2 / discount[3]) / (2 / discount[1] + 2 / discount[2] + 1 / discount[3])
    assert sampled.stratified_ndcg(judged, Setting(cutoff=3)) == pytest.approx(at_3)


def test_an_estimate_can_exceed_1_when_what_was_drawn_stands_high() -> None:
    # One of two drawn, and it stands first: it counts for both, at rank 1.
    assert sampled.stratified_ndcg(join([{1: (0, 1), 2: (0, -1)}], [[1]]), Setting()) == pytest.approx(
        2 / (1 + 1 / math.log2(3))
    )


@given(st.lists(POOL, min_size=1, max_size=3), st.data(), st.sampled_from([None, "stratum"]), st.integers(1, 2))
def test_xinfap_of_a_batch_agrees_with_a_plain_loop(
    pools: list[Pool], data: st.DataObject, prior: str | None, relevant_from: int
) -> None:
    runs = [[data.draw(RANKING) for _ in pools] for _ in range(2)]
    values = sampled.stratified_average_precision(join(pools, *runs), Setting(relevant_from, prior=prior))
    expected = [
        xinfap(ranking, pool, relevant_from, is_prior=prior is not None)
        for run in runs
        for ranking, pool in zip(run, pools, strict=True)
    ]
    assert values.tolist() == pytest.approx(expected)
    assert np.all((values >= 0) & (values <= 1 + 1e-12))


@given(st.lists(POOL, min_size=1, max_size=3), st.data(), GAINS, CUTOFF)
def test_infndcg_of_a_batch_agrees_with_a_plain_loop(
    pools: list[Pool], data: st.DataObject, gain: Gain, cutoff: int | None
) -> None:
    runs = [[data.draw(RANKING) for _ in pools] for _ in range(2)]
    values = sampled.stratified_ndcg(join(pools, *runs), Setting(gain=gain, cutoff=cutoff))
    expected = [infndcg(ranking, pool, gain, cutoff) for run in runs for ranking, pool in zip(run, pools, strict=True)]
    assert values.tolist() == pytest.approx(expected)


@given(RANKING, JUDGED_POOL, GAINS, CUTOFF)
def test_with_everything_judged_infndcg_is_ndcg_to_the_last_digit(
    ranking: list[int], pool: Pool, gain: Gain, cutoff: int | None
) -> None:
    judged, setting = join([pool], [ranking]), Setting(gain=gain, cutoff=cutoff)
    assert sampled.stratified_ndcg(judged, setting) == graded.ndcg(judged, setting)


@given(RANKING, JUDGED_POOL, st.sampled_from([None, "stratum"]))
def test_with_everything_judged_xinfap_is_ap_but_for_an_epsilon_a_stratum(
    ranking: list[int], pool: Pool, prior: str | None
) -> None:
    # n (r + e) / (n + 2 e) differs from r by e |n - 2 r| / (n + 2 e), which is at most e.
    judged = join([pool], [ranking])
    estimated = sampled.stratified_average_precision(judged, Setting(prior=prior))
    strata = len({stratum for stratum, _ in pool.values()})
    assert estimated == pytest.approx(ranked.average_precision(judged, Setting()), abs=strata * EPSILON)


@given(RANKING, POOL)
def test_with_one_stratum_xinfap_is_infap(ranking: list[int], pool: Pool) -> None:
    judged = join([{document: (0, grade) for document, (_, grade) in pool.items()}], [ranking])
    inferred = incomplete.inferred_average_precision(judged, Setting())
    assert sampled.stratified_average_precision(judged, Setting()) == pytest.approx(inferred)


@dataclass(frozen=True)
class Simulation:
    """Made-up systems over pools judged in full, and over many samples of the same pools."""

    full: JudgedRankings
    samples: JudgedRankings

    def bias(self, estimate: Measured, truth: Measured, setting: Setting) -> float:
        """How much the estimate is above the truth on average, over systems, samples and topics."""
        values = estimate(self.samples, setting).reshape(SYSTEMS, SAMPLES, TOPICS)
        return float((values - truth(self.full, Setting()).reshape(SYSTEMS, 1, TOPICS)).mean())


def simulate(rng: np.random.Generator) -> Simulation:
    grades = rng.choice(4, (TOPICS, DOCUMENT_COUNT), p=[0.88, 0.06, 0.04, 0.02]).astype(np.int16)
    # Systems from poor to good, which err alike in part.
    signal = np.linspace(0.4, 1.4, SYSTEMS)[:, None, None] * np.minimum(grades, 2)
    scores = signal + rng.normal(0, 0.6, grades.shape) + rng.normal(0, 1, (SYSTEMS, *grades.shape))
    order = np.argsort(-scores, axis=2)
    best_rank = np.argsort(order, axis=2).min(axis=0)  # from 0
    strata = np.searchsorted(DEPTHS, best_rank, side="right")  # the last number: outside the pool
    is_pooled = strata < len(DEPTHS)
    drawn = draw(rng, strata)
    rankings = order[:, :, : DEPTHS[-1]]
    return Simulation(
        full=join_arrays(np.where(is_pooled, grades, 0)[None], strata, rankings),
        samples=join_arrays(np.where(drawn, grades, -1), strata, rankings),
    )


def draw(rng: np.random.Generator, strata: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Draw many samples of every topic, of each stratum as many documents as its rate says. Samples come first."""
    keys = rng.random((SAMPLES, *strata.shape))
    drawn = np.zeros(keys.shape, np.bool_)
    for stratum, rate in enumerate(RATES):
        is_here = strata == stratum
        place = np.argsort(np.argsort(np.where(is_here, keys, np.inf), axis=2), axis=2)
        drawn |= is_here & (place < np.rint(rate * is_here.sum(axis=1))[:, None])
    return drawn


def join_arrays(grades: Grades, strata: NDArray[np.intp], rankings: NDArray[np.intp]) -> JudgedRankings:
    """Join the systems' rankings with each sample's grades, every topic of every sample a topic of its own."""
    samples, topics = grades.shape[:2]
    is_pooled = np.tile(strata < len(DEPTHS), (samples, 1, 1))
    entry = (np.cumsum(is_pooled) - 1).reshape(is_pooled.shape)
    first = np.concatenate(([0], np.cumsum(is_pooled.sum(axis=2))))
    names = tuple(f"{number:06}" for number in range(samples * topics))
    in_pool = np.tile(strata, (samples, 1, 1))[is_pooled].astype(np.int32)
    table = QrelsTable(names, first, np.zeros(in_pool.size, "S1"), grades[is_pooled].astype(np.int16), in_pool)
    topic = np.repeat(np.arange(len(names)), DEPTHS[-1])
    rank = np.tile(np.arange(1, DEPTHS[-1] + 1, dtype=np.int32), len(names))
    retrieved = np.full(len(names), DEPTHS[-1])
    runs = [
        MatchedRun("run", retrieved, topic, rank, np.take_along_axis(entry, system[None], axis=2).ravel(), 0)
        for system in rankings
    ]
    return judge_matched(table, runs)


def test_the_estimates_are_nearly_unbiased() -> None:
    # The standard error of each mean is below 0.0007. Without weights by stratum, xinfAP would be 0.062 and infNDCG
    # 0.016 too high; without the unjudged documents above a rank, xinfAP 0.026 too low; with the estimated numbers of
    # the best list chopped and not rounded, infNDCG 0.015 too high.
    simulation = simulate(np.random.default_rng(1))
    published = simulation.bias(sampled.stratified_average_precision, ranked.average_precision, Setting())
    prior = simulation.bias(sampled.stratified_average_precision, ranked.average_precision, Setting(prior="stratum"))
    assert 0.003 < published < 0.01
    assert abs(prior) < 0.004
    # The same samples: what one half for strata not yet seen makes of them.
    assert 0.0035 < published - prior < 0.0055
    assert 0 < simulation.bias(sampled.stratified_ndcg, graded.ndcg, Setting()) < 0.012
