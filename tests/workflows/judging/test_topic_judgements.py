"""Judgements packed by topic: whatever happens to a collection, what is read is what is stored."""

import itertools
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import numpy as np
import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.topic_judgements import (
    ADJUDICATES,
    CARRIED,
    CURRENT,
    NO_GRADE,
    OWN_TIME,
    REPLACES,
    SHOWN_AGAIN,
    JudgementColumns,
)
from annotator.files import InputFile
from annotator.storage import (
    Assignment,
    CannotJudge,
    Collection,
    Database,
    DatabaseEpoch,
    DeletedKind,
    Document,
    Judgement,
    PoolItem,
    Purpose,
    Role,
    Topic,
    TopicJudgements,
)
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.checking import examine
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.leases import Decision
from annotator.storage.judging.topic_judgements import PackedRow, packed_judgements, record_packed
from annotator.storage.people.accounts import find_user
from annotator.storage.tables.collections import Door
from annotator.workflows.agreement.machine_judges import mark_machine
from annotator.workflows.collections.collection import CollectionChange, change_collection, read_scale
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.restoring import restore_deletion
from annotator.workflows.documents import documents
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import next_task
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.judging.topic_counting import refresh_topics
from annotator.workflows.judging.topic_judgements import check_packed, pack_changed_topics, packed_now, read_judgements
from annotator.workflows.people.erasure import forget_user
from annotator.workflows.topics.topic_editing import drop_topics, restore_topics

LATER = NOW + timedelta(hours=2)


@pytest.fixture
def judged(database: Database) -> Database:
    """Topic 1 pools a b c, x and y of one text; topic 2 pools a; two judges differ on a of topic 1."""
    with database.transaction() as session:
        news(session, judgements_wanted=2)
        topic_file(session)
        document_file(session, ["c", "a", "b"])
        texts(session, "x\tTitle\tThe same.\ny\tTitle\tThe same.\n")
        run(session, "alpha", {"1": ["c", "a", "b", "x", "y"], "2": ["a"]})
        pool(session)
        labels(session, "ann", "1 0 a 2\n1 0 b 1\n1 0 x 1\n")
        labels(session, "bob", "1 0 a 0\n2 0 a 1\n")
        member(session, "lee")
    pack_all(database)
    return database


def texts(session: Session, lines: str, *, at: datetime | None = None) -> None:
    file = InputFile("documents.tsv", lines.encode())
    read = documents.read_documents([file], fields={}, unpacked_limit=1 << 20)
    documents.import_documents(session, SLUG, read, at=at)


def pack_all(database: Database) -> None:
    while pack_changed_topics(database):
        pass


Row = tuple[str | int | float | None, ...]


def plain_rows(session: Session) -> list[Row]:
    """What is stored, judgement by judgement, in the order of the columns."""
    rows = session.execute(
        select(Judgement, Topic.id, Document.docno, Document.id, Assignment.purpose)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(Topic.state == "accepted")
    ).all()
    withdrawn = {one.replaces_id for one, *_ in rows if one.cannot_judge == CannotJudge.WITHDRAWN}
    purpose_of = {one.id: purpose for one, *_, purpose in rows}
    listed = []
    for one, topic, docno, document, purpose in rows:
        if one.id in withdrawn or one.cannot_judge == CannotJudge.WITHDRAWN:
            continue
        key = (one.pool_item_id, one.judge_id)
        own = [other.id for other, *_ in rows if (other.pool_item_id, other.judge_id) == key]
        flags = {
            CURRENT: one.current,
            ADJUDICATES: purpose_of[one.carried_from_id or one.id] == Purpose.ADJUDICATION,
            CARRIED: one.carried_from_id is not None,
            OWN_TIME: not one.client_id.startswith("file-"),
            SHOWN_AGAIN: purpose == Purpose.RE_SHOWN,
            REPLACES: one.replaces_id is not None,
        }
        first = min(own) if one.replaces_id else one.id
        row = (one.id, topic, one.pool_item_id, document, one.judge_id, one.assignment_id)
        grade = NO_GRADE if one.grade is None else one.grade
        told = (docno, *row, grade, sum(flag for flag in flags if flags[flag]), one.seconds)
        listed.append(((topic, docno, first, one.id), told))
    return [row for _, row in sorted(listed)]


