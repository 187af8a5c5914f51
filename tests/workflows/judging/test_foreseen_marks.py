"""Marks computed before a change of settings equal those computed with it, also if judges draw meanwhile."""

import threading

import pytest
from build import NOW, SLUG, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queues import add_topic, grow, items_of, judge, marks, queue, retext, settle, take
from sqlalchemy import event, select
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.errors import ConflictError, InvalidValueError
from annotator.storage import Collection, Database, JudgingMode, PoolItem, Topic
from annotator.storage.collections.checking import examine
from annotator.storage.judging.foreseen_marks import ForeseenMarks, foresee_marks, set_foreseen
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue, copied, foresee_queue


def foresee(session: Session, topic: Topic, **changed: object) -> ForeseenMarks | None:
    """What these settings would make of the items."""
    settings_ = copied(session.get_one(Collection, topic.collection_id))
    for name, value in changed.items():
        setattr(settings_, name, value)
    return foresee_marks(session, settings_)


def settled(session: Session, topics: list[Topic], **changed: object) -> list[list[tuple[bool, bool, int]]]:
    """The marks with these settings, which are taken back."""
    before = session.begin_nested()
    for topic in topics:
        settle(session, topic, **changed)
    found = [marks(session, topic) for topic in topics]
    before.rollback()
    session.expire_all()
    return found


SETTINGS = st.fixed_dictionaries(
    {
        "overlap_share": st.integers(0, 100),
        "common_items": st.integers(0, 4),
        "judgements_wanted": st.integers(1, 3),
        "judging_mode": st.sampled_from(["shared", "owned"]),
    }
)


@given(
    first=SETTINGS,
    later=SETTINGS,
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=3),
    drawn=st.lists(st.integers(0, 4), min_size=2, max_size=2),
)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_foreseen_marks_are_those_of_settling(
    sqlite_database: Database,
    first: dict[str, object],
    later: dict[str, object],
    sizes: list[int],
    drawn: list[int],
) -> None:
    with undone(sqlite_database) as session:
        topics = queue(session, *sizes, **{**first, "judging_mode": "shared"})  # type: ignore[arg-type]
        jo, kim = user(session), user(session, "kim")
        judge(session, jo, take(session, jo, topics[0], drawn[0]))
        for name, value in first.items():
            setattr(session.get_one(Collection, topics[0].collection_id), name, value)
        foreseen = foresee(session, topics[0], **later)
        # Owners are not assigned here: they draw in the other mode alone.
        if first["judging_mode"] == "shared":
            take(session, kim, topics[0], drawn[1])
        expected = settled(session, topics, **later)
        collection = session.get_one(Collection, topics[0].collection_id)
        for name, value in later.items():
            setattr(collection, name, value)
        assert set_foreseen(session, collection, foreseen)
        assert [marks(session, topic) for topic in topics] == expected
        session.rollback()


def test_marks_are_set_only_for_the_settings_and_the_pool_of_which_they_are(session: Session) -> None:
    [topic] = queue(session, 6)
    collection = session.get_one(Collection, topic.collection_id)
    foreseen = foresee(session, topic, overlap_share=50)
    assert foreseen is not None
    assert {one.judgements_wanted for one in foreseen.items} == {2}
    assert not set_foreseen(session, collection, None)
    collection.overlap_share = 40
    assert not set_foreseen(session, collection, foreseen)
    collection.overlap_share = 50
    other = add_topic(session, collection, "9")
    assert not set_foreseen(session, collection, foreseen)
    foreseen = foresee(session, topic)
    grow(session, other, [None])
    assert not set_foreseen(session, collection, foreseen)
    assert set_foreseen(session, collection, foresee(session, topic))


def test_nothing_is_foreseen_where_texts_are_to_be_settled_too(session: Session) -> None:
    [topic] = queue(session, 3)
    first, second, _ = (item.id for item in items_of(session, topic))
    retext(session, first, "the same")
    retext(session, second, "the same")
    assert foresee(session, topic, overlap_share=50) is None
    settle(session, topic)
    assert foresee(session, topic, overlap_share=50) is not None
    retext(session, second, "another")
    assert foresee(session, topic, overlap_share=50) is None


