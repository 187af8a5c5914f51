"""Runs and qrels as trec_eval takes them, and what is told of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import Problems
from annotator.evaluation.matching.lenient import read_qrels_leniently, read_run_leniently
from annotator.evaluation.qrels.qrels_table import QrelsTable, read_qrels
from annotator.evaluation.runs.parsed_runs import ParsedRun
from annotator.evaluation.runs.run_format import parse_run


def run_of(text: str) -> tuple[ParsedRun, list[str]]:
    problems = Problems()
    read = read_run_leniently("a.run", text.encode(), problems)
    assert [str(problem) for problem in problems.first] == []
    assert read is not None
    run, notices = read
    return run, [str(notice) for notice in notices]


def qrels_of(text: str) -> tuple[QrelsTable, list[str]]:
    problems = Problems()
    read = read_qrels_leniently("q.txt", text.encode(), problems)
    assert [str(problem) for problem in problems.first] == []
    assert read is not None
    table, notices = read
    return table, [str(notice) for notice in notices]


def lists_of(run: ParsedRun) -> dict[str, list[tuple[bytes, float]]]:
    return {
        topic: list(zip(ranked.docnos.tolist(), ranked.scores.tolist(), strict=True))
        for topic, ranked in run.lists.items()
    }


def test_odd_scores_are_counted_and_the_first_is_shown() -> None:
    run, notices = run_of("# x\n1 Q0 a 1 0.5 t\n1 Q0 b 2 1,5 t\n1 Q0 c 3 xyz t\n1 Q0 d 4 0x1p1 t\n1 Q0 e 5 -inf t\n")
    assert lists_of(run) == {"1": [(b"d", 2.0), (b"b", 1.0), (b"a", 0.5), (b"c", 0.0), (b"e", -math.inf)]}
    assert notices == [
        (
            "a.run:3: Scores that are no finite decimal numbers: 4. They are read as trec_eval reads them; "
            "the first, “1,5”, counts as 1.0."
        ),
    ]


def test_a_decimal_number_past_the_largest_double_is_told() -> None:
    run, notices = run_of("1 Q0 a 1 1e999 t\n")
    assert lists_of(run) == {"1": [(b"a", math.inf)]}
    assert [notice.rpartition("; ")[2] for notice in notices] == ["the first, “1e999”, counts as inf."]


def test_documents_with_nan_stand_last_by_id_descending() -> None:
    run, notices = run_of("1 Q0 b 1 nan t\n1 Q0 a 2 -inf t\n1 Q0 d 3 -1 t\n1 Q0 c 4 -NaN t\n1 Q0 e 5 -1 t\n")
    assert run.lists["1"].docnos.tolist() == [b"e", b"d", b"a", b"c", b"b"]
    assert np.isnan(run.lists["1"].scores).tolist() == [False, False, False, True, True]
    assert notices == [
        (
            "a.run:1: Scores that are NaN, not a number: 2, the first “nan”. Their documents are ranked last; "
            "trec_eval may rank them anywhere."
        ),
        (
            "a.run:2: Scores that are no finite decimal numbers: 1. They are read as trec_eval reads them; "
            "the first, “-inf”, counts as -inf."
        ),
    ]


def test_the_run_is_called_as_the_last_line_says() -> None:
    run, notices = run_of("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 a 1 1 y\n3 Q0 a 1 1 z\n4 Q0 a 1 1 y\n")
    assert (run.tag, run.lines, list(run.lists)) == ("y", 5, ["1", "2", "3", "4"])
    assert notices == [
        "a.run:3: Different tags in the file: 3. Line 1 has “x”; the run is called “y”, as on the last line."
    ]


def test_columns_past_the_sixth_are_ignored_and_told() -> None:
    run, notices = run_of("1 Q0 a 1 2 my run one\n1 Q0 b 1 3 my\n1 Q0 c 1 1 my run\n")
    assert (run.tag, lists_of(run)) == ("my", {"1": [(b"b", 3.0), (b"a", 2.0), (b"c", 1.0)]})
    assert notices == [
        "a.run:1: Lines with more than six columns: 2. What follows the sixth is ignored, on the first “run one”."
    ]


def test_a_document_twice_is_refused_only_in_topics_of_the_qrels() -> None:
    text = "x Q0 a 1 1 t\n9 Q0 b 1 1 t\nx Q0 a 1 9 t\nx Q0 b 1 3 t\n1 Q0 a 1 2 t\n9 Q0 b 2 1 t\n"
    problems = Problems()
    read = read_run_leniently("a.run", text.encode(), problems, topics={b"1"})
    assert problems.total == 0
    assert read is not None
    run, notices = read
    assert lists_of(run) == {"x": [(b"b", 3.0), (b"a", 1.0)], "9": [(b"b", 1.0)], "1": [(b"a", 2.0)]}
    assert [str(notice) for notice in notices] == [
        (
            "a.run:3: Lines that repeat a document of their topic, in topics that the qrels do not have: 2, "
            "the first with “a”. These topics are ignored."
        )
    ]
    assert read_run_leniently("a.run", text.encode(), problems, topics={b"1", b"9"}) is None
    assert [str(problem) for problem in problems.first] == [
        "a.run:6: Document b is in topic 9 twice; it is on line 2 already."
    ]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("# nothing\n", ["a.run: The file has no line of data."]),
        (
            "1 Q0 a 1 2\n1 Q0 b 1 x t\n",
            ["a.run:1: The line has 5 columns; a run has six: topic, Q0, document, rank, score, tag."],
        ),
        (
            "1 Q0 a 1 1,5 t\n2 Q0 a 1 1 t\n1 Q0 a 1 1,5 t\n",
            ["a.run:3: Document a is in topic 1 twice; it is on line 1 already."],
        ),
        (
            "1 Q0 a\u00a0b 1 x t\n",
            ["a.run:1: 'a\\xa0b' has blanks or control characters inside; it must be one word."],
        ),
        (
            "1 Q0 a 1 x t\n1 Q0 b 1 x t\u3000u\n",
            ["a.run:2: 't\\u3000u' has blanks or control characters inside; it must be one word."],
        ),
        ("1 Q0 a\x1b 1 x t\n", ["a.run:1: Byte 7 of the line is a control character."]),
    ],
)
def test_a_run_that_trec_eval_or_a_terminal_would_not_take_is_refused(text: str, reports: list[str]) -> None:
    problems = Problems()
    problems.add("before.run", None, "Something of another file.")
    assert read_run_leniently("a.run", text.encode(), problems) is None
    assert [str(problem) for problem in problems.first[1:]] == reports


def test_odd_grades_are_counted_and_the_first_is_shown() -> None:
    table, notices = qrels_of("1 0 a 1\n\n1 0 b 1.9\n1 0 c xyz\n2 0 a -2.5\n2 0 b 12345\n")
    assert (table.topics, table.first.tolist()) == (("1", "2"), [0, 3, 5])
    assert table.grades.tolist() == [1, 1, 0, -2, 12345]
    assert notices == [
        (
            "q.txt:3: Grades that are no whole numbers of at most four digits: 4. "
            "They are read as trec_eval reads them; the first, “1.9”, counts as 1."
        ),
    ]


def test_odd_grades_of_five_columns_are_read_too() -> None:
    table, notices = qrels_of("1 0 a s1 x\n1 0 b s0 -1\n")
    assert (table.grades.tolist(), len(notices)) == ([0, -1], 1)
    assert table.strata is not None
    assert table.strata.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("1 0 a\n", ["q.txt:1: The line has 3 columns; qrels have four: topic, iteration, document, grade."]),
        (
            "1 0 a 32768\n1 0 b -32768\n1 0 c -32767\n1 0 d 99999x\n1 0 e 12345\n",
            [
                "q.txt:1: The grade 32768 is not from -32767 to 32767.",
                "q.txt:2: The grade -32768 is not from -32767 to 32767.",
                "q.txt:4: The grade 99999x is not from -32767 to 32767.",
            ],
        ),
        (
            "1 0 a x\n1 0 a 1.5\n",
            ["q.txt:2: Document a of topic 1 is graded twice; it is on line 1 already."],
        ),
    ],
)
def test_qrels_that_trec_eval_or_the_table_would_not_take_are_refused(text: str, reports: list[str]) -> None:
    problems = Problems()
    assert read_qrels_leniently("q.txt", text.encode(), problems) is None
    assert [str(problem) for problem in problems.first] == reports


ROWS = st.dictionaries(
    st.tuples(st.sampled_from(["1", "2", "10"]), st.text("abé", min_size=1, max_size=3)),
    st.integers(-3, 3),
    min_size=1,
    max_size=12,
)


@given(rows=ROWS, clean=st.booleans())
def test_a_clean_run_is_read_as_strictly_and_a_column_too_many_changes_only_the_notices(
    *, rows: dict[tuple[str, str], int], clean: bool
) -> None:
    plain = "".join(f"{topic} Q0 {docno} 1 {score / 2} t\n" for (topic, docno), score in rows.items())
    strict = parse_run("a.run", plain.encode(), Problems())
    assert strict is not None
    run, notices = run_of(plain if clean else plain.replace(" t\n", " t u\n"))
    assert (run.tag, run.lines, list(run.lists), lists_of(run)) == (
        "t",
        len(rows),
        list(strict.lists),
        lists_of(strict),
    )
    assert len(notices) == (0 if clean else 1)


@given(rows=ROWS, clean=st.booleans())
def test_clean_qrels_are_read_as_strictly_and_junk_after_the_grades_changes_only_the_notices(
    *, rows: dict[tuple[str, str], int], clean: bool
) -> None:
    plain = "".join(f"{topic} 0 {docno} {grade}\n" for (topic, docno), grade in rows.items())
    strict = read_qrels("q.txt", plain.encode(), Problems())
    assert strict is not None
    table, notices = qrels_of(plain if clean else plain.replace("\n", ",5\n"))
    assert (table.topics, table.first.tolist()) == (strict.topics, strict.first.tolist())
    assert table.docnos.tolist() == strict.docnos.tolist()
    assert table.grades.tolist() == strict.grades.tolist()
    assert len(notices) == (0 if clean else 1)
