"""AP, P, R, RR, R-precision and their relatives: the examples that the field teaches with, and edges."""

import math

import numpy as np
import pytest
from measuring import batch, value, value_of_pattern

from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.setting import means


def test_first_relevant_documents_at_ranks_3_2_and_1_have_an_mrr_of_11_eighteenths() -> None:
    values = [value_of_pattern("RR", pattern) for pattern in ("N N R", "N R", "R")]
    assert values == [1 / 3, 1 / 2, 1]
    assert means(np.array(values)) == pytest.approx(11 / 18)


def test_five_relevant_of_ten_have_an_ap_of_0_7087() -> None:
    # The precision at each relevant document: (1/1 + 2/3 + 3/4 + 4/7 + 5/9) / 5.
    assert f"{value_of_pattern('AP', 'R N R R N N R N R N'):.4f}" == "0.7087"


def test_relevant_at_2_5_and_7_have_an_ap_of_0_4429_and_with_0_62_a_map_of_0_53() -> None:
    ap = value_of_pattern("AP", "N R N N R N R")
    assert f"{ap:.4f}" == "0.4429"  # (1/2 + 2/5 + 3/7) / 3
    assert f"{means(np.array([ap, 0.62])):.2f}" == "0.53"


def test_aps_of_0_71_0_5_and_0_8_have_a_map_of_0_67() -> None:
    assert f"{Measure('AP').over_topics(np.array([0.71, 0.5, 0.8])):.2f}" == "0.67"


def test_eight_of_nine_relevant_in_the_top_ten_have_a_recall_of_8_ninths() -> None:
    assert value_of_pattern("R@10", "R R N R R R N R R R", missed=1) == 8 / 9


@pytest.mark.parametrize(
    ("measure", "ranking", "qrels", "expected"),
    [
        ("P@10", [1, 2], {1: 1, 2: 1}, 2 / 10),  # a short ranking is filled up
        ("AP@1", [1, 2], {1: 1, 2: 1}, 1 / 2),  # divided by both relevant documents, not by the cutoff's one
        ("AP(norm=min)@1", [1, 2], {1: 1, 2: 1}, 1),  # and here by the one
        ("AP(norm=min)@5", [1, 2], {1: 1, 2: 1, 3: 1}, 2 / 3),  # 3 are fewer than 5
        ("nDCG@1", [2, 1], {1: 2, 2: 1}, 1 / 2),  # the best first document has grade 2
        ("nDCG", [1], {1: 1, 2: 1}, 1 / (1 + 1 / math.log2(3))),  # the best ranking has both, retrieved or not
        ("nDCG", [1, 2], {1: -1, 2: 1}, 1 / math.log2(3)),  # a grade below 0 takes nothing away
        ("RR@2", [8, 9, 1], {1: 1}, 0),
        ("Rprec", [9, 1, 2], {1: 1, 2: 1}, 1 / 2),
        ("relative_P@5", [9, 1, 2], {1: 1, 2: 1, 3: 1}, 2 / 3),  # of the three there are
        ("relative_P@2", [9, 1, 2], {1: 1, 2: 1, 3: 1}, 1 / 2),  # of the two that fit
        ("Rprec_mult@0", [1], {1: 1}, 0),  # no rank
        ("Rprec_mult@0.05", [1], {1: 1, 2: 1}, 1),  # 0.1 + 0.9 is rank 1
        ("Rprec_mult@1", [9, 1, 2], {1: 1, 2: 1}, 1 / 2),  # is R-precision
        ("Rprec_mult@1.5", [1, 2], {1: 1, 2: 1}, 2 / 3),  # past the end
        ("Rprec_mult@0.6", [1, 2, 9], {1: 1, 2: 1, 3: 1, 4: 1}, 2 / 3),  # 2.4 + 0.9 is rank 3
    ],
)
def test_measures_at_their_edges(measure: str, ranking: list[int], qrels: dict[int, int], expected: float) -> None:
    assert value(measure, ranking, qrels) == expected


def test_gmap_of_a_topic_is_its_ap() -> None:
    judged = batch([1, 9, 2], [9, 1], [], qrels={1: 1, 2: 1})
    assert Measure("GMAP").values(judged, 1).tolist() == Measure("AP").values(judged, 1).tolist()
    # The third root of 5/6 * 1/4 * 0.00001.
    averaged = Measure("GMAP").over_topics(Measure("GMAP").values(judged, 1))
    assert averaged == pytest.approx((5 / 6 * 1 / 4 * 0.00001) ** (1 / 3))


def test_the_smaller_of_r_and_k_has_no_meaning_without_a_cutoff() -> None:
    with pytest.raises(ValueError, match="needs a cutoff"):
        value(Measure("AP", None, (("norm", "min"),)), [1], {1: 1})


def test_the_logarithm_is_the_c_librarys_at_every_rank() -> None:
    # np.log2(1621) can differ from it in the last digit, by processor.
    assert parse_measure("nDCG").values(batch([*range(1, 1620), 0], qrels={0: 1}), 1).tolist() == [1 / math.log2(1621)]
