"""Qrels files: what they say, what is wrong with them, how they are written."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import Problems
from annotator.evaluation.qrels.qrels_format import QrelsRow, format_qrels, parse_qrels


def problems_of(text: str, *, topics: list[str] | None = None, grades: list[int] | None = None) -> list[str]:
    problems = Problems()
    assert parse_qrels("q.txt", text.encode(), problems, topics=topics, grades=grades) is None
    return [str(problem) for problem in problems.first]


@pytest.mark.parametrize(
    "text",
    ["1 0 a 2\n1 0 b -1\n", "1\t0\ta\t2\r\n1\t0\tb\t-1", "1 0.5  a +2\n1 Q0  b -1 \n"],
    ids=["plain", "tabs and CRLF", "as TREC-COVID and DL19 write the second column"],
)
def test_rows_come_in_the_order_of_the_file(text: str) -> None:
    read = parse_qrels("q.txt", text.encode(), Problems())
    assert read is not None
    assert read.rows == [QrelsRow("1", "a", 2, 1), QrelsRow("1", "b", -1, 2)]


def test_blank_and_comment_lines_count_for_nothing_but_as_lines() -> None:
    read = parse_qrels("q.txt", b"# ours\n\n1 0 a 2\n#1 0 b 2\n1 0 c 0\n", Problems())
    assert read is not None
    assert [(row.docno, row.line) for row in read.rows] == [("a", 3), ("c", 5)]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("# nothing\n", ["q.txt: The file has no line of data."]),
        ("1 a 2\n", ["q.txt:1: The line has 3 columns; qrels have four: topic, iteration, document, grade."]),
        ("\n1 0 a 2 x\n", ["q.txt:2: The line has 5 columns; qrels have four: topic, iteration, document, grade."]),
        ("1 0 a 1.5\n", ["q.txt:1: The grade 1.5 is not a whole number of at most four digits."]),
        ("1 0 a 1_0\n", ["q.txt:1: The grade 1_0 is not a whole number of at most four digits."]),
        ("1 0 a 9999\n1 0 b 10000\n", ["q.txt:2: The grade 10000 is not a whole number of at most four digits."]),
        (
            "1 0 a\u2028b 1\n\xa01 0 a 1\n",
            [
                "q.txt:1: 'a\\u2028b' has blanks or control characters inside; it must be one word.",
                "q.txt:2: '\\xa01' has blanks or control characters inside; it must be one word.",
            ],
        ),
        (
            "1 0 a 1\n2 0 a 1\n1 0 a 1\n",
            ["q.txt:3: Document a of topic 1 is graded twice; it is on line 1 already."],
        ),
        (
            "1 0 a 1\n1 0 a x\n",
            [
                "q.txt:2: Document a of topic 1 is graded twice; it is on line 1 already.",
                "q.txt:2: The grade x is not a whole number of at most four digits.",
            ],
        ),
        (
            "1 0 " + "a" * 257 + " 1\n",
            [f"q.txt:1: {'a' * 60}… is longer than 256 bytes, too long for an identifier."],
        ),
    ],
)
def test_each_problem_is_named_with_its_line(text: str, reports: list[str]) -> None:
    assert problems_of(text) == reports


def test_a_run_is_told_once_and_only_when_every_line_is_one() -> None:
    run = "1 Q0 a 1 2.5 t\n# note\n1 Q0 b 2 -1 t\n"
    told = "q.txt: This is a run, not qrels: every line has six columns, the fifth a score. "
    assert problems_of(run) == [told + "Where both are asked for, the qrels come first."]
    assert [report[:8] for report in problems_of(run + "1 0 c 1\n")] == ["q.txt:1:"]
    assert [report[:8] for report in problems_of("1 0 a 1 high t\n1 0 b 1 low\n")] == ["q.txt:1:", "q.txt:2:"]


def test_commas_are_told_once_and_only_when_they_part_every_line() -> None:
    told = (
        "q.txt: The columns are separated by “,”. Name them in the first line, as in qid,docno,grade, or separate them "
        "by blanks or tabs."
    )
    assert problems_of("1,0,a,1\n1,0,b,1\n") == [told]
    assert [report[:8] for report in problems_of("1,0,a,1\n1 0 b 1\n1,0\n")] == ["q.txt:1:"]
    assert problems_of("1,0\n2,0\n") == [told]


def test_grades_outside_the_scale_are_refused_with_the_scale() -> None:
    assert problems_of("1 0 a 2\n1 0 b 3\n1 0 c -1\n", grades=[2, 0, 1]) == [
        "q.txt:2: The grade 3 is not in the scale of the collection, which has 0, 1, 2.",
    ]


def test_an_unknown_topic_is_named_once() -> None:
    assert problems_of("1 0 a 2\n3 0 b 1\n3 0 c 1\n", topics=["1", "2"]) == [
        "q.txt:2: The collection has no topic 3.",
    ]


def test_whole_numbers_stand_by_number_and_documents_by_bytes() -> None:
    rows = [("10", "a", 0), ("9", "b", 1), ("9", "B", -1), ("9", "é", 2), ("009", "a", 3)]
    assert format_qrels(rows) == "009 0 a 3\n9 0 B -1\n9 0 b 1\n9 0 é 2\n10 0 a 0\n".encode()


def test_other_topics_stand_by_bytes() -> None:
    assert format_qrels([("9", "a", 0), ("10", "a", 0), ("x", "a", 1)]) == b"10 0 a 0\n9 0 a 0\nx 0 a 1\n"


PAIRS = st.dictionaries(
    st.tuples(st.text("019aé", min_size=1, max_size=4), st.text("ab-\U0001f600\uffee", min_size=1, max_size=4)),
    st.integers(-9, 9),
    min_size=1,
)


@given(PAIRS, st.randoms(use_true_random=False))
def test_qrels_read_back_the_same_and_the_order_given_makes_no_difference(
    grades: dict[tuple[str, str], int], chance: random.Random
) -> None:
    rows = [(topic, docno, grade) for (topic, docno), grade in grades.items()]
    written = format_qrels(rows)
    chance.shuffle(rows)
    assert format_qrels(rows) == written
    read = parse_qrels("q.txt", written, Problems())
    assert read is not None
    assert {(row.topic, row.docno): row.grade for row in read.rows} == grades
    documents = [row.docno.encode() for row in read.rows if row.topic == read.rows[0].topic]
    assert documents == sorted(documents)
