"""Runs matched with qrels: what is found and at which rank, and that every way of reading finds the same."""

import gzip
import multiprocessing
import os
import pickle
import tracemalloc
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import MAX_PROBLEMS, AnnotatorError, Problems
from annotator.evaluation.formats import table_stream, table_tokens
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.matching import QrelsIndex, files, match_lists, match_run, match_runs, workers
from annotator.evaluation.matching import files as files_module
from annotator.evaluation.matching import files as lists_module
from annotator.evaluation.matching.files import match_with_care
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.qrels.qrels_table import QrelsTable
from annotator.evaluation.runs import rankings
from annotator.evaluation.runs.parsed_runs import ParsedList
from annotator.evaluation.runs.run_format import parse_run

Qrels = Mapping[str, Mapping[str, int]]
Found = dict[str, list[tuple[int, str]]]


def table_of(qrels: Qrels) -> QrelsTable:
    topics = sorted(qrels, key=str.encode)
    sizes = [len(qrels[topic]) for topic in topics]
    docnos = [docno.encode() for topic in topics for docno in qrels[topic]]
    return QrelsTable(
        tuple(topics),
        np.cumsum([0, *sizes]).astype(np.intp),
        np.array(docnos, np.bytes_) if docnos else np.empty(0, "S1"),
        np.array([grade for topic in topics for grade in qrels[topic].values()], np.int16),
    )


def found_in(run: MatchedRun, table: QrelsTable) -> Found:
    """The matched rows in words: rank and docno, by topic."""
    found: Found = {topic: [] for topic in table.topics}
    for topic, rank, entry in zip(run.topic.tolist(), run.rank.tolist(), run.entry.tolist(), strict=True):
        assert table.first[topic] <= entry < table.first[topic + 1]
        found[table.topics[topic]].append((rank, table.docnos[entry].decode()))
    return found


def matched(text: str | bytes, qrels: Qrels, *, single_precision: bool = False) -> MatchedRun:
    problems = Problems()
    source = text if isinstance(text, bytes) else text.encode()
    run = match_run("a.run", source, QrelsIndex(table_of(qrels)), problems, single_precision=single_precision)
    assert [str(problem) for problem in problems.first] == []
    assert run is not None
    return run


def found(text: str | bytes, qrels: Qrels, *, single_precision: bool = False) -> Found:
    return found_in(matched(text, qrels, single_precision=single_precision), table_of(qrels))


def same(one: MatchedRun | None, other: MatchedRun | None) -> bool:
    if one is None or other is None:
        return one is other
    arrays = ("retrieved", "topic", "rank", "entry")
    return (one.tag, one.other_topics) == (other.tag, other.other_topics) and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in arrays
    )


QRELS = {"10": {"b": 1, "x": 0}, "2": {"a": 2, "d": -1, "c": 0}, "3": {}}
RUN = "2 Q0 a 1 9 t\n2 Q0 n 2 8 t\n2 Q0 c 3 7 t\n10 Q0 a 1 2 t\n10 Q0 b 2 1 t\n99 Q0 a 1 1 t\n"


def test_rows_are_what_is_both_retrieved_and_listed_by_topic_then_rank() -> None:
    run = matched(RUN, QRELS)
    assert found_in(run, table_of(QRELS)) == {"10": [(2, "b")], "2": [(1, "a"), (3, "c")], "3": []}
    assert (run.tag, run.retrieved.tolist(), run.other_topics) == ("t", [2, 3, 0], 1)


def test_a_pooled_but_unjudged_document_leaves_a_row() -> None:
    assert found("2 Q0 d 1 1 t\n", QRELS)["2"] == [(1, "d")]


def test_another_topics_judgements_do_not_count() -> None:
    assert found("10 Q0 c 1 1 t\n2 Q0 x 1 1 t\n", QRELS) == {"10": [], "2": [], "3": []}


def test_ties_stand_by_document_bytes_descending() -> None:
    # All of one score: é (C3 A9) before b, ab, aa, a, Z; the qrels list three of them.
    text = "".join(f"1 0 {docno} 1 1.0 t\n" for docno in ["a", "ab", "Z", "é", "aa", "b"])
    assert found(text, {"1": {"a": 1, "é": 0, "ab": 1}})["1"] == [(1, "é"), (3, "ab"), (5, "a")]


