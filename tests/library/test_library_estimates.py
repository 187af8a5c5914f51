"""`annotator.estimate`: from files and frames, with and without a machine, and what it refuses."""

from collections.abc import Callable
from pathlib import Path

import pytest
from frames import FRAMES

import annotator
from annotator.errors import AnnotatorError, FileRefusedError

# Topic, docno, stratum, grade: of stratum 2 every second document was drawn.
SAMPLE = [("7", f"d{n}", 1 if n < 3 else 2, n % 2 if n < 3 or n % 2 else -1) for n in range(12)]
SAMPLE += [("8", f"d{n}", 1 if n < 3 else 2, 1 if n < 3 or n % 3 == 0 else -1) for n in range(12)]
RUNS = {
    "up": {topic: {f"d{n}": float(n) for n in range(12)} for topic in "78"},
    "down": {topic: {f"d{n}": float(-n) for n in range(14)} for topic in "78"},
}
MACHINE = {topic: {f"d{n}": n % 2 for n in range(12)} for topic in "78"}


def prels(path: Path) -> Path:
    path.write_text("".join(f"{topic} 0 {docno} {stratum} {grade}\n" for topic, docno, stratum, grade in SAMPLE))
    return path


def test_a_file_of_a_sample_gives_estimates_with_intervals(tmp_path: Path) -> None:
    found = annotator.estimate(prels(tmp_path / "sample.prels"), RUNS, "P@4")
    assert found.columns == ("run", "estimate", "low", "high", "low_in_all", "high_in_all", "by_draw", "outside")
    # Topic 7 has d1 of stratum 1 and d3, of five drawn of nine; topic 8 all of stratum 1 and d3, of three of nine.
    _, estimated, low, high, *_ = found.rows[1]
    assert estimated == pytest.approx(((1 + 9 / 5) / 4 + (3 + 9 / 3) / 4) / 2)
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < ((1 + 9 / 5) / 4 + (3 + 9 / 3) / 4) / 2 < high


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_give_what_the_file_gives(frame: Callable[..., object], tmp_path: Path) -> None:
    expected = annotator.estimate(prels(tmp_path / "sample.prels"), RUNS, "DCG@5", machine=MACHINE)
    found = annotator.estimate(frame(["topic", "docno", "stratum", "grade"], SAMPLE), RUNS, "DCG@5", machine=MACHINE)
    assert found.rows == expected.rows


def test_a_machine_adds_the_estimate_of_people_alone_and_its_own_score(tmp_path: Path) -> None:
    sample = prels(tmp_path / "sample.prels")
    alone, together = annotator.estimate(sample, RUNS, "P@4"), annotator.estimate(sample, RUNS, "P@4", machine=MACHINE)
    assert together.column("people") == alone.column("estimate")
    assert together.column("people_low") == alone.column("low")
    assert together.column("machine") == annotator.evaluate(MACHINE, RUNS, "P@4").column("P@4")


@pytest.mark.parametrize("measure", ["xinfAP", "infNDCG@5"])
def test_measures_that_estimate_by_strata_have_intervals_about_their_scores(measure: str, tmp_path: Path) -> None:
    sample = prels(tmp_path / "sample.prels")
    found = annotator.estimate(sample, RUNS, measure)
    assert found.column("estimate") == pytest.approx(annotator.evaluate(sample, RUNS, measure).column(measure))
    for run, value, low, high, *_ in found.rows:
        assert isinstance(low, float), run
        assert isinstance(high, float), run
        assert isinstance(value, float), run
        assert low < value < high
    assert annotator.estimate(sample, RUNS, "infNDCG@3", relevant_from=2).rows
    with pytest.raises(AnnotatorError, match="is estimated from people's judgements alone: give no machine"):
        annotator.estimate(sample, RUNS, measure, machine=MACHINE)


