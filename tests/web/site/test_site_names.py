"""Requests that name another site, and what every answer says to browsers of other sites."""

from dataclasses import replace

import pytest
from flask import Flask
from visiting import shared_application, with_database

from annotator.app import create_app
from annotator.settings import Settings
from annotator.storage import Database
from annotator.web.site.context import SETTINGS


@pytest.fixture
def app(sqlite_database: Database) -> Flask:
    """The pages of a site that has no name."""
    return with_database(shared_application(), sqlite_database)


@pytest.fixture
def named(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The pages of a site that has two names."""
    settings = replace(app.extensions[SETTINGS], site_hosts=("news.example.org", ".example.net"))
    monkeypatch.setitem(app.extensions, SETTINGS, settings)
    return app


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("news.example.org", 200),
        ("news.example.org:8000", 200),
        ("a.example.net", 200),
        ("evil.example", 421),
        ("news.example.org.evil.example", 421),
        ("example.org", 421),
    ],
)
def test_pages_are_served_under_the_names_of_the_site_alone(named: Flask, host: str, status: int) -> None:
    answer = named.test_client().get("/sign-in", headers={"Host": host})
    assert answer.status_code == status
    if status != 200:
        assert "evil.example" not in answer.text
        assert answer.mimetype == "text/plain"


def test_whoever_watches_the_server_asks_by_any_name(named: Flask) -> None:
    assert named.test_client().get("/health", headers={"Host": "10.0.0.7"}).status_code == 200


def test_without_names_any_will_do(app: Flask) -> None:
    assert app.test_client().get("/sign-in", headers={"Host": "whatever.example"}).status_code == 200


@pytest.mark.parametrize("path", ["/sign-in", "/nowhere", "/static/site/style.css", "/health", "/api/v1/openapi.json"])
def test_no_other_site_frames_reads_or_holds_what_is_ours(app: Flask, path: str) -> None:
    headers = app.test_client().get(path, buffered=True).headers
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers


def test_cookies_of_a_site_behind_https_are_its_own_and_encrypted(sqlite_database: Database) -> None:
    app = create_app(Settings(secret_key="of the tests", secure_cookies=True), sqlite_database)
    page = app.test_client().get("/sign-in", base_url="https://localhost")
    assert page.headers["Set-Cookie"].startswith("__Host-annotator_session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(page.headers["Set-Cookie"].split("; "))
    app.config["WTF_CSRF_ENABLED"] = False
    client = app.test_client()
    chosen = client.post("/language", data={"language": "ko"}, base_url="https://localhost")
    assert chosen.headers["Set-Cookie"].startswith("__Host-annotator_language=ko")
    assert 'lang="ko"' in client.get("/sign-in", base_url="https://localhost").text


def test_no_method_but_those_of_the_pages_is_answered(app: Flask) -> None:
    guest = app.test_client()
    for method in ("TRACE", "TRACK", "PUT", "DELETE", "CONNECT", "PROPFIND"):
        assert guest.open("/sign-in", method=method).status_code == 405