def test_ties_of_long_documents_are_settled_past_the_first_eight_bytes() -> None:
    text = "".join(f"1 0 document-{number:02} 1 5 t\n" for number in (3, 11, 7, 20))
    assert found(text, {"1": {"document-07": 1, "document-11": 1}})["1"] == [(2, "document-11"), (3, "document-07")]


def test_lines_in_any_order_are_ranked_by_score() -> None:
    text = "1 0 a 1 1 t\n1 0 b 2 3 t\n1 0 c 3 2 t\n1 0 d 4 3 t\n2 0 a 1 -1 t\n2 0 b 1 5e0 t\n"
    qrels = {"1": {"a": 1, "b": 1, "d": 1}, "2": {"a": 1}}
    assert found(text, qrels) == {"1": [(1, "d"), (2, "b"), (4, "a")], "2": [(2, "a")]}


def test_scores_equal_in_single_precision_tie_for_trec_eval_9_only() -> None:
    # float32 has 24 bits: 1.00000001 and 1.00000002 are both 1.
    text = "1 0 a 1 1.00000002 t\n1 0 b 2 1.00000001 t\n"
    assert found(text, {"1": {"a": 1, "b": 1}})["1"] == [(1, "a"), (2, "b")]
    assert found(text, {"1": {"a": 1, "b": 1}}, single_precision=True)["1"] == [(1, "b"), (2, "a")]


def test_scores_past_single_precision_are_infinite_and_tie() -> None:
    text = "1 0 a 1 1e300 t\n1 0 b 2 1e299 t\n1 0 c 2 1e3 t\n"
    assert found(text, {"1": {"a": 1, "b": 1}}, single_precision=True)["1"] == [(1, "b"), (2, "a")]


def test_a_run_without_anything_of_the_qrels_has_no_rows() -> None:
    run = matched("7 0 a 1 1 t\n8 0 a 1 1 t\n", QRELS)
    assert (run.topic.size, run.retrieved.tolist(), run.other_topics) == (0, [0, 0, 0], 2)


def test_qrels_without_an_entry_match_nothing() -> None:
    run = matched("1 0 a 1 1 t\n", {"1": {}})
    assert (run.entry.size, run.retrieved.tolist()) == (0, [1])


def test_lists_in_memory_are_matched_as_they_stand() -> None:
    table = table_of(QRELS)
    lists = {
        "2": ParsedList(np.array([b"c", b"longer than any", b"a"]), np.array([3.0, 2.0, 1.0])),
        "5": ParsedList(np.array([b"a"]), np.array([1.0])),
        "10": ParsedList(np.empty(0, "S1"), np.empty(0)),
    }
    run = match_lists(QrelsIndex(table), "mine", lists)
    assert found_in(run, table) == {"10": [], "2": [(1, "c"), (3, "a")], "3": []}
    assert (run.tag, run.retrieved.tolist(), run.other_topics) == ("mine", [0, 3, 0], 1)


def test_lists_in_memory_may_be_matched_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = {topic: ParsedList(np.array([b"c", b"a", b"b"]), np.array([3.0, 2.0, 1.0])) for topic in ("2", "10", "7")}
    index = QrelsIndex(table_of(QRELS))
    at_once = match_lists(index, "mine", lists)
    monkeypatch.setattr(lists_module, "BATCH_ROWS", 3)
    assert same(match_lists(index, "mine", lists), at_once)
    assert found_in(at_once, table_of(QRELS)) == {"10": [(3, "b")], "2": [(1, "c"), (2, "a")], "3": []}


def test_more_ties_than_fit_a_sorting_key_are_settled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "DISTINCT_BITS", 64)
    text = "".join(f"1 0 document-{number} 1 {number // 3} t\n" for number in range(9))
    qrels = {"1": {f"document-{number}": 1 for number in (0, 2, 4, 8)}}
    # From the best: 8 7 6, 5 4 3, 2 1 0.
    assert found(text, qrels)["1"] == [(1, "document-8"), (5, "document-4"), (7, "document-2"), (9, "document-0")]


