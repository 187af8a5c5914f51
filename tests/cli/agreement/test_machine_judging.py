"""`annotator judges machine`: add, list, show, run, cancel."""

import json
from pathlib import Path

import pytest
from build import SECRET_KEY
from cli.command_line import CommandLine
from local_server import HOST
from model_server import KEY, MODEL, VARIABLE, ModelServer, failing, responding

JUDGES = ("judges", "machine")


ELSEWHERE = "https://elsewhere.org/v1"


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch, pooled: CommandLine, tmp_path: Path) -> None:
    """An administrator has named the host and its key, a worker can run, and documents have texts."""
    texts = tmp_path / "texts.tsv"
    texts.write_text("".join(f"{docno}\tTitle\tText of {docno}.\n" for docno in "abcde"))
    pooled.done("documents", "import", "news", str(texts))
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET_KEY)
    monkeypatch.setenv("ANNOTATOR_OUTGOING_HOSTS", HOST)
    monkeypatch.setenv("ANNOTATOR_MODEL_KEYS", f"{HOST}=env:{VARIABLE}")
    monkeypatch.setenv(VARIABLE, KEY)


def add(annotator: CommandLine, server: ModelServer, *words: str, name: str = "robot") -> str:
    return annotator.talk(*JUDGES, "add", "news", name, "--endpoint", server.endpoint, "--model", MODEL, *words)


