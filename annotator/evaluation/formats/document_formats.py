"""Documents as files: JSON Lines, TREC's SGML and tab-separated lines, recognised by their content."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.file_kinds import DOCUMENT_COLUMNS, is_heading, note_heading, note_separator
from annotator.evaluation.formats.identifiers import check_docno
from annotator.evaluation.formats.table_lines import counted_columns, identifier_of, json_objects, plain_line, text_of


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

    A document with neither title nor body is accepted: real collections have some, and a judge can say so. `text` is
    `unpack` returns. `fields` maps our names (`KEYS`) to the keys of a JSON Lines file. The file is
    read twice: completely before this returns, for the problems, and again by the iterator, so that a
    corpus is never in memory as a whole. Raises `InvalidValueError` when `fields` has an unknown name.
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
