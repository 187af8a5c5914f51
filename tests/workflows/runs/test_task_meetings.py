"""Tasks and what else is done in a collection: pools, deletion of topics, archives."""

import pytest
from build import NOW, SLUG, labels, news, pool, run_text, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import DeletedKind
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.restoring import restore_deletion
from annotator.workflows.pools import pools
from annotator.workflows.qrels import qrels
from annotator.workflows.runs import run_upload, runs, tasks
from annotator.workflows.runs.tasks import TaskFields

BY_COMMAND = Actor(Door.COMMAND, "ola")


def filled(session: Session) -> None:
    """Two tasks of a topic each, with a run each."""
    news(session)
    topic_file(session)
    for key, topic in (("one", "1"), ("two", "2")):
        tasks.add_task(session, SLUG, key, TaskFields(key, topics=(topic,)), at=NOW)
        given = [InputFile(f"{key}.run", run_text(f"of-{key}", {topic: ["a", key]}))]
        details = RunDetails(task=key)
        checked = run_upload.check_each_run(
            session, SLUG, given, sender=Sender(None, organises=True), unpacked_limit=1 << 20, shared=details
        )
        assert [run.warnings for run in checked.runs] == [()]
        run_upload.store_runs(session, SLUG, checked.runs, details=details, uploaded_by_id=None, uploaded_at=NOW)


def test_runs_of_several_tasks_are_pooled_together_without_a_word_about_topics_of_others(session: Session) -> None:
    filled(session)
    pool(session)
    assert {one.number: one.items for one in pools.pool_progress(session, SLUG)} == {"1": 2, "2": 2}
    assert [run.warnings for run in runs.list_runs(session, SLUG)] == [0, 0]


def test_a_topic_that_was_deleted_comes_back_into_its_task(session: Session) -> None:
    filled(session)
    tasks.add_task(session, SLUG, "third", TaskFields("third", topics=("1", "2")), at=NOW)
    number, _ = delete_it(session, SLUG, DeletedKind.TOPIC, ["1"], typed=None, actor=BY_COMMAND, at=NOW)
    assert tasks.topics_in_task(session, SLUG, "third") == ["2"]
    restore_deletion(session, SLUG, number, at=NOW)
    assert tasks.topics_in_task(session, SLUG, "third") == ["1", "2"]


def test_a_topic_comes_back_without_a_task_that_was_removed(session: Session) -> None:
    filled(session)
    pool(session)
    labels(session, "jo", "1 0 a 1\n")
    tasks.add_task(session, SLUG, "third", TaskFields("third", topics=("1", "2")), at=NOW)
    number, _ = delete_it(session, SLUG, DeletedKind.TOPIC, ["1"], typed="1", actor=BY_COMMAND, at=NOW)
    tasks.remove_task(session, SLUG, "third")
    restore_deletion(session, SLUG, number, at=NOW)
    assert tasks.topics_in_task(session, SLUG, "one") == ["1"]
    assert qrels.export_qrels(session, SLUG, made_at=NOW).qrels.decode().splitlines() == ["1 0 a 1"]


def test_a_task_that_has_every_topic_by_then_keeps_every_topic(session: Session) -> None:
    filled(session)
    number, _ = delete_it(session, SLUG, DeletedKind.TOPIC, ["1"], typed=None, actor=BY_COMMAND, at=NOW)
    tasks.change_task(session, SLUG, "one", {"topics": None})
    restore_deletion(session, SLUG, number, at=NOW)
    assert tasks.show_task(session, SLUG, "one").fields.topics is None
    assert tasks.topics_in_task(session, SLUG, "one") == ["1", "2"]


def test_a_topic_comes_back_only_while_its_runs_have_tasks_with_it(session: Session) -> None:
    filled(session)
    pool(session)
    tasks.add_task(session, SLUG, "both", TaskFields("both"), at=NOW)
    given = [InputFile("wide.run", run_text("wide", {"1": ["a"], "2": ["b"]}))]
    details = RunDetails(task="both")
    checked = run_upload.check_each_run(
        session, SLUG, given, sender=Sender(None, organises=True), unpacked_limit=1 << 20, shared=details
    )
    run_upload.store_runs(session, SLUG, checked.runs, details=details, uploaded_by_id=None, uploaded_at=NOW)
    number, _ = delete_it(session, SLUG, DeletedKind.TOPIC, ["2"], typed=None, actor=BY_COMMAND, at=NOW)
    runs.change_run(session, SLUG, "wide", details=RunDetails(task="one"), at=NOW)
    with pytest.raises(ConflictError, match=r"Runs, each with its task: wide \(one\)\.$"):
        restore_deletion(session, SLUG, number, at=NOW)
    assert list(topic_ids(session, find_collection(session, SLUG).id)) == ["1"]
    runs.change_run(session, SLUG, "wide", details=RunDetails(task="both"), at=NOW)
    tasks.change_task(session, SLUG, "both", {"topics": ("1",)})
    with pytest.raises(ConflictError, match=r"wide \(both\)"):
        restore_deletion(session, SLUG, number, at=NOW)
    tasks.change_task(session, SLUG, "both", {"topics": None})
    restore_deletion(session, SLUG, number, at=NOW)
    assert {run.tag: (run.task, run.topics) for run in runs.list_runs(session, SLUG)} == {
        "of-one": ("one", 1),
        "of-two": ("two", 1),
        "wide": ("both", 2),
    }
