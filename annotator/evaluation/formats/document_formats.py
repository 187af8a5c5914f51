"""Documents as files: JSON, TREC's SGML, tables and tab-separated lines, recognised by their content."""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import cast

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.csv_tables import is_table, table_rows
from annotator.evaluation.formats.file_kinds import DOCUMENT_COLUMNS, is_heading, note_heading, note_separator
from annotator.evaluation.formats.identifiers import check_docno
from annotator.evaluation.formats.input_formats import Format, Holds, always, choose, never
from annotator.evaluation.formats.table_lines import (
    counted_columns,
    identifier_of,
    json_objects,
    plain_line,
    text_of,
    with_metadata,
)


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document; missing texts are empty, `line` (from 1) is its first line in the file.

    `body` is as the file has it, markup and all; `title` is one line of plain text when it came out of markup.
    """

    docno: str
    title: str
    body: str
    url: str | None
    language: str | None
    line: int


DOCUMENT_TAG = re.compile(rb"<(/?)[Dd][Oo][Cc](?:\s[^<>]*)?>")
DOCNO, TITLE, TEXT, URL, LANGUAGE = (
    re.compile(rf"<(/?)({names})(?:\s[^<>]*)?>", re.IGNORECASE)
    for names in ("DOCNO", "TITLE|HEADLINE|TI", "TEXT", "URL", "LANGUAGE|LANG")
)


def sgml_documents(name: str, text: bytes, problems: Problems) -> Iterator[ParsedDocument]:
    """Yield the documents unvalidated; text outside `<DOC>` is ignored."""
    for line, content in _contents(name, text, problems):
        yield ParsedDocument(
            docno=_field(DOCNO, content).strip(),
            title=plain_line(_field(TITLE, content)),
            body="\n\n".join(part.strip() for part in _elements(TEXT, content)),
            url=plain_line(_field(URL, content)) or None,
            language=plain_line(_field(LANGUAGE, content)) or None,
            line=line,
        )


def _contents(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield line and content of each document; note one that is not closed before the next one or the end."""
    line, counted = 1, 0
    opened: int | None = None
    opened_line = 0
    for tag in DOCUMENT_TAG.finditer(text):
        line += text.count(b"\n", counted, tag.start())
        counted = tag.start()
        closing = bool(tag[1])
        if closing and opened is not None:
            yield opened_line, text[opened : tag.start()].decode()
        elif closing:
            problems.add(name, line, "This </DOC> closes no document: there is no <DOC> before it.")
        elif opened is not None:
            problems.add(name, opened_line, "The document is not closed: there is no </DOC> after this <DOC>.")
        opened, opened_line = (None, 0) if closing else (tag.end(), line)
    if opened is not None:
        problems.add(name, opened_line, "The document is not closed: there is no </DOC> after this <DOC>.")


def _field(tag: re.Pattern[str], content: str) -> str:
    return next(_elements(tag, content), "")


def _elements(tag: re.Pattern[str], content: str) -> Iterator[str]:
    """Yield the text between each of these tags and its closing one, in one pass even if many are not closed."""
    opened: int | None = None
    for found in tag.finditer(content):
        if found[1]:
            if opened is not None:
                yield content[opened : found.start()]
            opened = None
        elif opened is None:
            opened = found.end()


Keys = Mapping[str, Sequence[str]]
Documents = Iterator[ParsedDocument]
METADATA = ("url", "language")  # of a document of BEIR

NO_FIELDS: Mapping[str, str] = MappingProxyType({})
KEYS: Keys = MappingProxyType(
    {
        # MS MARCO's passages have the id of their document as well.
        "docno": ("docno", "pid", "id", "docid", "doc_id", "_id"),
        "title": ("title",),
        "body": ("body", "text", "contents", "segment", "passage"),
        "url": ("url",),
        "language": ("language", "lang"),
    }
)


def parse_documents(
    name: str,
    text: bytes,
    problems: Problems,
    *,
    fields: Mapping[str, str] = NO_FIELDS,
    input_format: str | None = None,
) -> list[ParsedDocument] | None:
    """Read documents, or return None and note every problem of the file with its line.

    A document with neither title nor body is accepted: real collections have some, and a judge can say so. `text` is
    what `unpack` returns; `fields` maps our names (`KEYS`) to the keys of a JSON Lines file. The format is detected, or
    named by `input_format`. Raises `InvalidValueError` when `fields` or `input_format` has an unknown name.
    """
    keys = _keys(fields)
    read = _reader(text, keys, input_format)
    before = problems.total
    first_lines: dict[str, int] = {}
    documents: list[ParsedDocument] = []
    for document in read(name, text, problems):
        _check(name, document, first_lines, problems)
        documents.append(document)
    if not first_lines and problems.total == before:
        problems.add(name, None, "The file has no document.")
    return None if problems.total > before else documents


def _keys(fields: Mapping[str, str]) -> Keys:
    for ours in fields:
        if ours not in KEYS:
            raise InvalidValueError(
                "A document has no field %(field)s; it has %(fields)s.", field=ours, fields=", ".join(KEYS)
            )
    return {**KEYS, **{ours: (theirs,) for ours, theirs in fields.items()}}


def _reader(text: bytes, keys: Keys, input_format: str | None) -> Callable[[str, bytes, Problems], Documents]:
    format_ = choose(DOCUMENT_FORMATS, text, input_format)
    if format_.name in JSON_NAMES:
        return partial(_json_documents, keys=keys)
    return cast("Callable[[str, bytes, Problems], Documents]", format_.read)