def test_ties_past_a_sorting_key_are_settled_by_the_first_bytes_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "DISTINCT_BITS", 64)
    # In twos of one score: the first eight bytes say the contrary of the last.
    scores = {"aaaaaaaay": 2, "bbbbbbbbx": 2, "ccccccccy": 1, "ddddddddx": 1}
    text = "".join(f"1 0 {docno} 1 {score} t\n" for docno, score in scores.items())
    assert found(text, {"1": dict.fromkeys(scores, 1)})["1"] == [
        (1, "bbbbbbbbx"),
        (2, "aaaaaaaay"),
        (3, "ddddddddx"),
        (4, "ccccccccy"),
    ]


def test_no_more_of_a_file_is_read_than_shows_that_it_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "large.run").write_bytes(b"#" * (1 << 22))
    problems = Problems()
    tracemalloc.start()
    try:
        assert read_text(problems, "large.run", tmp_path / "large.run", limit=1 << 16) is None
        most_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [str(problem) for problem in problems.first] == [
        "large.run: The unpacked file is larger than 65536 bytes. Split it."
    ]
    assert most_bytes < 1 << 20  # the file has 4 MiB
    assert read_text(problems, "large.run", tmp_path / "large.run", limit=1 << 22) == b"#" * (1 << 22)


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    problems = Problems()
    index = QrelsIndex(table_of(QRELS))
    assert match_run("a.run", tmp_path / "a.run", index, problems) is None
    assert match_run("folder", tmp_path, index, problems) is None
    assert [str(problem) for problem in problems.first] == [
        "a.run: The file cannot be read: No such file or directory.",
        "folder: The file cannot be read: Is a directory.",
    ]


QRELS_FOR_A_RUN = (
    "a.run: This is a file of qrels, not a run: every line has four columns, or five of a sample, the last a grade. "
    "Where both are asked for, the qrels come first."
)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("# by hand\n1 0 a 1\n\n1 0 b -1\n", True),
        ("1 0 a s1 1\n1 0 b s1 0\n", True),
        ("1 0.5 a 2\n", True),  # TREC-COVID's iterations
        ("1 0 a 1\n1 0 b\n", False),
        ("1 0 a 1\n1 0 b\x01 1\n", False),
        ("1 Q0 a 1 12\n", False),  # no tag
        ("1 a 1 12\n", False),  # neither Q0 nor a tag
        ("1 0 a 12.5\n", False),
        ("", False),
        ("# nothing\n", False),
    ],
)
def test_a_run_that_is_qrels_as_a_whole_is_told_once(text: str, *, is_told: bool) -> None:
    problems = Problems()
    assert match_run("a.run", text.encode(), QrelsIndex(table_of(QRELS)), problems) is None
    assert ([str(problem) for problem in problems.first] == [QRELS_FOR_A_RUN]) is is_told
    assert problems.total > 0


def test_no_lists_in_memory_match_nothing() -> None:
    run = match_lists(QrelsIndex(table_of(QRELS)), "mine", {})
    assert (run.topic.size, run.retrieved.tolist(), run.other_topics) == (0, [0, 0, 0], 0)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"# nothing\n",
        b"1 Q0 a 1 2 t\n1 Q0 b 1 1 u\n",
        b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n",
        b"1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n",
        b"9 Q0 a 1 2 t\n9 Q0 a 2 1 t\n",
        b"1 Q0 a 1 x t\n1 Q0 b 1\n",
        b"1 Q0 a\x01 1 2 t\n",
        b"1 Q0 \x7f 1 2 t\n",
        b"1 Q0 " + b"a" * 257 + b" 1 2 t\n",
        b"1 Q0 a 1 2 " + b"t" * 70_000 + b"\n",
        b"1 Q0 a 1 2 t" + b"\n" * 5 + b"1 Q0 b 1 1e999 t",
        "1 Q0 a\u2028b 1 2 t\n".encode(),
    ],
)
def test_what_is_wrong_is_said_as_the_careful_reading_says_it(text: bytes) -> None:
    ours, theirs = Problems(), Problems()
    assert match_run("a.run", text, QrelsIndex(table_of(QRELS)), ours) is None
    parse_run("a.run", text, theirs)
    if not text:
        theirs = Problems()
        theirs.add("a.run", None, "The file is empty.")
    assert ours.total > 0
    assert (ours.first, ours.total) == (theirs.first, theirs.total)


