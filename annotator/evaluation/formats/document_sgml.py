"""Documents in TREC's SGML: `<DOC>`, `<DOCNO>`, a title under one of several names, and `<TEXT>`."""

import re
from collections.abc import Iterator

from annotator.errors import Problems
from annotator.evaluation.formats.parsed_documents import ParsedDocument
from annotator.evaluation.formats.sgml import plain_line

DOCUMENT_TAG = re.compile(rb"<(/?)[Dd][Oo][Cc](?:\s[^<>]*)?>")
DOCNO, TITLE, TEXT, URL, LANGUAGE = (
    re.compile(rf"<(/?)({names})(?:\s[^<>]*)?>", re.IGNORECASE)
    for names in ("DOCNO", "TITLE|HEADLINE|TI", "TEXT", "URL", "LANGUAGE|LANG")
)


def sgml_documents(name: str, text: bytes, problems: Problems) -> Iterator[ParsedDocument]:
    """Yield the documents as they stand; what is outside of `<DOC>` counts for nothing."""
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
    """Yield line and content of each document; note one that is not closed before the next or the end."""
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
    """Yield what stands between each of these tags and its closing one, in one pass however many stay open."""
    opened: int | None = None
    for found in tag.finditer(content):
        if found[1]:
            if opened is not None:
                yield content[opened : found.start()]
            opened = None
        elif opened is None:
            opened = found.end()
