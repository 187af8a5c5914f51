"""`annotator leaderboard run`, `topic` and `topics`: the detail behind the scores."""

import csv
import json

import pytest
from cli.command_line import CommandLine

# Of topic 1 a and d are relevant and c is unjudged; of topic 2 e is, and a is unjudged.
QRELS = "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n"
WRONG_USAGE = 2
RUN = ("leaderboard", "run", "show", "news", "alpha")
TOPIC = ("leaderboard", "topic", "show", "news", "1")
TOPICS = ("leaderboard", "topics", "list", "news")


@pytest.fixture
def judged(pooled: CommandLine) -> CommandLine:
    """Alpha returned a b c and a, beta d b a and e."""
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=QRELS)
    return pooled


def test_a_run_is_shown_topic_by_topic(judged: CommandLine) -> None:
    assert judged.table(*RUN, "-m", "P@1") == [
        ["1", "1.0000", "1.0000", "1.0000", "1.0000", "1", "1"],
        ["2", "0.0000", "0.5000", "1.0000", "0.0000", "2", "1"],
    ]
    assert judged.talk(*RUN).startswith(
        "Qrels: live settled by adjudicated-else-majority-first, 4 grades, fingerprint "
    )


def test_the_ranking_of_a_topic_has_its_grades(judged: CommandLine) -> None:
    assert judged.table(*RUN, "--by", "documents", "--topic", "1") == [
        ["1", "1", "a", "2"],
        ["1", "2", "b", "0"],
        ["1", "3", "c", "-"],
    ]
    assert len(judged.table(*RUN, "--by", "documents", "--topic", "1", "--top", "1")) == 1


def test_a_topic_is_shown_with_its_runs_and_documents(judged: CommandLine) -> None:
    # AP of alpha is 1/2 and of beta (1 + 2/3)/2.
    assert judged.table(*TOPIC, "-m", "AP") == [
        ["1", "1", "beta", "beta", "0.8333", "1.0000"],
        ["1", "2", "alpha", "alpha", "0.5000", "0.6667"],
    ]
    found = list(csv.DictReader(judged.done(*TOPIC, "--by", "documents", "--format", "csv").splitlines()))
    assert {one["docno"]: (one["grade"], one["runs"]) for one in found} == {
        "a": ("2", "alpha beta"),
        "d": ("1", "beta"),
    }
    shallow = json.loads(judged.done(*TOPIC, "--depth", "1", "--format", "json"))
    assert {one["docno"]: one["runs"] for one in shallow["documents"]} == {"a": "alpha", "d": "beta"}


def test_topics_are_listed_hardest_first_by_each_measure(judged: CommandLine) -> None:
    assert [row[0] for row in judged.table(*TOPICS, "-m", "P@1")] == ["2", "1"]
    by_two = json.loads(judged.done(*TOPICS, "-m", "P@1", "-m", "AP", "--format", "json"))
    assert [one["measure"] for one in by_two] == ["P@1", "AP"]
    assert {(one["topic"], one["run"]): one["value"] for one in by_two[0]["scores"]} == {
        ("1", "alpha"): 1,
        ("1", "beta"): 1,
        ("2", "alpha"): 0,
        ("2", "beta"): 1,
    }


def test_what_does_not_fit_is_refused(judged: CommandLine) -> None:
    assert "There is no run “gamma”" in judged.refused("leaderboard", "run", "show", "news", "gamma")[0]
    assert "Topic “9” is not scored" in judged.refused("leaderboard", "topic", "show", "news", "9")[0]
    assert judged(*RUN, "--topic", "1", "--topic", "2").exit_code == WRONG_USAGE
    assert judged(*RUN, "--policy", "majority", "--judge", "nist").exit_code == WRONG_USAGE
