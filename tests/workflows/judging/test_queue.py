"""Who may be given which item, why, and that what waits for a judge is what they can be given."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from build import NOW, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queues import free, grow, items_of, judge, mode_of, queue, take
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.storage import Assignment, Collection, Database, Judgement, PoolItem, Purpose, Topic
from annotator.storage.agreement.adjudication_queue import done_items
from annotator.storage.judging.eligibility import (
    FORGOTTEN_AFTER,
    due_again,
    free_items,
    next_free,
    reassign,
    return_unowned,
    waiting_items,
)
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.leases import lend

NAMES = ("jo", "kim", "lee")


def people(session: Session) -> list[int]:
    return [user(session, name) for name in NAMES]


def own(session: Session, topic: Topic, owner: int | None) -> None:
    topic.owner_id = owner
    session.flush()


def purposes(session: Session, who: int, topic: Topic) -> dict[Purpose, int]:
    found: dict[Purpose, int] = {}
    for item in free(session, who, topic):
        found[item.purpose] = found.get(item.purpose, 0) + 1
    return found


def show_again(session: Session, who: int, items: list[int]) -> None:
    if items:
        lend(session, items, who, NOW, dict.fromkeys(items, Purpose.RE_SHOWN))


def waiting(session: Session, who: int, topic: Topic, now: datetime = NOW) -> int:
    collection = session.get_one(Collection, topic.collection_id)
    return waiting_items(session, who, collection, PoolItem.topic_id == topic.id, now)[topic.id]


def test_items_come_in_the_order_of_showing_whether_they_are_for_everyone_or_not(session: Session) -> None:
    [topic] = queue(session, 9, common_items=4)
    jo = user(session)
    drawn = free(session, jo, topic, 6)
    in_order = session.scalars(select(PoolItem.id).order_by(PoolItem.priority, PoolItem.id)).all()
    assert [item.id for item in drawn] == in_order[:6]
    assert {item.purpose for item in drawn} == {Purpose.COMMON, Purpose.FIRST}


def test_the_second_of_two_judges_of_an_overlap_item_gives_the_second_opinion(session: Session) -> None:
    [topic] = queue(session, 10, overlap_share=30, judgements_wanted=2)
    jo, kim, lee = people(session)
    seen = []
    for who in (jo, kim, lee):
        seen.append(purposes(session, who, topic))
        take(session, who, topic)
    assert seen == [{Purpose.FIRST: 10}, {Purpose.FIRST: 10}, {Purpose.OVERLAP: 3}]


def test_where_topics_are_owned_others_get_the_overlap_once_and_what_is_for_everyone(session: Session) -> None:
    [topic] = queue(session, 10, overlap_share=30, common_items=2, judging_mode="owned")
    jo, kim, lee = people(session)
    own(session, topic, jo)
    assert purposes(session, jo, topic) == {Purpose.FIRST: 8, Purpose.COMMON: 2}
    assert purposes(session, kim, topic) == {Purpose.OVERLAP: 3, Purpose.COMMON: 2}
    judge(session, kim, take(session, kim, topic))
    assert purposes(session, lee, topic) == {Purpose.COMMON: 2}
    assert purposes(session, jo, topic) == {Purpose.FIRST: 8, Purpose.COMMON: 2}
    judge(session, jo, take(session, jo, topic))
    assert purposes(session, lee, topic) == {Purpose.COMMON: 2}
    assert all(item.taken == item.judgements_wanted for item in items_of(session, topic) if not item.for_everyone)


def test_a_topic_that_nobody_owns_has_only_what_is_for_everyone(session: Session) -> None:
    [topic] = queue(session, 6, overlap_share=50, common_items=1, judging_mode="owned")
    assert purposes(session, user(session), topic) == {Purpose.COMMON: 1}


def test_test_questions_are_drawn_by_everybody_once(session: Session) -> None:
    [topic] = queue(session, 3)
    question = items_of(session, topic)[0]
    question.known_grade, question.for_everyone = 1, True
    settle_needs(session, topic.collection_id, [topic.id])
    jo, kim, lee = people(session)
    judge(session, jo, take(session, jo, topic))
    for who in (kim, lee):
        assert purposes(session, who, topic) == {Purpose.TEST: 1}
        judge(session, who, take(session, who, topic))
        assert purposes(session, who, topic) == {}
    assert items_of(session, topic)[0].taken == 3


def test_another_owner_gets_what_is_not_judged_and_second_opinions_stay(session: Session) -> None:
    [topic] = queue(session, 10, overlap_share=30, judging_mode="owned")
    jo, kim, lee = people(session)
    own(session, topic, jo)
    seconds = take(session, kim, topic)
    held = take(session, jo, topic)
    judge(session, jo, held[:4])
    assert reassign(session, topic, lee) == 6
    assert topic.owner_id == lee
    assert set(take(session, kim, topic)) == set()
    # What wants another judgement: the six, and of the four judged ones those whose second place nobody has taken.
    assert {item.id for item in free(session, lee, topic)} == set(held[4:])
    assert session.scalars(select(Assignment.pool_item_id).where(Assignment.judge_id == kim)).all() == seconds
    assert reassign(session, topic, None) == 0
    assert free(session, jo, topic) == []


def test_who_gave_a_second_opinion_and_then_owns_the_topic_leaves_the_second_place_to_another(session: Session) -> None:
    [topic] = queue(session, 4, overlap_share=50, judging_mode="owned")
    jo, kim, lee = people(session)
    own(session, topic, jo)
    seconds = take(session, kim, topic)
    judge(session, kim, seconds)
    reassign(session, topic, kim)
    assert {item.id for item in free(session, lee, topic)} == set(seconds)
    judge(session, kim, take(session, kim, topic))
    judge(session, lee, take(session, lee, topic))
    assert all(item.taken == item.judgements_wanted for item in items_of(session, topic))


def test_when_topics_become_owned_only_the_owner_keeps_what_is_in_hand(session: Session) -> None:
    first, second = queue(session, 4, 4, judgements_wanted=2)
    jo, kim, _ = people(session)
    own(session, first, jo)
    for topic in (first, second):
        for who in (jo, kim):
            take(session, who, topic, 3)
    collection = session.get_one(Collection, first.collection_id)
    assert return_unowned(session, collection) == 0
    collection.judging_mode = "owned"
    session.flush()
    assert return_unowned(session, collection) == 3 + 3 + 3
    settle_needs(session, collection.id, [first.id, second.id])
    assert [item.taken for item in items_of(session, first)].count(1) == 3
    assert {item.taken for item in items_of(session, second)} == {0}


@pytest.mark.parametrize("share", [0, 30, 100])
def test_a_share_of_what_a_judge_graded_is_due_again_a_day_later(session: Session, share: int) -> None:
    [topic, other] = queue(session, 30, 5, reshow_share=share)
    jo, kim, _ = people(session)
    for who, part in ((jo, 20), (kim, 10)):
        judge(session, who, take(session, who, topic, part))
    judge(session, jo, take(session, jo, other), None)
    mine = set(session.scalars(select(Judgement.pool_item_id).where(Judgement.judge_id == jo)))
    tomorrow = NOW + FORGOTTEN_AFTER
    due = due_again(session, topic.id, jo, share, tomorrow)
    assert due == [item.id for item in items_of(session, topic) if item.id in mine and item.lot % 100 < share]
    assert due_again(session, topic.id, jo, share, tomorrow - timedelta(seconds=1)) == []
    # What could not be judged is not shown again.
    assert due_again(session, other.id, jo, share, tomorrow) == []
    assert waiting(session, jo, topic, tomorrow) == len(due)
    show_again(session, jo, due)
    assert due_again(session, topic.id, jo, share, tomorrow) == []
    assert waiting(session, jo, topic, tomorrow) == len(due)
    assert {item.taken for item in items_of(session, topic)} == {1}


def test_of_three_judged_and_one_shown_again_four_are_done(session: Session) -> None:
    [topic] = queue(session, 3, reshow_share=100)
    jo = user(session)
    [first, *_] = take(session, jo, topic)
    judge(session, jo, session.scalars(select(PoolItem.id)).all())
    show_again(session, jo, [first])
    in_topic = PoolItem.topic_id == topic.id
    assert done_items(session, jo, in_topic) == {topic.id: 3}
    session.execute(update(Assignment).where(Assignment.purpose == Purpose.RE_SHOWN).values(state="done"))
    assert done_items(session, jo, in_topic) == {topic.id: 4}


STEPS = st.lists(
    st.tuples(st.sampled_from(["take", "judge", "later", "return", "reshow"]), st.integers(0, 2), st.integers(1, 5)),
    max_size=8,
)


@given(
    mode=st.sampled_from(["shared", "owned"]),
    owner=st.sampled_from([None, 0, 1]),
    wanted=st.integers(1, 2),
    share=st.sampled_from([0, 40, 100]),
    common=st.integers(0, 2),
    steps=STEPS,
)
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_waits_is_what_is_in_hand_can_be_drawn_and_is_due(
    sqlite_database: Database,
    mode: str,
    owner: int | None,
    wanted: int,
    share: int,
    common: int,
    steps: list[tuple[str, int, int]],
) -> None:
    with undone(sqlite_database) as session:
        [topic, _] = queue(
            session,
            *(6, 2),
            judging_mode=mode,
            judgements_wanted=wanted,
            overlap_share=share,
            common_items=common,
            reshow_share=50,
        )
        grow(session, topic, ["same"] * 2)
        judges = people(session)
        own(session, topic, None if owner is None else judges[owner])
        for what, who, count in steps:
            act(session, topic, what, judges[who], count)
        for who in judges:
            drawable = set(session.scalars(free_items(who, topic, mode)))
            assert drawable == {item.id for item in free(session, who, topic)}
            in_hand = session.scalars(
                select(Assignment.id)
                .join(PoolItem)
                .where(
                    Assignment.judge_id == who, Assignment.state.in_(["live", "later"]), PoolItem.topic_id == topic.id
                )
            ).all()
            due = due_again(session, topic.id, who, 50, NOW)
            assert waiting(session, who, topic) == len(in_hand) + len(drawable) + len(due)
        session.rollback()


def act(session: Session, topic: Topic, what: str, who: int, count: int) -> None:
    """One thing that a judge does, long ago."""
    held = select(Assignment).where(Assignment.judge_id == who, Assignment.state == "live")
    if what == "take":
        take(session, who, topic, count)
    elif what == "judge":
        first = held.where(Assignment.purpose != Purpose.RE_SHOWN)
        items = [one.pool_item_id for one in session.scalars(first.limit(count))]
        judge(session, who, items, at=NOW - timedelta(days=2))
    elif what == "reshow":
        show_again(session, who, due_again(session, topic.id, who, 50, NOW)[:count])
    else:
        for one in session.scalars(held.limit(count)).all():
            one.state = "later" if what == "later" else "returned"
            if what == "return" and one.purpose != Purpose.RE_SHOWN:
                session.execute(
                    update(PoolItem).where(PoolItem.id == one.pool_item_id).values(taken=PoolItem.taken - 1)
                )


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """What is sent to the database meanwhile."""
    seen: list[tuple[str, Any]] = []

    def note(*args: Any) -> None:  # noqa: ANN401 - the signature is SQLAlchemy's
        seen.append((args[2], args[3]))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    ("mode", "who", "read"),
    [("shared", 0, "ix_pool_item_open"), ("owned", 0, "ix_pool_item_open"), ("owned", 1, "ix_pool_item_second")],
)
def test_a_draw_reads_an_index_in_its_order_and_sorts_nothing(
    sqlite_database: Database, mode: str, who: int, read: str
) -> None:
    with sqlite_database.transaction() as session:
        [topic] = queue(session, 20, judging_mode=mode, overlap_share=50, common_items=2)
        judges = people(session)
        own(session, topic, judges[0])
        with statements(sqlite_database) as seen:
            next_free(session, judges[who], topic, mode_of(session, topic), 8, skip_locked=True)
        plans = [
            " | ".join(row[3] for row in session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values))
            for sql, values in seen[-3:]
            if sql.startswith("SELECT") and "ORDER BY" in sql
        ]
    assert len(plans) == 2
    for plan, index in zip(plans, (read, "ix_pool_item_for_everyone"), strict=True):
        assert plan.startswith(f"SEARCH pool_item USING INDEX {index} (topic_id=?)")
        assert re.search(r"SCAN|TEMP B-TREE", plan) is None
        assert "SEARCH assignment USING INDEX uq_assignment_held (pool_item_id=? AND judge_id=?)" in plan


def test_what_goes_back_is_looked_for_among_what_is_held(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        [topic] = queue(session, 3, judging_mode="owned")
        with statements(sqlite_database) as seen:
            reassign(session, topic, people(session)[0])
        [(sql, values)] = [one for one in seen if "FROM assignment" in one[0]]
        [first, *_] = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)
    assert first[3] == "SCAN assignment USING INDEX ix_assignment_lease"
