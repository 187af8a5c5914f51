"""`annotator pool replay`, `annotator pool simulate`, and samples by `annotator qrels export`."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from adaptive import FIXTURE, AdaptiveJudge, adaptive_news
from cli.command_line import CommandLine, write_run
from kept import Kept
from sampled_news import DOCNOS, sampled_news

from annotator.storage import Database

QRELS = "".join(f"1 0 {docno} {int(docno in 'abgk')}\n" for docno in "abcdefghijklmno")


@pytest.fixture
def fixture_runs(news: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The fixture's runs, and its judgements in the file `old`."""
    for tag, docnos in FIXTURE.items():
        write_run(tag, [f"1 {docno}" for docno in docnos])
    Path("old").write_text(QRELS)
    kept.fill(sqlite_database, add_runs)
    sqlite_database.close()
    return news


def add_runs(database: Database) -> None:
    CommandLine(str(database.engine.url)).done("runs", "import", "news", *(f"{tag}.run" for tag in FIXTURE))


def test_stopping_rules_are_tried_on_request(fixture_runs: CommandLine) -> None:
    words = ("pool", "simulate", "news", "old", "--strategy", "rrf", "--by", "stopping", "--target", "0.7")
    table = fixture_runs(*words)
    assert (table.exit_code, "RELIABILITY" in table.stdout) == (0, True)
    rows = list(csv.DictReader(fixture_runs(*words, "--format", "csv").stdout.splitlines()))
    assert {row["rule"]: row["certainty"] for row in rows}["target-set"] == "guarantee"
    told = json.loads(fixture_runs(*words, "--format", "json").stdout)
    assert len(told["stopping"]) == len(rows)
    [sentence] = fixture_runs.refused("pool", "simulate", "news", "old", "--by", "stopping", "--target", "1.5")
    assert "between 0 and 1, not 1.5" in sentence


