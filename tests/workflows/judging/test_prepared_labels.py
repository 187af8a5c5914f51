"""Labels made into rows before SQLite's lock come to what those that are made under it come to."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from build import NOW, SLUG, labels, member, pool, pooled_news, run, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import Kept
from queues import items_of, queue, retext, settle, take
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.errors import FileRefusedError
from annotator.files import InputFile
from annotator.storage import Assignment, Database, Document, Grade, Judgement, PoolItem, Role, Topic, User
from annotator.storage.collections.checking import examine
from annotator.storage.topics.revisions import revisions
from annotator.workflows.judging.judgement_import import (
    CheckedJudgements,
    JudgementImport,
    check_judgements,
    store_judgements,
)
from annotator.workflows.judging.judging import next_task
from annotator.workflows.qrels.qrels import export_qrels

LIMIT = 1 << 20
TEXT = "1 0 a 2\n1 0 b -1\n1 0 c 0\n2 0 e 1\n"


def check(session: Session, text: str = TEXT) -> CheckedJudgements:
    return check_judgements(session, SLUG, InputFile("labels.qrels", text.encode()), unpacked_limit=LIMIT)


def store(session: Session, checked: CheckedJudgements, judge: str = "zed") -> JudgementImport:
    return store_judgements(session, SLUG, checked, judge=judge, added_at=NOW)


def stored(session: Session) -> list[object]:
    """Everything that labels change, by names instead of ids."""
    assignments = (
        select(User.name, Topic.number, Document.docno, Assignment.state, Assignment.purpose, Assignment.drawn_at)
        .join(User, User.id == Assignment.judge_id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
    )
    columns = [getattr(Judgement, name) for name in ("client_id", "grade", "note", "cannot_judge", "judged_at", "tab")]
    columns += [getattr(Judgement, name) for name in ("received_at", "late", "current", "seconds", "sequence")]
    judgements = select(*columns, Judgement.carried_from_id.is_not(None), User.name, Document.docno, Topic.number)
    judgements = (
        judgements.join(User, User.id == Judgement.judge_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .where(PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
    )
    taken = select(PoolItem.id, PoolItem.taken).order_by(PoolItem.id)
    rows = [sorted(map(repr, session.execute(one))) for one in (assignments, judgements)]
    return [*rows, [tuple(row) for row in session.execute(taken)], revisions(session, 1)]


@given(
    grades=st.lists(st.sampled_from([None, -1, 0, 1, 2]), min_size=6, max_size=6),
    alike=st.booleans(),
    earlier=st.sampled_from(["", "1 0 d00001 1\n"]),
)
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_prepared_labels_store_what_other_labels_store(
    sqlite_database: Database, grades: list[int | None], *, alike: bool, earlier: str
) -> None:
    lines = [f"1 0 d{place:05} {grade}\n" for place, grade in enumerate(grades, 1) if grade is not None]
    with undone(sqlite_database) as session:
        [topic] = queue(session, 6)
        if alike:
            for item in items_of(session, topic)[1:4]:
                retext(session, item.id, "the same")
            settle(session, topic)
        if earlier:
            labels(session, "jo", earlier, name="earlier.qrels")
        checked = check(session, "".join(lines) or "1 0 d00001 -1\n")
        assert (checked.prepared is None) == (not [one for one in grades if one is not None and one >= 0])
        found = []
        for one in (checked, replace(checked, prepared=None)):
            with session.begin_nested() as before:
                result = store(session, one)
                session.flush()
                found.append((result, stored(session)))
                before.rollback()
            session.expire_all()
        assert found[0] == found[1]
        session.rollback()


def _pooled(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "zed", Role.JUDGE)


@pytest.fixture
def pooled(database: Database, kept: Kept) -> Database:
    kept.fill(database, _pooled)
    return database


def _draw(session: Session) -> None:
    zed = session.scalars(select(User.id).where(User.name == "zed")).one()
    assert next_task(session, SLUG, "1", zed, now=NOW) is not None


def _label(session: Session) -> None:
    labels(session, "zed", "1 0 a 1\n2 0 e 1\n", name="earlier.qrels")


def _grow(session: Session) -> None:
    run(session, "gamma", {"2": ["b", "c"]})
    pool(session)


def _nothing(_session: Session) -> None:
    pass


@pytest.mark.parametrize(
    ("meanwhile", "result"),
    [
        (_nothing, JudgementImport(3, 0, 0, 1, pooled=0)),
        (_draw, JudgementImport(3, 0, 0, 1, pooled=0)),
        (_label, JudgementImport(1, 1, 1, 1, pooled=0)),
        (_grow, JudgementImport(3, 0, 0, 1, pooled=0)),
    ],
)
def test_what_happens_between_the_check_and_the_import_is_taken_into_account(
    pooled: Database, meanwhile: Callable[[Session], None], result: JudgementImport
) -> None:
    checked = pooled.read(check)
    assert (checked.prepared is not None) == pooled.is_sqlite
    with pooled.transaction() as session:
        meanwhile(session)
    with pooled.transaction() as session:
        assert store(session, checked) == result
        assert store(session, checked) == JudgementImport(0, 0, 3, 1, pooled=0)
    made = pooled.read(export_qrels, SLUG, made_at=NOW)
    assert made.qrels == b"1 0 a 2\n1 0 c 0\n2 0 e 1\n"
    assert examine(pooled).wrong == []


def test_labels_that_are_refused_under_the_lock_store_nothing(pooled: Database) -> None:
    checked = pooled.read(check)
    before = pooled.read(stored)
    with pooled.transaction() as session:
        session.execute(delete(Grade).where(Grade.value == 1))
    with pytest.raises(FileRefusedError, match="not in the scale any more"), pooled.transaction() as session:
        store(session, checked)
    assert pooled.read(stored) == before


def test_a_judge_draws_and_judges_while_labels_are_stored(pooled: Database) -> None:
    checked = pooled.read(check)
    with pooled.transaction() as session:
        jo = user(session, "jo")
    drawn: list[int] = []
    barrier = threading.Barrier(2, timeout=10)

    def judge() -> None:
        barrier.wait()
        with pooled.transaction() as session:
            topic = session.scalars(select(Topic).where(Topic.number == "1")).one()
            drawn.extend(take(session, jo, topic))

    other = threading.Thread(target=judge)
    other.start()
    barrier.wait()
    with pooled.transaction() as session:
        assert store(session, checked).added == 3
    other.join()
    with pooled.reading() as session:
        of_zed = len(session.scalars(select(Assignment).where(Assignment.judge_id != jo)).all())
        assert sum(session.scalars(select(PoolItem.taken))) == len(drawn) + of_zed
    assert examine(pooled).wrong == []
