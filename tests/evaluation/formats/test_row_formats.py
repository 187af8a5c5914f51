"""Runs and qrels in the layouts of other tools: what is read, and what is said about a wrong file."""
# ruff: noqa: E501 - the layouts are as the tools write them

import json
from collections.abc import Collection

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.input_formats import choose
from annotator.evaluation.formats.row_formats import LABEL_FORMATS, RUN_FORMATS
from annotator.evaluation.qrels.qrels_format import readable_rows
from annotator.evaluation.qrels.qrels_table import read_qrels
from annotator.evaluation.runs.run_format import parse_run
from annotator.evaluation.runs.run_intake import RunIntake, RunRules

LISTS = {"1": [("d7", 12.5), ("d3", 11.25)], "2": [("d3", 0.5)]}
TITLES = {"black dress": "1", "red shoes": "2"}
IDS = st.text(st.sampled_from("abcd01-_.é"), min_size=1, max_size=6).filter(lambda text: text not in {".", ".."})
GRADES = {"1": {"d7": 2, "d3": 0}, "2": {"d3": 1}}

PYTERRIER_RUN = pd.DataFrame(
    {
        "qid": ["1", "1", "2"],
        "docid": [17, 13, 13],
        "docno": ["d7", "d3", "d3"],
        "rank": [0, 1, 0],
        "score": [12.5, 11.25, 0.5],
        "query": ["black dress", "black dress", "red shoes"],
    }
)
RUNS = {
    "PyTerrier, CSV": ("csv", PYTERRIER_RUN.to_csv(index=False)),
    "pandas, tabs": ("csv", PYTERRIER_RUN[["qid", "docno", "score"]].to_csv(index=False, sep="\t")),
    "with the index of pandas": ("csv", PYTERRIER_RUN.to_csv()),
    "spreadsheet, semicolons": ("csv", "Query ID;Doc ID;Score\n1;d7;12.5\n1;d3;11.25\n2;d3;0.5\n"),
    "MS MARCO": ("msmarco", "1\td7\t1\n1\td3\t2\n2\td3\t1\n"),
    "ranx, pytrec_eval": ("json", json.dumps({topic: dict(rows) for topic, rows in LISTS.items()})),
    "dictionary over lines": ("json", json.dumps({topic: dict(rows) for topic, rows in LISTS.items()}, indent=1)),
    "pandas, JSON list": ("jsonl", PYTERRIER_RUN.to_json(orient="records")),
    "pandas, JSON Lines": ("jsonl", PYTERRIER_RUN.drop(columns="docid").to_json(orient="records", lines=True)),
    "TIRA": (
        "jsonl",
        (
            '{"qid": "1", "docno": "d7", "rank": 1, "score": 12.5, "system": "file"}\n'
            '{"qid": "1", "docno": "d3", "rank": 2, "score": 11.25, "system": "file"}\n'
            '{"qid": "2", "docno": "d3", "rank": 1, "score": 0.5, "system": "file"}\n'
        ),
    ),
    "TREC RAG 2024": (
        "jsonl",
        (
            '{"run_id": "file", "topic_id": "1", "topic": "black dress", "references": ["d7", "d3"], "response_length": 2,'
            ' "answer": [{"text": "Black.", "citations": [0, 1]}]}\n'
            '{"run_id": "file", "topic_id": "2", "topic": "red shoes", "references": ["d3"], "response_length": 0,'
            ' "answer": []}\n'
        ),
    ),
    "TREC RAG 2025": (
        "jsonl",
        (
            '{"metadata": {"team_id": "t", "run_id": "file", "type": "automatic", "narrative_id": 1, "narrative": "Black '
            'dress"}, "references": ["d7", "d3"], "answer": [{"text": "Black.", "citations": [0]}]}\n'
            '{"metadata": {"team_id": "t", "run_id": "file", "type": "automatic", "narrative_id": 2, "narrative": "Red"},'
            ' "references": ["d3"], "answer": []}\n'
        ),
    ),
    "RankLLM": (
        "jsonl",
        (
            '{"query": {"text": "black dress", "qid": 1}, "candidates": [{"docid": "d7", "score": 12.5, "doc": {}},'
            ' {"docid": "d3", "score": 11.25, "doc": {}}]}\n'
            '{"query": {"text": "red shoes", "qid": 2}, "candidates": [{"docid": "d3", "score": 0.5, "doc": {}}]}\n'
        ),
    ),
}
LABELS = {
    "BEIR": ("beir", "query-id\tcorpus-id\tscore\n1\td7\t2\n1\td3\t0\n2\td3\t1\n"),
    "Quepid": ("csv", "query,docid,rating\nblack dress,d7,2\nBlack  Dress,d3,0\nred shoes,d3,1\n"),
    "Quepid, quoted": ("csv", '"query","docid","rating"\n"black dress","d7","2"\n"1","d3","0"\n"red shoes","d3","1"\n'),
    "PyTerrier, pandas": (
        "csv",
        pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d7", "d3", "d3"], "label": [2.0, 0.0, 1.0]}).to_csv(),
    ),
    "ranx, pytrec_eval": ("json", json.dumps(GRADES)),
    "OpenSearch": (
        "opensearch",
        (
            '{"judgmentRatings": [{"query": "black dress", "ratings": [{"docId": "d7", "rating": "2.0"}, '
            '{"docId": "d3", "rating": "0.0"}]}, {"query": "red shoes", "ratings": [{"docId": "d3", "rating": "1"}]}]}'
        ),
    ),
    "Elasticsearch": (
        "opensearch",
        (
            '{"requests": [{"id": "1", "request": {"query": {}}, "ratings": [{"_index": "i", "_id": "d7", "rating": 2}, '
            '{"_index": "i", "_id": "d3", "rating": 0}]}, {"id": "2", "request": {}, "ratings": [{"_index": "i", '
            '"_id": "d3", "rating": 1}]}]}'
        ),
    ),
    "ir_datasets": (
        "jsonl",
        (
            '{"query_id": "1", "doc_id": "d7", "relevance": 2, "iteration": "0"}\n'
            '{"query_id": "1", "doc_id": "d3", "relevance": 0, "iteration": "0"}\n'
            '{"query_id": "2", "doc_id": "d3", "relevance": 1, "iteration": "0"}\n'
        ),
    ),
    "UMBRELA": (
        "jsonl",
        (
            '{"model": "gpt-4o", "qid": "1", "docid": "d7", "query": "black dress", "passage": "A.", "judgment": 2}\n'
            '{"model": "gpt-4o", "qid": "1", "docid": "d3", "query": "black dress", "passage": "B.", "judgment": 0}\n'
            '{"model": "gpt-4o", "qid": "2", "docid": "d3", "query": "red shoes", "passage": "B.", "judgment": 1}\n'
        ),
    ),
    "UMBRELA, candidates": (
        "jsonl",
        (
            '{"query": {"qid": "1", "text": "black dress"}, "candidates": [{"docid": "d7", "score": 9.5, "judgment": 2}, '
            '{"docid": "d3", "score": 8, "judgment": 0}]}\n'
            '{"query": {"qid": "2", "text": "red shoes"}, "candidates": [{"docid": "d3", "score": 1.5, "judgment": 1}]}\n'
        ),
    ),
}


