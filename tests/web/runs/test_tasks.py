"""The pages of tasks: organisers write them, participants see them and send runs to one of them."""

import re

import pytest
from build import NOW, SLUG, run_text
from sqlalchemy import update
from visiting import Visit, Visitor, file, words

from annotator.storage import Collection, Database
from annotator.workflows.runs import questionnaires, runs, tasks

GAMMA = run_text("gamma", {"1": ["a", "b"]})
BOTH = run_text("both", {"1": ["a", "b"], "2": ["c"]})


def add(ola: Visitor, news: str, key: str, **fields: str) -> str:
    answer = ola.post(f"{news}/tasks", key=key, **{"title": f"Title of {key}", **fields})
    return "" if answer.status_code == 303 else words(answer)


@pytest.fixture
def ola(visit: Visit, news: str) -> Visitor:
    """The organiser, who has added a task of topic 1 and one of every topic."""
    ola = visit("ola")
    assert add(ola, news, "first", topics="1\r\n", most_runs="1", description="Only <cats>.") == ""
    assert add(ola, news, "every", every_topic="y", formats="trec") == ""
    return ola


def tasks_of_runs(database: Database) -> dict[str, str | None]:
    with database.reading() as session:
        return {run.tag: run.task for run in runs.list_runs(session, SLUG)}


def test_tasks_are_listed_changed_and_removed(ola: Visitor, news: str, database: Database) -> None:
    page = words(ola.get(f"{news}/tasks"))
    assert "Tasks: 2" in page
    assert "first Title of first 1 any 1,000 1 0" in page
    assert "every Title of every 2 trec 1,000 no limit 0" in page
    form = ola.get(f"{news}/tasks/first").text
    assert re.search(r'<textarea[^>]*name="topics"[^>]*>\s*1</textarea>', form)
    saved = ola.post(f"{news}/tasks/first", title="Cats", topics="1 2", most_runs="")
    assert saved.status_code == 303
    view = database.read(tasks.show_task, SLUG, "first")
    assert (view.title, view.fields.topics, view.fields.most_runs) == ("Cats", ("1", "2"), None)
    asked = ola.post(f"{news}/tasks/every/remove")
    assert "Remove the task every?" in words(asked)
    assert ola.post(f"{news}/tasks/every/remove", confirmed="y").status_code == 303
    assert list(database.read(tasks.task_titles, SLUG)) == ["first"]


def test_a_task_that_cannot_be_is_refused_beside_its_form(ola: Visitor, news: str) -> None:
    assert "There is a task “first” already." in add(ola, news, "first", every_topic="y")
    assert "A task has at least one topic." in add(ola, news, "new")
    assert "The collection has no such topics: 9." in add(ola, news, "new", topics="1 9")
    assert "Write a whole number." in add(ola, news, "new", every_topic="y", most_runs="many")
    wrong = ola.post(f"{news}/tasks/first", title="Cats", topics="9")
    assert (wrong.status_code, "no such topics: 9" in words(wrong)) == (422, True)


def test_participants_see_the_tasks_and_send_runs_to_one(
    visit: Visit, ola: Visitor, news: str, database: Database
) -> None:
    pat = visit("pat")
    page = pat.get(f"{news}/runs")
    assert "Only &lt;cats&gt;." in page.text
    assert "Title of first Send runs to it first" in words(page)
    assert pat.get(f"{news}/tasks/first/topics.txt").text == "1\n"
    refused = pat.post(f"{news}/runs", files=file("g.txt", GAMMA))
    assert "Name the task of this run. There are: first, every." in words(refused)
    refused = pat.post(f"{news}/runs", files=file("b.txt", BOTH), task="first")
    assert "The task first has no topic 2." in words(refused)
    stored = pat.post(f"{news}/runs", files=file("g.txt", GAMMA), task="first")
    assert stored.status_code == 303
    assert "Task first" in words(pat.get(stored.location))
    assert tasks_of_runs(database) == {"alpha": None, "beta": None, "gamma": "first"}
    assert "gamma first" in words(pat.get(f"{news}/runs"))
    assert "Task Title of first ( first )" in words(pat.get(f"{news}/runs/run?tag=gamma"))
    assert "gamma red first" in words(ola.get(f"{news}/runs"))


