"""Requests for chat completions, as OpenAI's API defines them and many servers understand, and their responses."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from annotator.evaluation.formats.table_lines import UNSTORABLE_CHARACTER

PATH = "/chat/completions"
# The most alternatives of a token that OpenAI's API returns; other servers allow as many or refuse the request.
MOST_ALTERNATIVES = 20


@dataclass(frozen=True)
class ModelRequest:
    """What is asked of a model for one sample of a document's grade.

    `alternatives` of each token are requested with their log-probabilities; 0: none.
    """

    endpoint: str
    model: str
    prompt: str
    temperature: float
    answer_tokens: int
    alternatives: int = 0
    sample: int = 1

    @property
    def address(self) -> str:
        """Where it is sent: the endpoint's base address may be given, or the whole one."""
        base = self.endpoint.rstrip("/")
        return base if base.endswith(PATH) else f"{base}{PATH}"

    def body(self) -> bytes:
        """The request as JSON."""
        body: dict[str, object] = {
            "model": self.model,
            "messages": [{"role": "user", "content": self.prompt}],
            "temperature": self.temperature,
            "max_tokens": self.answer_tokens,
        }
        if self.alternatives:
            body |= {"logprobs": True, "top_logprobs": self.alternatives}
        return json.dumps(body, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")

    def digest(self) -> str:
        """SHA-256 of the address, the body (model, settings and prompt with the text) and the number of the sample."""
        parts = (self.address.encode(), self.body(), str(self.sample).encode())
        return hashlib.sha256(b"\n".join(parts)).hexdigest()


@dataclass(frozen=True)
class Token:
    """A token of a response, and the log-probabilities of the alternatives to it, itself included."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True)
class Completion:
    """The response of a model: its text, why it ended, and the tokens used; None where the endpoint does not say."""

    text: str
    finish: str = ""
    sent: int | None = None
    received: int | None = None
    tokens: tuple[Token, ...] = field(default=())


def completion_in(response: object) -> Completion | None:
    """The completion in a response that was JSON; None when it is something else.

    A response without a choice, or with one that has no text, is a completion with an empty text.
    """
    if not isinstance(response, Mapping) or not isinstance(response.get("choices"), list):
        return None
    usage = response.get("usage")
    used = usage if isinstance(usage, Mapping) else {}
    choice = response["choices"][0] if response["choices"] else {}
    if not isinstance(choice, Mapping):
        return None
    message = choice.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    return Completion(
        UNSTORABLE_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", content) if isinstance(content, str) else "",
        str(choice.get("finish_reason") or "")[:50],
        _count(used.get("prompt_tokens")),
        _count(used.get("completion_tokens")),
        _tokens(choice.get("logprobs")),
    )


def error_in(response: object) -> str:
    """The sentence of an error in a response that was JSON; empty when there is none."""
    error = response.get("error") if isinstance(response, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(message.split()) if isinstance(message, str) else ""


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 31 else None


def _tokens(logprobs: object) -> tuple[Token, ...]:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list):
        return ()
    return tuple(Token(one["token"], _alternatives(one)) for one in content if _is_token(one))


def _alternatives(token: Mapping[str, object]) -> dict[str, float]:
    listed = token.get("top_logprobs")
    several: Sequence[object] = listed if isinstance(listed, list) else []
    found = [(one["token"], one["logprob"]) for one in [token, *several] if _is_token(one)]
    return {text: float(logprob) for text, logprob in found if logprob <= 0}


def _is_token(value: object) -> TypeGuard[Mapping[str, Any]]:
    is_one = isinstance(value, Mapping) and isinstance(value.get("token"), str)
    return is_one and type(value.get("logprob")) in {int, float}  # type: ignore[attr-defined]
