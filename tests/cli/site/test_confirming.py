"""What a person at a terminal confirms first: closing a round, removing a member, withdrawing a run."""

import pytest
from build import NOW, SLUG, member
from cli.command_line import CommandLine, write_run
from kept import Kept
from sqlalchemy import update

from annotator.storage import Collection, Database, Role
from annotator.workflows.judging.judging import next_task

QUESTION = "\nGo on? [y/N]: "


@pytest.fixture
def typed(pooled: CommandLine, sqlite_database: Database, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Commands that a person types; jo has judged two documents of topic 1."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    monkeypatch.setattr("annotator.cli.site.options.at_terminal", lambda: True)
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n")


def asked(typed: CommandLine, *words: str) -> str:
    """The effect that a command shows; the answer is no."""
    answer = typed(*words, given="n\n")
    assert answer.exit_code == 1
    effect, question, rest = answer.stderr.partition(QUESTION)
    assert (question, rest.split()[-1]) == (QUESTION, "Aborted!")
    return effect


def test_a_round_is_closed_once_its_runs_and_grades_are_confirmed(typed: CommandLine) -> None:
    assert asked(typed, "rounds", "close", "news") == (
        "This closes round 1, which cannot be opened again: 2 runs. Grades that are kept: 2; documents that are not "
        "fully judged: 4. No runs are taken until the next round is open."
    )
    assert typed.talk("rounds", "list", "news").startswith("This collection has no rounds")
    assert typed.table("qrels", "list", "news") == []
    assert "Closed round 1" in typed.talk("rounds", "close", "news", given="y\n")


def test_a_member_is_removed_once_the_judgements_are_confirmed(typed: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        jo = member(session, "jo")
        assert next_task(session, SLUG, "1", jo, now=NOW) is not None
    sqlite_database.close()
    typed.done("assignments", "set", "news", "--topic", "2", "--judge", "jo")
    words = ("members", "remove", "news", "jo", "--role", "judge")
    assert asked(typed, *words) == (
        "This takes the role judge of news from jo. Documents that go back to the queue: 2; judgements that stay: 2. "
        "Topics of theirs that wait for another owner: 1."
    )
    assert [row[:2] for row in typed.table("members", "list", "news")] == [["jo", "judge"]]
    typed.done(*words, given="y\n")
    assert typed.table("members", "list", "news") == []


def test_an_observer_has_nothing_that_goes_back(typed: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        member(session, "oli", Role.OBSERVER)
    sqlite_database.close()
    effect = asked(typed, "members", "remove", "news", "oli", "--role", "observer")
    assert effect == "This takes the role observer of news from oli."


def test_a_run_is_withdrawn_once_what_it_gave_to_the_pool_is_confirmed(typed: CommandLine) -> None:
    assert asked(typed, "runs", "withdraw", "news", "alpha") == (
        "This withdraws the run alpha. Documents that it gave to the pool: 4, from it alone: 2; they stay there. "
        "`runs restore news alpha` lets it count again."
    )
    assert len(typed.table("runs", "list", "news")) == 2
    typed.done("runs", "withdraw", "news", "alpha", given="y\n")
    assert [row[0] for row in typed.table("runs", "list", "news")] == ["beta"]


def test_of_a_corrected_run_the_file_in_force_is_counted(typed: CommandLine) -> None:
    write_run("alpha", ["1 z"])
    typed.done("runs", "import", "news", "alpha.run", "--replace")
    typed.done("pool", "build", "news", "--depth", "10", "--yes")
    effect = asked(typed, "runs", "withdraw", "news", "alpha")
    assert "Documents that it gave to the pool: 1, from it alone: 1;" in effect


def test_what_changes_released_scores_of_tasks_is_confirmed(typed: CommandLine, sqlite_database: Database) -> None:
    typed.done("tasks", "add", "news", "one", "One", "--topics", "-", given="1\n")
    typed.done("tasks", "add", "news", "all", "All")
    topics = ("tasks", "set", "news", "one", "--every-topic")
    run = ("runs", "set", "news", "alpha", "--task", "all")
    with sqlite_database.transaction() as session:
        session.execute(update(Collection).values(scores_released_at=NOW))
    sqlite_database.close()
    begin = "Scores are released. They change at once: "
    assert asked(typed, *topics) == f"{begin}runs of the task are scored on other topics."
    assert asked(typed, *run) == f"{begin}the run is scored among those of the task."
    typed.done("tasks", "set", "news", "one", "--title", "Unasked")
    typed.done(*topics, given="y\n")
    assert typed.talk(*run, "--yes").splitlines()[-1] == "Changed the run alpha."
    assert typed.talk(*run) == "Changed the run alpha.\n"  # it has that task already
    assert [row[2] for row in typed.table("tasks", "list", "news")] == ["every", "every"]


def test_what_cannot_be_done_is_refused_and_not_asked(typed: CommandLine) -> None:
    for words, refusal in (
        (("runs", "withdraw", "news", "none"), "There is no run “none” in this collection."),
        (("members", "remove", "news", "jo", "--role", "judge"), "“jo” does not have the role judge."),
    ):
        assert typed.refused(*words) == [refusal]
    typed.done("rounds", "close", "news", "--yes")
    assert typed.refused("rounds", "close", "news") == ["Round 1 is closed already, and no other is open."]


@pytest.mark.parametrize("is_typed", [True, False])
def test_with_yes_and_off_a_terminal_nothing_is_asked(
    pooled: CommandLine, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, *, is_typed: bool
) -> None:
    with sqlite_database.transaction() as session:
        member(session, "jo")
    sqlite_database.close()
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 2\n")
    monkeypatch.setattr("annotator.cli.site.options.at_terminal", lambda: is_typed)
    yes = ("--yes",) if is_typed else ()
    for words in (
        ("rounds", "close", "news"),
        ("members", "remove", "news", "jo", "--role", "judge"),
        ("runs", "withdraw", "news", "beta"),
    ):
        assert "Go on?" not in pooled.talk(*words, *yes)