def run_of(
    text: str, *, topics: Collection[str] | None = None, input_format: str | None = None
) -> tuple[dict[str, list[tuple[str, float]]] | None, list[str]]:
    problems = Problems()
    run = parse_run("file.jsonl.gz", text.encode(), problems, topics=topics, input_format=input_format)
    lists = (
        None
        if run is None
        else {
            topic: list(zip((docno.decode() for docno in one.docnos), one.scores.tolist(), strict=True))
            for topic, one in run.lists.items()
        }
    )
    return lists, [str(problem) for problem in problems.by_file()]


def labels_of(
    text: str, *, topics: Collection[str] | None = None, grades: Collection[int] | None = None
) -> tuple[list[tuple[str, str, int]], list[str]]:
    problems = Problems()
    rows = readable_rows("file", text.encode(), problems, titles=TITLES, topics=topics, grades=grades)
    return [(row.topic, row.docno, row.grade) for row in rows], [str(problem) for problem in problems.by_file()]


@pytest.mark.parametrize(("name", "text"), RUNS.values(), ids=RUNS)
def test_a_run_of_another_tool_is_read(name: str, text: str) -> None:
    assert choose(RUN_FORMATS, text.encode()).name == name
    lists, problems = run_of(text)
    assert problems == []
    assert lists is not None
    if "references" in text or name == "msmarco":  # they have an order and no scores
        lists = {topic: [(docno, dict(LISTS[topic])[docno]) for docno, _ in one] for topic, one in lists.items()}
    assert lists == LISTS
    intake = RunIntake(RunRules(frozenset(LISTS), frozenset(LISTS), 10, 1 << 20))
    read = intake.read("file.jsonl.gz", text.encode())
    assert read is not None
    assert (read.parsed.tag, read.parsed.topics, read.warnings) == ("file", ("1", "2"), ())


