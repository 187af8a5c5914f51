"""Questionnaires of tasks: a run is asked what its task asks, or else what the collection asks."""

import pytest
from build import NOW, SLUG, member, news, run, run_text, topic_file

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.runs.questionnaires import RunQuestion
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Database, Role
from annotator.storage.collections.audit import Actor
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.runs import questionnaires, run_upload, tasks
from annotator.workflows.runs.run_upload import Submission
from annotator.workflows.runs.tasks import TaskFields

MODEL = RunQuestion("model", "Which model?", required=True)
LENGTH = RunQuestion("length", "How long are the passages?", required=True)
RED = Sender("red", organises=False)


def ask(database: Database, *questions: RunQuestion, task: str | None = None, after: int | None = None) -> int:
    with database.transaction() as session:
        return questionnaires.set_questionnaire(
            session, SLUG, questions, made_by_id=None, at=NOW, task=task, after=after
        ).number


@pytest.fixture
def pat(database: Database) -> int:
    """A participant, where the collection asks for the model, and one of its two tasks for the length."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "before", {"1": ["a"]}, team="red")
        for key in ("documents", "passages"):
            tasks.add_task(session, SLUG, key, TaskFields(key), at=NOW)
        pat = member(session, "pat", Role.PARTICIPANT, team="red")
    assert (ask(database, MODEL), ask(database, LENGTH, task="passages")) == (1, 2)
    return pat


def send(
    database: Database,
    user: int,
    tag: str,
    task: str,
    answers: dict[str, object],
    *more: InputFile,
    version: int | None = None,
) -> None:
    run_upload.upload(
        database,
        SLUG,
        [InputFile(f"{tag}.txt", run_text(tag, {"1": ["a"], "2": ["b"]})), *more],
        Submission(RED, RunDetails("red", task=task), answers=answers, asked=version, asked_task=task),
        actor=Actor(Door.PAGE, "pat", user),
        at=NOW,
        noted_at=NOW,
        unpacked_limit=1 << 20,
    )


def answers(database: Database, tag: str) -> tuple[int, dict[str, str], tuple[str, ...]]:
    found = database.read(questionnaires.show_answers, SLUG, tag)
    return found.asked.number, dict(found.answers), found.missing


def test_a_run_is_asked_what_its_task_asks(database: Database, pat: int) -> None:
    send(database, pat, "d", "documents", {"model": "BM25"})
    send(database, pat, "p", "passages", {"length": "50 words"})
    assert answers(database, "d") == (1, {"model": "BM25"}, ())
    assert answers(database, "p") == (2, {"length": "50 words"}, ())
    assert answers(database, "before") == (1, {}, ("model",))
    with pytest.raises(InvalidValueError, match="The questionnaire of the task passages needs an answer to “length”"):
        send(database, pat, "q", "passages", {})
    with pytest.raises(InvalidValueError, match="model"):
        send(database, pat, "q", "passages", {"model": "BM25", "length": "50 words"})


def test_runs_of_several_tasks_are_answered_together_each_for_itself(database: Database, pat: int) -> None:
    table = InputFile("m.csv", b"tag,task\nd,documents\np,passages\n")
    other = InputFile("p.txt", run_text("p", {"1": ["c"], "2": ["b"]}))
    send(database, pat, "d", "documents", {"model": "BM25", "length": "50 words"}, other, table)
    assert answers(database, "d") == (1, {"model": "BM25"}, ())
    assert answers(database, "p") == (2, {"length": "50 words"}, ())


def test_answers_to_an_older_version_of_the_task_are_refused(database: Database, pat: int) -> None:
    send(database, pat, "p", "passages", {"length": "50 words"}, version=2)
    assert ask(database, RunQuestion("length", "How short?", required=True), task="passages", after=2) == 3
    with pytest.raises(ConflictError, match="has changed since"):
        send(database, pat, "q", "passages", {"length": "50 words"}, version=2)
    assert answers(database, "p") == (3, {}, ("length",))
    # What the collection asks stays as it is.
    send(database, pat, "d", "documents", {"model": "BM25"}, version=1)


def test_versions_count_on_through_the_collection_and_each_list_has_its_own(database: Database, pat: int) -> None:
    del pat
    assert ask(database, MODEL, LENGTH) == 3
    assert ask(database, LENGTH, task="passages") == 2  # nothing changed
    shown = {
        task: database.read(questionnaires.show_questionnaire, SLUG, task).number
        for task in (None, "documents", "passages")
    }
    assert shown == {None: 3, "documents": 3, "passages": 2}
    with pytest.raises(NotFoundError, match="There are: documents, passages"):
        database.read(questionnaires.show_questionnaire, SLUG, "dox")


def test_answers_of_all_tasks_are_exported(database: Database, pat: int) -> None:
    send(database, pat, "d", "documents", {"model": "BM25"})
    send(database, pat, "p", "passages", {"length": "50 words"})
    lines = database.read(questionnaires.answers_csv, SLUG).splitlines()
    assert lines[0] == '"run","team","file","complete","model","length"'
    assert '"d","red","1","yes","BM25",""' in lines
    assert '"p","red","1","yes","","50 words"' in lines
    assert "How long" in database.read(questionnaires.every_answer_csv, SLUG)


def test_a_task_with_a_questionnaire_stays_and_the_next_collection_has_it(database: Database, pat: int) -> None:
    del pat
    with pytest.raises(ConflictError, match="Versions: 1"), database.transaction() as session:
        tasks.remove_task(session, SLUG, "passages")
    with database.transaction() as session:
        tasks.change_task(session, SLUG, "passages", {"topics": ("1",)})
        copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW)
    with database.reading() as session:
        shown = [questionnaires.show_questionnaire(session, "next", task) for task in (None, "documents", "passages")]
        assert [one.questions for one in shown] == [(MODEL,), (MODEL,), (LENGTH,)]
        copied = {task.key: task.fields.topics for task in tasks.list_tasks(session, "next")}
    assert copied == {"documents": None, "passages": ()}
