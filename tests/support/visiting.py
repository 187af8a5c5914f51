"""People who visit the pages in tests."""

import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from html import unescape
from typing import Any

from flask import Flask, g
from model_server import VARIABLE
from sqlalchemy import select
from werkzeug.test import TestResponse

from annotator.app import create_app
from annotator.settings import Settings
from annotator.storage import Database, User
from annotator.web.site.context import DATABASE
from annotator.web.site.sessions import marks


def application(database: Database) -> Flask:
    """The application of the tests: it takes files up to a mebibyte, and forms need no token."""
    hosts = ("hooks.example.org", "corpus.example.org", "127.0.0.1")
    settings = Settings(
        secret_key="of the tests",
        upload_limit=1 << 20,
        unpacked_limit=1 << 20,
        outgoing_hosts=hosts,
        model_keys=(f"127.0.0.1=env:{VARIABLE}",),
    )
    app = create_app(settings, database)
    app.config.update(TESTING=True, WTF_CSRF_ENABLED=False)

    @app.before_request
    def _let_forms_have_one_token() -> None:
        """A token tells its second, so that a page would differ from the same page a moment later."""
        if not app.config["WTF_CSRF_ENABLED"] and "csrf_token" not in g:
            g.csrf_token = "of the tests"

    return app


@cache
def shared_application() -> Flask:
    """One for all tests of a process, whose pages are compiled once; each test gives it its own database."""
    return application(Database("sqlite://"))


def with_database(app: Flask, database: Database, *, csrf: bool = False) -> Flask:
    """The same application, over this database from now on; with `csrf`, its forms need their token."""
    app.extensions[DATABASE] = database
    app.config.update(TESTING=True, WTF_CSRF_ENABLED=csrf)
    return app


class Visitor:
    """A browser; signed in without the slow check of a password."""

    def __init__(
        self, app: Flask, database: Database, name: str | None, signed_in: dict[str, str] | None = None
    ) -> None:
        """Open the browser of `name`, or of a guest; `signed_in` keeps the cookie of each for another browser."""
        self.client = app.test_client()
        kept = {} if signed_in is None else signed_in
        if name is None:
            return
        if name in kept:
            self.client.set_cookie(app.config["SESSION_COOKIE_NAME"], kept[name])
            return
        with database.reading() as session:
            user = session.scalars(select(User).where(User.name == name)).one()
        with self.client.session_transaction() as cookie:
            cookie["_user_id"] = f"{user.id}:{user.sign_in_generation}"
            cookie["_fresh"] = True
            cookie.update(marks(datetime.now(UTC)))
        made = self.client.get_cookie(app.config["SESSION_COOKIE_NAME"])
        assert made is not None
        kept[name] = made.value

    def get(self, path: str, **kwargs: Any) -> TestResponse:  # noqa: ANN401 - passed on to Werkzeug's client
        """Open a page."""
        return self.client.get(path, **kwargs)

    def post(self, path: str, **fields: object) -> TestResponse:
        """Send a form."""
        return self.client.post(path, data=fields)


Visit = Callable[[str | None], Visitor]


def words(response: TestResponse) -> str:
    """What a reader sees of a page: no tags, no hidden cells, single blanks."""
    shown = re.sub(r"<(t[dh])\b[^>]* hidden>.*?</\1>", "", response.text)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def hidden(response: TestResponse, name: str) -> str:
    """The value of a hidden field."""
    match = re.search(rf'<input[^>]*name="{name}"[^>]*value="([^"]*)"', response.text)
    assert match is not None, name
    return unescape(match[1])


def import_labels(visitor: Visitor, collection: str, name: str, text: str | bytes, **fields: object) -> TestResponse:
    """Upload a file of labels, and confirm as the response asks."""
    checked = visitor.post(f"{collection}/judgements", file=file(name, text), **fields)
    value = hidden(checked, "confirmed")
    return visitor.post(f"{collection}/judgements", file=file(name, text), confirmed=value, **fields)


def file(name: str, content: str | bytes) -> tuple[io.BytesIO, str]:
    """A file as a form field."""
    return io.BytesIO(content if isinstance(content, bytes) else content.encode()), name
