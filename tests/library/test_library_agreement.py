"""`annotator.agreement`: kappa and alpha of labels in files, dicts and frames."""

from pathlib import Path

import pandas as pd
import pytest

import annotator
from annotator.errors import AnnotatorError

# Cohen (1960) in the textbook form: 20 and 15 of 50 in agreement, 5 and 10 not: kappa .4.
CELLS = {(1, 1): 20, (1, 0): 5, (0, 1): 10, (0, 0): 15}
PAIRS = [grades for grades, count in CELLS.items() for _ in range(count)]


def frame() -> pd.DataFrame:
    """The labels of two judges, a row each."""
    rows = [
        (judge, 1, f"d{number}", grades[place])
        for place, judge in enumerate(("jo", "kim"))
        for number, grades in enumerate(PAIRS)
    ]
    return pd.DataFrame(rows, columns=["judge", "topic", "docno", "grade"])


def test_kappa_of_a_published_table() -> None:
    found = annotator.agreement(frame())
    [pair] = found
    assert (pair["first"], pair["second"], pair["documents"]) == ("jo", "kim", 50)
    assert pair["kappa"] == pytest.approx(0.4)
    assert pair["same"] == pytest.approx(0.7)
    assert pair["overlap"] == pytest.approx(20 / 35)
    # Krippendorff's alpha of 100 values, 55 of them 1: 1 - 99 * 30 / (2 * 55 * 45).
    assert found.alpha == pytest.approx(1 - 99 * 30 / (2 * 55 * 45))


def test_files_and_dicts_by_judge_give_the_same(tmp_path: Path) -> None:
    files = {}
    for place, judge in enumerate(("jo", "kim")):
        files[judge] = tmp_path / f"{judge}.txt"
        files[judge].write_text("".join(f"1 0 d{number} {grades[place]}\n" for number, grades in enumerate(PAIRS)))
    of_kim = {"1": {f"d{number}": grades[1] for number, grades in enumerate(PAIRS)}}
    assert annotator.agreement(files).rows == annotator.agreement(frame()).rows
    assert annotator.agreement({"jo": files["jo"], "kim": of_kim}).rows == annotator.agreement(frame()).rows


def test_what_is_undefined_is_none_and_says_why() -> None:
    found = annotator.agreement({"jo": {"1": {"a": 1}}, "kim": {"1": {"b": 1}}})
    assert found.rows == (("jo", "kim", 0, None, None, None, None, None),)
    assert "The two judges have graded no document in common." in found.notes


@pytest.mark.parametrize(
    ("labels", "weights", "sentence"),
    [
        ({}, "none", "There are no labels."),
        ({"jo": {"1": {"a": 1}}}, "none", "Agreement needs two judges or more; there is only jo."),
        (frame(), "cubic", "The weights of kappa are none, linear, quadratic, not “cubic”."),
        (frame().drop(columns="judge"), "none", "The frame of the labels has no column judge"),
    ],
)
def test_what_cannot_be_compared_is_named(labels: object, weights: str, sentence: str) -> None:
    with pytest.raises(AnnotatorError, match=sentence):
        annotator.agreement(labels, weights=weights)


def test_a_list_of_files_has_a_judge_each_by_its_name(tmp_path: Path) -> None:
    files = [tmp_path / "jo.txt", tmp_path / "kim.csv", tmp_path / "later" / "jo.txt"]
    files[2].parent.mkdir()
    files[0].write_text("1 0 a 1\n1 0 b 0\n")
    files[1].write_text("qid,docno,label\n1,a,1\n1,b,1\n")
    files[2].write_text("1 0 a 1\n1 0 b 0\n")
    [pair] = annotator.agreement(files[:2])
    assert (pair["first"], pair["second"], pair["same"]) == ("jo", "kim", 0.5)
    assert {name for pair in annotator.agreement(files) for name in (pair["first"], pair["second"])} == {
        "jo (jo.txt) 1",
        "jo (jo.txt) 2",
        "kim",
    }