@pytest.mark.parametrize(
    ("data", "report"),
    [
        (b"\xff\xfe1\x00", "a.run: The file is text in UTF-16. Save it as UTF-8."),
        (b"1 Q0 a 1 2 t\n1 Q0 \xe9 1 1 t\n", "a.run:2: Byte 6 is not UTF-8. Save the file as UTF-8."),
        (
            b"1 Q0 a 1 2 t\n1 Q0 \0 1 1 t\n",
            "a.run:2: Byte 6 is NUL: this is no text file. Send text, plain or gzip.",
        ),
        (
            b"# \0\n1 Q0 a 1 2 t\n",
            "a.run:1: Byte 3 is NUL: this is no text file. Send text, plain or gzip.",
        ),
        (
            gzip.compress(RUN.encode(), mtime=0)[:-1],
            "a.run: The gzip data end too early: the file was cut off. Send it again.",
        ),
        (
            gzip.compress(RUN.encode(), mtime=0) + b"more",
            "a.run: The gzip data are damaged. Compress the file again and send it again.",
        ),
    ],
)
def test_a_file_that_is_no_whole_text_is_refused(data: bytes, report: str) -> None:
    problems = Problems()
    assert match_run("a.run", data, QrelsIndex(table_of(QRELS)), problems) is None
    assert [str(problem) for problem in problems.first] == [report]


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + RUN.encode(),
        RUN.replace("\n", "\r\n").encode(),
        RUN.replace(" ", "\t").encode(),
        RUN.replace(" ", "  \t").encode(),
        RUN.encode().removesuffix(b"\n"),
        b"# by hand\n" + RUN.encode().replace(b"\n", b"\n\n # note\n"),
        gzip.compress(RUN.encode(), mtime=0),
        gzip.compress(RUN.encode()[:30], mtime=0) + gzip.compress(RUN.encode()[30:], mtime=0),
        gzip.compress(b"", mtime=0) + gzip.compress(b"\xef\xbb\xbf" + RUN.encode(), mtime=0) + bytes(512),
        "".join(sorted(RUN.splitlines(keepends=True), reverse=True)).encode(),
        "".join(RUN.splitlines(keepends=True)[index] for index in (3, 0, 5, 2, 4, 1)).encode(),
    ],
    ids=["mark", "CRLF", "tabs", "blanks", "no end", "comments", "gzip", "members", "padded", "reversed", "mixed"],
)
def test_the_same_run_in_many_layouts(text: bytes, tmp_path: Path) -> None:
    expected = matched(RUN, QRELS)
    assert same(matched(text, QRELS), expected)
    (tmp_path / "a.run").write_bytes(text)
    problems = Problems()
    assert same(match_run("a.run", tmp_path / "a.run", QrelsIndex(table_of(QRELS)), problems), expected)


def test_a_topic_without_entries_finds_none_of_the_next_topics() -> None:
    qrels = {"1": {}, "2": {f"d{number}": 0 for number in range(200)}}
    text = "".join(f"{topic} 0 d{number} 1 {-number} t\n" for topic in (1, 2) for number in range(200))
    assert found(text, qrels)["1"] == []


def test_an_index_may_be_pickled() -> None:
    index = pickle.loads(pickle.dumps(QrelsIndex(table_of(QRELS))))  # noqa: S301 - our own bytes
    assert same(match_run("a.run", RUN.encode(), index, Problems()), matched(RUN, QRELS))


def test_a_topic_with_most_of_the_entries_is_found_whole() -> None:
    qrels = {"1": {f"d{number}": 0 for number in range(3000)}, "2": {"d1": 1}}
    text = "".join(f"{topic} 0 d{number} 1 {-number} t\n" for topic in (1, 2) for number in range(4000))
    assert found(text, qrels) == {"1": [(number + 1, f"d{number}") for number in range(3000)], "2": [(2, "d1")]}