def rows_of(columns: JudgementColumns) -> list[Row]:
    numbers = (columns.id, columns.topic, columns.item, columns.document, columns.judge, columns.assignment)
    return list(
        zip(
            [columns.docnos[place].decode() for place in columns.place],
            *(column.tolist() for column in (*numbers, columns.grade, columns.flags)),
            [None if np.isnan(one) else one for one in columns.seconds.tolist()],
            strict=True,
        )
    )


def read(session: Session) -> JudgementColumns:
    return read_judgements(session, find_collection(session, SLUG).id)


def current_topics(session: Session) -> set[int]:
    return set(packed_judgements(session, Topic.collection_id == find_collection(session, SLUG).id))


SECONDS = itertools.count(3)


def judge(
    session: Session,
    topic: str = "1",
    *,
    name: str = "lee",
    grade: int | None = 1,
    queue: Queue = Queue.JUDGING,
    at: datetime = NOW,
) -> Act:
    """Judge the next document of a topic."""
    judge_id = find_user(session, name).id
    task = next_task(session, SLUG, topic, judge_id, now=at, queue=queue)
    assert task is not None
    cannot = None if grade is not None else CannotJudge.BROKEN
    decision = Decision(grade, cannot, seconds=next(SECONDS) / 2)
    act = Act(f"{name}-{task.assignment_id}", task.assignment_id, decision, tab="t")
    record_acts(session, SLUG, judge_id, [act], received_at=at, queue=queue)
    return act


def change_mind(session: Session) -> None:
    act = judge(session)
    again = Act("again", act.assignment_id, Decision(2, seconds=1.5), tab="t")
    record_acts(session, SLUG, find_user(session, "lee").id, [again], received_at=NOW + timedelta(minutes=1))


def withdraw(session: Session) -> None:
    act = judge(session)
    away = Act("away", act.assignment_id, None, tab="t", withdraws=act.id)
    record_acts(session, SLUG, find_user(session, "lee").id, [away], received_at=NOW + timedelta(minutes=1))


def adjudicate(session: Session) -> None:
    member(session, "ada", Role.ADJUDICATOR)
    judge(session, name="ada", queue=Queue.ADJUDICATION)


def adjudicate_equal_texts(session: Session) -> None:
    labels(session, "bob", "1 0 x 0\n", name="more")
    adjudicate(session)
    judge(session, name="ada", grade=2, queue=Queue.ADJUDICATION)


def show_again(session: Session) -> None:
    session.scalars(select(Collection)).one().reshow_share = 100
    judge(session, "2", grade=1)
    judge(session, "2", grade=0, at=NOW + timedelta(days=2))


def delete(session: Session, kind: DeletedKind, subject: str, typed: str | None = None) -> int:
    number, _ = delete_it(session, SLUG, kind, [subject], typed=typed, actor=Actor(Door.COMMAND, "ola"), at=LATER)
    return number


def delete_and_restore(session: Session, kind: DeletedKind, subject: str, typed: str | None = None) -> None:
    restore_deletion(session, SLUG, delete(session, kind, subject, typed), at=LATER)


def new_text(session: Session) -> None:
    texts(session, "x\tTitle\tAnother text.\n", at=LATER)


def requeue(session: Session) -> None:
    judge(session)
    texts(session, "".join(f"{docno}\tTitle\tNew text of {docno}.\n" for docno in "abcxy"), at=LATER)
    documents.requeue_changed(session, SLUG, at=LATER)


