"""Sources of documents: templates of their addresses, and documents and search results in what they answer."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import cast
from urllib.parse import quote, urlsplit

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.formats.document_formats import KEYS, ParsedDocument
from annotator.evaluation.formats.identifiers import is_one_word, is_too_long
from annotator.evaluation.formats.json_paths import parse_path, text_of_value
from annotator.evaluation.formats.table_lines import UNSTORABLE_CHARACTER

DOCNO, QUERY, FIRST, MOST = "docno", "query", "first", "most"
PLACEHOLDER = re.compile(r"\{(\w+)\}|[{}]")
# Where the hits of a search are, what their total is called, and what is shown of each, when no path says so.
HITS = ("hits", "results", "docs", "documents", "items")
TOTAL = ("total", "num_hits", "count")
SNIPPETS = ("snippet", "highlight", *KEYS["body"])
LONGEST_SNIPPET = 600


class SourceError(AnnotatorError):
    """A source did not give what was asked.

    With `is_of_source` it would not have given any other document either, as when it cannot be reached; it is asked
    again after `retry_after` seconds, where it said so. With `is_outdated` its index is to be built again.
    """

    def __init__(
        self,
        template: str,
        /,
        *,
        is_of_source: bool = False,
        is_outdated: bool = False,
        retry_after: int | None = None,
        **values: object,
    ) -> None:
        """Keep the sentence, which never has the address."""
        super().__init__(template, **values)
        self.is_of_source, self.is_outdated, self.retry_after = is_of_source, is_outdated, retry_after


@dataclass(frozen=True)
class SourceOptions:
    """Paths into what a source gives, empty for the usual keys, and the template of the address of its search."""

    docno: str = ""
    title: str = ""
    body: str = ""
    url: str = ""
    language: str = ""
    search: str = ""
    hits: str = ""
    hit_docno: str = ""
    hit_title: str = ""
    hit_snippet: str = ""

    @classmethod
    def from_stored(cls, stored: Mapping[str, object]) -> "SourceOptions":
        """Restore from what `stored` returned, also by another version."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: str(value) for name, value in stored.items() if name in names})

    def stored(self) -> dict[str, object]:
        """The options that are given, for JSON."""
        return {name: value for name, value in asdict(self).items() if value}

    def check(self) -> None:
        """Raise `InvalidValueError` for a malformed path."""
        for name, value in self.stored().items():
            if name != "search":
                parse_path(str(value))


@dataclass(frozen=True)
class SourceHit:
    """A search result of a source."""

    docno: str
    title: str
    snippet: str


@dataclass(frozen=True)
class SourceHits:
    """Search results of a source, best first, and how many there are in total."""

    total: int
    hits: tuple[SourceHit, ...]


def check_template(template: str, required: str, others: Sequence[str] = ()) -> str:
    """Return an address that the template makes, to be checked as addresses are.

    Raises `InvalidValueError` unless the template has the placeholder `required` behind the host, and no others.
    """
    names = [found[1] for found in PLACEHOLDER.finditer(template)]
    if required not in names or set(names) - {required, *others}:
        raise InvalidValueError(
            "The address needs %(required)s behind its host, and may have no other braces than %(known)s.",
            required=f"{{{required}}}",
            known=", ".join(f"{{{name}}}" for name in (required, *others)),
        )
    try:
        host = urlsplit(template).netloc
    except ValueError:
        host = ""  # refused with the address
    if PLACEHOLDER.search(host):
        raise InvalidValueError("The host of an address is the same for all documents: no braces before the path.")
    return fill_template(template, dict.fromkeys(names, "1"))


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The address with values in place of the placeholders, percent-encoded."""
    return PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), template)


def read_json(content: bytes) -> object:
    """Parse what a source sent; raises `SourceError` when it is not JSON."""
    if not content.strip():
        raise SourceError("The source sent nothing.")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        if content.lstrip()[:1] == b"<":
            raise SourceError("The source sent HTML or XML, not JSON.") from None
        raise SourceError("The source sent something that is not JSON.") from None


def document_in(answer: object, docno: str, options: SourceOptions) -> ParsedDocument:
    """The document in what a source sent for a docno.

    Raises `SourceError` when it is another document, or has no text.
    """
    named = list(_texts(answer, options.docno, KEYS["docno"]))
    if named and docno not in named:
        raise SourceError("The source sent another document: “%(docno)s”.", docno=named[0][:LONGEST_SNIPPET])
    body = _one(answer, options.body, KEYS["body"])
    if body is None:
        path = options.body or ", ".join(KEYS["body"])
        raise SourceError("What the source sent has no text at %(path)s.", path=path)
    return ParsedDocument(
        docno,
        " ".join((_one(answer, options.title, KEYS["title"]) or "").split()),
        body,
        _one(answer, options.url, KEYS["url"]) or None,
        _one(answer, options.language, KEYS["language"]) or None,
        1,
    )


def hits_in(answer: object, options: SourceOptions) -> SourceHits:
    """The search results in what a source sent, without those that have no docno.

    Raises `SourceError` when there is no list of them.
    """
    found = _hits(answer, options.hits)
    if found is None:
        path = options.hits or ", ".join(HITS)
        raise SourceError("What the source sent has no list of results at %(path)s.", path=path)
    hits = {hit.docno: hit for one in found if (hit := _hit(one, options)) is not None}
    totals = [answer.get(name) for name in TOTAL] if isinstance(answer, Mapping) else []
    total = next((one for one in totals if type(one) is int and one >= 0), len(hits))
    return SourceHits(max(total, len(hits)), tuple(hits.values()))


def _hits(answer: object, path: str) -> list[object] | None:
    if path:
        values = list(parse_path(path).values(answer))
        return cast("list[object]", values[0]) if len(values) == 1 and isinstance(values[0], list) else None
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in HITS if isinstance(answer.get(name), list)), None)
    return answer if isinstance(answer, list) else None


def _hit(one: object, options: SourceOptions) -> SourceHit | None:
    docno = _one(one, options.hit_docno, KEYS["docno"]) or ""
    if not docno or not is_one_word(docno) or is_too_long(docno):
        return None
    title = _one(one, options.hit_title, KEYS["title"]) or ""
    snippet = _one(one, options.hit_snippet, SNIPPETS) or ""
    return SourceHit(docno, " ".join(title.split())[:LONGEST_SNIPPET], " ".join(snippet.split())[:LONGEST_SNIPPET])


def _one(value: object, path: str, keys: Sequence[str]) -> str | None:
    """The texts at a path as paragraphs, or that of the first of the usual keys; None where there is none."""
    texts = list(_texts(value, path, keys))
    if not texts:
        return None
    return "\n\n".join(texts) if path else texts[0]


def _texts(value: object, path: str, keys: Sequence[str]) -> Iterator[str]:
    """The texts at a path, or those of each of the usual keys, with signs that no text can hold replaced."""
    values = parse_path(path).values(value) if path else _of_keys(value, keys)
    for one in values:
        text = text_of_value(one)
        if text is not None:
            yield UNSTORABLE_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)


def _of_keys(value: object, keys: Sequence[str]) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from (value[key] for key in keys if key in value)
