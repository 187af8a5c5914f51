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
