"""Qrels as arrays: from files, where the fast reading is the careful one, and from dictionaries."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats import table_stream
from annotator.evaluation.qrels.qrels_columns import read_qrels_columns
from annotator.evaluation.qrels.qrels_format import parse_qrels, parse_sampled_qrels
from annotator.evaluation.qrels.qrels_table import (
    QrelsTable,
    columns_of,
    read_qrels,
    table_of,
    table_of_columns,
)

Entries = list[tuple[str, str, int, int | None]]


def entries_of(table: QrelsTable) -> Entries:
    """Topic, docno, grade and stratum of each entry."""
    topics = np.repeat(np.arange(len(table.topics)), np.diff(table.first))
    strata = [None] * len(table.docnos) if table.strata is None else table.strata.tolist()
    return [
        (table.topics[topic], docno.decode(), grade, stratum)
        for topic, docno, grade, stratum in zip(
            topics.tolist(), table.docnos.tolist(), table.grades.tolist(), strata, strict=True
        )
    ]


def table(text: str) -> QrelsTable:
    problems = Problems()
    read = read_qrels("q.txt", text.encode(), problems)
    assert [str(problem) for problem in problems.first] == []
    assert read is not None
    return read


def problems_of(text: str) -> list[str]:
    problems = Problems()
    assert read_qrels("q.txt", text.encode(), problems) is None
    return [str(problem) for problem in problems.first]


@pytest.mark.parametrize(
    "text",
    [
        "2 0 b 1\n2 0 a -1\n10 0 a 2\n",
        "2\t0\tb\t1\r\n2\t0\ta\t-1\r\n10\t0\ta\t2",
        " 2  0 b +1 \n\n2 Q0 \t a -001\n# end\n10 0.5 a 0002\n\n",
        "# by hand\n2 0 b 1\n10 0 a 2\n#2 0 c 2\n2 0 a -1\n",
        "10\x0b0\x0ca 2\n2 0 b 1\n \t\n2 0 a -1\n # 0 end 1",
    ],
    ids=["plain", "tabs and CRLF", "blanks and signs", "topics taking turns", "topics in another order"],
)
def test_entries_stand_by_topic_in_byte_order_and_within_a_topic_as_in_the_file(text: str) -> None:
    read = table(text)
    assert entries_of(read) == [("10", "a", 2, None), ("2", "b", 1, None), ("2", "a", -1, None)]
    assert (read.topics, read.first.tolist()) == (("10", "2"), [0, 1, 3])
    assert read.grades.dtype == np.int16
    assert read.docnos.dtype == "S1"


def test_grades_of_one_to_four_digits_are_read() -> None:
    written = ["0", "-0", "+7", "10", "-98", "101", "9999", "-9999", "0005"]
    read = table("".join(f"1 0 d{number} {grade}\n" for number, grade in enumerate(written)))
    assert read.grades.tolist() == [0, 0, 7, 10, -98, 101, 9999, -9999, 5]


def test_strata_are_numbered_from_0_in_natural_order() -> None:
    read = table("1 0 a s10 1\n1 0 b s2 -1\n2 0 a s10 0\n1 0 c S 2\n")
    # "S" before "s", and s2 before s10.
    assert entries_of(read) == [("1", "a", 1, 2), ("1", "b", -1, 1), ("1", "c", 2, 0), ("2", "a", 0, 2)]
    assert read.strata is not None
    assert read.strata.dtype == np.int32


def test_whole_numbers_as_strata_stand_by_their_value() -> None:
    assert [entry[3] for entry in entries_of(table("1 0 a 100 1\n1 0 b 20 1\n1 0 c 3 1\n"))] == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("1 0 a 1\n1 0 b s1 1\n1 0 c s1 1\n", ["q.txt:2: The line has 5 columns, but line 1 has 4; {mixture}"]),
        ("# two\n1 0 b s1 1\n1 0 c 1\n", ["q.txt:3: The line has 4 columns, but line 2 has 5; {mixture}"]),
        (
            "1 0 b s1 1\n1 0 c s1 1 x\n1 0 c s1 1.5\n1 0 b s2 0\n",
            [
                "q.txt:2: The line has 6 columns; these qrels have five: topic, iteration, document, stratum, grade.",
                "q.txt:3: The grade 1.5 is not a whole number of at most four digits.",
                "q.txt:4: Document b of topic 1 is graded twice; it is on line 1 already.",
            ],
        ),
        (
            "1 0 a s\u00a0t 1\n",
            ["q.txt:1: 's\\xa0t' has blanks or control characters inside; it must be one word."],
        ),
        (
            "1 0 a " + "s" * 257 + " 1\n",
            [f"q.txt:1: {'s' * 60}… is longer than 256 bytes, too long for an identifier."],
        ),
    ],
)
def test_what_is_wrong_with_qrels_of_five_columns_is_named_with_its_line(text: str, reports: list[str]) -> None:
    mixture = "a file of qrels has four on every line or, with a stratum before the grade, five on every line."
    assert problems_of(text) == [report.format(mixture=mixture) for report in reports]


@pytest.mark.parametrize(
    "text",
    [
        "# nothing\n",
        "1 a 2\n",
        "\n1 0 a 2 x y\n",
        "1 0 a 1.5\n",
        "1 0 a 10000\n",
        "1 0 a -\n",
        "1 0 a 1_0\n",
        "1 0 a /\n",
        "1 0 a :\n",
        "1 0 a 1\n2 0 a 1\n1 0 a 1\n",
        "1 0 a\u2028b 1\n\xa01 0 a 1\n",
        "1 0 a 1\n1 0 b\x01 1\n",
        "1 0 a\x7f 1\n",
        "1 0 " + "a" * 257 + " 1\n",
        "1 0 a 1" + " " * (1 << 16) + "\n",
        "1 0 a 1" + " " * (1 << 18) + "\n",
        "1 0 a 1\n1 0\nb 1\n",
        "1 0 a 1\n2 0 a 1 2 0\nb 1\n",
    ],
)
def test_what_is_wrong_with_qrels_of_four_columns_is_said_as_on_import(text: str) -> None:
    imported = Problems()
    parse_qrels("q.txt", text.encode(), imported)
    assert imported.total
    assert problems_of(text) == [str(problem) for problem in imported.first]


@pytest.mark.parametrize("text", ["1 0 a 1\n2 0 a 1\n", "1 0 a s 1\n# x\n2 0 b s 1\n", "\r\n1 0 é 1\r\n"])
def test_ordinary_files_are_read_by_columns(text: str) -> None:
    assert read_qrels_columns(text.encode()) is not None


WORDS = st.text("ab1é漢#", min_size=1, max_size=3) | st.just("a" * 256)
ODD = st.sampled_from(["", "\x01", "a\u00a0b", "1.5", "12345", "x y", "a" * 257, "+"])
LINE = st.builds(
    lambda words, blanks, end: (
        blanks[0] + "".join(word + blank for word, blank in zip(words, blanks[1:], strict=True)) + end
    ),
    st.one_of(
        st.tuples(
            st.sampled_from("12#é"), st.just("0"), WORDS, st.sampled_from(["0", "1", "-1", "+12", "-9999", "007"])
        ),
        st.tuples(st.sampled_from("12"), st.just("0"), WORDS | ODD, st.sampled_from("01") | ODD),
    ),
    st.tuples(
        st.sampled_from(["", "", "", " "]),
        *[st.sampled_from([" ", " ", "\t", " \x0b"])] * 3,
        st.sampled_from(["", " "]),
    ),
    st.sampled_from(["\n", "\n", "\r\n", "\n\n", ""]),
)
FILE = st.lists(LINE, max_size=12).map("".join)


def with_strata(text: str) -> str:
    """The text with a stratum, told by the line's number, before the last word of each line that has four."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        words = line.split()
        lines.append(" ".join([*words[:3], f"s{number % 3}", words[3]]) if len(words) == 4 else line)
    return "\n".join(lines)