CHANGES: dict[str, Callable[[Session], object]] = {
    "nothing": lambda _: None,
    "a judgement": judge,
    "a refusal": lambda session: judge(session, grade=None),
    "another mind": change_mind,
    "a withdrawal": withdraw,
    "an adjudication": adjudicate,
    "a carried adjudication": adjudicate_equal_texts,
    "a second showing": show_again,
    "more labels": lambda session: labels(session, "ann", "1 0 c 0\n1 0 a 1\n", name="more.txt"),
    "labels deleted": lambda session: delete(session, DeletedKind.LABELS, "1"),
    "labels restored": lambda session: delete_and_restore(session, DeletedKind.LABELS, "1"),
    "documents deleted": lambda session: delete(session, DeletedKind.DOCUMENTS, "c"),
    "documents restored": lambda session: delete_and_restore(session, DeletedKind.DOCUMENTS, "c"),
    "a topic deleted": lambda session: delete(session, DeletedKind.TOPIC, "2", "2"),
    "a topic restored": lambda session: delete_and_restore(session, DeletedKind.TOPIC, "2", "2"),
    "a topic dropped": lambda session: drop_topics(session, SLUG, ["2"], reason="Unclear."),
    "an account erased": lambda session: forget_user(session, "ann"),
    "a machine": lambda session: mark_machine(session, "ann", MachineFacts("m")),
    "a longer scale": lambda session: change_collection(
        session, SLUG, CollectionChange(scale=read_scale("0=No,1=Little,2=Some,3=Much"))
    ),
    "a duplicate that differs now": new_text,
    "texts judged anew": requeue,
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_read_is_what_is_stored(judged: Database, change: str) -> None:
    with judged.transaction() as session:
        CHANGES[change](session)
    with judged.reading() as session:
        stored = plain_rows(session)
        assert rows_of(read(session)) == stored
    pack_all(judged)
    with judged.reading() as session:
        assert current_topics(session) == set(session.scalars(select(Topic.id).where(Topic.state == "accepted")))
        assert rows_of(read(session)) == stored
        assert check_packed(session).count == 0


def test_the_check_names_topics_whose_packed_judgements_differ(judged: Database) -> None:
    with judged.transaction() as session:
        second = session.scalars(select(Topic.id).where(Topic.number == "2")).one()
        session.execute(update(TopicJudgements).where(TopicJudgements.topic_id == second).values(docnos=b"b"))
    found = examine(judged, further=[check_packed]).wrong
    assert [(one.what, one.count) for one in found] == [
        ("Topics whose packed judgements are not those that are stored (news 2)", 1)
    ]
    with judged.transaction() as session:  # of another revision, they are not read
        labels(session, "ann", "2 0 a 0\n", name="more")
        assert check_packed(session).count == 0


def test_a_topic_dropped_and_restored_is_read_as_it_is_then(judged: Database) -> None:
    with judged.transaction() as session:
        drop_topics(session, SLUG, ["2"], reason="Unclear.")
        labels(session, "bob", "1 0 b 0\n", name="more")
    pack_all(judged)
    with judged.transaction() as session:
        restore_topics(session, SLUG, ["2"])
    with judged.reading() as session:
        assert rows_of(read(session)) == plain_rows(session)


def test_some_topics_and_columns_are_read_alone(judged: Database) -> None:
    with judged.reading() as session:
        collection_id = find_collection(session, SLUG).id
        second = session.scalars(select(Topic.id).where(Topic.number == "2")).one()
        assert set(read_judgements(session, collection_id, [second]).topic.tolist()) == {second}
        assert read_judgements(session, collection_id, []).id.size == 0
        few = read_judgements(session, collection_id, docnos=False, seconds=False)
        assert few.docnos == []
        assert (few.id.tolist(), bool(np.isnan(few.seconds).all())) == (read(session).id.tolist(), True)


def test_topics_without_judgements_are_packed_too(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
    pack_all(database)
    with database.reading() as session:
        assert len(current_topics(session)) == 2
        assert read(session).id.size == 0


def packed_while(database: Database, happens: Callable[[Session], object]) -> None:
    """Pack the changed topics, while this happens after they were read."""

    def read_and_go_on(session: Session, topics: Sequence[int]) -> dict[int, PackedRow]:
        packed = packed_now(session, topics)
        with database.transaction() as other:
            happens(other)
        return packed

    assert refresh_topics(database, TopicJudgements, read_and_go_on, record_packed)


@pytest.mark.parametrize(
    "happens",
    [
        lambda session: labels(session, "cid", "2 0 a 2\n"),
        lambda session: session.execute(update(DatabaseEpoch).values(value="of the database restored")),
        lambda session: delete(session, DeletedKind.TOPIC, "2", "2"),
    ],
    ids=["a judgement", "a restore", "a deletion"],
)
def test_what_was_read_before_another_change_is_not_recorded(
    judged: Database, happens: Callable[[Session], object]
) -> None:
    with judged.transaction() as session:
        labels(session, "ann", "2 0 a 0\n", name="more")
    packed_while(judged, happens)
    with judged.reading() as session:
        second = session.scalar(select(Topic.id).where(Topic.number == "2"))
        assert second not in current_topics(session)
        assert rows_of(read(session)) == plain_rows(session)


def test_a_topic_is_packed_by_two_workers_at_once(judged: Database) -> None:
    with judged.transaction() as session:
        labels(session, "ann", "2 0 a 0\n", name="more")
    packed_while(judged, lambda _: None)
    with judged.reading() as session:
        assert rows_of(read(session)) == plain_rows(session)
    assert not pack_changed_topics(judged)