def shown(annotator: CommandLine, *words: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(annotator.done(*JUDGES, "show", "news", "robot", "--format", "json", *words))
    return found


def test_a_machine_judge_is_added_run_and_shown(pooled: CommandLine, model_server: ModelServer) -> None:
    model_server.grades = {"Text of b.": "2"}
    prices = ("--price-sent", "1", "--price-received", "2", "--currency", "EUR")
    assert add(pooled, model_server, *prices) == f"Added robot-v1: {MODEL} at {HOST}, prompt plain.\n"
    assert shown(pooled)["state"] == "never run"
    talk = pooled.talk(*JUDGES, "run", "news", "robot", "--dry-run")
    assert talk.startswith(f"Documents: 6, without text: 0. Requests to {HOST}: 6, stored already: 0. At most about ")
    assert " received, cost 0.00" in talk
    assert talk.endswith("Nothing was sent or stored.\n")
    assert sum(model_server.asked.values()) == 0
    assert "A worker runs robot-v1." in pooled.talk(*JUDGES, "run", "news", "robot")
    pooled.done("worker", "--once")
    found = shown(pooled)
    assert (found["judge"], found["state"], found["done"], found["requests"], found["tokens"], found["key"]) == (
        *("robot-v1", "done", "6 of 6", 6, 612, "named"),
    )
    assert found["cost"] == "0.0006 EUR"
    [row] = json.loads(pooled.done(*JUDGES, "show", "news", "robot", "--by", "run", "--format", "json"))
    assert (row["state"], row["labelled"], row["tokens_sent"], row["tokens_received"]) == ("done", 6, 600, 12)
    [machine] = json.loads(pooled.done("agreement", "machines", "show", "news", "--format", "json"))["machines"]
    assert (machine["name"], machine["model"], machine["labels"]) == ("robot-v1", MODEL, 6)


def test_a_further_version_takes_over_what_is_not_given(
    pooled: CommandLine, model_server: ModelServer, tmp_path: Path
) -> None:
    add(pooled, model_server, "--answer-tokens", "7", "--probabilities")
    template = tmp_path / "mine.txt"
    template.write_text("{topic_title} {document_text} {scale}")
    talk = pooled.talk(*JUDGES, "add", "news", "robot", "--prompt", str(template))
    assert talk == f"Added robot-v2: {MODEL} at {HOST}, prompt mine.txt.\n"
    found = shown(pooled)
    assert (found["version"], found["answer_tokens"], found["wants_probabilities"]) == (2, 7, True)
    assert found["prompt"] == "{topic_title} {document_text} {scale}"
    assert shown(pooled, "--version", "1")["prompt_name"] == "plain"
    pooled.done(*JUDGES, "add", "news", "robot", "--built-in", "umbrela")
    rows = json.loads(pooled.done(*JUDGES, "list", "news", "--format", "json"))
    assert [(row["judge"], row["prompt"]) for row in rows] == [
        ("robot-v1", "plain"),
        ("robot-v2", "mine.txt"),
        ("robot-v3", "umbrela"),
    ]


def test_two_versions_are_compared_with_people(pooled: CommandLine, model_server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "jo").write_text("1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 e 0\n")
    pooled.done("judgements", "import", "news", str(tmp_path / "jo"), "--judge", "jo")
    add(pooled, model_server)
    pooled.done(*JUDGES, "run", "news", "robot")
    pooled.done("worker", "--once")
    assert pooled.refused(*JUDGES, "compare", "news", "robot") == [
        "Two different versions of “robot” are needed to compare them."
    ]
    model_server.grades = {"Text of a.": "2"}
    pooled.done(*JUDGES, "add", "news", "robot", "--built-in", "umbrela")
    pooled.done(*JUDGES, "run", "news", "robot")
    pooled.done("worker", "--once")
    talk = pooled.talk(*JUDGES, "compare", "news", "robot")
    # The grade of a became 2, which is people's for topic 1 and not for topic 2.
    assert talk == (
        "Documents that both labelled: 6; with another grade: 2, of these nearer to people's by version 2: 1, by "
        "version 1: 1.\n"
    )
    rows = json.loads(pooled.done(*JUDGES, "compare", "news", "robot", "--format", "json"))
    # The same grades as people's: b and a of topic 2; then b and a of topic 1.
    assert [(row["judge"], row["n"], row["same"], row["more"]) for row in rows] == [
        ("robot-v1", 5, 0.4, pytest.approx(0.2)),
        ("robot-v2", 5, 0.4, pytest.approx(0.6)),
    ]
    rows = json.loads(pooled.done(*JUDGES, "compare", "news", "robot", "--by", "grade", "--format", "json"))
    assert sum(row["documents"] for row in rows) == 10
    rows = json.loads(pooled.done(*JUDGES, "compare", "news", "robot", "--by", "document", "--format", "json"))
    assert [list(row.values()) for row in rows] == [["1", "a", 1, 2, 2], ["2", "a", 1, 2, 1]]


def test_what_got_no_label_is_listed_as_it_was_answered(pooled: CommandLine, model_server: ModelServer) -> None:
    model_server.behaviours = {"Text of b.": [responding("Who knows?")], "Text of c.": [failing(400, "Too long.")]}
    add(pooled, model_server)
    pooled.done(*JUDGES, "run", "news", "robot")
    pooled.done("worker", "--once")
    rows = json.loads(pooled.done(*JUDGES, "show", "news", "robot", "--by", "document", "--format", "json"))
    assert [(row["docno"], row["kind"], row["reason"], row["response"]) for row in rows] == [
        ("b", "without-grade", "The response names no grade.", "Who knows?"),
        ("c", "failed", "The endpoint refused with HTTP status 400. Too long.", None),
    ]


def test_a_run_is_cancelled_and_continued(pooled: CommandLine, model_server: ModelServer) -> None:
    add(pooled, model_server)
    pooled.done(*JUDGES, "run", "news", "robot", "--try", "2", "--most-tokens", "400")
    assert pooled.talk(*JUDGES, "cancel", "news", "robot") == "Cancelled: 0 of 2 documents are done.\n"
    pooled.done("worker", "--once")
    assert sum(model_server.asked.values()) == 0
    talk = pooled.talk(*JUDGES, "run", "news", "robot", "--continue", "--most-tokens", "5000")
    assert talk == "A worker goes on: 0 of 2 documents are done.\n"
    pooled.done("worker", "--once")
    assert shown(pooled)["done"] == "2 of 2"
    pooled.done(*JUDGES, "run", "news", "robot", "--try")
    pooled.done("worker", "--once")
    assert shown(pooled)["done"] == "6 of 6"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "news", "nobody"), "There is no machine judge “nobody” in this collection."),
        (("show", "news", "nobody"), "There is no machine judge “nobody” in this collection."),
        (("cancel", "news", "nobody"), "There is no machine judge “nobody” in this collection."),
        (("run", "news", "robot", "--topic", "9"), "There is no topic “9” in this collection."),
        (("run", "news", "robot", "--most-cost", "1"), "A ceiling in money needs the prices of this machine judge."),
        (("run", "news", "robot", "--continue"), "The last run of “robot-v1” was not stopped: start one."),
        (("cancel", "news", "robot"), "No run of “robot-v1” is at work."),
        (
            ("add", "news", "two", "--endpoint", ELSEWHERE, "--model", "m"),
            (
                "This server may not send to “elsewhere.org”: an administrator names the hosts in "
                "ANNOTATOR_OUTGOING_HOSTS."
            ),
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    pooled: CommandLine, model_server: ModelServer, words: tuple[str, ...], sentence: str
) -> None:
    add(pooled, model_server)
    assert pooled.refused(*JUDGES, *words) == [sentence]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "news", "robot"), "A new machine judge needs --endpoint and --model."),
        (("add", "news", "robot", "--endpoint", "x"), "A new machine judge needs --endpoint and --model."),
        (("run", "news", "robot", "--continue", "--judged"), "--continue goes on with the documents"),
        (("run", "news", "robot", "--continue", "--dry-run"), "--continue goes on with the documents"),
    ],
)
def test_what_does_not_go_together(pooled: CommandLine, words: tuple[str, ...], sentence: str) -> None:
    result = pooled(*JUDGES, *words)
    assert (result.exit_code, sentence in result.stderr) == (2, True)


def test_prompts_from_two_places(pooled: CommandLine, model_server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("x")
    options = ("--endpoint", model_server.endpoint, "--model", MODEL, "--prompt", str(tmp_path / "p"))
    result = pooled(*JUDGES, "add", "news", "robot", *options, "--built-in", "plain")
    assert (result.exit_code, "Choose --prompt or --built-in." in result.stderr) == (2, True)
    [sentence] = pooled.refused(*JUDGES, "add", "news", "robot", *options)
    assert sentence.startswith("A prompt needs {document_text}")


def test_an_endpoint_without_a_key(
    pooled: CommandLine, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOTATOR_MODEL_KEYS", "")
    assert f"No key is named for {HOST}: requests are sent without one." in add(pooled, model_server)
    pooled.done(*JUDGES, "run", "news", "robot")
    pooled.done("worker", "--once")
    found = shown(pooled)
    assert (found["state"], found["key"]) == ("stopped", "none")
    assert str(found["problem"]).startswith("The endpoint refuses the key, or has none (HTTP status 401)")
