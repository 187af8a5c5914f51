"""`annotator adjudication show`, and the role it needs."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted
from sqlalchemy import select

from annotator.storage import Database, User
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.leases import Decision
from annotator.workflows.judging import judging, recording

IGNORED = (
    "The consensus policy of news, majority, hears an adjudicator like any judge, or not at all; choose one of "
    "adjudicated-else-… if their word is to decide.\n"
)


@pytest.fixture
def disputed(pooled: CommandLine, sqlite_database: Database) -> CommandLine:
    """Two documents of topic 1 and one of topic 2 in dispute; eve, an adjudicator, has decided one of topic 1."""
    for name, labels in (("ann", "1 0 a 0\n1 0 b 2\n2 0 e 1\n"), ("bob", "1 0 a 2\n1 0 b 0\n2 0 e 0\n")):
        Path(f"{name}.qrels").write_text(labels)
        pooled.done("judgements", "import", "news", f"{name}.qrels", "--judge", name)
    pooled.done("users", "add", "eve", given="correct horse\n")
    assert pooled.talk("members", "add", "news", "eve", "--role", "adjudicator") == "eve is now adjudicator of news.\n"
    with sqlite_database.transaction() as session:
        eve = session.scalars(select(User.id).where(User.name == "eve")).one()
        now = datetime.now(UTC)  # by which the command knows what is in hand
        task = judging.next_task(session, "news", "1", eve, now=now, queue=Queue.ADJUDICATION)
        assert task is not None
        decision = {"a": Decision(0), "b": Decision(0)}[task.docno]  # ann's grade of a, bob's of b
        recording.record_judgement(
            session,
            "news",
            task.assignment_id,
            eve,
            decision,
            client_id="x",
            judged_at=now,
            queue=Queue.ADJUDICATION,
        )
    sqlite_database.close()
    return pooled


def test_it_counts_by_topic_and_says_when_the_policy_does_not_listen(disputed: CommandLine) -> None:
    assert disputed.table("adjudication", "show", "news") == [["1", "1", "1", "1"], ["2", "1", "0", "0"]]
    disputed.done("collections", "set", "news", "--consensus", "majority")
    assert disputed.talk("adjudication", "show", "news") == IGNORED
    disputed.done("collections", "set", "news", "--consensus", "adjudicated-else-majority")
    assert disputed.talk("adjudication", "show", "news") == ""


def test_it_says_whose_grade_was_upheld(disputed: CommandLine) -> None:
    rows = disputed.table("adjudication", "show", "news", "--by", "judge")
    assert sorted(row[1:] for row in rows) == [["1", "0", "0.0000"], ["1", "1", "1.0000"]]
    assert [row[0] for row in rows] == ["ann", "bob"]


def test_all_of_it_as_json_and_a_table_as_csv(disputed: CommandLine) -> None:
    told = json.loads(disputed.done("adjudication", "show", "news", "--format", "json"))
    assert [topic["in_dispute"] for topic in told["topics"]] == [1, 1]
    assert {one["judge"] for one in told["judges"]} == {"ann", "bob"}
    assert (
        unquoted(disputed.done("adjudication", "show", "news", "--format", "csv")).splitlines()[0]
        == "topic,in_dispute,in_hands,decided"
    )


def test_without_disputes_the_table_is_empty(news: CommandLine) -> None:
    assert news.table("adjudication", "show", "news") == []
