"""Topics and documents in the layouts of other tools."""
# ruff: noqa: E501 - the layouts are as the tools write them

import json

import pandas as pd
import pytest

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.document_formats import DOCUMENT_FORMATS, parse_documents
from annotator.evaluation.formats.input_formats import choose
from annotator.evaluation.formats.topic_formats import TOPIC_FORMATS, parse_topics

FRAME = pd.DataFrame({"qid": ["1", "2"], "query": ["black dress", "red shoes, new"]})
TWO = [("1", "black dress"), ("2", "red shoes, new")]
TOPICS = {
    "PyTerrier, CSV": ("csv", FRAME.to_csv(index=False), TWO),
    "pandas, tabs": ("csv", FRAME.to_csv(index=False, sep="\t"), TWO),
    "pandas, JSON list": ("jsonl", FRAME.to_json(orient="records"), TWO),
    "pandas, JSON Lines": ("jsonl", FRAME.to_json(orient="records", lines=True), TWO),
    "list over lines": ("jsonl", json.dumps(FRAME.to_dict(orient="records"), indent=2), TWO),
    "BEIR": ("jsonl", '{"_id": "1", "text": "black dress", "metadata": {}}\n{"_id": "2", "text": "red shoes, new", "metadata": {}}\n', TWO),
    "ir_datasets": ("jsonl", '{"query_id": "1", "text": "black dress"}\n{"query_id": "2", "text": "red shoes, new"}\n', TWO),
    "TIRA": ("jsonl", '{"qid": "1", "query": "black dress", "original_query": {"query_id": "1"}}\n{"qid": "2", "query": "red shoes, new"}\n', TWO),
    "dictionary of texts": ("json", '{"1": "black dress",\n"2": "red shoes, new"}', TWO),
    "Pyserini": ("json", '{"1": {"title": "black dress"}, "2": {"title": "red shoes, new"}}', TWO),
    "MS MARCO": ("tsv", "1\tblack dress\n2\tred shoes, new\n", TWO),
    "TREC RAG 2025": ("jsonl", '[{"id": "1", "narrative": "black dress"}, {"id": "2", "narrative": "red shoes, new"}]', TWO),
    "NeuCLIR": (
        "jsonl",
        '{"topic_id": "1", "languages_with_qrels": ["zho"], "topics": [{"lang": "zho", "source": "human translation", "topic_title": "黑裙", "topic_description": "裙"}, {"lang": "eng", "source": "original", "topic_title": "black dress", "topic_description": "A dress", "topic_narrative": "Black."}], "narratives": {"zho": {}}}\n',
        [("1", "black dress")],
    ),
    "CAsT 2020": (
        "jsonl",
        '[{"number": 81, "turn": [{"number": 1, "raw_utterance": "How about black?", "manual_rewritten_utterance": "black dress", "automatic_rewritten_utterance": "x", "manual_canonical_result_id": "M"}, {"number": 2, "raw_utterance": "And red?"}]}]',
        [("81_1", "black dress"), ("81_2", "And red?")],
    ),
    "CAsT 2019": ("jsonl", '[\n{"number": 31, "title": "Dresses", "description": "", "turn": [{"number": 1, "raw_utterance": "black dress"}]}\n]', [("31_1", "black dress")]),
    "iKAT": (
        "jsonl",
        '[{"number": "9-1", "title": "Dresses", "ptkb": {"1": "I like black."}, "turns": [{"turn_id": 1, "utterance": "Which?", "resolved_utterance": "black dress", "response": ""}]}]',
        [("9-1_1", "black dress")],
    ),
}  # fmt: skip
BODY = [("d7", "Black dress", "A dress.", None)]
DOCUMENTS = {
    "BEIR": ("jsonl", '{"_id": "d7", "title": "Black dress", "text": "A dress.", "metadata": {}}\n', BODY),
    "JSON list": ("jsonl", '[\n {"docno": "d7",\n  "title": "Black dress", "text": "A dress."}\n]\n', BODY),
    "object over lines": ("jsonl", '{\n"docno": "d7",\n"title": "Black dress", "text": "A dress."\n}\n', BODY),
    "CSV": ("csv", 'docno,title,text\nd7,Black dress,"A dress."\n', BODY),
    "tabs with heading": ("csv", "docid\ttitle\tbody\nd7\tBlack dress\tA dress.\n", BODY),
    "MS MARCO passages": ("tsv", "7\tA dress.\n", [("7", "", "A dress.", None)]),
    "MS MARCO documents": ("tsv", "D7\thttps://e.org\tBlack dress\tA dress.\n", [("D7", "Black dress", "A dress.", "https://e.org")]),
    "MS MARCO documents without title": ("tsv", "D7\thttps://e.org\t\tA dress.\n", [("D7", "", "A dress.", "https://e.org")]),
    "MS MARCO v2 documents": (
        "jsonl",
        '{"url": "https://e.org", "title": "Black dress", "headings": "H", "body": "A dress.", "docid": "msmarco_doc_00_0"}\n',
        [("msmarco_doc_00_0", "Black dress", "A dress.", "https://e.org")],
    ),
    "MS MARCO v2 passages": (
        "jsonl",
        '{"pid": "msmarco_passage_00_0", "passage": "A dress.", "spans": "(0,8)", "docid": "msmarco_doc_00_0"}\n',
        [("msmarco_passage_00_0", "", "A dress.", None)],
    ),
    "MS MARCO v2.1 segments": (
        "jsonl",
        '{"docid": "msmarco_v2.1_doc_00_0#0_0", "url": "https://e.org", "title": "Black dress", "headings": "H", "segment": "A dress.", "start_char": 0, "end_char": 8}\n',
        [("msmarco_v2.1_doc_00_0#0_0", "Black dress", "A dress.", "https://e.org")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), TOPICS.values(), ids=TOPICS)
def test_topics_of_another_tool_are_read(name: str, text: str, expected: list[tuple[str, str]]) -> None:
    problems = Problems()
    topics = parse_topics("t", text.encode(), problems)
    assert [str(problem) for problem in problems.by_file()] == []
    assert [(topic.number, topic.title) for topic in topics or ()] == expected
    assert choose(TOPIC_FORMATS, text.encode()).name == name
    assert parse_topics("t", text.encode(), problems, input_format=name) == topics


@pytest.mark.parametrize(("name", "text", "expected"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_of_another_tool_are_read(
    name: str, text: str, expected: list[tuple[str, str, str, str | None]]
) -> None:
    problems = Problems()
    documents = list(parse_documents("d", text.encode(), problems) or ())
    assert [str(problem) for problem in problems.by_file()] == []
    assert [(one.docno, one.title, one.body, one.url) for one in documents] == expected
    assert choose(DOCUMENT_FORMATS, text.encode()).name == name
    assert list(parse_documents("d", text.encode(), problems, input_format=name) or ()) == documents


def test_what_a_topic_says_beside_its_title_is_kept() -> None:
    [neuclir] = parse_topics("t", TOPICS["NeuCLIR"][1].encode(), Problems()) or []
    assert (neuclir.description, neuclir.narrative, neuclir.language) == ("A dress", "Black.", "eng")
    cast, _ = parse_topics("t", TOPICS["CAsT 2020"][1].encode(), Problems()) or []
    assert cast.description == "How about black?"


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ('[{"qid": 1, "query": "a"},\n{"qid": 1, "query": "b"}]', ["t:2: The topic 1 is in the file twice; it is on line 1 already."]),
        ('[{"qid": 1, "query": "a"},\n{"qid": 2, "query": }]', ["t:2: The JSON is broken at column 21: Expecting value."]),
        ('{"1": "a"} x', ["t:1: The JSON is broken at column 12: Extra data."]),
        ('[{"number": 8, "turn": [5]}]', ["t:1: A turn of the conversation 8 is no JSON object."]),
        ('{"1": "a", "2": 5}', ["t:1: The value of title is not text."]),
    ],
)  # fmt: skip
def test_each_problem_is_named_with_its_line(text: str, reports: list[str]) -> None:
    problems = Problems()
    parse_topics("t", text.encode(), problems)
    assert [str(problem) for problem in problems.by_file()] == reports


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidValueError, match="There is no format beir of topics; there are trec-sgml, xml, json"):
        parse_topics("t", b"1\ta\n", Problems(), input_format="beir")
    with pytest.raises(InvalidValueError, match="There is no format xml of documents"):
        parse_documents("t", b"1\ta\n", Problems(), input_format="xml")
