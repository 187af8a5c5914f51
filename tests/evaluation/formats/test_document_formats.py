"""Document files in three formats, and what is wrong with them. All texts were written for these tests."""

import pytest

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.document_formats import NO_FIELDS, ParsedDocument, parse_documents

SGML = """<DOC>
<DOCNO> NEWS-1 </DOCNO>
<HEADLINE>
<P>Light &amp;
dark</P>
</HEADLINE>
<TEXT>
<P>
The tower stood.
</P>
</TEXT>
<TEXT>It fell.</TEXT>
</DOC>
<doc><docno>NEWS-2</docno><title>Only a title</title></doc>
"""


def documents_of(text: str, fields: dict[str, str] | None = None) -> list[ParsedDocument]:
    problems = Problems()
    documents = parse_documents("d", text.encode(), problems, fields=fields or NO_FIELDS)
    assert [str(problem) for problem in problems.first] == []
    assert documents is not None
    return list(documents)


def problems_of(text: str, fields: dict[str, str] | None = None) -> list[str]:
    problems = Problems()
    assert parse_documents("d", text.encode(), problems, fields=fields or NO_FIELDS) is None
    return [str(problem) for problem in problems.first]


def test_json_lines_with_everything() -> None:
    text = '\n{"docno": "a", "title": "t", "body": "b\\n", "url": "http://x/", "language": "ko", "score": 1}\n'
    assert documents_of(text) == [ParsedDocument("a", "t", "b\n", "http://x/", "ko", 2)]


@pytest.mark.parametrize("docno_key", ["docno", "id", "docid", "doc_id", "_id"])
@pytest.mark.parametrize("body_key", ["body", "text", "contents"])
def test_json_lines_under_the_usual_keys(docno_key: str, body_key: str) -> None:
    text = f'{{"{docno_key}": 7, "{body_key}": "b", "title": null}}'
    assert documents_of(text) == [ParsedDocument("7", "", "b", None, None, 1)]


def test_json_lines_under_keys_that_are_named() -> None:
    text = '{"pmid": "7", "abstract": "b", "title": "no", "heading": "yes", "id": "other", "text": "other"}'
    fields = {"docno": "pmid", "body": "abstract", "title": "heading"}
    assert documents_of(text, fields) == [ParsedDocument("7", "yes", "b", None, None, 1)]


def test_a_field_that_documents_do_not_have_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="A document has no field name; it has docno, title, body, url, lang"):
        parse_documents("d", b"{}", Problems(), fields={"name": "id"})


def test_sgml_keeps_the_markup_of_the_body_and_takes_it_from_the_title() -> None:
    assert documents_of(SGML) == [
        ParsedDocument("NEWS-1", "Light & dark", "<P>\nThe tower stood.\n</P>\n\nIt fell.", None, None, 1),
        ParsedDocument("NEWS-2", "Only a title", "", None, None, 14),
    ]


def test_sgml_elements_that_are_opened_twice_or_never_are_read_once() -> None:
    text = "<DOC></TITLE><DOCNO>a</DOCNO><TITLE>un<TITLE>closed</TITLE><TEXT>b<TEXT>c</TEXT><TEXT>d</DOC>"
    assert documents_of(text) == [ParsedDocument("a", "un closed", "b<TEXT>c", None, None, 1)]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("a\tbody one\r\n\nb\ttwo\n", [("a", "", "body one", 1), ("b", "", "two", 3)]),
        ("a\ttitle\tbody\n", [("a", "title", "body", 1)]),
        ("a\ttitle\t\n", [("a", "title", "", 1)]),
    ],
)
def test_tab_separated_lines(text: str, documents: list[tuple[str, str, str, int]]) -> None:
    read = [(found.docno, found.title, found.body, found.line) for found in documents_of(text)]
    assert read == documents


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("\n", ["d: The file has no document."]),
        ("<DOCS></DOCS>", ["d: The file has no document."]),
        ('{"text": "b"}', ["d:1: The document has no id."]),
        (
            '{"id": "a b", "text": "b"}',
            ["d:1: The document id 'a b' has blanks or control characters inside; it must be one word."],
        ),
        (
            '{"id": "a\\u3000b", "text": "b"}',
            ["d:1: The document id 'a\\u3000b' has blanks or control characters inside; it must be one word."],
        ),
        (
            '{"id": "a\\u0007", "text": "b"}',
            ["d:1: The document id 'a\\x07' has blanks or control characters inside; it must be one word."],
        ),
        ('{"id": "' + "é" * 129 + '", "text": "b"}', ["d:1: The document id is longer than 256 bytes. Shorten it."]),
        (
            '{"id": "a", "text": "b"}\n{"id": "c", "text": "b"}\n{"id": "a", "text": "b"}\n',
            ["d:3: The document a is in the file twice; it is on line 1 already."],
        ),
        ('{"id": "a", "text": ["b"]}', ["d:1: The value of text is not text."]),
        ('{"id": 1.5, "text": "b"}', ["d:1: The value of id is not text."]),
        ('{"id": "a" "text": "b"}\n', ["d:1: The line is not valid JSON: look at column 12."]),
        (
            "a\tb\tc\td\te\nb\tc\nc\n",
            [
                "d:1: The line has 5 columns; documents have two to four: id, URL, title, body.",
                "d:3: The line has one column; documents have two to four: id, URL, title, body.",
            ],
        ),
        ("a\tb\nc\td\te\n", ["d:2: The line has 3 columns, those before it have 2."]),
        ("\n<DOC>\n<TEXT>b</TEXT></DOC>", ["d:2: The document has no id."]),
        (
            "<DOC><DOCNO>a</DOCNO><TEXT>b</TEXT>\n<DOC><DOCNO>c</DOCNO><TEXT>d</TEXT></DOC>\n</DOC>\n<DOC>",
            [
                "d:1: The document is not closed: there is no </DOC> after this <DOC>. The same on line 4.",
                "d:3: This </DOC> closes no document: there is no <DOC> before it.",
            ],
        ),
    ],
)
def test_each_problem_is_named_with_its_line(text: str, reports: list[str]) -> None:
    assert problems_of(text) == reports


def test_problems_are_known_before_the_first_document_is_given_out() -> None:
    problems = Problems()
    text = b'{"id": "a", "text": "b"}\n' * 3
    assert parse_documents("d", text, problems) is None
    assert problems.total == 2


def test_the_text_limit_of_ids_is_the_last_length_that_is_taken() -> None:
    (document,) = documents_of('{"id": "' + "é" * 128 + '", "text": "b"}')
    assert document.docno == "é" * 128
