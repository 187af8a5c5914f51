"""Guessing passwords: by account and by address it ends, whoever knows theirs is not kept out by a neighbour."""

from datetime import UTC, datetime, timedelta

import pytest
from build import PASSWORD, SECRET_KEY
from flask import Flask
from visiting import Visit, words
from werkzeug.test import TestResponse

from annotator.app import create_app
from annotator.settings import Settings
from annotator.storage import Attempts, Database
from annotator.web.people import throttle

pytestmark = pytest.mark.usefixtures("news")

HERE, ELSEWHERE, FAR_AWAY = "198.51.100.7", "203.0.113.5", "192.0.2.99"


def tries(app: Flask, name: str, password: str, address: str = HERE) -> TestResponse:
    client = app.test_client()
    fields = {"name": name, "password": password}
    return client.post("/sign-in", data=fields, environ_base={"REMOTE_ADDR": address})


def test_an_account_takes_ten_wrong_passwords_from_an_address(app: Flask) -> None:
    assert [tries(app, "jo", "wrong horse").status_code for _ in range(10)] == [422] * 10
    refused = tries(app, "jo", PASSWORD)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 900
    assert "Wait 15 minutes and try again." in words(refused)
    # Written otherwise it is the same account; another one, and the same from elsewhere, are not kept out.
    assert tries(app, "JO", PASSWORD).status_code == 429
    assert tries(app, "kim", PASSWORD).status_code == 303
    assert tries(app, "jo", PASSWORD, ELSEWHERE).status_code == 303


def test_a_name_that_nobody_has_is_answered_alike(app: Flask) -> None:
    statuses = {name: [tries(app, name, "wrong horse").status_code for _ in range(11)] for name in ("jo", "nobody")}
    assert statuses["jo"] == statuses["nobody"] == [422] * 10 + [429]


def test_signing_in_counts_for_nothing(app: Flask) -> None:
    assert {tries(app, "jo", PASSWORD).status_code for _ in range(12)} == {303}


def test_an_address_takes_so_many_wrong_passwords_whatever_the_account(app: Flask) -> None:
    statuses = [tries(app, f"guess{turn}", "x").status_code for turn in range(101)]
    assert statuses == [422] * 100 + [429]
    assert tries(app, "jo", PASSWORD).status_code == 429
    assert tries(app, "jo", PASSWORD, ELSEWHERE).status_code == 303


def test_a_crowd_of_addresses_guesses_no_longer_than_a_hundred_times(app: Flask) -> None:
    statuses = [tries(app, "jo", "x", f"192.0.2.{turn % 50}").status_code for turn in range(101)]
    assert statuses == [422] * 100 + [429]


def test_addresses_of_one_network_of_ipv6_are_one(app: Flask) -> None:
    for turn in range(10):
        tries(app, "jo", "x", f"2001:db8:0:1::{turn}")
    assert tries(app, "jo", PASSWORD, "2001:db8:0:1:ffff::1").status_code == 429
    assert tries(app, "jo", PASSWORD, "2001:db8:0:2::1").status_code == 303


def test_an_address_that_a_guesser_claims_to_have_is_not_believed(app: Flask) -> None:
    client = app.test_client()
    for turn in range(11):
        claimed = {"X-Forwarded-For": f"192.0.2.{turn}", "Forwarded": f"for=192.0.2.{turn}"}
        answer = client.post("/sign-in", data={"name": "jo", "password": "x"}, headers=claimed)
    assert answer.status_code == 429


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_saw(database: Database) -> None:
    settings = Settings(secret_key=SECRET_KEY, proxies=1)
    app = create_app(settings, database)
    app.config.update(TESTING=True, WTF_CSRF_ENABLED=False)

    def tries_from(address: str, password: str) -> int:
        # What the guesser claims stands before what the proxy adds.
        claimed = {"X-Forwarded-For": f"10.0.0.{len(address)}, {address}"}
        fields = {"name": "jo", "password": password}
        return app.test_client().post("/sign-in", data=fields, headers=claimed).status_code

    assert [tries_from(HERE, "wrong horse") for _ in range(11)] == [422] * 10 + [429]
    assert tries_from(HERE, PASSWORD) == 429
    assert tries_from(ELSEWHERE, PASSWORD) == 303


def test_it_ends_by_itself(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(11):
        tries(app, "jo", "wrong horse")
    later = datetime.now(UTC) + timedelta(minutes=16)
    monkeypatch.setattr(throttle, "now", lambda: later)
    assert tries(app, "jo", PASSWORD).status_code == 303
    assert [tries(app, "jo", "wrong horse").status_code for _ in range(11)] == [422] * 10 + [429]


def test_requests_through_a_socket_of_this_machine_share_no_limit(app: Flask) -> None:
    statuses = {tries(app, f"guess{turn}", "x", address="").status_code for turn in range(101)}
    assert statuses == {422}
    assert [tries(app, "jo", "x", address="").status_code for _ in range(11)] == [422] * 10 + [429]


def test_every_server_process_counts_the_same(app: Flask, database: Database) -> None:
    for _ in range(3):
        tries(app, "jo", "wrong horse")
    with database.reading() as session:
        counted = session.query(Attempts).all()
    assert [one.count for one in counted] == [3, 3, 3]
    # Neither the name nor the address can be read from what is kept.
    assert all(len(one.key) == 64 for one in counted)


def test_ones_present_password_is_not_guessed_either(visit: Visit) -> None:
    jo = visit("jo")
    fields = {"old_password": "guess", "new_password": "a better horse", "again": "a better horse"}
    assert [jo.post("/account", **fields).status_code for _ in range(11)] == [403] * 10 + [429]
    # Each form counts for itself.
    assert tries(jo.client.application, "jo", PASSWORD).status_code == 303
    # Who is signed in stays so.
    assert jo.get("/collections").status_code == 200
