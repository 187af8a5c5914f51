"""The page of webhooks: the secret is shown once, deliveries are listed, and only named hosts are taken."""

import re

import pytest
from visiting import Visit, words

from annotator.storage import Database
from annotator.worker.delivering import Delivering

ADDRESS = "https://hooks.example.org/annotator"


def test_a_webhook_is_added_tested_looked_at_and_removed(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "No webhooks yet." in words(ola.get(f"{news}/webhooks"))
    added = ola.post(f"{news}/webhooks", address=ADDRESS, events=["run.received", "qrels.kept"])
    assert added.status_code == 200
    [secret] = re.findall(r"whsec_[\w+/=]+", added.text)
    page = ola.get(f"{news}/webhooks")
    assert secret not in page.text
    assert "A run was received, A version of the qrels was kept" in words(page)
    assert ola.post(f"{news}/webhooks/1/test").location == f"{news}/webhooks/1"
    shown = words(ola.get(f"{news}/webhooks/1"))
    assert "A test is on its way." in shown
    assert "waiting" in shown
    Delivering(database, ()).step()
    shown = words(ola.get(f"{news}/webhooks/1"))
    assert "is sent again" in shown
    assert "This server may not send to “hooks.example.org”" in shown
    assert "Remove webhook 1?" in words(ola.post(f"{news}/webhooks/1/remove"))
    assert ola.post(f"{news}/webhooks/1/remove", confirmed="y").location == f"{news}/webhooks"
    assert "No webhooks yet." in words(ola.get(f"{news}/webhooks"))


@pytest.mark.parametrize(
    ("address", "events", "status", "sentence"),
    [
        ("https://elsewhere.org/", ["qrels.kept"], 403, "This server may not send to “elsewhere.org”"),
        ("hooks.example.org", ["qrels.kept"], 422, "is not an address of the form"),
        (ADDRESS, [], 422, "Choose at least one event"),
        (ADDRESS, ["everything"], 422, "is not a valid choice for this field"),
        ("", ["qrels.kept"], 422, "This field is required."),
    ],
)
def test_what_cannot_be_a_webhook_is_refused(
    visit: Visit, news: str, address: str, events: list[str], status: int, sentence: str
) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/webhooks", address=address, events=events)
    assert answer.status_code == status
    assert sentence in words(answer)
    assert "No webhooks yet." in words(ola.get(f"{news}/webhooks"))


def test_a_webhook_of_another_collection_is_not_found(visit: Visit, news: str) -> None:
    ola = visit("ola")
    for method, path in ((ola.get, "1"), (ola.post, "1/test")):
        assert method(f"{news}/webhooks/{path}").status_code == 404
