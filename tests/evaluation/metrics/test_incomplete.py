"""Bpref, infAP, Judged and Unjudged: worked examples, published values, edges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measuring import batch, value

from annotator.evaluation.metrics.measures import Measure

# Moffat and Zobel's list (TOIS 2008): $$---$----$-??--?---, relevant, not relevant, unjudged.
LIST = list(range(1, 21))
QRELS = {rank: int(rank in {1, 2, 6, 11}) for rank in LIST if rank not in {13, 14, 17}}
POOLED_ONLY = QRELS | {3: -1, 8: -1}
NOT_POOLED = {rank: grade for rank, grade in QRELS.items() if rank not in {3, 8}}


@pytest.mark.parametrize(
    ("measure", "qrels", "expected"),
    [
        # As trec_eval 10.0 prints them.
        ("AP", QRELS, "0.7159"),
        ("Bpref", QRELS, "0.5625"),
        ("infAP", QRELS, "0.7159"),
        ("Unjudged@5", QRELS, "0.0000"),
        ("Unjudged@10", QRELS, "0.0000"),
        ("Unjudged@20", QRELS, "0.1500"),
        ("AP", POOLED_ONLY, "0.7159"),
        ("Bpref", POOLED_ONLY, "0.6250"),
        ("infAP", POOLED_ONLY, "0.7538"),
        ("nDCG", POOLED_ONLY, "0.8846"),
        ("Unjudged@5", POOLED_ONLY, "0.2000"),
        ("infAP", NOT_POOLED, "0.7159"),
        ("AP(judged_only=True)", NOT_POOLED, "0.7611"),
        ("Bpref(judged_only=True)", NOT_POOLED, "0.6250"),
        ("nDCG(judged_only=True)", NOT_POOLED, "0.9052"),
        # As ir_measures 0.4.3 says.
        ("Judged@10", NOT_POOLED, "0.8000"),
        ("Judged@20", NOT_POOLED, "0.7500"),
    ],
)
def test_moffat_and_zobels_list(measure: str, qrels: dict[int, int], expected: str) -> None:
    assert f"{value(measure, LIST, qrels):.4f}" == expected


@pytest.mark.parametrize(
    ("measure", "ranking", "qrels", "expected"),
    [
        ("Bpref", [9, 1, 8], {1: 1}, 1),  # nothing judged not relevant: unjudged ones are passed over
        ("Bpref", [2, 3, 1], {1: 1, 2: 0, 3: 0}, 0),  # min(2, 1) / min(2, 1) = 1
        ("Bpref", [2, 1], {1: 1, 2: 0, 3: 0, 4: 1}, (1 - 1 / 2) / 2),
        ("Bpref", [2, 1], {1: 1, 2: 0, 3: 1, 4: 1}, 0),  # the only one judged not relevant: min(1, 3) / min(1, 3) = 1
        ("Judged@10", [1, 2, 3], {1: 1, 2: 0}, 2 / 3),  # by the ranking's own length
        ("Unjudged@10", [1, 2, 3], {1: 1, 2: 0}, 1 / 10),  # and this by k, as trec_eval's
        ("Unjudged@2", [3, 1, 4], {1: 1, 3: -1}, 1 / 2),
        ("Unjudged@2", [3, 4], {}, 1),
        ("Unjudged@2", [], {1: 1}, 0),
        ("Unjudged(judged_only=True)@2", [3, 1, 4], {1: 1, 3: -1}, 0),
        ("infAP", [1], {1: 1}, 1),
        ("infAP", [9, 1], {1: 1}, 1 / 2),  # 9 was not pooled, so not relevant: 1/2 + 1/2 * 0
        ("infAP", [2, 1], {1: 1, 2: -1}, 1 / 2 + 1 / 2 * 1 / 2),  # pooled and unknown: one half
        # 1/3 + 2/3 * 1/2 (2 was pooled, 9 not) * 1/2 (nothing judged above)
        ("infAP", [2, 9, 1], {1: 1, 2: -1}, 1 / 3 + 2 / 3 * 1 / 2 * 1 / 2),
    ],
)
def test_measures_at_their_edges(measure: str, ranking: list[int], qrels: dict[int, int], expected: float) -> None:
    assert value(measure, ranking, qrels) == pytest.approx(expected, rel=1e-15)


@given(
    st.lists(st.integers(0, 12), unique=True, max_size=12),
    st.dictionaries(st.integers(0, 12), st.integers(-1, 2)),
    st.integers(1, 2),
)
def test_infap_is_what_its_definition_says(ranking: list[int], qrels: dict[int, int], relevant_from: int) -> None:
    total = 0.0
    for place, number in enumerate(ranking):
        if qrels.get(number, -1) < relevant_from:
            continue
        above = [qrels[other] for other in ranking[:place] if other in qrels]
        relevant = sum(grade >= relevant_from for grade in above)
        judged = sum(grade >= 0 for grade in above)
        pooled = len(above) / place if place else 0
        total += 1 / (place + 1) + place / (place + 1) * pooled * (relevant + 1e-5) / (judged + 2e-5)
    existing = sum(grade >= relevant_from for grade in qrels.values())
    assert value("infAP", ranking, qrels, relevant_from) == pytest.approx(total / existing if existing else 0)


@given(st.permutations(range(6)), st.lists(st.integers(0, 1), min_size=6, max_size=6))
def test_with_everything_judged_infap_is_nearly_ap(ranking: list[int], grades: list[int]) -> None:
    qrels = dict(enumerate(grades))
    assert value("infAP", ranking, qrels) == pytest.approx(value("AP", ranking, qrels), abs=1e-5)


@given(st.lists(st.integers(0, 12), unique=True), st.dictionaries(st.integers(0, 12), st.integers(-1, 1)))
def test_judged_and_unjudged_share_a_list_that_is_long_enough(ranking: list[int], qrels: dict[int, int]) -> None:
    for depth in range(1, len(ranking) + 1):
        judged = value(Measure("Judged", depth), ranking, qrels)
        assert judged + value(Measure("Unjudged", depth), ranking, qrels) == pytest.approx(1)


def test_the_geometric_bpref_of_a_topic_is_its_bpref() -> None:
    judged = batch([2, 1], [1, 2], [], qrels={1: 1, 2: 0, 3: 0, 4: 1})
    assert (
        Measure("GMBpref").values(judged, 1).tolist()
        == Measure("Bpref").values(judged, 1).tolist()
        == [1 / 4, 1 / 2, 0]
    )