WORDS = st.sampled_from(["a", "b", "c", "dd", "é", "漢字", "x" * 8, "x" * 9, "x" * 8 + "y" * 8, "x" * 8 + "z" * 9])
SCORES = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.sampled_from(["1e5", "1E-7", "-.5", "5.", "-0", "+1", "1.00000001", "1.00000002", "0.1", "0.10", "1,5", "nan"]),
)
GAPS = st.sampled_from([" ", " ", " ", " ", "\t", "  "])
ENDS = st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "\n\n", "\n# note\n"])
DOCNOS = st.dictionaries(WORDS, st.integers(-1, 2), max_size=8)
SOME_QRELS = st.dictionaries(st.sampled_from(["1", "2", "03", "q-long-topic"]), DOCNOS, min_size=1)


@st.composite
def run_texts(draw: st.DrawFn) -> str:
    """Draw files that are mostly right: each topic once, in one piece; sometimes topics take turns or documents do."""
    is_plain = draw(st.booleans())
    lines = []
    for topic in draw(st.lists(st.sampled_from(["1", "2", "03", "q-long-topic", "5"]), unique=True, max_size=4)):
        for docno in draw(st.lists(WORDS, unique=True, max_size=10)):
            score = draw(st.integers(-2, 2).map(str) if is_plain else SCORES)
            gap = draw(GAPS)
            lines.append(gap.join([topic, "Q0", docno, "1", score, "t"]) + ("\n" if is_plain else draw(ENDS)))
    if draw(st.integers(0, 4)) == 0:
        lines = draw(st.permutations(lines))
    if lines and draw(st.integers(0, 9)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    return "".join(lines)


def found_by_definition(text: str, qrels: Qrels, *, single_precision: bool) -> Found:
    """Sort each topic's pairs of score and docno bytes, best first, and look each document up."""
    lists: dict[str, list[tuple[float, bytes]]] = {topic: [] for topic in qrels}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            topic, _, docno, _, score, _ = line.split()
            value = float(np.float32(score)) if single_precision else float(score)
            lists.setdefault(topic, []).append((value, docno.encode()))
    return {
        topic: [
            (rank, docno.decode())
            for rank, (_, docno) in enumerate(sorted(lists[topic], reverse=True), start=1)
            if docno.decode() in qrels[topic]
        ]
        for topic in sorted(qrels, key=str.encode)
    }


def check_fast_is_careful(text: str, qrels: Qrels, *, single_precision: bool, is_packed: bool) -> None:
    index = QrelsIndex(table_of(qrels))
    data = gzip.compress(text.encode(), 1, mtime=0) if is_packed else text.encode()
    fast, careful = Problems(), Problems()
    one = match_run("a.run", data, index, fast, single_precision=single_precision)
    other = match_with_care("a.run", data, index, careful, single_precision=single_precision)
    assert same(one, other)
    assert (fast.first, fast.total) == (careful.first, careful.total)
    if one is not None:
        expected = found_by_definition(text, qrels, single_precision=single_precision)
        assert found_in(one, table_of(qrels)) == expected


@settings(max_examples=examples(300))
@given(text=run_texts(), qrels=SOME_QRELS, single_precision=st.booleans(), is_packed=st.booleans())
@example(
    text="1 0 a 1 1 t\n1 0 b 1 2 t\n2 0 a 1 1 t\n1 0 c 1 1 t\n",
    qrels={"1": {"c": 1}},
    single_precision=False,
    is_packed=False,
)
def test_the_fast_matching_is_the_careful_one(
    *, text: str, qrels: Qrels, single_precision: bool, is_packed: bool
) -> None:
    check_fast_is_careful(text, qrels, single_precision=single_precision, is_packed=is_packed)


@settings(max_examples=examples(150))
@given(text=run_texts(), qrels=SOME_QRELS, is_packed=st.booleans(), chunk_bytes=st.integers(1, 90))
def test_the_fast_matching_is_the_careful_one_wherever_chunks_end(
    *, text: str, qrels: Qrels, is_packed: bool, chunk_bytes: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_stream, "CHUNK_BYTES", chunk_bytes)
        check_fast_is_careful(text, qrels, single_precision=False, is_packed=is_packed)


@settings(max_examples=examples(150))
@given(run_texts(), SOME_QRELS)
def test_the_bytes_decide_when_every_hash_is_the_same(text: str, qrels: Qrels) -> None:
    right = match_with_care("a.run", text.encode(), QrelsIndex(table_of(qrels)), Problems(), single_precision=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_tokens, "LAST_FACTOR", np.uint64(0))
        index = QrelsIndex(table_of(qrels))
        assert not index.hashes.any()
        assert same(match_run("a.run", text.encode(), index, Problems()), right)
        patch.setattr(files, "has_equals", lambda _: False)  # the run's own collisions stay on the fast way
        problems = Problems()
        assert parse_run("a.run", text.encode(), problems) is None or same(
            match_run("a.run", text.encode(), index, problems), right
        )


def test_a_list_that_spans_many_chunks_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_stream, "CHUNK_BYTES", 40)
    text = "".join(f"{topic} Q0 doc{rank} {rank} {-rank} t\n" for topic in (7, 5) for rank in range(30))
    assert found(text, {"5": {"doc29": 1}, "7": {"doc0": 1}}) == {"5": [(30, "doc29")], "7": [(1, "doc0")]}


