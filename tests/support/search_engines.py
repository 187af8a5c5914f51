"""Search engines in tests: a real local server that answers as the documents of each engine say.

The shapes are those of OpenSearch's and Elasticsearch's “Search API” and of Solr's “JSON Response Writer”. A document
is found when its text has a word of the query; its score is how many, and documents of one score are in their own
order.
"""

import base64
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from source_server import HOST, send

DOCUMENTS = {
    "d1": "first cats and dogs",
    "d2": "first first topic of cats",
    "d3": "second topic",
    "d4": "second second topic topic",
}
Answering = Callable[[BaseHTTPRequestHandler], None]


class EngineServer:
    """Serves /news/_search, /solr/news/select and /find/QUERY; `behaviours` answer instead, once for each in turn."""

    def __init__(self) -> None:
        """Serve at a free port."""
        self.documents = dict(DOCUMENTS)
        self.behaviours: list[Answering] = []
        self.always: Answering | None = None
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        engine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                engine.answer(self, {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()})

            def do_POST(self) -> None:
                engine.answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Print nothing: clients go away."""

        self.server = Server((HOST, 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def site(self) -> str:
        """The beginning of its addresses."""
        return f"http://{HOST}:{self.server.server_port}"

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        """Answer a request."""
        path = urlsplit(request.path).path
        self.asked.append((path, asked))
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if self.behaviours:
            self.behaviours.pop(0)(request)
        elif self.always is not None:
            self.always(request)
        elif path == "/news/_search":
            send_value(request, self.of_opensearch(asked))
        elif path == "/solr/news/select":
            send_value(request, self.of_solr(asked))
        else:
            found = self.found(path.rpartition("/")[2].replace("%20", " "), int(asked.get("n", 10)))
            results = [{"docno": docno, "title": docno.upper(), "text": text} for docno, text, _ in found]
            send_value(request, {"results": results})

    def found(self, query: str, most: int) -> list[tuple[str, str, float]]:
        """Docno, text and score of what has a word of the query."""
        words = query.lower().split()
        hits = [(docno, text, float(sum(map(text.split().count, words)))) for docno, text in self.documents.items()]
        return sorted((one for one in hits if one[2]), key=lambda one: -one[2])[:most]

    def of_opensearch(self, asked: dict[str, Any]) -> dict[str, Any]:
        """As OpenSearch and Elasticsearch answer a match query, or `q` of an address."""
        query = asked["q"].partition(":")[2] if "q" in asked else asked["query"]["match"]["body"]
        has_source = asked.get("_source", True)
        hits = [
            {
                "_index": "news",
                "_id": docno,
                "_score": score,
                **({"_source": {"title": docno.upper(), "body": text, "id": f"x-{docno}"}} if has_source else {}),
            }
            for docno, text, score in self.found(query, int(asked.get("size", 10)))
        ]
        return {
            "took": 3,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 1.0, "hits": hits},
        }

    def of_solr(self, asked: dict[str, Any]) -> dict[str, Any]:
        """As Solr answers `/select`; texts are fields of several values, and the score comes when `fl` has it."""
        names = asked["fl"].split(",")
        docs = [
            {
                "id": docno,
                **({"title": [docno.upper()], "body": [text]} if "*" in names else {}),
                **({"score": score} if "score" in names else {}),
            }
            for docno, text, score in self.found(asked["q"], int(asked.get("rows", 10)))
        ]
        header = {"status": 0, "QTime": 2, "params": {"q": asked["q"]}}
        return {"responseHeader": header, "response": {"numFound": len(docs), "start": 0, "docs": docs}}


def send_value(request: BaseHTTPRequestHandler, value: object) -> None:
    """Send a value as JSON."""
    send(request, json.dumps(value).encode())


def refusing(status: int, error: object = None, **headers: str) -> Answering:
    """Answer with a status, and with what an engine says of an error."""
    return lambda request: send(request, json.dumps({"error": error}).encode(), status=status, **headers)


def sending(body: bytes) -> Answering:
    """Answer with this."""
    return lambda request: send(request, body)


def hits(*found: dict[str, object], **others: object) -> Answering:
    """Answer with these hits, as OpenSearch does."""
    return lambda request: send_value(request, {"hits": {"hits": list(found)}, **others})


BASIC_KEY = f"Basic {base64.b64encode(b'reader:secret').decode()}"
MATCH = '{"query": {"match": {"body": "{query}"}}}'
