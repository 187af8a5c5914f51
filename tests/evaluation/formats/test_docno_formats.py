"""Lists of docnos in every format: what is read of each, and what is wrong with its line."""

import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.docno_formats import DOCNO_FORMATS
from annotator.evaluation.formats.input_formats import choose

FILES = {
    "one a line": ("lines", "d7\n\n  d8 \r\n#9\n", [(1, "d7"), (3, "d8"), (4, "#9")]),
    "one a line below a heading": ("lines", '"doc_id"\nd7\n', [(2, "d7")]),
    "a docno that only later lines could take for a heading": ("lines", "d7\ndocno\n", [(1, "d7"), (2, "docno")]),
    "the last line without an end": ("lines", "d7\nd8", [(1, "d7"), (2, "d8")]),
    "BEIR and ir_datasets": ("jsonl", '{"_id": "d7", "title": 5}\n{"doc_id": 8}\n', [(1, "d7"), (2, "8")]),
    "a list of JSON": ("jsonl", '[{"docno": "d7"},\n{"docno": "d8"}]', [(1, "d7"), (2, "d8")]),
    "a table": ("csv", "title,docno\nDress,d7\n", [(2, "d7")]),
    "MS MARCO": ("tsv", "d7\tA dress.\nd8\thttps://e.org\tTitle\tBody\n", [(1, "d7"), (2, "d8")]),
    "TREC": ("trec-sgml", "<DOC>\n<DOCNO> d7 </DOCNO>\n</DOC>\n<DOC><DOCNO>d8</DOCNO></DOC>\n", [(1, "d7"), (4, "d8")]),
}


@pytest.mark.parametrize(("name", "text", "expected"), FILES.values(), ids=FILES)
def test_the_docnos_of_a_file_are_read_with_their_lines(name: str, text: str, expected: list[tuple[int, str]]) -> None:
    format_ = choose(DOCNO_FORMATS, text.encode())
    assert format_.name == name
    problems = Problems()
    assert format_.read is not None
    assert list(format_.read("f", text.encode(), problems)) == expected
    assert problems.total == 0


def test_broken_json_is_named_with_line_and_column() -> None:
    problems = Problems()
    format_ = choose(DOCNO_FORMATS, b"", "jsonl")
    assert format_.read is not None
    assert list(format_.read("f", b'{"_id": "d7"}\n{"_id": }\n', problems)) == [(1, "d7")]
    assert [str(problem) for problem in problems.by_file()] == ["f:2: The line is not valid JSON: look at column 9."]
