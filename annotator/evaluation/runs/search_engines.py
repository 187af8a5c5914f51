"""Search engines: the request for a query in the dialect of an engine, and the hits in what it answers.

Dialects follow the documents of the engines: the search API of OpenSearch and Elasticsearch (`hits.hits[*]` with `_id`,
`_score` and `_source`; partial results are marked by `timed_out` and `_shards.failed`), and Solr's JSON response writer
(`response.docs[*]`; partial results by `responseHeader.partialResults`).
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.formats.document_formats import KEYS, ParsedDocument
from annotator.evaluation.formats.identifiers import is_one_word, is_too_long
from annotator.evaluation.formats.json_paths import parse_path, text_of_value
from annotator.evaluation.formats.source_answers import HITS
from annotator.evaluation.formats.table_lines import UNSTORABLE_CHARACTER

QUERY, DEPTH = "query", "depth"
PLACEHOLDER = re.compile(r"\{(query|depth)\}")
USUAL_DEPTH, GREATEST_DEPTH = 1_000, 10_000  # the most that OpenSearch and Elasticsearch give in one answer
LONGEST_TEMPLATE = 20_000
# A query that would leave its string in JSON if it were not escaped.
TRIAL_QUERY = 'a "b" \\'
SEARCHES = "/_search"
LONGEST_SHOWN = 100
LONGEST_REASON = 300


class Dialect(StrEnum):
    """How an engine is asked, and how it answers."""

    OPENSEARCH = "opensearch"
    ELASTICSEARCH = "elasticsearch"
    SOLR = "solr"
    JSON = "json"


ENGINES = frozenset({Dialect.OPENSEARCH, Dialect.ELASTICSEARCH})


class EngineError(AnnotatorError):
    """An engine did not give the hits of a query; with `may_pass` another attempt may succeed.

    `retry_after` are the seconds that it asked to wait.
    """

    def __init__(
        self, template: str, /, *, may_pass: bool = False, retry_after: int | None = None, **values: object
    ) -> None:
        """Keep the sentence, which has neither the address nor a key."""
        super().__init__(template, **values)
        self.may_pass, self.retry_after = may_pass, retry_after


@dataclass(frozen=True)
class HitPaths:
    """Paths into an answer: to the list of hits, and within a hit; empty for what the dialect has."""

    hits: str = ""
    docno: str = ""
    score: str = ""
    title: str = ""
    body: str = ""

    @classmethod
    def parse(cls, mappings: Iterable[str]) -> "HitPaths":
        """Parse `OURS=PATH` mappings, such as `docno=_source.id`; raises `InvalidValueError`."""
        values: dict[str, str] = {}
        for mapping in mappings:
            ours, separator, path = (part.strip() for part in mapping.partition("="))
            if ours not in PATHS or not separator or not path:
                raise InvalidValueError(
                    "“%(mapping)s” is not a path: write OURS=PATH, where ours is one of %(names)s.",
                    mapping=mapping,
                    names=", ".join(PATHS),
                )
            parse_path(path)
            values[ours] = path
        return cls(**values)


PATHS = tuple(field.name for field in fields(HitPaths))
_ENGINE_PATHS = HitPaths("hits.hits", "_id", "_score")
USUAL_PATHS: Mapping[Dialect, HitPaths] = {
    Dialect.OPENSEARCH: _ENGINE_PATHS,
    Dialect.ELASTICSEARCH: _ENGINE_PATHS,
    Dialect.SOLR: HitPaths("response.docs", "id", "score"),
    Dialect.JSON: HitPaths(score="score"),
}
TEXTS_IN = "_source"  # of a hit of OpenSearch and Elasticsearch


@dataclass(frozen=True)
class SearchRequest:
    """A request for one query; the body is empty for GET."""

    method: str
    address: str
    body: bytes = b""


@dataclass(frozen=True)
class EngineHit:
    """A hit; `score` is None when the engine gives none, and `body` is empty when it has no text."""

    docno: str
    score: float | None
    title: str = ""
    body: str = ""


@dataclass(frozen=True)
class SearchEngine:
    """A search engine, and what it is asked for each query.

    `query` is the template of a JSON body when it begins with a brace, otherwise of parameters as in an address. The
    endpoint may have placeholders behind its host, too.
    """

    endpoint: str
    query: str
    dialect: Dialect = Dialect.OPENSEARCH
    paths: HitPaths = HitPaths()
    depth: int = USUAL_DEPTH
    with_texts: bool = False

    def check(self) -> str:
        """Return an address that is asked, to be checked as addresses are.

        Raises `InvalidValueError` for a malformed template or path, and for a depth out of range.
        """
        if not 1 <= self.depth <= GREATEST_DEPTH:
            raise InvalidValueError("The depth is a whole number from 1 to %(most)d.", most=GREATEST_DEPTH)
        if len(self.query) > LONGEST_TEMPLATE:
            raise InvalidValueError("The template has more than %(most)d characters.", most=LONGEST_TEMPLATE)
        if UNSTORABLE_CHARACTER.search(self.endpoint + self.query):
            raise _no_text()
        if "#" in self.endpoint:
            raise InvalidValueError("The address has a #, and what follows one is never sent: leave it out.")
        for name in PATHS:
            parse_path(getattr(self.paths, name))
        if "{query}" not in self.query and "{query}" not in self.endpoint:
            raise InvalidValueError("The template needs {query}: the title of each topic is put there.")
        if PLACEHOLDER.search(_host_of(self.endpoint)):
            raise InvalidValueError("The host of an address is the same for all topics: no braces before the path.")
        if self.dialect in ENGINES and not self.address.endswith(SEARCHES):
            # Other addresses of these engines delete and write.
            raise InvalidValueError("The address of this dialect ends with %(path)s.", path=SEARCHES)
        return self.request(TRIAL_QUERY).address

    @property
    def address(self) -> str:
        """The endpoint without its parameters, for people to read."""
        return self.endpoint.partition("?")[0]

    @property
    def host(self) -> str:
        """The name of the host that is asked."""
        return urlsplit(self.endpoint).hostname or ""

    def request(self, query: str) -> SearchRequest:
        """The request for a query; raises `InvalidValueError` for a malformed template."""
        values = {QUERY: query, DEPTH: str(self.depth)}
        address = PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), self.endpoint)
        if self.query.lstrip().startswith("{"):
            return SearchRequest("POST", address, self._body(values))
        parameters = self._parameters(values)
        joint = "&" if "?" in address else "?"
        written = urlencode(parameters, quote_via=quote)
        return SearchRequest("GET", f"{address}{joint}{written}" if parameters else address)

    def _body(self, values: Mapping[str, str]) -> bytes:
        """The JSON body; the query is escaped for the quotes that the template has around it."""
        written = {name: json.dumps(value)[1:-1] for name, value in values.items()}
        try:
            body = json.loads(PLACEHOLDER.sub(lambda found: written[found[1]], self.query))
        except (ValueError, RecursionError):
            raise InvalidValueError(
                "The template of the query begins with a brace, but is not JSON with {query} within quotes."
            ) from None
        if self.dialect in ENGINES:
            body.setdefault("size", self.depth)
            if not self.with_texts and not self._reads_source():
                body.setdefault(TEXTS_IN, False)
        try:
            return json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _no_text() from None

    def _reads_source(self) -> bool:
        """Whether what is read of a hit besides its texts is in its source."""
        return any(TEXTS_IN in parse_path(path).steps for path in (self.paths.hits, self.paths.docno, self.paths.score))

    def _parameters(self, values: Mapping[str, str]) -> list[tuple[str, str]]:
        try:
            given = parse_qsl(self.query, keep_blank_values=True, strict_parsing=True) if self.query.strip() else []
        except ValueError:
            raise InvalidValueError(
                "The template of the query is neither a JSON object nor parameters such as q={query}&rows={depth}."
            ) from None
        filled = [(name, PLACEHOLDER.sub(lambda found: values[found[1]], value)) for name, value in given]
        known = {name for name, _ in filled}
        return [*filled, *((name, value) for name, value in self._added() if name not in known)]

    def _added(self) -> list[tuple[str, str]]:
        """The parameters that an engine needs to give so many hits with what is read of them."""
        if self.dialect is Dialect.SOLR:
            needs_all = self.with_texts or self.paths.docno or self.paths.score
            return [("rows", str(self.depth)), ("wt", "json"), ("fl", "*,score" if needs_all else "id,score")]
        return [] if self.dialect is Dialect.JSON else [("size", str(self.depth))]


def parse_answer(content: bytes) -> object:
    """Parse what an engine answered; raises `EngineError` when it is not JSON."""
    if not content.strip():
        raise EngineError("The engine answered nothing.")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        if content.lstrip()[:1] == b"<":
            raise EngineError("The engine answered HTML or XML, not JSON.") from None
        raise EngineError("The engine answered something that is not JSON.") from None


def reason_in(content: bytes, secrets: Sequence[str] = ()) -> str:
    """What an engine answered beside the status of an error, on a line; empty when it gave no reason.

    The secrets are replaced in the whole reason: what the cut leaves of one would not be found.
    """
    try:
        error = json.loads(content)["error"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
    if isinstance(error, Mapping):
        error = error.get("reason") or error.get("msg") or error.get("message")
    if not isinstance(error, str):
        return ""
    for secret in secrets:
        error = error.replace(secret, "…")
    return _storable(" ".join(error.split())[:LONGEST_REASON])


def hits_in(answer: object, engine: SearchEngine) -> list[EngineHit]:
    """The hits in an answer, best first, at most as many as the depth.

    Raises `EngineError` when there is no list of them, when it is not complete, when a hit has no docno or that of
    another, and when only some have a score, or none at a path that was given.
    """
    _check_complete(answer)
    usual = USUAL_PATHS[engine.dialect]
    path = engine.paths.hits or usual.hits
    found = _list_of_hits(answer, path)
    if found is None:
        raise EngineError("The answer has no list of hits at %(path)s.", path=path or ", ".join(HITS))
    hits = [_hit(one, rank, engine, usual) for rank, one in enumerate(found[: engine.depth], start=1)]
    first: dict[str, int] = {}
    for rank, hit in enumerate(hits, start=1):
        if first.setdefault(hit.docno, rank) != rank:
            raise EngineError(
                "The answer has the document %(docno)s twice, as hits %(first)d and %(second)d.",
                docno=hit.docno,
                first=first[hit.docno],
                second=rank,
            )
    without = [rank for rank, hit in enumerate(hits, start=1) if hit.score is None]
    if engine.paths.score and len(without) == len(hits) > 0:
        raise EngineError("No hit has a score at %(path)s.", path=engine.paths.score)
    if without and len(without) < len(hits):
        path = engine.paths.score or usual.score
        raise EngineError("Hit %(rank)d has no score at %(path)s, but others have one.", rank=without[0], path=path)
    return hits


def run_of(tag: str, hits: Mapping[str, Sequence[EngineHit]]) -> bytes:
    """A run in TREC's six columns; where an engine gives no scores, they follow from the order of its hits."""
    return "".join(
        f"{topic} Q0 {hit.docno} {rank} {float(len(its_hits) - rank) if hit.score is None else hit.score!r} {tag}\n"
        for topic, its_hits in hits.items()
        for rank, hit in enumerate(its_hits, start=1)
    ).encode()


