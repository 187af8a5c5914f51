"""Requests to models: to endpoints that an administrator has named, within bounds of size and time."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from annotator.errors import AnnotatorError, NotAllowedError
from annotator.evaluation.machine_judging.completions import Completion, ModelRequest, completion_in, error_in
from annotator.workflows.site.host_keys import key_of, place_of_key
from annotator.workflows.site.outgoing import CheckedHost, http, seconds_to_wait

if TYPE_CHECKING:
    import httpx

SECONDS_TO_ANSWER = 120.0
# Also when an endpoint sends a byte now and then.
SECONDS_OF_A_RESPONSE = 180.0
MOST_BYTES = 4 << 20
LONGEST_REASON = 300
REDIRECTED = range(300, 400)
KEY_SETTING = "ANNOTATOR_MODEL_KEYS"


class Failure(StrEnum):
    """What a failed request means for others: none succeeds, none for a while, perhaps not this one again, not this."""

    FATAL = "fatal"
    THROTTLED = "throttled"
    PASSING = "passing"
    REFUSED = "refused"


class ModelError(AnnotatorError):
    """A model did not respond; the sentence has neither the key nor the text."""

    def __init__(self, template: str, /, *, failure: Failure, retry_after: int | None = None, **values: object) -> None:
        """Keep what it means for other requests, and how long the endpoint asked to wait."""
        super().__init__(template, **values)
        self.failure, self.retry_after = failure, retry_after

    @classmethod
    def of(cls, refusal: AnnotatorError) -> "ModelError":
        """A refusal by the settings, for which no request is sent."""
        values: dict[str, Any] = dict(refusal.sentence.values)
        return cls(refusal.sentence.template, failure=Failure.FATAL, **values)


@dataclass(frozen=True)
class ModelAccess:
    """The hosts to which the server may send, and where their keys are, as `HOST=FILE` or `HOST=env:VARIABLE`."""

    hosts: Sequence[str] = ()
    keys: Sequence[str] = field(default=(), repr=False)

    def has_key(self, endpoint: str) -> bool:
        """Whether the settings name a key for the host of an endpoint."""
        return place_of_key(endpoint, self.keys) is not None

    def key_of(self, endpoint: str) -> str:
        """The key for the host of an endpoint, empty when it has none; it is sent to no other host.

        Raises `ModelError` when the settings name one that cannot be read.
        """
        try:
            return key_of(endpoint, self.keys, KEY_SETTING)
        except NotAllowedError as refusal:
            raise ModelError.of(refusal) from refusal


class ModelHost:
    """Sends requests to an endpoint; usable by several threads."""

    def __init__(self, host: CheckedHost, key: str) -> None:
        """Send to this host, with this key."""
        self._host, self._key = host, key
        self._headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
        }
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def ask(self, request: ModelRequest) -> Completion:
        """What a model responds; raises `ModelError`."""
        try:
            with self._host.send("POST", request.address, headers=self._headers, content=request.body()) as response:
                content = _body(response)
                _check_status(response, self._reason_in(content), request.model)
        except http().TimeoutException:
            raise _too_slow(SECONDS_TO_ANSWER) from None
        except http().RemoteProtocolError:
            raise ModelError(
                "The endpoint broke off: it sent less than it had announced, or no HTTP.", failure=Failure.PASSING
            ) from None
        except (http().HTTPError, http().InvalidURL, OSError) as error:
            raise _unreachable(error) from error
        return _completion(content)

    def _reason_in(self, content: bytes) -> str:
        """The sentence of an error, without the key, behind a blank; empty when there is none."""
        reason = error_in(_json(content))
        if self._key:
            reason = reason.replace(self._key, "…")
        return f" {reason[:LONGEST_REASON]}" if reason else ""


@contextmanager
def open_model(endpoint: str, access: ModelAccess) -> Iterator[ModelHost]:
    """Open the host of an endpoint; raises `ModelError` when it cannot be found or may not be asked."""
    key = access.key_of(endpoint)
    try:
        host = CheckedHost(endpoint, access.hosts, seconds=SECONDS_TO_ANSWER)
    except AnnotatorError as refusal:
        raise ModelError.of(refusal) from refusal
    except OSError as error:
        raise _unreachable(error) from error
    with host:
        yield ModelHost(host, key)


def _completion(content: bytes) -> Completion:
    if not content.strip():
        raise ModelError("The endpoint sent nothing.", failure=Failure.PASSING)
    answer = _json(content)
    if answer is None and content.lstrip()[:1] == b"<":
        raise ModelError("The endpoint sent HTML or XML, not JSON.", failure=Failure.PASSING)
    if answer is None:
        raise ModelError("The endpoint sent something that is not JSON.", failure=Failure.PASSING)
    completion = completion_in(answer)
    if completion is None:
        raise ModelError("The endpoint sent JSON that is no chat completion.", failure=Failure.PASSING)
    return completion


def _json(content: bytes) -> object:
    """What is in a response; None for what is not JSON, and for null, which is no response either."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _body(response: "httpx.Response") -> bytes:
    ends = time.monotonic() + SECONDS_OF_A_RESPONSE
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_raw():
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise ModelError(
                "The endpoint sent more than %(most)d MiB.", failure=Failure.PASSING, most=MOST_BYTES >> 20
            )
        if time.monotonic() > ends:
            raise _too_slow(SECONDS_OF_A_RESPONSE)
    return b"".join(pieces)


def _check_status(response: "httpx.Response", reason: str, model: str) -> None:
    status = response.status_code
    if status == HTTPStatus.OK:
        return
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        # Without the endpoint's sentence, which may repeat the key.
        raise ModelError(
            "The endpoint refuses the key, or has none (HTTP status %(status)d): an administrator names it in "
            "%(setting)s.",
            failure=Failure.FATAL,
            status=status,
            setting=KEY_SETTING,
        )
    if status in REDIRECTED:
        raise _redirected(status)
    if status == HTTPStatus.NOT_FOUND:
        raise ModelError(
            "The endpoint does not know the model “%(model)s” or this address (HTTP status 404).%(reason)s",
            failure=Failure.FATAL,
            model=model,
            reason=reason,
        )
    wait = seconds_to_wait(response)
    if status == HTTPStatus.TOO_MANY_REQUESTS or (status == HTTPStatus.SERVICE_UNAVAILABLE and wait is not None):
        raise ModelError(
            "The endpoint is asked too often (HTTP status %(status)d).%(reason)s",
            failure=Failure.THROTTLED,
            retry_after=wait,
            status=status,
            reason=reason,
        )
    is_passing = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT
    raise ModelError(
        "The endpoint refused with HTTP status %(status)d.%(reason)s",
        failure=Failure.PASSING if is_passing else Failure.REFUSED,
        status=status,
        reason=reason,
    )


def _redirected(status: int) -> ModelError:
    return ModelError(
        "The endpoint redirects to another address, which is not followed (HTTP status %(status)d).",
        failure=Failure.FATAL,
        status=status,
    )


def _too_slow(seconds: float) -> ModelError:
    return ModelError(
        "The endpoint did not answer within %(seconds)d seconds.", failure=Failure.PASSING, seconds=int(seconds)
    )


def _unreachable(error: Exception) -> ModelError:
    reason = (str(error) or type(error).__name__)[:LONGEST_REASON].rstrip(".")
    return ModelError("The endpoint cannot be reached: %(reason)s.", failure=Failure.PASSING, reason=reason)