@pytest.mark.parametrize(("name", "text"), LABELS.values(), ids=LABELS)
def test_labels_of_another_tool_are_read(name: str, text: str) -> None:
    assert choose(LABEL_FORMATS, text.encode()).name == name
    rows, problems = labels_of(text, topics=TITLES.values(), grades=[0, 1, 2])
    assert problems == []
    assert rows == [("1", "d7", 2), ("1", "d3", 0), ("2", "d3", 1)]


def test_qrels_to_score_with_are_read_too() -> None:
    table = read_qrels("q", LABELS["BEIR"][1].encode(), Problems())
    assert table is not None
    assert (table.topics, table.docnos.tolist(), table.grades.tolist()) == (
        ("1", "2"),
        [b"d7", b"d3", b"d3"],
        [2, 0, 1],
    )


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("qid,docno,score\n1,d7,high\n", ["2: The score high is not a finite decimal number such as 12.5 or -3.1e-7."]),
        ("qid,docno,score\n1,d7,2\n\n1,d7,1\n", ["4: Document d7 is in topic 1 twice; it is on line 2 already."]),
        ("qid,docno,score\n1,d 7,2\n", ["2: “d 7” is no document id: it must be one word."]),
        ('[{"qid": "1", "docno": "d\\ud800"}]', ["1: “d\ufffd” is no document id: it must be one word."]),
        ('{"1": {"d7": 2}, "\\u0000": 5}', [("1: The value of topic \ufffd is no dictionary; the file must be {topic: "
                                           "{document: number}}.")]),
        ("qid,docno,score\n1,,2\n,d7,2\n", ["2: The entry names no document.", "3: The entry names no topic."]),
        ("qid,docno,score\n3,d7,2\n", ["2: The collection has no topic 3."]),
        ("1\td7\t1\n1\td3\tx\n", [("1: The line has 3 columns; a run has six: topic, Q0, document, rank, score, tag. "
                                  "The same on line 2.")]),
        ('{"1": {"d7": 2,\n"d3": }}', ["2: The JSON is broken at column 7: Expecting value."]),
        ('{"1": {"d7": 2}\n"2": {}}', ["2: The JSON is broken at column 1: Expecting ',' delimiter."]),
        ('{"1": {"d7": 2},\n"2": {"d', ["2: The JSON ends too early, at column 9: the file was cut off. Send it again."]),
        ('[{"qid": "1", "docno": "d7", "score": 1},\n', ["1: The JSON ends too early, at column 42: the file was cut off. Send it again."]),
        ('{"1": {"d7": 2}, "2": 5}', [("1: The value of topic 2 is no dictionary; the file must be {topic: {document: "
                                      "number}}.")]),
        ('{"1": {"d7": NaN}}', ["1: The score nan is not a finite decimal number such as 12.5 or -3.1e-7."]),
        ('{"qid": 1, "docno": "a", "score": 1}\n{"qid"\n', ["2: The line is not valid JSON: look at column 7."]),
        ('[{"qid": 1, "docno": "a",\n "score": 1},\n {"qid": 2}, 5]', ["3: The entry names no document.",
                                                                     ("3: An entry of the list is no JSON object; each "
                                                                     "must be one: {…}.")]),
    ],
)  # fmt: skip
def test_each_problem_of_a_run_is_named_with_its_line(text: str, reports: list[str]) -> None:
    lists, problems = run_of(text, topics=["1", "2"])
    assert lists is None
    assert problems == [f"file.jsonl.gz:{report}" for report in reports]
    intake = RunIntake(RunRules(frozenset("12"), frozenset("12"), 10, 1 << 20))
    assert intake.read("file.jsonl.gz", text.encode()) is None
    assert [str(problem) for problem in intake.problems.by_file()] == problems


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("query,docid,rating\nblue hat,d7,2\nblue hat,d3,0\n", ["2: There is no topic with the query “blue hat”."]),
        ("query,docid,rating\nred shoes,d7,\n", ["2: Document d7 has no grade."]),
        ("query-id,corpus-id,score\n1,d7,0.5\n", ["2: The grade 0.5 is not a whole number of at most four digits."]),
        ("qid,docno,label\n1,d7,7\n", ["2: The grade 7 is not in the scale of the collection, which has 0, 1."]),
        ("qid,docno,label\n1,d7,1,2\n", [("2: The line has 4 fields where the heading has 3, or a character that cannot "
                                         "be stored.")]),
        ('qid,docno,label\n1,"d7,1\n', ["2: The line is no comma-separated text: unexpected end of data."]),
    ],
)  # fmt: skip
def test_each_problem_of_labels_is_named_with_its_line(text: str, reports: list[str]) -> None:
    assert labels_of(text, grades=[0, 1])[1] == [f"file:{report}" for report in reports]


