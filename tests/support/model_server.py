"""An endpoint of models: a real local server that speaks the protocol of chat completions, and can misbehave."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from math import log

from local_server import LocalServer, body_of, send, send_json

KEY = "sk-for-tests-0123456789"
# Of the environment; the settings of the tests name it.
VARIABLE = "KEY_OF_THE_TESTS"
MODEL = "judge-1"
TEXT = re.compile(r"<document_text>\n(.*?)\n</document_text>", re.DOTALL)
# Writes an answer to the text of a request.
Misbehaving = Callable[[BaseHTTPRequestHandler, str], None]


class ModelServer(LocalServer):
    """Answers each document with the grade that `grades` has for its text, else with 1.

    `behaviours` answer for texts instead, once for each entry; `everywhere` answers whatever is asked.
    """

    def __init__(self) -> None:
        """Serve at a free port."""
        self.grades: dict[str, str] = {}
        self.behaviours: dict[str, list[Misbehaving]] = {}
        self.everywhere: Misbehaving | None = None
        self.asked: Counter[str] = Counter()  # requests by their body
        self.bodies: list[dict[str, object]] = []
        self.at_once = self.most_at_once = 0
        self.seconds = 0.0
        self.counts_tokens = True
        self._lock = threading.Lock()
        super().__init__()

    @property
    def endpoint(self) -> str:
        """Its base address."""
        return f"{self.site}/v1"

    @property
    def texts(self) -> Counter[str]:
        """How often each document's text was sent."""
        found: Counter[str] = Counter()
        for body, count in self.asked.items():
            found[text_of(json.loads(body))] += count
        return found

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        content = body_of(request)
        with self._lock:
            self.asked[content.decode()] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.seconds)
            self._answer(request, json.loads(content))
        finally:
            with self._lock:
                self.at_once -= 1

    def _answer(self, request: BaseHTTPRequestHandler, body: dict[str, object]) -> None:
        text = text_of(body)
        with self._lock:
            self.bodies.append(body)
            once = self.behaviours.get(text)
            behaviour = once.pop(0) if once else self.everywhere
        if request.headers["Authorization"] != f"Bearer {KEY}":
            error(request, 401, f"Incorrect API key provided: {request.headers['Authorization']}")
        elif body["model"] != MODEL:
            error(request, 404, f"The model `{body['model']}` does not exist.")
        elif behaviour is not None:
            behaviour(request, text)
        else:
            send_json(request, self.completion(self.grades.get(text, "1"), wants=bool(body.get("logprobs"))))

    def completion(self, text: str, *, wants: bool = False) -> dict[str, object]:
        """A chat completion; with log-probabilities the text has the probability .75, and 0 the rest."""
        choice: dict[str, object] = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        if wants:
            several = [{"token": text, "logprob": log(0.75)}, {"token": "0", "logprob": log(0.25)}]
            choice["logprobs"] = {"content": [{**several[0], "top_logprobs": several}]}
        usage = {"usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102}}
        return {"id": "x", "object": "chat.completion", "choices": [choice], **(usage if self.counts_tokens else {})}


def text_of(body: dict[str, object]) -> str:
    """The text of the document in a request."""
    found = TEXT.search(prompt_of(body))
    assert found is not None, body
    return found[1]


def prompt_of(body: dict[str, object]) -> str:
    """The message of a request."""
    messages = body["messages"]
    assert isinstance(messages, list)
    [message] = messages
    return str(message["content"])


def error(request: BaseHTTPRequestHandler, status: int, message: str, **headers: str) -> None:
    """Send an error as endpoints do."""
    send(request, json.dumps({"error": {"message": message}}).encode(), status=status, **headers)


def failing(status: int, message: str = "No.", **headers: str) -> Misbehaving:
    return lambda request, _: error(request, status, message, **headers)


def responding(text: object) -> Misbehaving:
    """Respond with a text, or with null, as a completion."""
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return lambda request, _: send_json(request, {"choices": [choice]})


def sending(content: bytes, status: int = 200, **headers: str) -> Misbehaving:
    return lambda request, _: send(request, content, status=status, **headers)


def _no_http(request: BaseHTTPRequestHandler, _text: str) -> None:
    request.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")
    request.close_connection = True


def drip(request: BaseHTTPRequestHandler, _text: str) -> None:
    """A byte now and then, without end."""
    request.send_response(200)
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    for _ in range(200):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.05)


def stick(_request: BaseHTTPRequestHandler, _text: str) -> None:
    """Nothing, for longer than a test waits."""
    time.sleep(3)


# Name → what the server does, and the sentence that says so; the document is tried again.
PASSING: dict[str, tuple[Misbehaving, str]] = {
    "error": (failing(500), "The endpoint refused with HTTP status 500. No."),
    "html": (sending(b"<!doctype html><p>Hello"), "The endpoint sent HTML or XML, not JSON."),
    "prose": (sending(b"Hello"), "The endpoint sent something that is not JSON."),
    "nested": (sending(b"[" * 99_999), "The endpoint sent something that is not JSON."),
    "nothing": (sending(b""), "The endpoint sent nothing."),
    "large": (sending(b'"' + b"x" * 5_000_000 + b'"'), "The endpoint sent more than 4 MiB."),
    "short": (
        sending(b"{}", Content_Length="99", Connection="close"),
        "The endpoint broke off: it sent less than it had announced, or no HTTP.",
    ),
    "no HTTP": (_no_http, "The endpoint broke off: it sent less than it had announced, or no HTTP."),
    "no completion": (sending(b'{"object": "list"}'), "The endpoint sent JSON that is no chat completion."),
    "no choice": (sending(b'{"choices": ["x"]}'), "The endpoint sent JSON that is no chat completion."),
}
# Name → a response without a valid grade, and the sentence that says so.
WITHOUT_GRADE: dict[str, tuple[Misbehaving, str]] = {
    "empty": (responding(""), "The response is empty."),
    "null": (responding(None), "The response is empty."),
    "no choices": (sending(b'{"choices": []}'), "The response is empty."),
    "off the scale": (responding("7"), "The response names a grade that is not on the scale."),
    "prose": (responding("It is relevant, I think."), "The response names no grade."),
    "two": (responding("Grade: 1. Grade: 2."), "The response names several grades."),
    "fraction": (responding("Score: 1.5"), "The response names no grade."),
}
# Name → what the server does for all documents, and the sentence with which the run stops at once.
STOPPING: dict[str, tuple[Misbehaving, str]] = {
    "key": (failing(403, f"bad key {KEY}"), "The endpoint refuses the key, or has none (HTTP status 403)"),
    "model": (failing(404, "no such model"), "The endpoint does not know the model “judge-1” or this address"),
    "redirect": (sending(b"", status=302, Location="/x"), "The endpoint redirects to another address"),
}