def test_the_interval_of_xinfap_is_that_of_leaving_out_each_document() -> None:
    """By hand: 3 of 6 documents drawn, d1 and d3 relevant, ranked d1 to d6; t of 3 degrees is 3.1824."""
    grades = {"d1": 1, "d2": -1, "d3": 1, "d4": -1, "d5": 0, "d6": -1}
    columns = ["topic", "docno", "stratum", "grade"]

    def of(grades: dict[str, int]) -> object:
        return FRAMES[0](columns, [("1", docno, 1, grade) for docno, grade in grades.items()])

    run = {"one": {"1": {f"d{n}": -float(n) for n in range(1, 7)}}}
    without = [annotator.evaluate(of({**grades, docno: -1}), run, "xinfAP").rows[0][1] for docno in ("d1", "d3", "d5")]
    values = [float(value) for value in without if isinstance(value, float)]
    mean = sum(values) / 3
    variance = (1 - 3 / 6) * 2 / 3 * sum((value - mean) ** 2 for value in values)
    _, value, low, high, *_ = annotator.estimate(of(grades), run, "xinfAP").rows[0]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert (high - low) / 2 == pytest.approx(variance**0.5 * 3.1824463, rel=1e-6)
    assert value == pytest.approx((low + high) / 2)


def test_what_lies_outside_the_frame_is_shown_as_deep_as_the_measure_looks(tmp_path: Path) -> None:
    sample = prels(tmp_path / "sample.prels")
    assert annotator.estimate(sample, RUNS, "P@4").column("outside") == [0, 0]
    assert annotator.estimate(sample, RUNS, "AP").column("outside") == [0, pytest.approx(2 / 14)]


def test_runs_are_compared_in_pairs(tmp_path: Path) -> None:
    found = annotator.estimate(prels(tmp_path / "sample.prels"), RUNS, "P@4")
    [row] = found.differences
    assert found.estimates is not None
    assert row["difference"] == found.estimates.together.values[0] - found.estimates.together.values[1]
    assert row["p"] == row["p_holm"]


def test_topics_that_cannot_be_estimated_are_named() -> None:
    rows = [*SAMPLE, ("9", "d1", 1, 0), ("9", "d2", 2, -1), ("10", "d1", 1, 0), ("10", "d2", 1, -1)]
    sample = FRAMES[0](["topic", "docno", "stratum", "grade"], rows)
    notes = annotator.estimate(sample, RUNS, "nDCG@4").notes
    assert notes == (
        "Left out, since nothing of a stratum is judged: 9",
        "Left out, since the sample has no relevant document: 10",
    )


def test_four_columns_are_one_stratum_a_topic(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("7 0 d1 1\n7 0 d2 -1\n7 0 d3 0\n7 0 d4 -1\n")
    found = annotator.estimate(tmp_path / "qrels", RUNS, "P@4")
    assert dict(zip(found.column("run"), found.column("estimate"), strict=True)) == {"up": 0, "down": 4 / 2 / 4}
    assert found.column("low_in_all") == [None, None]


def test_bad_input_is_refused_with_its_reason(tmp_path: Path) -> None:
    sample = prels(tmp_path / "sample.prels")
    with pytest.raises(AnnotatorError, match="RR cannot be estimated from a sample"):
        annotator.estimate(sample, RUNS, "RR")
    few = {**MACHINE, "8": {"d1": 1}}
    with pytest.raises(AnnotatorError, match=r"no grade for 11 documents of topic 8 from which .*, such as d0"):
        annotator.estimate(sample, RUNS, machine=few)
    (tmp_path / "none").write_text("7 0 d1 1 -1\n")
    with pytest.raises(AnnotatorError, match="Nothing can be estimated"):
        annotator.estimate(tmp_path / "none", RUNS)
    (tmp_path / "bad").write_text("7 0 d1\n")
    with pytest.raises(FileRefusedError, match="bad:1"):
        annotator.estimate(tmp_path / "bad", RUNS)
    twice = FRAMES[0](["topic", "docno", "stratum", "grade"], [*SAMPLE, SAMPLE[0]])
    with pytest.raises(AnnotatorError, match="Document d0 is in topic 7 twice"):
        annotator.estimate(twice, RUNS)