def test_lines_of_warnings_are_those_of_the_file() -> None:
    text = "qid,docno,score\n\n1,d7,1\n1,d3,1\n"
    intake = RunIntake(RunRules(frozenset("1"), frozenset("1"), 10, 1 << 20))
    read = intake.read("a.csv", text.encode())
    assert read is not None
    assert read.parsed.origin.lines.tolist() == [3, 4]


def test_a_format_can_be_named() -> None:
    assert run_of("1 d7 2019\n1 d3 2020\n", input_format="msmarco")[0] == {"1": [("d7", -2019.0), ("d3", -2020.0)]}
    assert run_of("1\td7\t1\n", input_format="trec")[1] == [
        "file.jsonl.gz:1: The line has 3 columns; a run has six: topic, Q0, document, rank, score, tag."
    ]
    with pytest.raises(InvalidValueError, match="There is no format xml of runs; there are csv, msmarco, json, jsonl"):
        run_of("", input_format="xml")


@given(
    lists=st.dictionaries(IDS, st.dictionaries(IDS, st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=3)
)
def test_what_pandas_and_json_write_is_what_is_read(lists: dict[str, dict[str, int]]) -> None:
    rows = [(topic, docno, grade) for topic, grades in lists.items() for docno, grade in grades.items()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    texts = [frame.to_csv(index=False), frame.to_json(orient="records", lines=True), json.dumps(lists, indent=2)]
    for text in texts:
        assert labels_of(text) == (rows, [])
    scored = frame.rename(columns={"label": "score"}).to_csv(index=False)
    read, _ = run_of(scored)
    assert read is not None
    assert {topic: dict(one) for topic, one in read.items()} == lists


@pytest.mark.parametrize(
    "text",
    [
        PYTERRIER_RUN[["qid", "docno", "score"]].to_csv(index=False),
        json.dumps({topic: dict(rows) for topic, rows in LISTS.items()}),
        PYTERRIER_RUN[["qid", "docno", "score"]].to_json(orient="records", lines=True),
    ],
    ids=["table", "dictionary", "records"],
)
def test_a_run_in_place_of_qrels_is_told_once(text: str) -> None:
    problems = Problems()
    assert readable_rows("f", text.encode(), problems) == []
    [problem] = problems.by_file()
    assert str(problem).startswith(
        "f: This is a run, not qrels: most of its numbers are no grades but scores, such as 12.5"
    )


@pytest.mark.parametrize(
    ("input_format", "report"),
    [
        ("csv", "f:1: The first line must name the columns: topic, document, {}."),
        ("parquet", "f: The file is no Parquet or Arrow file."),
    ],
)
def test_a_file_of_another_format_than_the_named_one_is_told_once(input_format: str, report: str) -> None:
    problems = Problems()
    assert parse_run("f", b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n", problems, input_format=input_format) is None
    assert [str(problem) for problem in problems.by_file()] == [
        report.format("and rank or score; as in qid,docno,score")
    ]
    problems = Problems()
    assert readable_rows("f", b"1 0 a 1\n1 0 b 2\n", problems, input_format=input_format) == []
    assert [str(problem) for problem in problems.by_file()] == [report.format("grade; as in qid,docno,grade")]


def test_queries_without_topics_are_told_once() -> None:
    problems = Problems()
    assert readable_rows("f", b"query,docid,rating\nblack dress,d7,1\nred shoes,d7,1\n", problems) == []
    told = "f:2: The topic is given by its query; here it must be its number, one word. The same on line 3."
    assert [str(problem) for problem in problems.by_file()] == [told]


def test_lines_that_hold_many_documents_are_named_once() -> None:
    intake = RunIntake(RunRules(frozenset("12"), frozenset("12"), 10, 1 << 20))
    ties = json.dumps({f"d{number}": 1.0 for number in range(9)})
    files = {"one": f'{{"1": {ties}, "2": {ties}}}', "two": f'{{"1": {ties},\n"2": {ties}}}'}
    told = {name: intake.read(name, text.encode()) for name, text in files.items()}
    warnings = {name: " ".join(map(str, read.warnings)) for name, read in told.items() if read is not None}
    assert "; first lines: 1. Among them" in warnings["one"]
    assert "; first lines: 1, …. Among them" in warnings["two"]
