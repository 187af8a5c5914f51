"""A token may send so many requests in a minute, and is told how many are left."""

import pytest
from build import SECRET_KEY
from calling import API, NEWS, Program, token_of
from hypothesis import given
from hypothesis import strategies as st

from annotator.api.site.rate_limits import WINDOW, RequestCounter
from annotator.app import create_app
from annotator.settings import Settings
from annotator.storage import Database


def program_with(database: Database, name: str, most: int) -> Program:
    settings = Settings(secret_key=SECRET_KEY, api_requests_per_minute=most)
    return Program(create_app(settings, database), token_of(database, name))


@pytest.mark.usefixtures("news")
def test_a_token_that_sends_too_much_waits(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.api.site.rate_limits.time.time", lambda: 1_000_000_000.0)  # 40 s into a minute
    ola = program_with(database, "ola", 2)
    left = [ola.get(f"{API}/collections").headers["RateLimit"] for _ in range(2)]
    assert left == ['"token";r=1;t=20', '"token";r=0;t=20']
    answer = ola.get(f"{API}/collections")
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "20"
    assert answer.headers["RateLimit-Policy"] == '"token";q=2;w=60'
    assert answer.json["type"] == "/api/v1/#problem-too-many-requests"
    assert answer.json["detail"].startswith("This token has sent 2 requests in this minute")
    monkeypatch.setattr("annotator.api.site.rate_limits.time.time", lambda: 1_000_000_020.0)
    assert ola.get(f"{API}/collections").status_code == 200


@pytest.mark.usefixtures("news")
def test_another_token_is_counted_for_itself(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.api.site.rate_limits.time.time", lambda: 1_000_000_000.0)
    ola = program_with(database, "ola", 1)
    pat = Program(ola.client.application, token_of(database, "pat"))
    assert [one.get(f"{NEWS}/runs").status_code for one in (ola, pat, ola)] == [200, 200, 429]


@pytest.mark.usefixtures("news")
def test_without_a_limit_nothing_is_told(database: Database) -> None:
    answer = program_with(database, "ola", 0).get(f"{API}/collections")
    assert answer.status_code == 200
    assert "RateLimit" not in answer.headers


@pytest.mark.usefixtures("news")
def test_a_change_with_if_match_is_one_request(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.api.site.rate_limits.time.time", lambda: 1_000_000_000.0)
    ola = program_with(database, "ola", 2)
    tag = ola.get(f"{NEWS}/settings").headers["ETag"]
    answer = ola.call("PATCH", f"{NEWS}/settings", headers={"If-Match": tag}, json={"title": "News of the day"})
    assert (answer.status_code, answer.headers["RateLimit"]) == (200, '"token";r=0;t=20')


@given(st.lists(st.tuples(st.integers(1, 5), st.floats(0, 600)), max_size=60))
def test_each_minute_of_each_token_is_counted_from_one(requests: list[tuple[int, float]]) -> None:
    counter = RequestCounter()
    expected: dict[tuple[int, int], int] = {}
    for token, at in requests:
        key = token, int(at // WINDOW)
        expected[key] = expected.get(key, 0) + 1
        assert counter.count(token, at) == expected[key]
