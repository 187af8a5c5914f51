"""Programs that call the API in tests."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, cast

from flask import Flask
from werkzeug.datastructures import Headers

from annotator.storage import Database
from annotator.workflows.people import tokens
from annotator.workflows.people.tokens import Scope, TokenRequest

API = "/api/v1"
NEWS = f"{API}/collections/news"


def token_of(database: Database, name: str, scopes: Sequence[Scope] = tuple(Scope), slug: str | None = None) -> str:
    """The secret of a new token."""
    with database.transaction() as session:
        return tokens.make_token(session, name, TokenRequest("of a test", scopes, slug), at=datetime.now(UTC))


class Answer(Protocol):
    """A response; its JSON is untyped."""

    status_code: int
    json: Any
    text: str
    data: bytes
    mimetype: str | None
    headers: Headers


class Program:
    """A program that calls with a token, or without one."""

    def __init__(self, app: Flask, token: str | None) -> None:
        """Keep what every call is sent with."""
        self.client = app.test_client()
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **query: object) -> Answer:
        """Send a GET request."""
        return cast("Answer", self.client.get(path, query_string=query or None, headers=self.headers))

    def post(self, path: str, body: object) -> Answer:
        """Send JSON, in ASCII, which can escape what no text can have."""
        return cast(
            "Answer",
            self.client.post(path, data=json.dumps(body), headers=self.headers, content_type="application/json"),
        )

    def send(self, path: str, content: bytes | str, **query: object) -> Answer:
        """Send a file as the body."""
        return cast(
            "Answer",
            self.client.post(
                path,
                data=content,
                query_string=query,
                headers={**self.headers, "Content-Type": "application/octet-stream"},
            ),
        )

    def call(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        **options: Any,  # noqa: ANN401 - passed on to Werkzeug's client
    ) -> Answer:
        """Send a request with any method, and further headers."""
        sent = {**self.headers, **(headers or {})}
        return cast("Answer", self.client.open(path, method=method, headers=sent, **options))


Caller = Callable[..., Program]