def test_a_participant_changes_no_task_and_an_organiser_does(
    visit: Visit, ola: Visitor, news: str, database: Database
) -> None:
    pat, details = visit("pat"), {"run_type": "manual", "priority": "1"}
    pat.post(f"{news}/runs", files=file("g.txt", GAMMA), task="first")
    address = f"{news}/runs/run?tag=gamma"
    assert 'name="task"' not in pat.get(address).text
    assert pat.post(address, task="every", **details).status_code == 303
    assert tasks_of_runs(database)["gamma"] == "first"
    assert ola.post(address, task="every", **details).status_code == 303
    assert tasks_of_runs(database)["gamma"] == "every"
    refused = ola.post(f"{news}/runs/run?tag=alpha", task="first", **details)
    assert (refused.status_code, "does not have: 2" in words(refused)) == (409, True)


def test_a_run_keeps_a_task_on_its_page(ola: Visitor, news: str, database: Database) -> None:
    details = {"run_type": "manual", "priority": "1"}
    assert ola.post(f"{news}/runs/run?tag=alpha", task="every", **details).status_code == 303
    refused = ola.post(f"{news}/runs/run?tag=alpha", task="", **details)
    assert (refused.status_code, "no run loses its task" in words(refused)) == (422, True)
    assert tasks_of_runs(database)["alpha"] == "every"


def test_what_changes_released_scores_is_confirmed(ola: Visitor, news: str, database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(scores_released_at=NOW))
    address, topics = f"{news}/tasks/first", {"title": "Cats", "topics": "1 2"}
    assert ola.post(address, title="Cats", topics="1").status_code == 303
    asked = words(ola.post(address, **topics))
    assert "Change the topics of the task first? Scores are released. They change at once" in asked
    assert database.read(tasks.show_task, SLUG, "first").fields.topics == ("1",)
    assert ola.post(address, **topics, confirmed="y").status_code == 303
    assert database.read(tasks.show_task, SLUG, "first").fields.topics == ("1", "2")
    assert ola.post(address, title="Cats", topics="9").status_code == 422

    address, details = f"{news}/runs/run?tag=alpha", {"run_type": "manual", "priority": "1", "task": "every"}
    assert "Change the task of the run alpha?" in words(ola.post(address, **details))
    assert tasks_of_runs(database)["alpha"] is None
    assert ola.post(address, **details, confirmed="y").status_code == 303
    assert tasks_of_runs(database)["alpha"] == "every"
    assert ola.post(address, **details).status_code == 303


def test_the_task_of_a_checked_file_is_chosen_in_its_row(
    visit: Visit, ola: Visitor, news: str, database: Database
) -> None:
    del ola
    pat = visit("pat")
    page = pat.post(f"{news}/runs/check", files=file("g.txt", GAMMA))
    assert "Name the task of this run" in words(page)
    found = re.search(r'data-at="([^"]+)"', page.text)
    assert found is not None
    row = {"0-use": "y", "0-tag": "gamma", "0-run_type": "", "0-priority": "", "0-task": "first"}
    assert pat.post(found[1], **row).status_code == 303
    assert tasks_of_runs(database)["gamma"] == "first"


def test_a_collection_without_tasks_shows_none(visit: Visit, news: str) -> None:
    ola = visit("ola")
    for page in ("runs", "runs/run?tag=alpha", "runs/receipt?tag=alpha", "runs/fetch"):
        assert not re.search(r'>Task<|name="task"', ola.get(f"{news}/{page}").text)
    checked = ola.post(f"{news}/runs/check", files=file("b.txt", BOTH))
    assert 'name="0-task"' not in checked.text


def test_each_task_asks_its_own_questions_on_the_page_and_in_the_form(
    visit: Visit, ola: Visitor, news: str, database: Database
) -> None:
    question = {"question-0-key": "length", "question-0-text": "How long?", "question-0-kind": "text"}
    saved = ola.post(f"{news}/questionnaire?task=first", after="0", **question, **{"question-0-required": "y"})
    assert saved.status_code == 303
    assert "How long?" in ola.get(f"{news}/questionnaire?task=first").text
    assert "How long?" not in ola.get(f"{news}/questionnaire").text
    pat = visit("pat")
    assert "How long?" not in pat.get(f"{news}/runs").text
    assert "How long?" in pat.get(f"{news}/runs?task=first").text
    # Chosen in the form that showed no questions.
    refused = pat.post(f"{news}/runs", files=file("g.txt", GAMMA), task="first", questionnaire_version="0")
    assert "The task that you chose asks other questions." in words(refused)
    assert "How long?" in refused.text
    seen = {"questionnaire_version": "1", "questionnaire_task": "first", "task": "first"}
    sent = pat.post(f"{news}/runs", files=file("g.txt", GAMMA), **seen, answer_length="5 words")
    assert sent.status_code == 303
    found = database.read(questionnaires.show_answers, SLUG, "gamma")
    assert (dict(found.answers), found.asked.number) == ({"length": "5 words"}, 1)
