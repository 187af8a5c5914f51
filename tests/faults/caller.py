"""Somebody who calls the server by HTTP, signed in, one connection a request: it may break at any of them."""

import re
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlencode

from build import PASSWORD

TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]*)"')
SECONDS_TO_ANSWER = 60
A_FORM = "application/x-www-form-urlencoded"
SIGNED_IN = 303


class Answer(NamedTuple):
    """What came."""

    status: int
    content: str


class Caller:
    """A browser without a screen; `OSError` and `HTTPException` when the server is gone."""

    def __init__(self, port: int, name: str) -> None:
        """Be a guest at first."""
        self.port = port
        self.name = name
        self.cookie = self.csrf = ""
        self.is_signed_in = False

    def sign_in(self) -> bool:
        """Sign in by the form; whether that went well."""
        fields = {"csrf_token": self.token("/sign-in"), "name": self.name, "password": PASSWORD}
        self.is_signed_in = self.ask("POST", "/sign-in", urlencode(fields)).status == SIGNED_IN
        return self.is_signed_in

    def token(self, path: str) -> str:
        """The token of the forms on a page."""
        found = TOKEN.search(self.ask("GET", path).content)
        return found[1] if found else ""

    def ask(self, method: str, path: str, body: str | None = None, *, kind: str = A_FORM) -> Answer:
        """One request."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_TO_ANSWER)
        headers = {"Cookie": self.cookie, "X-CSRFToken": self.csrf}
        if body is not None:
            headers["Content-Type"] = kind
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read().decode()
            self.cookie = (answer.getheader("Set-Cookie") or self.cookie).partition(";")[0]
            return Answer(answer.status, content)
        finally:
            connection.close()