def document_of(hit: EngineHit) -> ParsedDocument:
    """The document of a hit that has a text."""
    return ParsedDocument(hit.docno, hit.title, hit.body, None, None, 1)


def _check_complete(answer: object) -> None:
    if not isinstance(answer, Mapping):
        return
    header, shards = answer.get("responseHeader"), answer.get("_shards")
    if answer.get("timed_out") is True or (isinstance(header, Mapping) and header.get("partialResults") is True):
        raise EngineError("The search ran out of time, and its hits are not complete.", may_pass=True)
    failed = shards.get("failed") if isinstance(shards, Mapping) else 0
    if isinstance(failed, int) and failed:
        raise EngineError("The hits are not complete: shards that failed: %(count)d.", may_pass=True, count=failed)


def _list_of_hits(answer: object, path: str) -> list[object] | None:
    if path:
        values = list(parse_path(path).values(answer))
        return values[0] if len(values) == 1 and isinstance(values[0], list) else None
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in HITS if isinstance(answer.get(name), list)), None)
    return answer if isinstance(answer, list) else None


def _hit(one: object, rank: int, engine: SearchEngine, usual: HitPaths) -> EngineHit:
    path = engine.paths.docno or usual.docno
    docno = _text(one, path, KEYS["docno"])
    if not docno:
        raise EngineError("Hit %(rank)d has no docno at %(path)s.", rank=rank, path=path or ", ".join(KEYS["docno"]))
    if not is_one_word(docno) or is_too_long(docno):
        raise EngineError(
            "Hit %(rank)d has the docno %(docno)s, which is too long or has blanks or control characters.",
            rank=rank,
            docno=repr(docno[:LONGEST_SHOWN]),
        )
    score = _score(one, rank, engine.paths.score or usual.score)
    if not engine.with_texts:
        return EngineHit(docno, score)
    source = one.get(TEXTS_IN, one) if isinstance(one, Mapping) else one
    title, body = (
        _text(one, given, ()) if given else _text(source, "", KEYS[name])
        for name, given in (("title", engine.paths.title), ("body", engine.paths.body))
    )
    return EngineHit(docno, score, " ".join((title or "").split()), body or "")


def _score(one: object, rank: int, path: str) -> float | None:
    value = next(parse_path(path).values(one), None)
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise EngineError(
            "Hit %(rank)d has the score %(score)s, which is not a finite number.",
            rank=rank,
            score=repr(value)[:LONGEST_SHOWN],
        )
    return number


def _text(value: object, path: str, keys: Sequence[str]) -> str | None:
    """The texts at a path as paragraphs, else that of the first key that has one."""
    if path:
        found = [text for one in parse_path(path).values(value) if (text := text_of_value(one)) is not None]
    elif isinstance(value, Mapping):
        found = [text for key in keys if (text := text_of_value(value.get(key))) is not None][:1]
    else:
        found = []
    return _storable("\n\n".join(found)) if found else None


def _no_text() -> InvalidValueError:
    return InvalidValueError(
        "The address or the template has a character that is not text: NUL, or half of a surrogate pair."
    )


def _storable(text: str) -> str:
    return UNSTORABLE_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""  # refused with the address
