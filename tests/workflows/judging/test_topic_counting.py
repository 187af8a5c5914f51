"""Counted progress of topics: whatever happens to a pool, what pages read is what counting everything would give."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage import Database, JudgingMode, PoolItem, Role, Topic, TopicCounts
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.checking import examine
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.leases import Decision
from annotator.storage.judging.topic_counts import Counts, count_topics, in_groups, topic_counts
from annotator.storage.people.accounts import find_user
from annotator.worker.refreshing import Refreshing
from annotator.workflows.agreement.machine_judges import mark_machine, mark_person
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.documents import documents
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import next_task
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.judging.topic_counting import count_changed_topics
from annotator.workflows.pools.pools import pool_progress
from annotator.workflows.topics.topic_editing import drop_topics, restore_topics

CHECK = "Topics whose counted progress is not that of their judgements"


@pytest.fixture
def pooled(database: Database) -> Database:
    """Topic 1 pools a b c, topic 2 a; two judgements are wanted of each."""
    with database.transaction() as session:
        news(session, judgements_wanted=2)
        topic_file(session)
        document_file(session, ["a", "b", "c"])
        run(session, "alpha", {"1": ["a", "b", "c"], "2": ["a"]})
        pool(session)
        for name in ("jo", "kim", "lee"):
            member(session, name, Role.JUDGE)
    return database


def read(database: Database) -> dict[str, Counts]:
    """What pages read, by topic number."""
    with database.reading() as session:
        id_ = find_collection(session, SLUG).id
        counts = topic_counts(session, id_)
        numbers = {id_: number for id_, number in session.execute(select(Topic.id, Topic.number))}
        assert counts == count_topics(session, list(counts), id_)
    return {numbers[topic]: one for topic, one in counts.items()}


def judge(session: Session, name: str, topic: str, grade: int = 1) -> str:
    """Judge the next document of a topic."""
    judge_id = find_user(session, name).id
    task = next_task(session, SLUG, topic, judge_id, now=NOW)
    assert task is not None
    act = Act(f"{name}-{topic}-{task.assignment_id}", task.assignment_id, Decision(grade), tab="t")
    record_acts(session, SLUG, judge_id, [act], received_at=NOW)
    return act.id


def withdraw(session: Session) -> None:
    id_ = judge(session, "lee", "2")
    judge_id = find_user(session, "lee").id
    assignment = int(id_.rsplit("-", 1)[1])
    act = Act("lee-away", assignment, None, tab="t", withdraws=id_)
    record_acts(session, SLUG, judge_id, [act], received_at=NOW + timedelta(minutes=1))


def same_texts(session: Session) -> None:
    """Give x and y one text, and pool them: only one of them is judged."""
    file = InputFile("documents.tsv", b"x\tTitle\tThe same.\ny\tTitle\tThe same.\n")
    documents.import_documents(session, SLUG, documents.read_documents([file], fields={}, unpacked_limit=1 << 20))
    run(session, "beta", {"1": ["x", "y"]})
    pool(session)
    judge(session, "jo", "1")


def a_machine(session: Session) -> None:
    labels(session, "lee", "1 0 b 1\n")
    mark_machine(session, "lee", MachineFacts("m"))


def a_person_again(session: Session) -> None:
    a_machine(session)
    mark_person(session, "lee")


def two_judgements(session: Session) -> None:
    for name in ("jo", "kim"):
        judge(session, name, "2")


def a_larger_pool(session: Session) -> None:
    run(session, "beta", {"2": ["b", "x"]})
    pool(session)


def a_topic_dropped_and_restored(session: Session) -> None:
    drop_topics(session, SLUG, ["2"], reason="Unclear.")
    labels(session, "lee", "1 0 b 1\n")
    restore_topics(session, SLUG, ["2"])


CHANGES: dict[str, Callable[[Session], object]] = {
    "a judgement": lambda session: judge(session, "jo", "1"),
    "two judgements": two_judgements,
    "a withdrawn judgement": withdraw,
    "imported labels": lambda session: labels(session, "lee", "1 0 b 1\n2 0 a 0\n"),
    "a machine": a_machine,
    "a person again": a_person_again,
    "one judgement wanted": lambda session: change_collection(session, SLUG, CollectionChange(judgements_wanted=1)),
    "overlap": lambda session: change_queue(session, SLUG, QueueChange(overlap_share=50)),
    "owners": lambda session: change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED)),
    "a larger pool": a_larger_pool,
    "equal texts": same_texts,
    "a dropped topic": lambda session: drop_topics(session, SLUG, ["2"], reason="Unclear."),
    "a topic dropped and restored": a_topic_dropped_and_restored,
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_read_after_a_change_is_what_is_true(pooled: Database, change: str) -> None:
    assert count_changed_topics(pooled)
    with pooled.transaction() as session:
        CHANGES[change](session)
    shown = read(pooled)
    count_changed_topics(pooled)
    assert read(pooled) == shown
    assert not count_changed_topics(pooled)
    assert [one for one in examine(pooled).findings if one.what == CHECK and one.count] == []


def test_a_topic_is_finished_when_all_items_have_what_they_want(pooled: Database) -> None:
    assert {number: one.is_finished for number, one in read(pooled).items()} == {"1": False, "2": False}
    with pooled.transaction() as session:
        for name in ("jo", "kim"):
            judge(session, name, "2")
    assert read(pooled) == {"1": Counts(3, 0, 0, 6), "2": Counts(1, 1, 1, 0)}
    assert read(pooled)["2"].is_finished
    with pooled.reading() as session:
        assert [(one.number, one.items, one.judged, one.remaining) for one in pool_progress(session, SLUG)] == [
            ("1", 3, 0, 6),
            ("2", 1, 1, 0),
        ]


def test_only_changed_topics_are_counted_again(pooled: Database) -> None:
    while count_changed_topics(pooled):
        pass
    with pooled.transaction() as session:
        session.execute(update(TopicCounts).values(items=99))  # which counting again would put right
        judge(session, "jo", "1")
    assert {number: one.items for number, one in read_unchecked(pooled).items()} == {"1": 3, "2": 99}
    [found] = [one for one in examine(pooled).findings if one.what == CHECK]
    assert found.count == 1
    count_changed_topics(pooled)
    assert {number: one.items for number, one in read_unchecked(pooled).items()} == {"1": 3, "2": 99}


def read_unchecked(database: Database) -> dict[str, Counts]:
    with database.reading() as session:
        numbers = {id_: number for id_, number in session.execute(select(Topic.id, Topic.number))}
        return {numbers[id_]: one for id_, one in topic_counts(session, find_collection(session, SLUG).id).items()}


def test_the_worker_looks_again_only_when_something_has_changed(pooled: Database) -> None:
    counting = Refreshing(pooled, count_changed_topics)
    while counting.step():
        pass
    with pooled.transaction() as session:
        session.execute(update(PoolItem).values(lot=PoolItem.lot))  # a change that no topic knows of
        judge(session, "jo", "1")
    assert counting.step()
    assert not counting.step()


def test_a_topic_without_a_pool_is_counted_once(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
    assert count_changed_topics(database)
    assert not count_changed_topics(database)
    with database.reading() as session:
        assert pool_progress(session, SLUG) == []


def test_topics_are_read_in_groups_of_about_so_many_items(pooled: Database) -> None:
    with pooled.reading() as session:
        topics = list(session.scalars(select(Topic.id).order_by(Topic.id)))
        assert list(in_groups(session, topics, 100)) == [topics]  # not counted yet
    count_changed_topics(pooled)
    with pooled.reading() as session:
        assert list(in_groups(session, topics, 4)) == [topics]
        assert list(in_groups(session, topics, 3)) == [[topics[0]], [topics[1]]]
        assert list(in_groups(session, [], 3)) == []