def _check(name: str, document: ParsedDocument, first_lines: dict[str, int], problems: Problems) -> None:
    if not check_docno(problems, name, document.line, document.docno):
        return
    first_line = first_lines.setdefault(document.docno, document.line)
    if first_line != document.line:
        problems.add(
            name,
            document.line,
            "The document %(docno)s is in the file twice; it is on line %(first_line)d already.",
            docno=document.docno,
            first_line=first_line,
        )


def _json_documents(name: str, text: bytes, problems: Problems, keys: Keys = KEYS) -> Iterator[ParsedDocument]:
    for line, written in json_objects(name, text, problems):
        before, record = problems.total, with_metadata(written, METADATA)
        docno = identifier_of(name, line, record, keys["docno"], problems)
        title = text_of(name, line, record, keys["title"], problems)
        body = text_of(name, line, record, keys["body"], problems)
        url = text_of(name, line, record, keys["url"], problems)
        language = text_of(name, line, record, keys["language"], problems)
        if problems.total == before:
            yield ParsedDocument(docno or "", title or "", body or "", url or None, language or None, line)


def _tab_separated_documents(name: str, text: bytes, problems: Problems) -> Iterator[ParsedDocument]:
    """Two columns are docno and body, three docno, title and body, four docno, URL, title and body.

    The first line says which of these a file has.
    """
    if note_separator(name, text, problems):
        return
    expected, seen = 0, False
    for line, content in enumerate(io.BytesIO(text), start=1):
        if not content.strip():
            continue
        columns = content.decode().rstrip("\r\n").split("\t")
        is_first, seen = not seen, True
        if is_first and is_heading(columns, DOCUMENT_COLUMNS):
            note_heading(problems, name, line, columns)
        elif len(columns) not in {2, 3, 4}:
            problems.add(
                name,
                line,
                "The line has %(columns)s; documents have two to four: id, URL, title, body.",
                columns=counted_columns(len(columns)),
            )
        elif len(columns) != (expected := expected or len(columns)):
            problems.add(
                name,
                line,
                "The line has %(columns)s, those before it have %(expected)d.",
                columns=counted_columns(len(columns)),
                expected=expected,
            )
        else:
            docno, *between, body = (column.strip() for column in columns)
            title = between.pop() if between else ""
            yield ParsedDocument(docno, title, body, "".join(between) or None, None, line)


TABLE = {
    "docno": ("docno", "docid", "doc_id", "_id", "id", "pid", "document_id", "corpus_id", "passage_id"),
    "title": ("title",),
    "body": ("body", "text", "contents", "content", "passage", "document"),
    "url": ("url",),
    "language": ("language", "lang"),
}


def _is_table(head: bytes) -> bool:
    return is_table(head, TABLE, required=("docno", "body"))


def _table_documents(name: str, text: bytes, problems: Problems) -> Iterator[ParsedDocument]:
    for line, row in table_rows(name, text, TABLE, problems):
        yield ParsedDocument(row["docno"], row["title"], row["body"], row["url"] or None, row["language"] or None, line)


JSON_NAMES = {"jsonl", "parquet"}
DOCUMENTS_TEST = "tests/evaluation/formats/test_document_formats.py"
DOCUMENT_FORMATS = (
    Format(
        "trec-sgml",
        Holds.DOCUMENTS,
        "TREC documents",
        "TREC's SGML: Disks 4 and 5, AQUAINT, and what Anserini and Terrier index.",
        "<DOC>\n<DOCNO>d7</DOCNO>\n<TITLE>Black dress</TITLE>\n<TEXT>\nA dress.\n</TEXT>\n</DOC>\n",
        lambda head: head.lstrip().startswith(b"<"),
        sgml_documents,
        DOCUMENTS_TEST,
    ),
    Format(
        "jsonl",
        Holds.DOCUMENTS,
        "JSON records",
        "JSON Lines or one list: BEIR (`corpus.jsonl`), ir_datasets, Pyserini, TIRA, MS MARCO v2 and v2.1 with "
        "documents, passages and segments. `--field OURS=THEIRS` names other keys.",
        '{"_id": "d7", "title": "Black dress", "text": "A dress."}\n',
        lambda head: head.lstrip().startswith((b"{", b"[")),
        _json_documents,
        DOCUMENTS_TEST,
    ),
    Format(
        "csv",
        Holds.DOCUMENTS,
        "table of documents",
        "Tables with a heading, separated by commas, semicolons or tabs.",
        "docno,title,text\nd7,Black dress,A dress.\n",
        _is_table,
        _table_documents,
        DOCUMENTS_TEST,
    ),
    Format(
        "parquet",
        Holds.DOCUMENTS,
        "Parquet",
        "Columns named as the keys of JSON records; also Arrow files, as of a data set saved by Hugging Face's "
        "`datasets`. Needs the extra `parquet`.",
        "",
        never,
        _json_documents,
        "tests/evaluation/formats/test_columnar_files.py",
    ),
    Format(
        "tsv",
        Holds.DOCUMENTS,
        "tab-separated documents",
        "MS MARCO's passages (id, body) and documents (id, URL, title, body); also id, title, body.",
        "d7\thttps://example.org/7\tBlack dress\tA dress.\n",
        always,
        _tab_separated_documents,
        DOCUMENTS_TEST,
    ),
)
