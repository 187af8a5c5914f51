"""Labels of one judge with confidences: what such a file is, what is wrong with one, and how one is written."""

import math

import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.foreign_rows import LabelRow
from annotator.evaluation.formats.judge_files import confidence_of, is_judge_file, judge_lines, judge_rows


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"1 Q0 a 2 0.9 bot\n1 Q0 b 0 - bot\n1 Q0 c 0 1 bot\n", True),
        (b"# made by bot\n\n1\tQ0\ta\t1\t.5\tbot\n1\tQ0\tb\t1\t1e-3\tbot\n1 Q0 c 1 0.", True),
        (b"1 Q0 a 1 0.9 run\n1 Q0 b 2 0.8 run\n2 Q0 a 1 0.9 run\n", False),
        (b"1 Q0 a 0 12.5 run\n1 Q0 b 0 11.5 run\n", False),
        (b"1 Q0 a 0 -1 run\n1 Q0 b 0 -2 run\n", False),
        (b"1 0 a 1\n1 0 b 1\n", False),
        (b"", False),
        (b"1 Q0 a 2 0.9 bot\n1 Q0 b 0 7 bot\n1 Q0 c 2 1 bot\n", True),
        (b"1 Q0 a 2 0.9 bot\n1 Q0 b 2 0.9 bot\n1 0 c 1\n1 0 d 1\n", False),
    ],
    ids=["grades", "blanks", "ranks", "scores", "below 0", "qrels", "nothing", "a mistake", "half of the lines"],
)
def test_a_judge_file_is_told_from_a_run(head: bytes, is_one: bool) -> None:  # noqa: FBT001 - a case
    assert is_judge_file(head) is is_one


def test_a_confidence_is_a_number_from_0_to_1_or_a_dash() -> None:
    given = [confidence_of(written) for written in (b"0", b"1", b".25", b"7e-1", b"1.5", b"-0.5", b"nan", b"high")]
    assert given == [0, 1, 0.25, 0.7, None, None, None, None]
    assert math.isnan(confidence_of(b"-") or 0)


def test_every_bad_line_is_named() -> None:
    text = b"1 Q0 a 2 0.9 bot\n1 Q0 b 0 bot\n1 Q0 c 0 7 bot\n1 Q0 d 0 0.5 other\n2 Q0 a N/A - bot\n"
    problems = Problems()
    rows = list(judge_rows("m.txt", text, problems))
    assert rows == [LabelRow(1, "1", "a", "2"), LabelRow(5, "2", "a", "N/A")]
    assert list(map(str, problems.first)) == [
        (
            "m.txt:2: The line has 5 columns; labels with a confidence have six: topic, Q0, document, grade, "
            "confidence, judge."
        ),
        "m.txt:3: The confidence 7 is not a number from 0 to 1; a dash means none.",
        "m.txt:4: The label is of the judge other, and line 1 of bot: a file has the labels of one judge.",
    ]


def test_labels_are_written_so_that_they_can_be_read() -> None:
    written = judge_lines("a bot", "1", [("a", "2", 0.25), ("b", "not sure", math.nan)])
    assert written == b"1 Q0 a 2 0.25 a_bot\n1 Q0 b not_sure - a_bot\n"
    problems = Problems()
    assert [row.grade for row in judge_rows("m.txt", written, problems)] == ["2", "not_sure"]
    assert problems.total == 0
