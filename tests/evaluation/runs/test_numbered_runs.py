"""Runs that are to be stored: what `parse_run` reads, with documents as numbers and the lines they come from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import Problems
from annotator.evaluation.runs import numbered_runs, run_columns
from annotator.evaluation.runs.docno_numbers import DocnoNumbers
from annotator.evaluation.runs.numbered_runs import read_numbered_run
from annotator.evaluation.runs.parsed_runs import NumberedRun
from annotator.evaluation.runs.run_format import read_lines
from annotator.evaluation.runs.run_scores import NO_NUMBER

TOPICS = ["1", "2", "3"]
Row = tuple[str, float, int, int]  # docno, score, line, rank


def rows_of(run: NumberedRun, numbers: DocnoNumbers) -> dict[str, list[Row]]:
    docnos = numbers.docnos_of(run.documents)
    columns = (run.scores, run.origin.lines, run.origin.ranks)
    rows = list(zip(docnos, *(column.tolist() for column in columns), strict=True))
    bounds = run.begins.tolist()
    return {topic: rows[begin:end] for topic, begin, end in zip(run.topics, bounds[:-1], bounds[1:], strict=True)}


def read(text: str | bytes, *, tag: str | None = None) -> dict[str, list[Row]]:
    problems, numbers = Problems(), DocnoNumbers()
    content = text if isinstance(text, bytes) else text.encode()
    run = read_numbered_run("a.run", content, problems, numbers, topics=TOPICS, tag=tag)
    assert [str(problem) for problem in problems.first] == []
    assert run is not None
    assert run.retrieved == sum(len(ranked.documents) for ranked in run.lists.values())
    return rows_of(run, numbers)


def test_each_document_knows_its_line_and_rank() -> None:
    text = "# mine\n2 Q0 b 7 1 t\n\n2 Q0 a 3 2.5 t\n 1 Q0 b x 1 t\n#\n2 Q0 c 00012 1 t\n"
    assert read(text) == {
        "2": [("a", 2.5, 4, 3), ("c", 1.0, 7, 12), ("b", 1.0, 2, 7)],
        "1": [("b", 1.0, 5, NO_NUMBER)],
    }


@pytest.mark.parametrize(
    ("written", "rank"),
    [
        ("0", 0),
        ("7", 7),
        ("99999999", 99_999_999),
        *((word, NO_NUMBER) for word in ("1.0", "-1", "+1", "1e3", "1_0", "100000000", "٣")),
    ],
)
@pytest.mark.parametrize("ending", ["\n", " \n"])
def test_a_rank_is_a_whole_number_of_at_most_eight_digits(written: str, rank: int, ending: str) -> None:
    [row] = read(f"1 Q0 a {written} 1 t{ending}")["1"]
    assert row[3] == rank


def test_lines_are_counted_over_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered_runs, "CHUNK_BYTES", 40)
    lines = [f"{topic} Q0 doc{rank} {rank} {-rank} t" for topic in (3, 1) for rank in range(30)]
    text = "\n".join([*lines[:20], "# note", "", *lines[20:]])
    found = read(text)
    assert [row[2] for row in found["3"]] == [*range(1, 21), *range(23, 33)]
    assert [row[2] for row in found["1"]] == list(range(33, 63))


def test_a_run_in_too_many_pieces_is_read_with_care(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_columns, "MAX_PIECES", 2)
    text = "".join(f"{topic} Q0 {docno} 1 {score} t\n" for docno, score in (("a", 1), ("b", 1)) for topic in TOPICS)
    assert read(text) == {topic: [("b", 1.0, 4 + at, 1), ("a", 1.0, 1 + at, 1)] for at, topic in enumerate(TOPICS)}


@st.composite
def run_files(draw: st.DrawFn) -> str:
    """Draw files of mostly right lines: topics take turns, scores tie, ranks are odd, comments stand between."""
    pieces = []
    for _ in range(draw(st.integers(1, 12))):
        docno = draw(st.sampled_from("abcd")) * draw(st.sampled_from([1, 1, 8, 9, 20])) + draw(st.sampled_from("é12"))
        words = [draw(st.sampled_from("123")), "Q0", docno, draw(st.sampled_from(["1", "2", "10", "x", "0.5"]))]
        words += [draw(st.sampled_from(["1", "2", "-0.5", "1e-3", "0", "-0"])), "t"]
        gap = draw(st.sampled_from([" ", " ", " ", "\t", "  "]))
        pieces.append(
            gap.join(words) + draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\n# note\n", "\n #\n"]))
        )
    return "".join(pieces)


@settings(max_examples=examples(300))
@given(run_files())
def test_the_careful_reading_tells_the_same(text: str) -> None:
    problems, careful_problems, numbers = Problems(), Problems(), DocnoNumbers()
    run = read_numbered_run("a.run", text.encode(), problems, numbers, topics=TOPICS, tag=None)
    careful = read_lines("a.run", text.encode(), careful_problems, set(TOPICS), None)
    assert problems.first == careful_problems.first
    assert (run is None) == (careful is None)
    if run is None or careful is None:
        return
    expected = {}
    for topic, ranked in careful.lists.items():
        assert ranked.origin is not None
        columns = (ranked.scores, ranked.origin.lines, ranked.origin.ranks)
        docnos = np.char.decode(ranked.docnos).tolist()
        expected[topic] = list(zip(docnos, *(column.tolist() for column in columns), strict=True))
    assert run.tag == careful.tag
    assert repr(rows_of(run, numbers)) == repr(expected)  # repr() tells -0.0 from 0.0, and the topics' order
