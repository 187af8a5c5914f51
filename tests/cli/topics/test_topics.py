"""`annotator topics`: drafts, states, and the effect of dropping."""

import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine

STATE = 2


def states(shell: CommandLine) -> dict[str, str]:
    return {row[0]: row[STATE] for row in shell.table("topics", "list", "news")}


def test_a_topic_is_drafted_reworded_accepted_dropped_and_taken_up_again(news: CommandLine) -> None:
    news.done("topics", "add", "news", "3", "--title", "third", "--narrative", "All of it.")
    assert states(news) == {"1": "accepted", "2": "accepted", "3": "draft"}
    assert news.talk("topics", "set", "news", "3", "--title", "the third") == "Topic 3 has its new words.\n"
    assert news.talk("topics", "set", "news", "3", "--title", "the third") == "Topic 3 has these words.\n"
    assert news.talk("topics", "accept", "news", "3") == "Topics accepted: 1.\n"
    assert news.talk("topics", "drop", "news", "2", "3", "--reason", "Too broad.") == "Topics dropped: 2.\n"
    assert states(news) == {"1": "accepted", "2": "dropped", "3": "dropped"}
    assert "Too broad." in news.done("topics", "list", "news")
    assert news.talk("topics", "restore", "news", "3") == "Topics restored: 1.\n"
    given = [json.loads(line) for line in news.done("topics", "export", "news").splitlines()]
    assert [(one["number"], one["title"], one["narrative"]) for one in given] == [
        ("1", "first topic", ""),
        ("3", "the third", "All of it."),
    ]


def test_a_file_of_drafts_is_in_no_export(news: CommandLine) -> None:
    news.done("topics", "import", "news", "-", "--draft", given="3\tthird\n")
    assert states(news)["3"] == "draft"
    news.done("topics", "export", "news", "-o", "out.jsonl")
    assert len(Path("out.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "news", "1", "--title", "x"), "There is a topic “1” already."),
        (("accept", "news", "9"), "There is no topic “9” in this collection."),
        (("drop", "news", "1", "--reason", " "), "Give a reason for dropping the topic"),
        (("set", "news", "1", "--title", ""), "A topic needs a title."),
    ],
)
def test_what_cannot_be_is_refused(news: CommandLine, words: tuple[str, ...], sentence: str) -> None:
    [said] = news.refused("topics", *words)
    assert said.startswith(sentence)


def test_flags_show_the_leaderboard_without_the_flagged_topics(pooled: CommandLine) -> None:
    assert pooled.table("topics", "flags", "list", "news") == []
    # Topic 1: three of four relevant; topic 2: one of two.
    labels = "1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n"
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=labels)
    [first, second] = pooled.table("topics", "flags", "list", "news")
    assert first[:5] == ["1", "4", "4", "3", "0"]
    assert second[:5] == ["2", "2", "2", "1", "0"]
    nothing_left = "Without these topics there would be none left to average over."
    assert pooled.talk("topics", "flags", "list", "news") == f"{nothing_left}\n"
    assert pooled.refused("topics", "flags", "list", "news", "--topic", "1", "--topic", "2") == [nothing_left]
    result = pooled("topics", "flags", "list", "news", "-m", "P@1", "--topic", "2")
    shown = result.stdout.split("\n\n")
    # P@1: alpha a and a, 1 and 1; beta d and e, 1 and 0.
    assert [line.split() for line in shown[1].splitlines()[1:]] == [
        ["alpha", "1.0000", "1.0000", "1", "1", "no"],
        ["beta", "0.5000", "1.0000", "2", "1", "yes"],
    ]
    assert result.stderr.startswith("Without topics 2: 1 topics left; runs that change places: 1; Kendall's tau: none")
