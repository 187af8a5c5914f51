"""ERR, RBP with its residual, and Q: published examples, plain loops, and what must hold for every ranking."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics import ranked
from annotator.evaluation.metrics import user_models as users
from annotator.evaluation.metrics.gains import EXPONENTIAL, LINEAR, Gain
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.setting import Setting

SCALE = 4
TOP_HEAVY = Gain(custom=((1, 0.3), (2, 7.5), (3, 0.0)))
DOCUMENTS = st.integers(0, 12)
RANKING = st.lists(DOCUMENTS, unique=True, max_size=10)
GRADES = st.dictionaries(DOCUMENTS, st.integers(-1, SCALE), max_size=12)
BATCH = st.lists(st.tuples(st.integers(0, 2), RANKING), max_size=5)  # topics and rankings
QRELS = st.dictionaries(st.integers(0, 1), GRADES)
GAINS = st.sampled_from([LINEAR, EXPONENTIAL, TOP_HEAVY])
CUTOFF = st.one_of(st.none(), st.integers(1, 11))
P = st.sampled_from([0.5, 0.8, 0.95])

# Moffat and Zobel's ranking `$$---$----$-??--?---`, as documents 1 to 20: $ relevant, - not relevant, ? unjudged.
MOFFAT_AND_ZOBEL = {rank: int(rank in (1, 2, 6, 11)) for rank in range(1, 21) if rank not in (13, 14, 17)}
# The sample that NTCIREVAL comes with: documents 1 to 3 of level 3, 4 to 6 of level 2, 7 to 10 of level 1, 11 of 0.
NTCIREVAL = {**dict.fromkeys((1, 2, 3), 3), **dict.fromkeys((4, 5, 6), 2), **dict.fromkeys((7, 8, 9, 10), 1), 11: 0}


def join(ranking: Sequence[int], qrels: Mapping[int, int]) -> JudgedRankings:
    return judge_rankings([(1, np.array(ranking, np.int32))], {1: qrels})


def value(measure: str, ranking: Sequence[int], qrels: Mapping[int, int]) -> float:
    """Take a measure of one ranking."""
    return float(parse_measure(measure).values(join(ranking, qrels), 1)[0])


def of_grades(measure: str, grades: Sequence[int]) -> float:
    """Take a measure of a ranking whose documents have these grades; there are no others."""
    return value(measure, range(len(grades)), dict(enumerate(grades)))


def worth(gain: Gain, grade: int) -> float:
    if grade < 0:
        return 0.0
    if gain.is_exponential:
        return 2.0**grade - 1
    return dict(gain.custom).get(grade, float(grade))


def err(grades: Sequence[int], most: int) -> float:
    """As gdeval computes it, for the grades of the documents looked at."""
    total, come = 0.0, 1.0
    for rank, grade in enumerate(grades, start=1):
        stop = (2 ** max(grade, 0) - 1) / 2**most
        total += stop * come / rank
        come *= 1 - stop
    return total


def q(grades: Sequence[int], listed: Sequence[int], setting: Setting) -> float:
    """By its definition; a document that is not relevant is worth nothing."""
    relevant = [grade for grade in listed if grade >= setting.relevant_from]
    best = list(accumulate(sorted((worth(setting.gain, grade) for grade in relevant), reverse=True)))
    total, count, gained = 0.0, 0, 0.0
    for rank, grade in enumerate(grades[: setting.cutoff], start=1):
        if grade >= setting.relevant_from:
            count += 1
            gained += worth(setting.gain, grade)
            total += (count + setting.beta * gained) / (rank + setting.beta * best[min(rank, len(best)) - 1])
    most = len(relevant) if setting.cutoff is None else min(len(relevant), setting.cutoff)
    return total / most if most else 0.0


def joined(
    batch: Sequence[tuple[int, Sequence[int]]], qrels: Mapping[int, Mapping[int, int]]
) -> tuple[JudgedRankings, Iterator[tuple[list[int], list[int]]]]:
    """Join a batch; and give for each ranking its grades, -1 for unjudged, and all grades that its topic has."""
    judged = judge_rankings([(topic, np.array(ranking, np.int32)) for topic, ranking in batch], qrels)
    listed = [qrels.get(topic, {}) for topic, _ in batch]
    return judged, (
        ([grades.get(one, -1) for one in ranking], list(grades.values()))
        for (_, ranking), grades in zip(batch, listed, strict=True)
    )


@pytest.mark.parametrize(
    ("measure", "grades", "expected"),
    [
        # Stop probabilities 7/16, 3/16, 15/16: gdeval's formula with its fixed best grade of 4.
        ("ERR(max=4)", [3, 2, 4], 7 / 16 + 9 / 16 * 3 / 16 / 2 + 9 / 16 * 13 / 16 * 15 / 16 / 3),
        ("ERR", [3, 2, 4], 7 / 16 + 9 / 16 * 3 / 16 / 2 + 9 / 16 * 13 / 16 * 15 / 16 / 3),  # 4 is the best there is
        ("ERR", [0, 1], 1 / 2 / 2),
        ("ERR(max=2)", [0, 1], 1 / 4 / 2),
        ("nERR(max=2)", [1, 2], (1 / 4 + 3 / 4 * 3 / 4 / 2) / (3 / 4 + 1 / 4 * 1 / 4 / 2)),
        ("nERR(max=2)@1", [1, 2], 1 / 3),
        ("RBP(p=0.5)", [1, 0, 2], 1 / 2 + 1 / 8),
        ("RBP(p=0.5)@2", [1, 0, 2], 1 / 2),
        ("RBP(p=0.5,gain=linear)", [1, 0, 2], 1 / 2 * 1 / 2 + 1 / 8),
        ("RBP(p=0.5,gain=exp,max=3)", [1, 0, 2], 1 / 2 * 1 / 7 + 1 / 8 * 3 / 7),
        ("RBP(p=0.5,gain={0:1,1:4})", [1, 0, 2], 1 / 2 + 1 / 4 * 1 / 4 + 1 / 8 * 2 / 4),  # grade 1 is worth most
        ("RBP(p=0.5,gain={1:0})", [1, 0], 0),  # nothing is worth anything
        # At rank 2 (1 + 2) / (2 + 3), at rank 3 (2 + 3) / (3 + 3).
        ("Q", [0, 2, 1], (3 / 5 + 5 / 6) / 2),
        ("Q@2", [0, 2, 1], 3 / 5 / 2),
        ("Q@1", [2, 1], 1),
        ("Q(beta=10)", [0, 2, 1], ((1 + 20) / (2 + 30) + (2 + 30) / (3 + 30)) / 2),
        ("Q(gain=exp)", [0, 2, 1], ((1 + 3) / (2 + 4) + (2 + 4) / (3 + 4)) / 2),
        ("Q(rel=2)", [1, 2], (1 + 2) / (2 + 2)),  # grade 1 is not relevant and worth nothing
    ],
)
def test_values_by_hand(measure: str, grades: list[int], expected: float) -> None:
    assert of_grades(measure, grades) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("measure", "ranking", "expected"),
    [
        # As NTCIREVAL prints for its sample, in which 12 is unjudged and R is 10.
        ("Q", [11, 1, 12, 4], "0.0967"),
        ("Q@2", [11, 1, 12, 4], "0.2500"),
        ("Q(gain={1:1,2:4,3:9})", [11, 1, 12, 4], "0.0929"),
        ("Q(judged_only=True)", [11, 1, 12, 4], "0.1083"),
        ("RBP(p=0.95,gain=linear)", [11, 1, 12, 4], "0.0761"),
        ("RBP(p=0.95,gain={1:1,2:4,3:9})", [11, 1, 12, 4], "0.0666"),
        ("RBP(p=0.95,gain=linear,judged_only=True)", [11, 1, 12, 4], "0.0776"),
    ],
)
def test_values_are_those_of_ntcireval(measure: str, ranking: list[int], expected: str) -> None:
    assert f"{value(measure, ranking, NTCIREVAL):.4f}" == expected


@pytest.mark.parametrize(
    ("p", "found", "residual"),
    [(0.5, ".7661", ".0002"), (0.8, ".4470", ".0419"), (0.95, ".1661", ".4332")],
)
def test_rbp_and_its_residual_are_those_of_moffat_and_zobel(p: float, found: str, residual: str) -> None:
    assert f"{value(f'RBP(p={p})', range(1, 21), MOFFAT_AND_ZOBEL):.4f}"[1:] == found
    assert f"{value(f'RBPResidual(p={p})', range(1, 21), MOFFAT_AND_ZOBEL):.4f}"[1:] == residual


@pytest.mark.parametrize(
    ("measure", "ranking", "qrels", "expected"),
    [
        ("RBPResidual", [], {1: 1}, 1),  # nothing is known of such a run
        ("RBPResidual", [1, 2], {}, 1),
        ("RBPResidual", [1, 2], {1: -1, 2: -1}, 1),  # pooled is not judged
        ("RBPResidual(p=0.5)", [1, 2], {1: 0, 2: 1}, 1 / 4),
        ("RBPResidual(p=0.5)", [1, 2, 3], {1: 0, 3: 1}, 1 / 8 + 1 / 4),
        ("RBPResidual(p=0.5)@1", [1, 2, 3], {1: 0, 3: 1}, 1 / 2),
        ("RBPResidual(p=0.5,judged_only=True)", [1, 2, 3], {1: 0, 3: 1}, 1 / 4),
        ("RBPResidual(p=0.5)", range(100), dict.fromkeys(range(100), 0), 2.0**-100),  # lost, were it 1 less a sum
    ],
)
def test_the_residual_at_its_edges(
    measure: str, ranking: Sequence[int], qrels: dict[int, int], expected: float
) -> None:
    assert value(measure, ranking, qrels) == expected


@pytest.mark.parametrize("measure", ["ERR(max=2)", "nERR(max=2)", "RBP(gain=exp,max=2)"])
def test_a_grade_above_the_scale_is_refused(measure: str) -> None:
    with pytest.raises(InvalidValueError, match="have the grade 3, which is above the measure's max=2"):
        value(measure, [1], {1: 1, 2: 3})


def test_without_a_scale_the_best_grade_of_any_topic_is_its_end() -> None:
    judged = judge_rankings([(1, np.array([1], np.int32)), (2, np.array([1], np.int32))], {1: {1: 1}, 2: {1: 2}})
    assert parse_measure("ERR").values(judged, 1).tolist() == [1 / 4, 3 / 4]
    assert parse_measure("RBP(p=0.5,gain=linear)").values(judged, 1).tolist() == [1 / 4, 1 / 2]


def test_stop_probabilities_of_huge_grades_are_numbers() -> None:
    assert of_grades("ERR", [32766, 32767]) == 1 / 2 + 1 / 2 / 2  # nearly so, and a float64 cannot tell


@given(BATCH, QRELS, CUTOFF)
def test_err_agrees_with_a_plain_loop(
    batch: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]], cutoff: int | None
) -> None:
    judged, rows = joined(batch, qrels)
    setting = Setting(cutoff=cutoff, max_grade=SCALE)
    expected = [
        (err(grades[:cutoff], SCALE), err(sorted(listed, reverse=True)[:cutoff], SCALE)) for grades, listed in rows
    ]
    assert users.expected_reciprocal_rank(judged, setting).tolist() == [found for found, _ in expected]
    assert users.normalised_expected_reciprocal_rank(judged, setting).tolist() == [
        found / best if best else 0 for found, best in expected
    ]


@given(BATCH, QRELS, GAINS, P, CUTOFF)
def test_rbp_agrees_with_a_plain_loop(
    batch: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]], gain: Gain, p: float, cutoff: int | None
) -> None:
    judged, rows = joined(batch, qrels)
    graded = Setting(cutoff=cutoff, max_grade=SCALE, gain=gain, is_graded=True, p=p)
    largest = max(worth(gain, grade) for grade in range(SCALE + 1))
    for (grades, _), of_grades, binary in zip(
        rows,
        users.rank_biased_precision(judged, graded),
        users.rank_biased_precision(judged, Setting(cutoff=cutoff, relevant_from=2, p=p)),
        strict=True,
    ):
        seen = list(enumerate(grades[:cutoff]))
        expected = sum((1 - p) * worth(gain, grade) / largest * p**above for above, grade in seen)
        assert of_grades == pytest.approx(expected)
        assert binary == pytest.approx(sum((1 - p) * p**above for above, grade in seen if grade >= 2))


@given(BATCH, QRELS, P, CUTOFF)
def test_the_residual_agrees_with_a_plain_loop(
    batch: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]], p: float, cutoff: int | None
) -> None:
    judged, rows = joined(batch, qrels)
    for (grades, _), residual in zip(
        rows, users.rank_biased_residual(judged, Setting(cutoff=cutoff, p=p)), strict=True
    ):
        seen = grades[:cutoff]
        unjudged = sum((1 - p) * p**above for above, grade in enumerate(seen) if grade < 0)
        assert residual == pytest.approx(p ** len(seen) + unjudged)


@given(RANKING, GRADES, st.data(), P)
def test_rbp_lies_between_itself_and_itself_with_its_residual_whatever_is_judged_later(
    ranking: list[int], qrels: dict[int, int], data: st.DataObject, p: float
) -> None:
    setting = Setting(p=p)
    low = users.rank_biased_precision(join(ranking, qrels), setting)
    residual = users.rank_biased_residual(join(ranking, qrels), setting)
    more = data.draw(st.lists(st.integers(13, 30), unique=True))  # documents that come behind
    later = {one: data.draw(st.integers(0, 1)) for one in [*ranking, *more] if qrels.get(one, -1) < 0}
    found = users.rank_biased_precision(join([*ranking, *more], {**qrels, **later}), setting)
    assert low - 1e-12 <= found <= low + residual + 1e-12 <= 1 + 2e-12


@given(
    BATCH,
    QRELS,
    st.builds(
        Setting,
        relevant_from=st.integers(1, 2),
        cutoff=CUTOFF,
        gain=GAINS,
        beta=st.sampled_from([0.0, 0.1, 1.0, 10.0, 1e6]),
    ),
)
def test_q_agrees_with_a_plain_loop(
    batch: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]], setting: Setting
) -> None:
    judged, rows = joined(batch, qrels)
    expected = [q(grades, listed, setting) for grades, listed in rows]
    assert users.q_measure(judged, setting).tolist() == pytest.approx(expected)


@given(RANKING, GRADES, GAINS, CUTOFF)
def test_q_is_ap_when_gain_weighs_nothing(
    ranking: list[int], qrels: dict[int, int], gain: Gain, cutoff: int | None
) -> None:
    judged = join(ranking, qrels)
    norm = None if cutoff is None else "min"
    precision = ranked.average_precision(judged, Setting(cutoff=cutoff, norm=norm))
    assert users.q_measure(judged, Setting(cutoff=cutoff, gain=gain, beta=0.0)) == precision


@given(RANKING, GRADES, st.sampled_from([LINEAR, EXPONENTIAL]), st.sampled_from([0.1, 1.0, 30.0]))
def test_q_lies_between_precision_and_gained_share_averaged_over_relevant_documents(
    ranking: list[int], qrels: dict[int, int], gain: Gain, beta: float
) -> None:
    # (n + beta cg) / (i + beta best) is a mediant: it lies between n / i and cg / best, for each document.
    judged = join(ranking, qrels)
    best = list(accumulate(sorted((worth(gain, grade) for grade in qrels.values() if grade > 0), reverse=True)))
    low, high, count, gained = 0.0, 0.0, 0, 0.0
    for rank, document in enumerate(ranking, start=1):
        if qrels.get(document, -1) > 0:
            count, gained = count + 1, gained + worth(gain, qrels[document])
            two = (count / rank, gained / best[min(rank, len(best)) - 1])
            low, high = low + min(two) / len(best), high + max(two) / len(best)
    assert low - 1e-12 <= users.q_measure(judged, Setting(gain=gain, beta=beta))[0] <= high + 1e-12


@given(GRADES.filter(lambda grades: max(grades.values(), default=0) > 0), CUTOFF)
def test_the_best_ranking_has_a_value_of_1(qrels: dict[int, int], cutoff: int | None) -> None:
    judged = join(sorted(qrels, key=lambda document: qrels[document], reverse=True), qrels)
    assert users.normalised_expected_reciprocal_rank(judged, Setting(cutoff=cutoff)) == 1
    assert users.q_measure(judged, Setting(cutoff=cutoff)) == pytest.approx(1)


def test_beta_and_gain_may_both_be_as_large_as_can_be_written() -> None:
    # Times beta, the gains of 300 documents would add up to more than a float64 can hold.
    assert of_grades("Q(beta=1000000,gain={1:9e299})", [1] * 300) == pytest.approx(1)
