"""`annotator leaderboard show --estimate`: the table, its files, and options that do not belong together."""

import csv
import io
import json

import pytest
from cli.command_line import CommandLine
from sampled_news import DOCNOS, draw, judge, sampled_news

from annotator.storage import Database


@pytest.fixture
def estimated(annotator: CommandLine) -> CommandLine:
    database = Database(annotator.url)
    with database.transaction() as session:
        sampled_news(session)
        draw(session, 50)
        judge(session, [(topic, docno) for topic in ("1", "2") for docno in DOCNOS[::-1]])
    database.close()
    return annotator


def test_the_table_has_intervals_people_and_the_machine(estimated: CommandLine) -> None:
    result = estimated("leaderboard", "show", "news", "--estimate", "-m", "P@10", "--baseline", "beta")
    assert result.exit_code == 0
    heading = result.stdout.splitlines()[0]
    for column in ("ESTIMATE", "LOW IN ALL", "BY DRAW", "OUTSIDE", "LETTERS", "PEOPLE", "MACHINE", "P HOLM"):
        assert column in heading
    assert "P@10, estimated from people's judgements and the labels of llm; topics: 2." in result.stderr
    assert "MACHINE: by its labels alone, as biased as they are." in result.stderr


def test_people_alone_and_pairs(estimated: CommandLine) -> None:
    alone = estimated.done("leaderboard", "show", "news", "--estimate", "--no-machine", "--format", "csv")
    assert "machine" not in next(csv.reader(io.StringIO(alone)))
    pairs = estimated.done("leaderboard", "show", "news", "--estimate", "--by", "pairs", "--format", "csv")
    assert next(csv.reader(io.StringIO(pairs))) == ["first", "second", "difference", "low", "high", "p", "p_holm"]
    whole = json.loads(estimated.done("leaderboard", "show", "news", "--estimate", "--format", "json"))
    assert (whole["machine"], len(whole["runs"]), len(whole["pairs"])) == ("llm", 2, 1)
    several = json.loads(
        estimated.done("leaderboard", "show", "news", "--estimate", "-m", "P@5", "-m", "AP", "--format", "json")
    )
    assert [one["measure"] for one in several] == ["P@5", "AP"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--machine", "llm"), "--machine, --no-machine and --by go with --estimate."),
        (("--estimate", "--machine", "llm", "--no-machine"), "Give --machine or --no-machine, not both."),
        (("--estimate", "--by-topic"), "--estimate does not go with --by-topic."),
        (("--estimate", "--qrels", "1"), "--estimate does not go with --qrels."),
        (("--estimate", "--format", "latex"), "Estimates are shown as table, csv, json, not as latex."),
    ],
)
def test_options_that_do_not_belong_together_are_refused(
    annotator: CommandLine, options: tuple[str, ...], message: str
) -> None:
    result = annotator("leaderboard", "show", "news", *options)
    assert (result.exit_code, message in result.stderr) == (2, True)
