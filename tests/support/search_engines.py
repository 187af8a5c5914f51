"""Search engines in tests: a real local server that answers as the documents of each engine say.

The shapes are those of OpenSearch's and Elasticsearch's “Search API” and of Solr's “JSON Response Writer”. A document
is found when its text has a word of the query; its score is how many, and documents of one score are in their own
order.
"""

import base64
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from local_server import LocalServer, body_of, send, send_json

DOCUMENTS = {
    "d1": "first cats and dogs",
    "d2": "first first topic of cats",
    "d3": "second topic",
    "d4": "second second topic topic",
}
Answering = Callable[[BaseHTTPRequestHandler], None]


class EngineServer(LocalServer):
    """Serves /news/_search, /solr/news/select and /find/QUERY; `behaviours` answer instead, once for each in turn."""

    def __init__(self) -> None:
        """Serve at a free port."""
        self.documents = dict(DOCUMENTS)
        self.behaviours: list[Answering] = []
        self.always: Answering | None = None
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        super().__init__()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request: the parameters of an address, or the body of another one."""
        path, query = urlsplit(request.path).path, parse_qs(urlsplit(request.path).query)
        asked = {name: values[0] for name, values in query.items()}
        if request.command == "POST":
            asked = json.loads(body_of(request))
        self.asked.append((path, asked))
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if self.behaviours:
            self.behaviours.pop(0)(request)
        elif self.always is not None:
            self.always(request)
        elif path == "/news/_search":
            send_json(request, self.of_opensearch(asked))
        elif path == "/solr/news/select":
            send_json(request, self.of_solr(asked))
        else:
            found = self.found(path.rpartition("/")[2].replace("%20", " "), int(asked.get("n", 10)))
            results = [{"docno": docno, "title": docno.upper(), "text": text} for docno, text, _ in found]
            send_json(request, {"results": results})

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


def refusing(status: int, error: object = None, **headers: str) -> Answering:
    """Answer with a status, and with what an engine says of an error."""
    return lambda request: send(request, json.dumps({"error": error}).encode(), status=status, **headers)


def sending(body: bytes) -> Answering:
    """Answer with this."""
    return lambda request: send(request, body)


def hits(*found: dict[str, object], **others: object) -> Answering:
    """Answer with these hits, as OpenSearch does."""
    return lambda request: send_json(request, {"hits": {"hits": list(found)}, **others})


BASIC_KEY = f"Basic {base64.b64encode(b'reader:secret').decode()}"
MATCH = '{"query": {"match": {"body": "{query}"}}}'
