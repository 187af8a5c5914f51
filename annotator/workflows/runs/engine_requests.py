"""Requests to search engines: to hosts that an administrator has named, within bounds of size, time and attempts."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from annotator.errors import AnnotatorError, ConflictError
from annotator.evaluation.runs.search_engines import (
    EngineError,
    EngineHit,
    SearchEngine,
    SearchRequest,
    hits_in,
    parse_answer,
    reason_in,
)
from annotator.workflows.site.host_keys import SEARCH_SETTING, header_of_key, key_of
from annotator.workflows.site.outgoing import CheckedHost, http, seconds_to_wait

if TYPE_CHECKING:
    import httpx

SECONDS_TO_ANSWER = 30.0
# Also when an engine sends a byte now and then.
SECONDS_OF_A_RESPONSE = 60.0
SECONDS_OF_A_RUN = 3_600.0
MOST_BYTES = 8 << 20
MOST_BYTES_OF_A_REFUSAL = 64 << 10
AT_ONCE = 4
# Before each further attempt, unless the engine asks for another pause; it waits for no longer one than the last.
PAUSES = (1.0, 4.0, 16.0)
LONGEST_REASON = 200
REDIRECTED = range(300, 400)
MAY_PASS = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}

# Called with the number of topics done and in total.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EngineAccess:
    """The hosts to which the server may send, and where their keys are, as `HOST=FILE` or `HOST=env:VARIABLE`."""

    hosts: Sequence[str] = ()
    keys: Sequence[str] = field(default=(), repr=False)


def ask_engine(
    engine: SearchEngine,
    queries: Mapping[str, str],
    access: EngineAccess,
    *,
    most_text: int,
    progress: Progress | None = None,
) -> dict[str, list[EngineHit]]:
    """Topic → the hits of its query, of all topics: several are asked at once, and each a few times.

    `most_text` is the most characters that all texts together may have. Raises `ConflictError` naming the topic and the
    address when the engine does not give the hits of one after all, and as `CheckedHost`.
    """
    with _host(engine, access) as (host, headers):
        asking = _Asking(engine, host, headers)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            waiting = {threads.submit(asking.ask, query): topic for topic, query in queries.items()}
            try:
                found = _collected(waiting, engine, most_text, progress)
            finally:
                asking.stopped.set()
                for one in waiting:
                    one.cancel()
    return {topic: found[topic] for topic in queries}


def _collected(
    waiting: Mapping[Future[list[EngineHit]], str], engine: SearchEngine, most_text: int, progress: Progress | None
) -> dict[str, list[EngineHit]]:
    found: dict[str, list[EngineHit]] = {}
    size = 0
    for one in as_completed(waiting):
        topic = waiting[one]
        try:
            found[topic] = one.result()
        except EngineError as error:
            raise ConflictError(
                "Topic %(topic)s could not be fetched from %(address)s, and nothing was stored: %(reason)s",
                topic=topic,
                address=engine.address,
                reason=error.sentence,
            ) from error
        size += sum(len(hit.body) for hit in found[topic])
        if size > most_text:
            raise ConflictError(
                "The texts of all hits are larger than %(most)d MiB together. Nothing was stored: ask for fewer hits.",
                most=most_text >> 20,
            )
        if progress is not None:
            progress(len(found), len(waiting))
    return found


@contextmanager
def _host(engine: SearchEngine, access: EngineAccess) -> Iterator[tuple[CheckedHost, dict[str, str]]]:
    """The host of an engine, and the headers of a request to it."""
    address = engine.check()
    key = key_of(engine.endpoint, access.keys, SEARCH_SETTING)
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key:
        name, value = header_of_key(key)
        headers[name] = value
    try:
        host = CheckedHost(address, access.hosts, seconds=SECONDS_TO_ANSWER)
    except OSError as error:
        raise ConflictError(
            "%(address)s cannot be reached: %(reason)s.", address=engine.address, reason=_reason(error)
        ) from error
    with host:
        yield host, headers


class _Asking:
    """Asks an engine; usable by several threads, which give up when it is stopped."""

    def __init__(self, engine: SearchEngine, host: CheckedHost, headers: Mapping[str, str]) -> None:
        self._engine, self._host, self._headers = engine, host, headers
        self._ends = time.monotonic() + SECONDS_OF_A_RUN
        self.stopped = threading.Event()

    def ask(self, query: str) -> list[EngineHit]:
        """The hits of a query; raises `EngineError` when several attempts failed, or one that cannot pass."""
        request = self._engine.request(query)
        for pause in (*PAUSES, None):
            if self.stopped.is_set() or time.monotonic() > self._ends:
                raise EngineError("All topics together took more than %(hours)d hour.", hours=SECONDS_OF_A_RUN // 3600)
            try:
                return hits_in(parse_answer(self._content(request)), self._engine)
            except EngineError as error:
                if pause is None or not error.may_pass:
                    raise
                self.stopped.wait(min(max(pause, error.retry_after or 0), PAUSES[-1]))
        raise AssertionError

    def _content(self, request: SearchRequest) -> bytes:
        headers = {**self._headers, **({"Content-Type": "application/json"} if request.body else {})}
        try:
            with self._host.send(
                request.method, request.address, headers=headers, content=request.body or None
            ) as response:
                self._check_status(response)
                return _body(response, MOST_BYTES)
        except http().TimeoutException:
            raise _too_slow(SECONDS_TO_ANSWER) from None
        except http().RemoteProtocolError:
            raise EngineError(
                "The engine broke off: it sent less than it had announced, or no HTTP.", may_pass=True
            ) from None
        except AnnotatorError as refusal:
            if isinstance(refusal, EngineError):
                raise
            values: dict[str, Any] = dict(refusal.sentence.values)
            raise EngineError(refusal.sentence.template, **values) from refusal
        except (http().HTTPError, http().InvalidURL, OSError) as error:
            reason = _reason(error)
            raise EngineError("The engine cannot be reached: %(reason)s.", may_pass=True, reason=reason) from error

    def _check_status(self, response: "httpx.Response") -> None:
        status = response.status_code
        if status == HTTPStatus.OK:
            return
        if status in REDIRECTED:
            raise EngineError(
                "The engine redirects to another address, which is not followed (HTTP status %(status)d).",
                status=status,
            )
        may_pass = status in MAY_PASS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        raise EngineError(
            "The engine refused with HTTP status %(status)d.%(reason)s",
            may_pass=may_pass,
            retry_after=seconds_to_wait(response) if may_pass else None,
            status=status,
            reason=self._given_reason(response),
        )

    def _given_reason(self, response: "httpx.Response") -> str:
        """Why the engine refused, without the key, behind a blank; empty when it gave no reason."""
        keys = [value for name, value in self._headers.items() if name not in {"Accept", "Accept-Encoding"}]
        secrets = [secret for key in keys for secret in (key, key.rpartition(" ")[2])]
        try:
            reason = reason_in(_body(response, MOST_BYTES_OF_A_REFUSAL), secrets)
        except EngineError:
            return ""
        return f" {reason}" if reason else ""


def _body(response: "httpx.Response", most: int) -> bytes:
    ends = time.monotonic() + SECONDS_OF_A_RESPONSE
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_raw():
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise EngineError(
                "The engine sent more than %(most)d MiB. Ask for fewer hits, or for fewer fields.", most=most >> 20
            )
        if time.monotonic() > ends:
            raise _too_slow(SECONDS_OF_A_RESPONSE)
    return b"".join(pieces)


def _too_slow(seconds: float) -> EngineError:
    return EngineError("The engine did not answer within %(seconds)d seconds.", may_pass=True, seconds=seconds)


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:LONGEST_REASON].rstrip(".")
