"""Documents as files: JSON Lines, TREC's SGML and tab-separated lines, told apart by their content."""

import io
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.document_sgml import sgml_documents
from annotator.evaluation.formats.file_kinds import note_separator
from annotator.evaluation.formats.headings import DOCUMENT_COLUMNS, is_heading, note_heading
from annotator.evaluation.formats.identifiers import check_docno
from annotator.evaluation.formats.json_lines import identifier_of, json_objects, text_of
from annotator.evaluation.formats.parsed_documents import ParsedDocument as ParsedDocument
from annotator.evaluation.formats.table_lines import counted_columns

Keys = Mapping[str, Sequence[str]]

NO_FIELDS: Mapping[str, str] = MappingProxyType({})
KEYS: Keys = MappingProxyType(
    {
        "docno": ("docno", "id", "docid", "doc_id", "_id"),
        "title": ("title",),
        "body": ("body", "text", "contents"),
        "url": ("url",),
        "language": ("language", "lang"),
    }
)


def parse_documents(
    name: str, text: bytes, problems: Problems, *, fields: Mapping[str, str] = NO_FIELDS
) -> Iterator[ParsedDocument] | None:
    """Read documents, or return None and note every problem of the file with its line.

    A document with neither title nor body is taken: real collections have some, and a judge can say so. `text` is what
    `unpack` returns. `fields` maps our names (`KEYS`) to the keys of a JSON Lines file. The file is
    read twice: wholly before this returns, for the problems, and again as the documents are drawn, so that a
    corpus is never in memory as a whole. Raises `InvalidValueError` when `fields` has a name that is not ours.
    """
    keys = _keys(fields)
    before = problems.total
    first_lines: dict[str, int] = {}
    for document in _read(name, text, problems, keys):
        _check(name, document, first_lines, problems)
    if not first_lines and problems.total == before:
        problems.add(name, None, "The file has no document.")
    return None if problems.total > before else _read(name, text, problems, keys)


def _keys(fields: Mapping[str, str]) -> Keys:
    for ours in fields:
        if ours not in KEYS:
            raise InvalidValueError(
                "A document has no field %(field)s; it has %(fields)s.", field=ours, fields=", ".join(KEYS)
            )
    return {**KEYS, **{ours: (theirs,) for ours, theirs in fields.items()}}


def _read(name: str, text: bytes, problems: Problems, keys: Keys) -> Iterator[ParsedDocument]:
    beginning = text[:1024].lstrip()
    if beginning.startswith(b"<"):
        return sgml_documents(name, text, problems)
    if beginning.startswith((b"{", b"[")):
        return _json_documents(name, text, problems, keys)
    return _tab_separated_documents(name, text, problems)


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


def _json_documents(name: str, text: bytes, problems: Problems, keys: Keys) -> Iterator[ParsedDocument]:
    for line, record in json_objects(name, text, problems):
        before = problems.total
        docno = identifier_of(name, line, record, keys["docno"], problems)
        title = text_of(name, line, record, keys["title"], problems)
        body = text_of(name, line, record, keys["body"], problems)
        url = text_of(name, line, record, keys["url"], problems)
        language = text_of(name, line, record, keys["language"], problems)
        if problems.total == before:
            yield ParsedDocument(docno or "", title or "", body or "", url or None, language or None, line)


def _tab_separated_documents(name: str, text: bytes, problems: Problems) -> Iterator[ParsedDocument]:
    """Take two columns for docno and body, three for docno, title and body; the first line says which."""
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
        elif len(columns) not in {2, 3}:
            problems.add(
                name,
                line,
                "The line has %(columns)s; documents have two (id, body) or three (id, title, body).",
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
            docno, *title, body = columns
            yield ParsedDocument(docno.strip(), "".join(title).strip(), body.strip(), None, None, line)