def test_a_change_of_settings_without_effect_on_items_foresees_nothing(session: Session) -> None:
    [_topic] = queue(session, 3)
    assert foresee_queue(session, SLUG, QueueChange(reshow_share=20)) is None
    with pytest.raises(InvalidValueError, match="not 101"):
        foresee_queue(session, SLUG, QueueChange(overlap_share=101))
    collection = session.scalars(select(Collection)).one()
    assert collection.overlap_share == 0
    collection.state = "closed"
    with pytest.raises(ConflictError):
        foresee_queue(session, SLUG, QueueChange(overlap_share=10))


@pytest.mark.parametrize(
    ("queue_change", "wanted"),
    [(QueueChange(overlap_share=40), None), (QueueChange(JudgingMode.OWNED, common_items=2), None), (QueueChange(), 3)],
)
def test_a_change_with_foreseen_marks_compares_no_items(
    database: Database, queue_change: QueueChange, wanted: int | None
) -> None:
    with database.transaction() as session:
        topics = queue(session, 10, 5, judgements_wanted=2)
        ids = [topic.id for topic in topics]
    foreseen = database.read(foresee_queue, SLUG, queue_change, judgements_wanted=wanted)
    with database.reading() as session:
        before = [marks(session, session.get_one(Topic, id_)) for id_ in ids]
    seen: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *given: seen.append(given[2]))
    with database.transaction() as session:
        change_queue(session, SLUG, queue_change, foreseen=foreseen)
        if wanted is not None:
            change_collection(session, SLUG, CollectionChange(judgements_wanted=wanted), foreseen=foreseen)
    assert not [one for one in seen if "row_number" in one and "UPDATE pool_item" in one]
    with database.transaction() as session:
        found = [marks(session, session.get_one(Topic, id_)) for id_ in ids]
        for id_ in ids:
            settle(session, session.get_one(Topic, id_))
        assert found == [marks(session, session.get_one(Topic, id_)) for id_ in ids] != before
    assert examine(database).wrong == []


def test_who_draws_while_marks_are_computed_and_set_keeps_what_they_drew(database: Database) -> None:
    with database.transaction() as session:
        [topic] = queue(session, 30, overlap_share=100)
        jo = user(session)
        topic_id = topic.id
    foreseen = database.read(foresee_queue, SLUG, QueueChange(overlap_share=0))
    begun = threading.Event()
    drawn: list[int] = []

    def draw() -> None:
        for _ in range(5):
            with database.transaction() as session:
                drawn.extend(take(session, jo, session.get_one(Topic, topic_id), 2, at=NOW))
            begun.set()

    judge_ = threading.Thread(target=draw)
    judge_.start()
    begun.wait(10)
    with database.transaction() as session:
        change_queue(session, SLUG, QueueChange(overlap_share=0), foreseen=foreseen)
    judge_.join()
    with database.transaction() as session:
        settle(session, session.get_one(Topic, topic_id))
        items = session.scalars(select(PoolItem)).all()
    # On PostgreSQL a draw skips items that the change has locked.
    assert {item.id for item in items if item.taken} == set(drawn)
    assert len(set(drawn)) == len(drawn) >= 2
    assert all(item.judgements_wanted == 1 + item.is_overlap for item in items)
    assert all(item.taken for item in items if item.is_overlap)
    assert examine(database).wrong == []


@pytest.mark.parametrize("change", [QueueChange(JudgingMode.OWNED, overlap_share=0)])
def test_items_whose_leases_a_change_returns_are_compared_again(database: Database, change: QueueChange) -> None:
    with database.transaction() as session:
        [topic] = queue(session, 6, overlap_share=100)
        take(session, user(session), topic, 2)
        topic_id = topic.id
    foreseen = database.read(foresee_queue, SLUG, change)
    with database.transaction() as session:
        change_queue(session, SLUG, change, foreseen=foreseen)
    with database.reading() as session:
        assert marks(session, session.get_one(Topic, topic_id)) == [(False, False, 1)] * 6