@given(FILE, st.sampled_from([str, with_strata]), st.sampled_from([1, 16, 1 << 17]))
@example("1 0 a 1\n1 0 ab 0\n2 0 a -1\n1 0 b 2\n", str, 1)
@example("1 0 " + "é" * 128 + " 1\n#\n2 0 a 1\r\n\n\n", str, 16)
@example("2 0 a 1\n1 0 a 0\n2 0 b -1\n", with_strata, 1)
def test_the_fast_reading_is_the_careful_one(text: str, change: Callable[[str], str], chunk_bytes: int) -> None:
    data = change(text).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_stream, "CHUNK_BYTES", chunk_bytes)
        fast = read_qrels_columns(data)
    problems = Problems()
    careful = parse_sampled_qrels("q.txt", data, problems)
    if fast is not None:
        assert careful is not None, problems.first
        expected = table_of_columns(columns_of(careful.rows))
        assert entries_of(table_of_columns(fast)) == entries_of(expected)
        assert table_of_columns(fast).docnos.dtype == expected.docnos.dtype
    assert (read_qrels("q.txt", data, Problems()) is None) == (careful is None)


def test_a_dictionary_gives_the_same_table_as_a_file() -> None:
    qrels = {"2": {"b": 1, "a": -1}, "10": {"é": 2}}
    assert entries_of(table_of(qrels)) == entries_of(table("2 0 b 1\n2 0 a -1\n10 0 é 2\n"))


