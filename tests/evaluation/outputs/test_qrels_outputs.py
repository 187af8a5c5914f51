"""Settled grades in every format, read back by the packages they are for and by our own readers."""

import csv
import io
import json
import sys
from pathlib import Path

import ir_measures
import pandas as pd
import pytest
import pytrec_eval
from autojudge import read_qrel_file
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import ConflictError, InvalidValueError, Problems
from annotator.evaluation.formats.unpacking import unpack
from annotator.evaluation.outputs.output_formats import named
from annotator.evaluation.outputs.qrels_outputs import QRELS_OUTPUTS, TREC, Line, lines_of, quepid_ratings
from annotator.evaluation.qrels.qrels_format import format_qrels, readable_rows

LINES: list[Line] = [("1", "d3", 0), ("1", "d7", 2), ("2", "d7", 1)]
QUERIES = {"1": "black dress", "2": '=red, "silk"'}
WRITTEN = [one.name for one in QRELS_OUTPUTS if one.write is not None]


def as_(name: str, lines: list[Line] = LINES) -> bytes:
    write = named(QRELS_OUTPUTS, name).write
    assert write is not None
    return write(lines, QUERIES)


@pytest.mark.parametrize("name", WRITTEN)
def test_our_own_reader_reads_every_format(name: str) -> None:
    problems = Problems()
    titles = {query: topic for topic, query in QUERIES.items()}
    rows = readable_rows("f", unpack("f", as_(name)), problems, titles=titles)
    assert [(row.topic, row.docno, row.grade) for row in rows] == LINES
    assert problems.total == 0


def test_trec_qrels_are_read_by_ir_measures_and_autojudge(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(format_qrels(LINES))
    read = ir_measures.read_trec_qrels(str(path))  # type: ignore[no-untyped-call] # the package has no types here
    assert [(one.query_id, one.doc_id, one.relevance) for one in read] == LINES
    assert [(one.topic_id, one.doc_id, one.grade) for one in read_qrel_file(path).rows] == LINES


def test_the_dictionary_is_that_of_pytrec_eval() -> None:
    scores = pytrec_eval.RelevanceEvaluator(json.loads(as_("json")), {"P_1"}).evaluate({"1": {"d7": 1.0, "d3": 0.5}})
    assert scores["1"]["P_1"] == 1


def test_pandas_reads_parquet() -> None:
    frame = pd.read_parquet(io.BytesIO(as_("parquet")))
    assert list(frame.itertuples(index=False, name=None)) == LINES
    assert list(frame.columns) == ["qid", "docno", "label"]
    assert len(pd.read_parquet(io.BytesIO(as_("parquet", [])))) == 0


def test_without_pyarrow_another_format_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidValueError, match=r"relevance-annotator\[parquet\], or choose another format"):
        as_("parquet")


def test_quepid_gets_queries_that_no_spreadsheet_runs_and_no_unjudged_documents() -> None:
    # Quepid's RatingsImporter takes three columns below a heading, and strips each of them.
    _, *rows = csv.reader(io.StringIO(as_("quepid", [*LINES, ("1", "d9", -1), ("2", "-d1", 0)]).decode()))
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["black dress", "d3", "0"],
        ["black dress", "d7", "2"],
        ['=red, "silk"', "d7", "1"],
        ['=red, "silk"', "-d1", "0"],
    ]
    assert rows[2][0].startswith(" =")
    assert rows[3][1].startswith(" -")


def test_quepid_cannot_tell_topics_of_one_query_apart() -> None:
    with pytest.raises(ConflictError, match="The topics 1 and 2 have the same query"):
        quepid_ratings(LINES, {"1": "dress", "2": "dress "})
    assert quepid_ratings(LINES[:2], {"1": "dress", "2": "dress "}).count(b"\n") == 3


ids = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=5)


@given(grades=st.dictionaries(st.tuples(ids, ids), st.integers(-1, 9)))
def test_lines_are_those_that_were_written(grades: dict[tuple[str, str], int]) -> None:
    lines = [(topic, docno, grade) for (topic, docno), grade in grades.items()]
    assert sorted(lines_of(format_qrels(lines))) == sorted(lines)


def test_an_unknown_format_is_refused_with_all_names() -> None:
    with pytest.raises(InvalidValueError, match="There is no format xml of qrels; there are trec, beir, quepid"):
        named(QRELS_OUTPUTS, "xml")
    assert named(QRELS_OUTPUTS, TREC).write is None
