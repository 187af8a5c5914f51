"""Files of documents for a training: what is read, and every problem with its line."""

import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.qualifying_format import LONGEST_EXPLANATION, QualifyingRow, parse_qualifying


def problems_of(text: str) -> list[str]:
    problems = Problems()
    parse_qualifying("t.tsv", text.encode(), problems)
    return [str(problem) for problem in problems.by_file()]


def test_lines_are_read_in_their_order_with_or_without_an_explanation() -> None:
    problems = Problems()
    text = "# topic\tdocno\n\n2\td9\t1\tIt says how.\r\n1\td1\t0\n1\td2\t+2\t\n"
    assert parse_qualifying("t.tsv", text.encode(), problems) == [
        QualifyingRow("2", "d9", 1, "It says how.", 3),
        QualifyingRow("1", "d1", 0, "", 4),
        QualifyingRow("1", "d2", 2, "", 5),
    ]
    assert problems.total == 0


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1 d1 0", "The line has one field between tabs"),
        ("1\td1", "The line has 2 fields between tabs"),
        ("1\td1\t0\twhy\tmore", "The line has 5 fields between tabs"),
        ("1\td1\tgood\twhy", "The grade 'good' is not a whole number"),
        ("1\td1\t\twhy", "The grade '' is not a whole number"),
        ("t" * 257 + "\td1\t1", "t" * 60 + "… is longer than 256 bytes"),
        ("1\t" + "d" * 257 + "\t1", "d" * 60 + "… is longer than 256 bytes"),
        ("1\ta d1\t1", "'a d1' has blanks or control characters inside"),
        ("1\td\x001\t1", "'d\\x001' has blanks or control characters inside"),
        ("1\td\u00a01\t1", "'d\\xa01' has blanks or control characters inside"),
        ("1\td1\t" + "g" * 5000, "The grade '" + "g" * 60 + "…' is not a whole number"),
        ("1\td1\t1\t" + "x" * (LONGEST_EXPLANATION + 1), "The explanation is longer than 10000 characters"),
    ],
)
def test_a_line_that_says_something_else_is_named(line: str, sentence: str) -> None:
    [problem] = problems_of(f"1\td0\t1\twhy\n{line}\n")
    assert problem.startswith(f"t.tsv:2: {sentence}")


def test_a_document_that_comes_twice_for_a_topic_is_named_with_both_lines() -> None:
    assert problems_of("1\td1\t0\n2\td1\t0\n1\td1\t1\n") == [
        "t.tsv:3: Document d1 of topic 1 is graded twice; it is on line 1 already."
    ]


def test_long_names_are_quoted_in_part() -> None:
    line = f"{'t' * 200}\t{'d' * 200}\t1\n"
    assert problems_of(line + line) == [
        f"t.tsv:2: Document {'d' * 60}… of topic {'t' * 60}… is graded twice; it is on line 1 already."
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only words\n"])
def test_a_file_without_lines_is_refused(text: str) -> None:
    assert problems_of(text) == ["t.tsv: The file has no line of data."]
