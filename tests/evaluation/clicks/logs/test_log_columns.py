"""Many lines of a click log read at once: as line by line, and not less often than they may be."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from evaluation.online.log_text import KIM, as_json_lines, read, said
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.clicks.evaluation.logs import click_format, log_rows
from annotator.clicks.evaluation.logs.click_format import read_click_log_into
from annotator.clicks.evaluation.logs.column_mapping import FIELDS, LogMapping, parse_mapping
from annotator.clicks.evaluation.logs.log_columns import LineReader
from annotator.errors import Problems
from annotator.evaluation.formats.table_tokens import UnusualError

# Where all lines are of these, they are read at once; times are of one kind in each example.
TEXTS = st.text("ab1,é가", max_size=12)
USUAL: Mapping[str, st.SearchStrategy[str]] = {
    "user": TEXTS,
    "session": TEXTS,
    "query": TEXTS,
    "variant": TEXTS,
    "page": st.sampled_from(["", "1", "2"]),
    "position": st.sampled_from(["", "1", "3", "99999999"]),
    "docno": st.sampled_from(["", "d1", "d2", "é", "x" * 40]),
    "event": st.sampled_from(["impression", "click", "dwell", "rating", "conversion"]),
    "value": st.sampled_from(["1", "0.5", "12.25"]),
}
USUAL_TIMES = (
    ("0", "7", "7.25", "1e3"),
    ("1970-01-01T00:00:07Z", "1970-01-01T00:00:07.5Z", "1970-01-01T00:00:06Z"),
    ("1970-01-01 00:00:07", "1970-01-01 00:01:07"),
)
ODD_TEXTS = st.text('ab1 ,"\\é가\u3000\t', max_size=5)
ODD: Mapping[str, st.SearchStrategy[str]] = {
    "time": st.sampled_from(["", *sum(USUAL_TIMES, ()), "1970-01-01T00:00:07.5+01:00", "1970-01-01T00:00", "soon"]),
    "user": ODD_TEXTS,
    "session": ODD_TEXTS,
    "query": ODD_TEXTS,
    "variant": ODD_TEXTS,
    "page": st.sampled_from(["", "1", "0", "x"]),
    "position": st.sampled_from(["", "1", "03", "-1", "1.5"]),
    "docno": st.sampled_from(["", "d1", "é", "a b", "a\u3000b"]),
    "event": st.sampled_from(["impression", "click", "dwell", "rating", "", "view"]),
    "value": st.sampled_from(["", "1", "-2", "1e-3", "nan", "much"]),
}


def carefully(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnusualError

    monkeypatch.setattr(click_format, "rows_of", refuse)


def what_is_read(content: bytes, mapping: LogMapping) -> object:
    problems = Problems()
    log = read_click_log_into(problems, [("log", content)], mapping)
    return None if log is None else said(log), [str(problem) for problem in problems.by_file()]


@st.composite
def lines(draw: st.DrawFn) -> Sequence[Mapping[str, str]]:
    """Lines of which some columns may be missing, with or without something odd."""
    columns = {"event", *draw(st.sets(st.sampled_from(FIELDS)))}
    values = ODD if draw(st.booleans()) else {**USUAL, "time": st.sampled_from(draw(st.sampled_from(USUAL_TIMES)))}
    shape = {column: values[column] for column in FIELDS if column in columns}
    return draw(st.lists(st.fixed_dictionaries(shape), min_size=1, max_size=6))


def as_csv(rows: Sequence[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(rows: Sequence[Mapping[str, str]]) -> str:
    """One JSON object a line, values that are numbers as such."""
    return "".join(
        json.dumps({column: as_number(value) for column, value in row.items()}, ensure_ascii=False) + "\n"
        for row in rows
    )


def as_number(value: str) -> str | int | float:
    return json.loads(value) if value in {"1", "3", "7", "0.5", "7.25", "-2", "12.25", "1e-3"} else value


@settings(max_examples=examples(300))
@given(rows=lines(), write=st.sampled_from([as_csv, as_json]), drops_bad_lines=st.booleans())
def test_many_lines_at_once_are_read_as_line_by_line(
    rows: Sequence[Mapping[str, str]], write: Callable[[Sequence[Mapping[str, str]]], str], *, drops_bad_lines: bool
) -> None:
    content, mapping = write(rows).encode(), parse_mapping(drops_bad_lines=drops_bad_lines)
    at_once = what_is_read(content, mapping)
    with pytest.MonkeyPatch.context() as monkeypatch:
        carefully(monkeypatch)
        assert what_is_read(content, mapping) == at_once


@settings(max_examples=examples(100))
@given(clicks=st.lists(st.sampled_from("01"), min_size=1, max_size=6), times=st.lists(st.integers(0, 5), min_size=6))
def test_results_with_a_column_of_clicks_are_read_as_line_by_line(clicks: list[str], times: list[int]) -> None:
    rows = [{"time": str(time), "click": click} for click, time in zip(clicks, times, strict=False)]
    content, mapping = as_csv(rows).encode(), parse_mapping(click_column="click")
    at_once = what_is_read(content, mapping)
    with pytest.MonkeyPatch.context() as monkeypatch:
        carefully(monkeypatch)
        assert what_is_read(content, mapping) == at_once


def test_truths_in_json_are_read_line_by_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    content, mapping = b'{"click": true}\n{"click": false}\n', parse_mapping(click_column="click")
    at_once = what_is_read(content, mapping)
    carefully(monkeypatch)
    assert what_is_read(content, mapping) == at_once


def test_texts_of_one_hash_are_told_apart_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rows, "hashes_of", lambda words: np.zeros(len(words), np.uint64))
    log = read("query,event\nred,impression\nblue,impression\nred,impression\n")
    assert (log.queries, log.query.tolist()) == (("red", "blue"), [0, 1, 0])


def test_what_is_usual_is_read_many_lines_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("It was read line by line.")

    monkeypatch.setattr(LineReader, "rows", refuse)
    for text in (KIM, KIM.replace("\n", "\r\n"), KIM.replace("red shoes", '"red, shoes"'), as_json_lines(KIM)):
        assert read(text).lines == 6