def test_a_pipe_is_read_once_and_what_is_wrong_with_it_is_still_said(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    problems = Problems()
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(pipe.write_bytes, b"1 Q0 a 1 x t\n")
        assert match_run("a.run", pipe, QrelsIndex(table_of(QRELS)), problems) is None
        writing.result()
    assert [problem.line for problem in problems.first] == [1]


def test_of_a_pipe_no_more_is_read_than_shows_that_it_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "UNPACKED_LIMIT", 1 << 16)
    problems = Problems()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(pipe.write_bytes, RUN.encode() * (1 << 14))
        assert match_run("a.run", pipe, QrelsIndex(table_of(QRELS)), problems) is None
        with pytest.raises(BrokenPipeError):
            writing.result()
    assert [str(problem) for problem in problems.first] == [
        "a.run: The unpacked file is larger than 65536 bytes. Split it."
    ]


class NoProcesses(Executor):
    """Starts nothing, so that this process has to do all of the work."""

    def __init__(self, *_: object) -> None:
        """Take what a pool of processes takes."""

    def submit(self, *_: Any) -> Future[Any]:  # type: ignore[override]  # noqa: ANN401 - it takes anything
        return Future()


@pytest.mark.parametrize("number_of_workers", [1, 2])
def test_a_file_that_is_too_large_is_refused_however_many_processes_would_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number_of_workers: int
) -> None:
    index, (first, *_) = QrelsIndex(table_of(LARGE_QRELS)), large_files(tmp_path)
    size = (tmp_path / "right").stat().st_size
    monkeypatch.setattr(files_module, "LEAST_BYTES", 0)
    monkeypatch.setattr(workers, "STRETCH_BYTES", 3000)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", NoProcesses)
    for limit, reports in (
        (size, []),
        (size - 1, [f"right: The unpacked file is larger than {size - 1} bytes. Split it."]),
    ):
        monkeypatch.setattr(files_module, "UNPACKED_LIMIT", limit)
        monkeypatch.setattr(table_stream, "UNPACKED_LIMIT", limit)
        problems = Problems()
        [run] = match_runs([first], index, problems, workers=number_of_workers)
        assert [str(problem) for problem in problems.first] == reports
        assert (run is None) == bool(reports)


def test_a_file_that_cannot_be_read_is_a_problem_without_a_line(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):  # a folder is no file
        problems = Problems()
        assert match_run("a.run", path, QrelsIndex(table_of(QRELS)), problems) is None
        [problem] = problems.first
        assert str(problem).startswith("a.run: The file cannot be read: ")


def test_few_bytes_are_matched_by_one_process_however_many_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "match_in_processes", None)  # would fail if it were called
    problems = Problems()
    files = [("a.run", RUN.encode()), ("b.run", b"1 0 a 1 x t\n")]
    one, other = match_runs(files, QrelsIndex(table_of(QRELS)), problems, workers=8)
    assert same(one, matched(RUN, QRELS))
    assert (other, [problem.file for problem in problems.first]) == (None, ["b.run"])


