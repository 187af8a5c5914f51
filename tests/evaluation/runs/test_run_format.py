"""Run files: what they say, what is wrong with them, and that the fast reading is the careful one."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import Problems
from annotator.evaluation.formats import table_stream, table_tokens
from annotator.evaluation.runs import run_columns
from annotator.evaluation.runs.run_columns import read_columns
from annotator.evaluation.runs.run_format import ParsedRun, parse_run, read_lines

Lists = dict[str, list[tuple[str, float]]]


def lists_of(run: ParsedRun) -> Lists:
    return {
        topic: [(docno.decode(), score) for docno, score in zip(ranked.docnos, ranked.scores.tolist(), strict=True)]
        for topic, ranked in run.lists.items()
    }


def parsed(text: str | bytes, *, tag: str | None = None) -> ParsedRun:
    problems = Problems()
    run = parse_run("a.run", text if isinstance(text, bytes) else text.encode(), problems, tag=tag)
    assert [str(problem) for problem in problems.first] == []
    assert run is not None
    return run


def problems_of(text: str, *, topics: list[str] | None = None, tag: str | None = None) -> list[str]:
    problems = Problems()
    assert parse_run("a.run", text.encode(), problems, topics=topics, tag=tag) is None
    return [str(problem) for problem in problems.first]


@pytest.mark.parametrize(
    "text",
    [
        "2 Q0 a 1 3.5 bm25\n2 Q0 b 2 1 bm25\n10 Q0 a 1 -0.5 bm25\n",
        "2\tQ0\ta\t1\t3.5\tbm25\n2\tQ0\tb\t2\t1\tbm25\n10\tQ0\ta\t1\t-0.5\tbm25\n",
        " 2  Q0 \t a 1 3.5 bm25  \n\n2 Q0 b 2 1 bm25\n  \t\n10 Q0 a 1 -0.5 bm25",
        "2 Q0 a 1 3.5 bm25\r\n2 Q0 b 2 1 bm25\r\n\r\n10 Q0 a 1 -0.5 bm25\r\n",
        "# by hand\n2 Q0 a 1 3.5 bm25\n#2 Q0 c 2 1 other\n2\x0bQ0\x0cb 2 1 bm25\n # end\n10 Q0 a 1 -.5 bm25\n#",
        "2 Q0 b 9 1 bm25\n10 Q0 a 9 -5e-1 bm25\n2 Q0 a 9 +35.E-1 bm25\n",
    ],
    ids=["plain", "tabs", "blanks", "CRLF", "comments", "ranks ignored, topics taking turns"],
)
def test_the_same_run_in_many_layouts(text: str) -> None:
    run = parsed(text)
    assert (run.tag, run.lines) == ("bm25", 3)
    assert list(run.lists) == ["2", "10"]
    assert lists_of(run) == {"2": [("a", 3.5), ("b", 1.0)], "10": [("a", -0.5)]}


def test_ties_stand_by_document_bytes_descending() -> None:
    # UTF-8: "Z" 5A, "a" 61, "a1" 61 31, "é" C3 A9, "漢" E6 BC A2; trec_eval compares by strcmp, higher first.
    text = "".join(f"1 0 {docno} 1 {score} t\n" for docno, score in [("a", 1), ("漢", 1), ("x", 0), ("Z", 1), ("é", 1)])
    assert lists_of(parsed(text + "1 0 a1 1 1.0 t\n1 0 top 9 2 t\n"))["1"] == [
        *(("top", 2.0), ("漢", 1.0), ("é", 1.0), ("a1", 1.0), ("a", 1.0), ("Z", 1.0), ("x", 0.0)),
    ]


def test_negative_zero_ties_with_zero() -> None:
    assert lists_of(parsed("1 0 a 1 0 t\n1 0 b 2 -0.0 t\n"))["1"] == [("b", 0.0), ("a", 0.0)]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("", ["a.run: The file has no line of data."]),
        ("\n# nothing\n", ["a.run: The file has no line of data."]),
        (
            "# x\n\n1 Q0 a 1 2 t extra\n1 Q0 a 1 2\n",
            [
                "a.run:3: The line has 7 columns; a run has six: topic, Q0, document, rank, score, tag.",
                "a.run:4: The line has 5 columns; a run has six: topic, Q0, document, rank, score, tag.",
            ],
        ),
        (
            "1 Q0 a 1 2 t\n1 Q0 b 1 1 u\n1 Q0 c 1 1 u\n",
            ["a.run:2: The tag is u, but line 1 has t; a file is one run and has one tag."],
        ),
        (
            "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n\n1 Q0 a 2 1 t\n1 Q0 a 3 1 t\n",
            ["a.run:4: Document a is in topic 1 twice; it is on line 1 already. The same on line 5."],
        ),
        ("1 Q0 a\x01 1 2 t\n", ["a.run:1: Byte 7 of the line is a control character."]),
        ("1 Q0 " + "a" * 70_000 + " 1 2 t\n", ["a.run:1: The line is longer than 65536 bytes."]),
        (
            "1 Q0 " + "a" * 257 + " 1 2 t\n",
            [f"a.run:1: {'a' * 60}… is longer than 256 bytes, too long for an identifier."],
        ),
        ("1 Q0 a 1 2 " + "t" * 257, [f"a.run:1: {'t' * 60}… is longer than 256 bytes, too long for an identifier."]),
        (
            "1 Q0 a 1 2 t\n1 Q0 a\u2028b 2 1 t\n1\x85 Q0 c 3 0 t\n1 Q0 \u3000 4 0 t\n",
            [
                "a.run:2: 'a\\u2028b' has blanks or control characters inside; it must be one word.",
                "a.run:3: '1\\x85' has blanks or control characters inside; it must be one word.",
                "a.run:4: '\\u3000' has blanks or control characters inside; it must be one word.",
            ],
        ),
        ("1 Q0 a 1 2 t\xa0u\n", ["a.run:1: 't\\xa0u' has blanks or control characters inside; it must be one word."]),
    ],
)
def test_each_problem_is_named_with_its_line(text: str, reports: list[str]) -> None:
    assert problems_of(text) == reports


@pytest.mark.parametrize(
    "score", ["1,5", "0x1p3", "nan", "inf", "-Infinity", "1_000", "1e999", "1.2.3", "1e", ".", "--1", "1-2", "+", "٣"]
)
def test_a_score_that_is_no_finite_decimal_number_is_refused(score: str) -> None:
    assert problems_of(f"1 Q0 a 1 2 t\n1 Q0 b 2 {score} t\n") == [
        f"a.run:2: The score {score} is not a finite decimal number such as 12.5 or -3.1e-7."
    ]


def test_other_scripts_take_the_fast_reading() -> None:
    text = "질의-1 Q0 한글 1 2 태그\n질의-1 Q0 café 2 1 태그\n질의-1 Q0 漢\u200b 3 0.5 태그\n".encode()
    run = read_columns(text, None, None)
    assert run is not None
    assert (run.tag, lists_of(run)) == ("태그", {"질의-1": [("한글", 2.0), ("café", 1.0), ("漢\u200b", 0.5)]})


def test_columns_that_nobody_reads_may_have_any_blank() -> None:
    assert lists_of(parsed("1 Q\xa00 a 1\u2028 2 t\u3000\n", tag="mine")) == {"1": [("a", 2.0)]}


def test_an_unknown_topic_is_named_once() -> None:
    text = "1 Q0 a 1 2 t\n01 Q0 a 1 2 t\n01 Q0 b 2 1 t\n"
    assert problems_of(text, topics=["1", "2"]) == ["a.run:2: The collection has no topic 01."]


def test_a_tag_that_is_given_stands_for_those_in_the_file() -> None:
    run = parsed("1 Q0 a 1 2 t\n1 Q0 b 2 1 u\n", tag="mine")
    assert (run.tag, run.lines) == ("mine", 2)


def test_other_files_problems_do_not_refuse_this_one() -> None:
    problems = Problems()
    problems.add("other.run", 1, "The file is empty.")
    assert parse_run("a.run", b"1 Q0 a 1 2 t\n", problems) is not None
    assert parse_run("b.run", b"1 Q0 a 1 x t\n", problems) is None
    assert problems.total == 2


def test_a_list_that_spans_chunks_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_stream, "CHUNK_BYTES", 40)
    text = "".join(f"{topic} Q0 doc{rank} {rank} {-rank} t\n" for topic in (7, 5) for rank in range(30)).encode()
    run = read_columns(text, None, None)
    assert run is not None
    expected = [(f"doc{rank}", float(-rank)) for rank in range(30)]
    assert lists_of(run) == {"7": expected, "5": expected}


def test_a_line_longer_than_any_chunk_is_left_to_the_careful_reading() -> None:
    assert problems_of("1 Q0 a 1 2 t\n" + "1 " * 400_000 + "\n") == ["a.run:2: The line is longer than 65536 bytes."]


def test_lists_in_too_many_pieces_are_left_to_the_careful_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_columns, "MAX_PIECES", 2)
    text = b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n3 Q0 a 1 1 t\n"
    assert read_columns(text, None, None) is None
    assert lists_of(parsed(text)) == {"1": [("a", 1.0)], "2": [("a", 1.0)], "3": [("a", 1.0)]}


def test_documents_whose_hashes_collide_are_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_tokens, "LAST_FACTOR", np.uint64(0))  # every hash is the same now
    text = b"1 Q0 aaaaaaaa-0000001 1 2 t\n1 Q0 bbbbbbbb-0000001 2 1 t\n"
    assert read_columns(text, None, None) is not None


@pytest.mark.parametrize("spoil", [lambda line: line.replace("Q0", ""), lambda line: line.replace("t\n", "u\n")])
def test_a_problem_far_down_a_long_file_has_its_true_line(spoil: Callable[[str], str]) -> None:
    lines = [f"{topic} Q0 d{rank} {rank} {-rank} t\n" for topic in range(20) for rank in range(500)]
    lines[7654] = spoil(lines[7654])
    (report,) = problems_of("".join(lines))
    assert report.startswith("a.run:7655: ")


WORDS = st.sampled_from(["1", "2", "d", "dé", "D7", "#", "x" * 9, "y" * 17, "x" * 257, "1\x02", "d\xa0e", "\u2028"])
SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(["1e5", "1,5", "nan", "-.5", "5.", "0x1", "1_0", "9" * 70, "1e400", "-0"]),
)
GAPS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t", "\r", "\x0b", "\n"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", " \n", "\n# note\n", "\n #\n", ""])


@st.composite
def run_files(draw: st.DrawFn) -> str:
    """Draw files that are mostly right: rare words, gaps and line ends, columns missing here and there."""
    usual = draw(st.booleans())
    pieces = []
    for _ in range(draw(st.integers(0, 12))):
        topic, docno = draw(st.sampled_from("123")), draw(st.sampled_from("abcdefgh")) + draw(st.sampled_from("1234"))
        words = [topic, "Q0", docno, "1", draw(SCORES), "t"]
        if not usual and draw(st.integers(0, 9)) == 0:
            words[draw(st.integers(0, 5))] = draw(WORDS)
        gap = " " if usual else draw(GAPS)
        pieces.append(gap.join(words) + ("\n" if usual else draw(ENDS)))
    return "".join(pieces)


@settings(max_examples=examples(300))
@given(run_files(), st.sampled_from([None, {"1", "2", "3"}, {"1"}]), st.sampled_from([None, "mine"]))
@example("1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 1 1 t\n", None, None)
@example("1 Q0 a 1 1\nt 1 Q0 b 1 1 t\n", None, None)
@example("1 Q0 a 1 1 t 1 Q0 b 1 1 t\n", None, None)
@example("1\nQ0 a 1 1 t\n", None, None)
def test_the_fast_reading_is_the_careful_one(text: str, topics: set[str] | None, tag: str | None) -> None:
    problems = Problems()
    careful = read_lines("a.run", text.encode(), problems, topics, tag)
    fast = read_columns(text.encode(), topics, tag)
    assert (careful is None) == (problems.total > 0)
    if fast is not None:
        assert careful is not None
        assert (fast.tag, fast.lines, list(fast.lists)) == (careful.tag, careful.lines, list(careful.lists))
        assert repr(lists_of(fast)) == repr(lists_of(careful))  # repr() tells -0.0 from 0.0, and every last bit


@settings(max_examples=examples(100))
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_plain_files_take_the_fast_reading_and_scores_are_exact(scores: list[float]) -> None:
    text = "".join(f"1 Q0 d{number} 1 {score!r} t\n" for number, score in enumerate(scores)).encode()
    run = read_columns(text, None, None)
    assert run is not None
    assert dict(lists_of(run)["1"]) == {f"d{number}": score for number, score in enumerate(scores)}


@settings(max_examples=examples(50))
@given(
    st.dictionaries(
        st.sampled_from(["1", "02", "q-ü"]),
        st.dictionaries(st.text("ab漢", min_size=1, max_size=4), st.floats(-1e9, 1e9), min_size=1),
        min_size=1,
    )
)
def test_every_topic_and_score_is_read_in_the_order_of_scores(scores: dict[str, dict[str, float]]) -> None:
    text = "".join(f"{t} 0 {docno} 0 {score!r} tag\n" for t, found in scores.items() for docno, score in found.items())
    run = parsed(text)
    assert (run.tag, run.lines, list(run.lists)) == ("tag", text.count("\n"), list(scores))
    ranked = {
        topic: sorted(found, key=lambda d: (found[d], d.encode()), reverse=True) for topic, found in scores.items()
    }
    assert lists_of(run) == {topic: [(docno, scores[topic][docno]) for docno in ranked[topic]] for topic in ranked}
