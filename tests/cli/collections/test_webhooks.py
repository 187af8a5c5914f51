"""`annotator webhooks`: the secret goes to the standard output, everything else is listed."""

import json

import pytest
from cli.command_line import CommandLine

ADDRESS = "https://hooks.example.org/annotator"


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator has named the host."""
    monkeypatch.setenv("ANNOTATOR_OUTGOING_HOSTS", "hooks.example.org")


def test_a_webhook_is_added_listed_tested_and_removed(pooled: CommandLine) -> None:
    secret = pooled.done("webhooks", "add", "news", ADDRESS, "--when", "run.received")
    assert secret.startswith("whsec_")
    pooled.done("webhooks", "add", "news", ADDRESS)
    shown = json.loads(pooled.done("webhooks", "list", "news", "--format", "json"))
    assert [(one["number"], one["events"]) for one in shown] == [
        (1, "run.received"),
        (2, "run.received topic.finished job.finished qrels.kept"),
    ]
    assert secret.strip() not in json.dumps(shown)
    assert pooled.talk("webhooks", "test", "news", "2") == "A test for webhook 2 waits for a worker.\n"
    [delivery] = json.loads(pooled.done("webhooks", "deliveries", "list", "news", "2", "--format", "json"))
    assert (delivery["event"], delivery["attempts"], delivery["status"]) == ("test", 0, None)
    assert pooled.talk("webhooks", "remove", "news", "1") == f"Removed webhook 1, to {ADDRESS}.\n"
    assert pooled.refused("webhooks", "remove", "news", "1") == ["There is no webhook 1 in this collection."]


def test_a_host_that_nobody_has_named_is_refused(pooled: CommandLine) -> None:
    [sentence] = pooled.refused("webhooks", "add", "news", "https://elsewhere.org/")
    assert sentence.startswith("This server may not send to “elsewhere.org”")