def test_a_topic_of_a_dictionary_may_have_no_document() -> None:
    made = table_of({"2": {}, "1": {"a": 0}, "3": {}})
    assert (made.topics, made.first.tolist(), made.docnos.tolist()) == (("1", "2", "3"), [0, 1, 1, 1], [b"a"])
    assert (table_of({}).topics, table_of({}).first.tolist(), table_of({}).docnos.dtype.kind) == ((), [0], "S")


def test_any_kind_of_whole_number_is_a_grade_and_a_docno_of_256_bytes_is_taken() -> None:
    grades = {"a": np.int64(3), "b": 32767, "é" * 128: -32767}
    assert table_of({"1": grades}).grades.tolist() == [3, 32767, -32767]  # type: ignore[dict-item]  # NumPy's are no int


@pytest.mark.parametrize(
    ("qrels", "sentence"),
    [
        ({"1": {"a": 1.0}}, "The grade of document a of topic 1 is 1.0, which is no whole number."),
        ({"1": {"a": True}}, "The grade of document a of topic 1 is True, which is no whole number."),
        ({"1": {"a": None}}, "The grade of document a of topic 1 is None, which is no whole number."),
        ({"1": {"a": 32768}}, "The grade of document a of topic 1, 32768, is not from -32767 to 32767."),
        ({"1": {"a": -32768}}, "The grade of document a of topic 1, -32768, is not from -32767 to 32767."),
        ({"1": {"a": 0, "b": 10**30}}, f"The grade of document b of topic 1, {10**30}, is not from -32767 to 32767."),
        ({"1": {"a b": 1}}, "'a b' is given as a topic or document id, but is not one word{word}"),
        ({"1": {"a\x85": 1}}, "'a\\x85' is given as a topic or document id, but is not one word{word}"),
        ({"1": {"a": 1, "": 1}}, "'' is given as a topic or document id, but is not one word{word}"),
        ({"": {"a": 1}}, "'' is given as a topic or document id, but is not one word{word}"),
        ({"1": {"\ud800": 1}}, "'\\ud800' is given as a topic or document id, but is not one word{word}"),
        ({"1": {7: 1}}, "7 is given as a topic or document id, but is not text."),
        ({"1": {"a": 1}, 2: {"a": 1}}, "2 is given as a topic or document id, but is not text."),
        (
            {"1": {"é" * 129: 1}},
            f"'{'é' * 129}' is given as a topic or document id, but is too long for an identifier.",
        ),
    ],
)
def test_a_dictionary_that_no_file_could_say_is_refused(qrels: dict[str, dict[str, int]], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        table_of(qrels)
    assert str(refused.value) == sentence.format(word=" without blanks or control characters.")