def test_a_replay_says_that_the_choices_hold(annotator: CommandLine) -> None:
    database = Database(annotator.url)
    jo, _ = adaptive_news(database, "hedge", {"budget": 9, "start_depth": 1})
    AdaptiveJudge(database, jo).work()
    database.close()
    result = annotator("pool", "replay", "news", "--version", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Version 1, hedge: 9 choices of 1 topics replayed; different: 0.\n"


def test_a_replay_prints_what_does_not_follow_and_fails(annotator: CommandLine) -> None:
    database = Database(annotator.url)
    jo, _ = adaptive_news(database, "mtf", {"budget": 1, "start_depth": 1, "ties": "first-run"})
    AdaptiveJudge(database, jo).work()
    with database.transaction() as session:
        session.connection().exec_driver_sql("UPDATE selection_event SET reason = json_set(reason, '$.run', 2)")
    database.close()
    result = annotator("pool", "replay", "news")
    assert result.exit_code == 1
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [["1", "1", "c", "B", "c", "A"]]
    assert result.stderr == "Version 1, mtf: 1 choices of 1 topics replayed; different: 1.\n"


def test_a_sample_is_drawn_by_a_machine_and_replayed(annotator: CommandLine) -> None:
    database = Database(annotator.url)
    with database.transaction() as session:
        sampled_news(session, labelled=DOCNOS[:20])
    database.close()
    options = ("--machine", "llm", "--depth", "30", "--certainty-depth", "2", "--bands", "10", "--allocation", "equal")
    built = annotator("pool", "build", "news", "--strategy", "sample", "--budget", "34", *options)
    assert "has no grade for 24 of the 64 documents" in built.stderr
    shown = annotator.done("pool", "show", "news")
    assert "budget=34 machine=llm depth=30 certainty_depth=2 bands=10 allocation=equal frame=64" in shown
    assert "layout" not in shown
    planned = annotator(
        "pool", "plan", "news", "--strategy", "sample", "--budget", "34", "--half-width", "0.1", *options
    )
    assert "FOR ±0.1" in planned.stdout
    assert "Correlation of its grades with people's: 0.60 (assumed, as too few are judged)." in planned.stderr
    refused = annotator("pool", "plan", "news", "--strategy", "sample", "--budget", "34", "--difference", "0", *options)
    assert (refused.exit_code, "must be above 0, not 0" in refused.stderr) == (1, True)
    replayed = annotator("pool", "replay", "news")
    assert (replayed.exit_code, replayed.stdout) == (0, "")
    assert replayed.stderr == "Version 2, sample: 34 choices of 2 topics replayed; different: 0.\n"


def test_strategies_are_tried_in_a_table(fixture_runs: CommandLine) -> None:
    said = fixture_runs.done(
        "pool", "simulate", "news", "old", "--strategy", "rrf", "--strategy", "mtf", "--start-depth", "0"
    )
    found, tau, told = said.split("\n\n")
    assert [line.split() for line in found.splitlines()[1:]] == [
        ["STRATEGY", "START", "5%", "10%", "20%", "30%", "50%"],
        ["rrf", "-", "0.2500", "0.5000", "0.7500", "1.0000", "1.0000"],
        # b, a and k head a run each and go by their RRF weight; then B, whose only judged document is relevant, has g.
        ["mtf", "0", "0.2500", "0.5000", "0.7500", "1.0000", "1.0000"],
    ]
    assert len(tau.splitlines()) == 4
    assert told == (
        "3 runs, 1 topics, 15 judged documents, 4 of them relevant; in no run, and left out: 0 judged, 0 relevant. "
        "Seed: 1.\n"
    )


def test_tables_for_programs_have_a_row_a_point(fixture_runs: CommandLine) -> None:
    words = ("pool", "simulate", "news", "old", "--strategy", "stratified", "--seed", "4")
    rows = list(csv.DictReader(fixture_runs.done(*words, "--format", "csv").splitlines()))
    assert [row["share"] for row in rows] == ["0.05", "0.1", "0.2", "0.3", "0.5"]
    told = json.loads(fixture_runs.done(*words, "--format", "json"))
    assert (told["seed"], told["judged"], len(told["points"])) == (4, 15, 5)
    assert [point["judged"] for point in told["points"]] == [int(row["judged"]) for row in rows]


def test_a_sample_that_is_too_small_is_told(fixture_runs: CommandLine) -> None:
    said = fixture_runs.done("pool", "simulate", "news", "old", "--strategy", "stratified", "--strata", "1:1")
    assert said.splitlines()[-1] == "stratified has no more than 3 documents judged."


def test_a_chart_has_a_line_and_a_name_for_each_strategy(fixture_runs: CommandLine) -> None:
    fixture_runs.done("pool", "simulate", "news", "old", "--chart", "chart.svg")
    svg = ET.fromstring(Path("chart.svg").read_text())  # noqa: S314 - we wrote it
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    for name in ("depth", "combmnz", "maxmean-ns, start 10", "maxmean-ns, start 0", "stratified"):
        assert name in texts
    # In both charts.
    titles = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert titles.count("hedge, start 0") == 2


def test_an_unknown_strategy_is_refused(fixture_runs: CommandLine) -> None:
    [sentence] = fixture_runs.refused("pool", "simulate", "news", "old", "--strategy", "hedgehog")
    assert sentence == "There is no strategy “hedgehog”; the nearest names are: hedge."


def test_a_sample_is_exported_in_five_columns_and_scored(fixture_runs: CommandLine) -> None:
    fixture_runs.done("pool", "build", "news", "--strategy", "stratified", "--strata", "1-3:1, 4-6:0.5")
    pooled = fixture_runs.done("pool", "export", "news").splitlines()
    Path("labels").write_text("".join(f"{pair.replace(' ', ' 0 ')} {int(pair[2] in 'abgk')}\n" for pair in pooled))
    fixture_runs.done("judgements", "import", "news", "labels", "--judge", "nist")
    fixture_runs.done("qrels", "export", "news", "--format", "prels", "-o", "news.prels")
    lines = [line.split() for line in Path("news.prels").read_text().splitlines()]
    assert len(lines) == 15
    assert sum(line[4] == "-1" for line in lines) == 15 - len(pooled)
    assert json.loads(Path("news.prels.manifest.json").read_text())["counts"]["drawn"] == len(pooled)
    [[run, xinfap, infndcg]] = fixture_runs.table("evaluate", "news.prels", "A.run", "-m", "xinfAP", "-m", "infNDCG")
    assert run == "A"
    assert 0 < float(xinfap) <= 1
    assert 0 < float(infndcg) <= 1
    [sentence] = fixture_runs.refused("qrels", "export", "news", "--format", "infap")
    assert sentence.startswith("The strata of version 1 were drawn at different rates, by which infAP is biased")


def test_without_a_sample_a_version_is_one_of_the_qrels(pooled: CommandLine) -> None:
    assert pooled.refused("qrels", "export", "news", "--version", "1") == ["There is no version 1 of these qrels."]
