"""A source of documents: a real local server, whose answers a test chooses by docno."""

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

from local_server import LocalServer, send, send_json

# Writes an answer for a docno.
Misbehaving = Callable[[BaseHTTPRequestHandler, str], None]


class SourceServer(LocalServer):
    """Serves documents at /segments/DOCNO and a search at /search?q=; `behaviours` answer for their docnos instead."""

    def __init__(self) -> None:
        """Serve at a free port, each docno with a text that names it."""
        self.documents: dict[str, dict[str, object]] = {}
        self.behaviours: dict[str, Misbehaving] = {}
        self.asked: list[str] = []
        self.is_down = False
        super().__init__()

    @property
    def template(self) -> str:
        """The template of its documents' addresses."""
        return f"{self.site}/segments/{{docno}}"

    @property
    def search(self) -> str:
        """The template of its search's address."""
        return f"{self.site}/search?q={{query}}&from={{first}}&size={{most}}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        parts = urlsplit(request.path)
        if self.is_down:
            send(request, b"{}", status=503)
        elif parts.path == "/search":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            send_json(request, self.found(query))
        else:
            docno = unquote(parts.path.rpartition("/")[2])
            self.asked.append(docno)
            self.behaviours.get(docno, self.document)(request, docno)

    def document(self, request: BaseHTTPRequestHandler, docno: str) -> None:
        """Answer with the document."""
        text: dict[str, object] = {"docid": docno, "title": f"Title of {docno}", "segment": f"Text of {docno}."}
        send_json(request, self.documents.get(docno, text))

    def found(self, query: dict[str, str]) -> dict[str, object]:
        """The documents that have the query in their text."""
        hits = [one for one in self.documents.values() if query["q"].lower() in str(one).lower()]
        first = int(query["from"])
        return {"total": len(hits), "hits": hits[first : first + int(query["size"])]}


def _status(status: int, **headers: str) -> Misbehaving:
    return lambda request, _: send(request, b"{}", status=status, **headers)


def _drip(request: BaseHTTPRequestHandler, _docno: str) -> None:
    """A byte now and then, without end."""
    request.send_response(200)
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    for _ in range(200):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.05)


def _stick(_request: BaseHTTPRequestHandler, _docno: str) -> None:
    """Nothing, for longer than a test waits."""
    time.sleep(3)


def _other(request: BaseHTTPRequestHandler, _docno: str) -> None:
    send_json(request, {"docid": "z", "segment": "z"})


def _textless(request: BaseHTTPRequestHandler, docno: str) -> None:
    send_json(request, {"docid": docno})


def _no_http(request: BaseHTTPRequestHandler, _docno: str) -> None:
    request.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")
    request.close_connection = True


# Name → what the server does, and the beginning of the sentence that says so.
MISBEHAVIOURS: dict[str, tuple[Misbehaving, str]] = {
    "missing": (_status(404), "The source does not have this document (HTTP status 404)."),
    "gone": (_status(410), "The source does not have this document (HTTP status 410)."),
    "teapot": (_status(418), "The source refused with HTTP status 418."),
    "redirect": (_status(302, Location="/segments/x"), "The source redirects to another address, which is not"),
    "html": (lambda request, _: send(request, b"<!doctype html><p>Hello"), "The source sent HTML or XML, not JSON."),
    "prose": (lambda request, _: send(request, b"Hello"), "The source sent something that is not JSON."),
    "nested": (lambda request, _: send(request, b"[" * 99_999), "The source sent something that is not JSON."),
    "nothing": (lambda request, _: send(request, b""), "The source sent nothing."),
    "large": (lambda request, _: send(request, b'"' + b"x" * 10_000_000 + b'"'), "The source sent more than 5 MiB."),
    "short": (
        lambda request, _: send(request, b"{}", Content_Length="99", Connection="close"),
        "The source broke off: it sent less than it had announced, or no HTTP.",
    ),
    "other": (_other, "The source sent another document: “z”."),
    "textless": (_textless, "What the source sent has no text at body, text, contents"),
    "no HTTP": (_no_http, "The source broke off: it sent less than it had announced, or no HTTP."),
}
SLOW, STUCK = _drip, _stick
