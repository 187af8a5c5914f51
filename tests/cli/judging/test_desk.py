"""`annotator training` and `annotator questions`: what organisers do at the judge's desk."""

import json
from pathlib import Path

import pytest
from build import NOW, SLUG, member
from cli.command_line import CommandLine

from annotator.storage import Database
from annotator.workflows.collections import collection
from annotator.workflows.judging import judge_desk, questions, training_attempts

TRAINING = "1\ta\t2\tIt answers it.\n1\tb\t0\tIt is about dogs.\n"


@pytest.fixture
def trained(news: CommandLine) -> CommandLine:
    """The same with a training of two documents."""
    news.done("documents", "import", "news", "-", given="a\tTitle\tText of a.\nb\tTitle\tText of b.\n")
    Path("training.tsv").write_text(TRAINING)
    assert news.talk("training", "import", "news", "training.tsv") == "Documents added to the training: 2.\n"
    return news


def judged_training(database: Database, grades: list[int]) -> None:
    """Jo answers, and Kim does not."""
    with database.transaction() as session:
        jo = member(session, "jo")
        member(session, "kim")
        for grade in grades:
            task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
            assert task is not None
            training_attempts.answer_item(session, SLUG, jo, 1, task.item_id, grade, answered_at=NOW)


def test_a_training_is_imported_listed_and_cleared(trained: CommandLine) -> None:
    assert trained.table("training", "list", "news") == [
        ["1", "a", "2", "0", "0", "It", "answers", "it."],
        ["1", "b", "0", "0", "0", "It", "is", "about", "dogs."],
    ]
    assert trained.talk("training", "remove", "news") == "Documents taken out of the training: 2.\n"
    assert trained.table("training", "list", "news") == []


def test_the_results_show_who_passes(trained: CommandLine, sqlite_database: Database) -> None:
    judged_training(sqlite_database, [2, 1])
    assert trained.talk("training", "set", "news", "--pass-mark", "50").startswith("The pass mark is 50 %.\n")
    assert trained.table("training", "results", "list", "news") == [
        ["jo", "1", "2", "2", "1", "passed", "2026-03-01T09:00Z"],
        ["kim", "-", "-", "-", "-", "not", "begun", "-"],
    ]
    trained.done("training", "set", "news", "--pass-mark", "51")
    assert "not passed" in trained.done("training", "results", "list", "news")
    assert trained.talk("training", "set", "news", "--pass-mark", "none").startswith("No training is asked for.\n")
    assert "finished" in trained.done("training", "results", "list", "news")
    [said] = trained.refused("training", "remove", "news")
    assert said == "Judges have answered in this training: confirm that their answers are deleted, too."
    trained.done("training", "remove", "news", "--with-answers")
    assert trained.table("training", "results", "list", "news")[0][-3:] == ["not", "begun", "-"]


def test_a_file_with_problems_is_refused_line_by_line(trained: CommandLine) -> None:
    Path("bad.tsv").write_text("1\ta\t2\n7\ta\t9\nwhat\n")
    assert trained.refused("training", "import", "news", "bad.tsv") == [
        "bad.tsv:1: Document a of topic 1 is in the training already.",
        "bad.tsv:2: The collection has no topic 7.",
        "bad.tsv:2: The grade 9 is not in the scale of the collection, which has 0, 1, 2.",
        "bad.tsv:3: The line has one field between tabs; it needs topic, docno, grade and, optionally, an explanation.",
        "Nothing was stored. Problems found: 4.",
    ]


def test_mark_and_number_of_documents_are_set_together_or_one_by_one(trained: CommandLine) -> None:
    told = trained.talk("training", "set", "news", "--pass-mark", "80", "--per-attempt", "1")
    assert told == "The pass mark is 80 %.\nDocuments of an attempt: 1.\n"
    assert trained.talk("training", "set", "news", "--per-attempt", "all").startswith("The pass mark is 80 %.")


@pytest.mark.parametrize("mark", ["101", "999"])
def test_a_pass_mark_beyond_a_hundred_is_refused(news: CommandLine, mark: str) -> None:
    assert news.refused("training", "set", "news", "--pass-mark", mark) == [
        f"A pass mark is a percentage from 0 to 100; {mark} is not."
    ]


def test_questions_are_listed_open_ones_first_and_answered(news: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        jo = member(session, "jo")
        for number, topic in ((1, "1"), (2, None)):
            questions.ask(session, SLUG, jo, f"How {number}?", client_id=f"q{number}", asked_at=NOW, topic=topic)
    assert news.talk("questions", "answer", "news", "1", "So.") == "Question 1 is answered.\n"
    assert news.table("questions", "list", "news") == [
        ["2", "jo", "-", "-", "-", "-", "2026-03-01T09:00Z", "How", "2?", "-", "no"],
        ["1", "jo", "-", "-", "1", "-", "2026-03-01T09:00Z", "How", "1?", "So.", "no"],
    ]
    news.talk("questions", "answer", "news", "1", "So.", "--public")
    assert [row[-1] for row in news.table("questions", "list", "news")] == ["no", "yes"]
    assert news.refused("questions", "answer", "news", "2", "So.", "--public") == [
        "Only the answer to a question about a topic can be shown to all judges of the topic."
    ]
    assert [row[0] for row in news.table("questions", "list", "news", "--open")] == ["2"]
    assert news.refused("questions", "answer", "news", "9", "So.") == ["There is no question 9 in this collection."]


def test_clarifications_are_added_listed_and_removed(news: CommandLine) -> None:
    added = news.talk("clarifications", "add", "news", "1", "Kittens count.")
    assert added == "Clarification 1 is added: every judge of topic 1 will see it.\n"
    [row] = json.loads(news.done("clarifications", "list", "news", "--format", "json"))
    assert (row["number"], row["topic"], row["question"], row["text"], row["seen"]) == (
        *(1, "1", None),
        *("Kittens count.", 0),
    )
    assert news.refused("clarifications", "add", "news", "9", "x") == ["There is no topic “9” in this collection."]
    assert news.talk("clarifications", "remove", "news", "1") == "Clarification 1 is removed.\n"
    assert news.refused("clarifications", "remove", "news", "1") == ["There is no clarification 1 in this collection."]


def test_it_is_listed_who_has_accepted_the_guidelines(news: CommandLine, sqlite_database: Database) -> None:
    news.done("guidelines", "set", "news", "-", given="Be fair.")
    with sqlite_database.transaction() as session:
        member(session, "kim")
        collection.accept_guidelines(session, SLUG, member(session, "jo"), 1)
    assert news.table("guidelines", "acceptances", "list", "news") == [["jo", "1", "yes"], ["kim", "-", "no"]]
    news.done("guidelines", "set", "news", "-", given="Be fair and quick.")
    assert news.table("guidelines", "acceptances", "list", "news") == [["jo", "1", "no"], ["kim", "-", "no"]]


def test_the_notes_of_the_judges_are_listed_by_topic(news: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        jo = member(session, "jo")
        for topic in ("2", "1"):
            judge_desk.save_note(session, SLUG, topic, jo, f"Prices count in {topic}.", changed_at=NOW)
    sqlite_database.close()
    rows = json.loads(news.done("judgements", "notes", "list", "news", "--format", "json"))
    assert [(row["topic"], row["judge"], row["note"]) for row in rows] == [
        ("1", "jo", "Prices count in 1."),
        ("2", "jo", "Prices count in 2."),
    ]
