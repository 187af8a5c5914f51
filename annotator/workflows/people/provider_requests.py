"""Requests to a provider of sign-in: to the host of its issuer and to hosts that an administrator has named."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from annotator.errors import AnnotatorError
from annotator.workflows.site.outgoing import CheckedHost, http

if TYPE_CHECKING:
    import httpx

# A person waits for each answer, and a page's thread with them.
SECONDS_TO_ANSWER = 5.0
# Of the whole exchange, also when a provider sends a byte now and then.
SECONDS_OF_A_RESPONSE = 10.0
MOST_BYTES = 1 << 20
LONGEST_REASON = 200
HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}
REDIRECTED = range(300, 400)


class ProviderError(AnnotatorError):
    """The provider cannot be reached, or sends what it must not."""


class SlowProviderError(ProviderError):
    """The provider took too long."""


@dataclass(frozen=True)
class ProviderAccess:
    """A provider, as an administrator has set it; `hosts` are others to which the server may send."""

    name: str
    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProviderResponse:
    """What the provider responded, as Authlib's client reads it."""

    status_code: int
    content: bytes

    def json(self) -> Any:  # noqa: ANN401 - JSON
        """The body; `ValueError` when it is no JSON."""
        try:
            return json.loads(self.content)
        except RecursionError:
            raise ValueError from None

    def raise_for_status(self) -> None:
        """Raise `ProviderError` for a status that is none of success."""
        if self.status_code in REDIRECTED:
            raise ProviderError(
                "The provider redirects to another address, which is not followed (HTTP status %(status)d).",
                status=self.status_code,
            )
        if self.status_code != HTTPStatus.OK:
            raise ProviderError("The provider refused with HTTP status %(status)d.", status=self.status_code)


class ProviderSession:
    """Sends requests to the addresses of a provider; usable by several threads."""

    def __init__(self, access: ProviderAccess) -> None:
        """Keep where it may send."""
        self._access = access
        self._chosen = urlsplit(access.issuer).hostname

    def get_object(self, address: str) -> dict[str, Any]:
        """The JSON object at an address; raises `ProviderError` for anything else."""
        response = self._send("GET", address, HEADERS)
        response.raise_for_status()
        try:
            found = response.json()
        except ValueError:
            if response.content.lstrip()[:1] == b"<":
                raise ProviderError("The provider sent HTML or XML, not JSON.") from None
            raise ProviderError("The provider sent something that is not JSON.") from None
        if not isinstance(found, dict):
            raise ProviderError("The provider sent JSON that is no object.")
        return found

    def post(self, url: str, *, data: Mapping[str, str], headers: Mapping[str, str], auth: Any) -> ProviderResponse:  # noqa: ANN401 - Authlib's
        """Send a form, as Authlib's client does with a session of its own; raises `ProviderError`."""
        address, prepared, body = auth.prepare("POST", url, {**headers, **HEADERS}, urlencode(data))
        return self._send("POST", address, prepared, body.encode())

    def _send(
        self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> ProviderResponse:
        is_over = threading.Event()
        try:
            with (
                CheckedHost(address, self._access.hosts, seconds=SECONDS_TO_ANSWER, chosen=self._chosen) as host,
                _ended_in_time(host, is_over),
                host.send(method, address, headers=headers, content=body) as response,
            ):
                found = ProviderResponse(response.status_code, _body(response))
            if is_over.is_set():  # a body of no announced length ends where it was broken off
                raise too_slow(SECONDS_OF_A_RESPONSE)
        except ProviderError:
            raise
        except AnnotatorError as refusal:  # of an address that the provider publishes, and no administrator has named
            values: dict[str, Any] = dict(refusal.sentence.values)
            raise ProviderError(refusal.sentence.template, **values) from refusal
        except (http().HTTPError, http().InvalidURL, OSError) as error:
            raise _failure(error, is_over=is_over.is_set()) from error
        return found


@contextmanager
def _ended_in_time(host: CheckedHost, is_over: threading.Event) -> Iterator[None]:
    """Break the exchange off when it takes too long: a limit of each read alone never ends one that drips."""

    def end() -> None:
        is_over.set()
        host.break_off()

    timer = threading.Timer(SECONDS_OF_A_RESPONSE, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _body(response: "httpx.Response") -> bytes:
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_raw():
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise ProviderError("The provider sent more than %(most)d MiB.", most=MOST_BYTES >> 20)
    return b"".join(pieces)


def _failure(error: Exception, *, is_over: bool) -> ProviderError:
    """What a person reads for an error of the exchange, which was broken off when `is_over`."""
    if is_over:
        return too_slow(SECONDS_OF_A_RESPONSE)
    if isinstance(error, http().TimeoutException):
        return too_slow(SECONDS_TO_ANSWER)
    if isinstance(error, http().RemoteProtocolError):
        return ProviderError("The provider broke off: it sent less than it had announced, or no HTTP.")
    reason = (str(error) or type(error).__name__)[:LONGEST_REASON].rstrip(".")
    return ProviderError("The provider cannot be reached: %(reason)s.", reason=reason)


def too_slow(seconds: float) -> SlowProviderError:
    """What a person reads who would have to wait longer."""
    return SlowProviderError("The provider did not answer within %(seconds)d seconds.", seconds=seconds)
