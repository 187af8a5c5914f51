"""Parquet and Arrow files as their own libraries write them."""

import sys
from io import BytesIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from annotator.errors import Problems
from annotator.evaluation.formats.document_formats import parse_documents
from annotator.evaluation.formats.registry import FORMATS
from annotator.evaluation.formats.unpacking import unpack, unpack_into
from annotator.evaluation.qrels.qrels_format import readable_rows

ROWS = [{"qid": "1", "docno": "d7", "label": 2}, {"qid": "1", "docno": "d3", "label": 0}]


def parquet_of(table: pa.Table) -> bytes:
    file = BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def arrow_of(table: pa.Table, *, is_stream: bool) -> bytes:
    file = BytesIO()
    with (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def files(table: pa.Table) -> list[bytes]:
    return [parquet_of(table), arrow_of(table, is_stream=True), arrow_of(table, is_stream=False)]


def told(data: bytes, limit: int = 1 << 20) -> list[str]:
    problems = Problems()
    assert unpack_into(problems, "f", data, limit) is None
    return [str(problem) for problem in problems.by_file()]


def test_rows_are_read_as_those_of_json() -> None:
    for data in files(pa.Table.from_pylist(ROWS)):
        rows = readable_rows("q", unpack("q", data), Problems())
        assert [(row.topic, row.docno, row.grade, row.line) for row in rows] == [("1", "d7", 2, 1), ("1", "d3", 0, 2)]


def test_a_problem_is_named_with_the_number_of_its_row() -> None:
    problems = Problems()
    readable_rows("q", unpack("q", files(pa.Table.from_pylist([*ROWS, ROWS[0]]))[0]), problems)
    assert [str(problem)[:5] for problem in problems.by_file()] == ["q:3: "]


@given(texts=st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=9), min_size=1, max_size=4))
def test_every_text_comes_back(texts: list[str]) -> None:
    frame = pd.DataFrame({"docno": [f"d{number}" for number in range(len(texts))], "text": texts})
    for data in files(pa.Table.from_pandas(frame)):
        problems = Problems()
        documents = parse_documents("d", unpack("d", data), problems)
        if any("\0" in text for text in texts):
            assert problems.total
        else:
            assert [one.body for one in documents or ()] == texts


def test_damage_and_size_are_reported() -> None:
    for data in files(pa.Table.from_pylist(ROWS * 100)):
        assert told(data, limit=50) == ["f: The unpacked file is larger than 50 bytes. Split it."]
        assert "The Parquet or Arrow file is damaged" in told(data[:60] + bytes(len(data) - 64) + data[-4:])[0]


def test_lengths_that_lead_outside_the_file_are_damage() -> None:
    # pyarrow reads what lies there, unless it is asked to look.
    begins, outside = (np.array([0, 2, end], "<i4").tobytes() for end in (4, 2**31 - 1))
    for data in files(pa.Table.from_pylist(ROWS))[1:]:
        assert data.count(begins) == 1
        assert "The Parquet or Arrow file is damaged" in told(data.replace(begins, outside))[0]


def test_without_pyarrow_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    [data, *_] = files(pa.Table.from_pylist(ROWS))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "install relevance-annotator[parquet]" in told(data)[0]


def test_every_kind_of_file_may_be_parquet() -> None:
    assert all("parquet" in [one.name for one in formats] for formats in FORMATS.values())