def test_what_is_refused_by_its_size_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "match_in_processes", None)  # would fail if it were called
    monkeypatch.setattr(files_module, "LEAST_BYTES", 1)
    monkeypatch.setattr(files_module, "UNPACKED_LIMIT", len(RUN) - 1)
    (tmp_path / "a.run").write_text(RUN)
    problems = Problems()
    files: list[tuple[str, Path | bytes]] = [("a.run", tmp_path / "a.run"), ("-", RUN.encode())]
    assert match_runs(files, QrelsIndex(table_of(QRELS)), problems, workers=2) == [None, None]
    assert [str(problem) for problem in problems.first] == [
        f"{name}: The unpacked file is larger than {len(RUN) - 1} bytes. Split it." for name in ("a.run", "-")
    ]


LARGE_QRELS = {str(topic): {f"d{number}": number % 3 for number in range(0, 50, 7)} for topic in range(40)}


def lines_of(topic: int, tag: str = "t") -> str:
    return "".join(f"{topic} Q0 d{number} 1 {-number % 5} {tag}\n" for number in range(50))


def large_files(folder: Path) -> list[tuple[str, Path | bytes]]:
    """Files in many stretches: right ones, and those whose trouble shows only when the stretches come together."""
    texts = {
        "right": "".join(map(lines_of, range(40))),
        "interleaved": "".join(map(lines_of, [*range(30), 31])) + "1 Q0 later 1 9 t\n",
        "two tags": "".join(map(lines_of, range(20))) + lines_of(21, "u") + lines_of(22, "u"),
        "twice": "".join(map(lines_of, range(20))) + lines_of(3),
        "wrong": "".join(map(lines_of, range(20))) + "1 Q0 a 1 x t\n" * (MAX_PROBLEMS + 1),
        "no topic": "1 Q0 a 1 " * 5000,
    }
    files: list[tuple[str, Path | bytes]] = []
    for name, text in texts.items():
        (folder / name).write_text(text)
        files.append((name, folder / name))
    (folder / "packed").write_bytes(gzip.compress(texts["right"].encode(), mtime=0))
    return [*files, ("packed", folder / "packed"), ("in memory", texts["right"].encode())]


def test_two_processes_say_what_one_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, files = QrelsIndex(table_of(LARGE_QRELS)), large_files(tmp_path)
    alone, together = Problems(), Problems()
    expected = [*match_runs(files, index, alone, workers=1), matched(RUN, LARGE_QRELS)]
    monkeypatch.setattr(files_module, "LEAST_BYTES", 0)
    monkeypatch.setattr(workers, "STRETCH_BYTES", 3000)
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        pool.submit((tmp_path / "pipe").write_text, RUN)
        runs = match_runs([*files, ("pipe", tmp_path / "pipe")], index, together, workers=2)
    assert [run is not None for run in runs] == [True, True, False, False, False, False, True, True, True]
    assert all(map(same, runs, expected))
    assert (together.by_file(), together.total) == (alone.by_file(), alone.total)


class DeadlyIndex(QrelsIndex):
    """Ends the process that unpickles it, as the system does to one that takes too much memory."""

    def __reduce__(self) -> tuple[Callable[[int], object], tuple[int]]:
        """Pickle as a call of `os._exit`."""
        return os._exit, (3,)


@pytest.mark.process
def test_a_process_that_dies_ends_all_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "LEAST_BYTES", 0)
    monkeypatch.setattr(Future, "cancel", lambda _: False)  # this process leaves all of it to the other
    with pytest.raises(AnnotatorError, match="was killed"):
        match_runs([("a.run", RUN.encode())], DeadlyIndex(table_of(QRELS)), Problems(), workers=2)
    assert multiprocessing.active_children() == []


class InterruptedIndex(QrelsIndex):
    """Interrupts a look-up, as Ctrl-C would; in another process it is an index as any."""

    def find(self, *_: object) -> NoReturn:
        raise KeyboardInterrupt

    def __reduce__(self) -> tuple[Callable[[QrelsTable], QrelsIndex], tuple[QrelsTable]]:
        """Pickle as an ordinary index."""
        return QrelsIndex, (table_of(QRELS),)


@pytest.mark.process
def test_an_interruption_leaves_no_process_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "LEAST_BYTES", 0)
    files = [(f"{number}.run", RUN.encode()) for number in range(9)]
    with pytest.raises(KeyboardInterrupt):
        match_runs(files, InterruptedIndex(table_of(QRELS)), Problems(), workers=2)
    assert multiprocessing.active_children() == []
