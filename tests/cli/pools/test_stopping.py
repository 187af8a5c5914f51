"""`annotator pool stopping`: rules, tables of the report, and decisions."""

import csv
import io
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run


@pytest.fixture
def judged(news: CommandLine) -> CommandLine:
    """Topic 1 with four judged documents."""
    write_run("alpha", ["1 a", "1 b", "1 c", "1 d"])
    news.done("runs", "import", "news", "alpha.run")
    news.done("pool", "build", "news", "--depth", "10")
    Path("labels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 0\n")
    news.done("judgements", "import", "news", "labels", "--judge", "jo")
    return news


def test_rules_answer_for_each_topic(judged: CommandLine) -> None:
    shown = judged("pool", "stopping", "show", "news", "--in-a-row", "2", "--topic", "1")
    assert shown.exit_code == 0
    assert "target-set*" in shown.stdout
    assert "3 documents judged, 1 relevant." in shown.stderr
    assert "Topics without a random sample" in shown.stderr
    of_rule = judged("pool", "stopping", "show", "news", "--in-a-row", "2", "--rule", "in-a-row", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(of_rule.stdout)))
    assert (rows[0]["topic"], rows[0]["state"], rows[0]["at"]) == ("1", "stop", "3")
    told = json.loads(judged("pool", "stopping", "show", "news", "--format", "json").stdout)
    assert (told["judged"], told["relevant"], told["estimate"]) == (3, 1, None)
    assert {"topics", "rules", "curve", "decisions", "notices"} <= told.keys()
    by = judged("pool", "stopping", "show", "news", "--by", "rules", "--rule", "knee")
    assert "Cormack and Grossman" in by.stdout


def test_recall_is_shown_where_there_is_a_sample(news: CommandLine) -> None:
    write_run("alpha", [f"1 d{number}" for number in range(40)])
    news.done("runs", "import", "news", "alpha.run")
    news.done("pool", "build", "news", "--strategy", "stratified", "--strata", "1-40:0.5", "--seed", "1")
    pooled = [line.split()[:2] for line in news("pool", "export", "news").stdout.splitlines()]
    Path("labels").write_text("".join(f"{topic} 0 {docno} {int(docno < 'd2')}\n" for topic, docno in pooled))
    news.done("judgements", "import", "news", "labels", "--judge", "jo")
    shown = news("pool", "stopping", "show", "news", "--topic", "1")
    assert "Estimated recall: 0.5" in shown.stderr or "(0." in shown.stdout


def test_a_decision_is_added_and_removed(judged: CommandLine) -> None:
    added = judged("pool", "stopping", "add", "news", "1", "--reason", "few are left", "--rule", "knee")
    assert (added.exit_code, added.stderr) == (0, "Topic 1 is stopped: 3 documents judged, 1 relevant.\n")
    again = judged("pool", "stopping", "add", "news", "1", "--reason", "again")
    assert (again.exit_code, "stopped already" in again.stderr) == (1, True)
    removed = judged("pool", "stopping", "remove", "news", "1", "--reason", "a late run")
    assert (removed.exit_code, removed.stderr) == (0, "Topic 1 goes on: 3 documents judged, 1 relevant.\n")
    shown = judged("pool", "stopping", "show", "news", "--by", "decisions", "--format", "csv").stdout
    assert [(row["stops"], row["reason"]) for row in csv.DictReader(io.StringIO(shown))] == [
        ("True", "few are left"),
        ("False", "a late run"),
    ]


def test_a_pool_goes_on_until_a_rule_says_stop(news: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", "a long random text of a test")
    write_run("alpha", [f"1 d{number:02}" for number in range(40)])
    news.done("runs", "import", "news", "alpha.run")
    said = ("--strategy", "cal", "--start-depth", "3", "--until", "budget(budget=3)")
    both = news("pool", "build", "news", *said, "--budget", "9")
    assert (both.exit_code, "needs exactly one of these" in both.stderr) == (1, True)
    unknown = news("pool", "build", "news", "--strategy", "cal", "--until", "elbow")
    assert (unknown.exit_code, "There is no stopping rule “elbow”" in unknown.stderr) == (1, True)
    unsampled = news("pool", "build", "news", "--strategy", "cal", "--until", "target-set")
    assert (unsampled.exit_code, "needs a random sample that is drawn before" in unsampled.stderr) == (1, True)
    planned = news("pool", "plan", "news", *said)
    assert planned.stdout.startswith("AT MOST")
    assert "These are upper bounds: the rule budget(budget=3) ends the choices of a topic earlier." in planned.stderr
    built = news("pool", "build", "news", *said)
    assert "of each topic until the rule budget(budget=3) says stop: at most 37." in built.stderr
    Path("labels").write_text("1 0 d00 1\n1 0 d01 0\n1 0 d02 0\n")
    news.done("judgements", "import", "news", "labels", "--judge", "jo")
    news.done("worker", "--once")
    shown = news("pool", "show", "news").stderr
    assert "Version 1, cal until budget(budget=3): 0 choices made.\nTopics stopped: 1 of 2." in shown
    decided = news("pool", "stopping", "show", "news", "--by", "decisions", "--format", "csv").stdout
    [row] = csv.DictReader(io.StringIO(decided))
    assert (row["topic"], row["rule"], row["version"], row["decided_by"]) == ("1", "budget", "1", "")
