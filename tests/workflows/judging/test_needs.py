"""How often each item is to be judged: shares of a topic by lot, which growing pools and new settings keep to."""

from collections.abc import Sequence

import pytest
from build import SLUG, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queues import add_topic, grow, items_of, judge, marks, queue, settle, take
from sqlalchemy import select
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.storage import Collection, Database, PoolItem
from annotator.storage.judging.judgements_wanted import base_wanted, mean_wanted, settle_needs


def half_up(share: int, items: int) -> int:
    return (share * items + 50) // 100


@pytest.mark.parametrize(
    ("size", "share", "common", "overlap"),
    [
        (10, 0, 0, 0),
        (10, 20, 0, 2),
        (10, 25, 0, 3),  # 2.5, rounded up
        (10, 24, 0, 2),
        (10, 100, 0, 10),
        (10, 20, 3, 2),  # the share is of all items, those for everyone included
        (10, 100, 3, 7),  # the others have a second judge already
        (3, 10, 5, 0),  # all are for everyone
        (1, 50, 0, 1),
        (1, 49, 0, 0),
    ],
)
def test_the_first_by_lot_are_for_everyone_and_the_next_are_overlap(
    session: Session, size: int, share: int, common: int, overlap: int
) -> None:
    [topic] = queue(session, size, overlap_share=share, common_items=common)
    everyone, rest = min(common, size), size - min(common, size) - overlap
    assert (
        marks(session, topic)
        == [(True, False, 1)] * everyone + [(False, True, 2)] * overlap + [(False, False, 1)] * rest
    )


def test_each_topic_has_its_own_share(session: Session) -> None:
    topics = queue(session, 10, 20, 3, overlap_share=30)
    assert [sum(overlap for _, overlap, _ in marks(session, topic)) for topic in topics] == [3, 6, 1]


def test_items_want_as_many_as_the_collection_says_and_overlap_one_more(session: Session) -> None:
    [topic] = queue(session, 4, judgements_wanted=3, overlap_share=25)
    assert [wanted for *_, wanted in marks(session, topic)] == [4, 3, 3, 3]
    settle(session, topic, judgements_wanted=1)
    assert [wanted for *_, wanted in marks(session, topic)] == [2, 1, 1, 1]


def test_where_topics_are_owned_one_judgement_is_wanted_and_of_the_overlap_two(session: Session) -> None:
    [topic] = queue(session, 4, judgements_wanted=3, overlap_share=25, judging_mode="owned")
    assert [wanted for *_, wanted in marks(session, topic)] == [2, 1, 1, 1]
    collection = session.get_one(Collection, topic.collection_id)
    assert (base_wanted(collection), mean_wanted(collection)) == (1, 1.25)


def test_a_test_question_stays_for_everyone_and_has_no_part_in_the_lots(session: Session) -> None:
    [topic] = queue(session, 11, overlap_share=20, common_items=1)
    [first, second, *_] = items_of(session, topic)
    for question in (first, second):
        question.known_grade, question.for_everyone = 1, True
    settle(session, topic)
    # Of nine other items one is for everyone and round(1.8) are overlap.
    assert marks(session, topic)[:5] == [(True, False, 1)] * 3 + [(False, True, 2)] * 2
    settle(session, topic, common_items=0, overlap_share=0)
    assert marks(session, topic) == [(True, False, 1)] * 2 + [(False, False, 1)] * 9


def test_what_was_drawn_keeps_its_mark_when_a_share_shrinks(session: Session) -> None:
    [topic] = queue(session, 10, overlap_share=50, common_items=2)
    jo = user(session)
    items = {item.id: place for place, item in enumerate(items_of(session, topic))}
    drawn = {items[item] for item in take(session, jo, topic, 4)}
    settle(session, topic, overlap_share=0, common_items=0)
    kept = [place for place, (everyone, overlap, _) in enumerate(marks(session, topic)) if everyone or overlap]
    assert kept == sorted(place for place in drawn if place < 2 + 5)


def test_settings_of_one_collection_change_nothing_in_another(session: Session) -> None:
    [topic] = queue(session, 4, overlap_share=50)
    [other] = queue(session, 4, slug="other")
    settle(session, other, overlap_share=100)
    assert sum(overlap for _, overlap, _ in marks(session, topic)) == 2


def test_a_topic_without_items_has_nothing_to_settle(session: Session) -> None:
    [topic] = queue(session, 2, overlap_share=50)
    empty = add_topic(session, session.get_one(Collection, topic.collection_id), "9")
    settle_needs(session, topic.collection_id, [empty.id])
    settle_needs(session, topic.collection_id, [])
    assert items_of(session, empty) == []


@given(
    growth=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    drawn=st.lists(st.integers(0, 5), min_size=4, max_size=4),
    share=st.integers(0, 100),
    common=st.integers(0, 4),
)
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shares_are_exact_and_growing_takes_no_mark_back_from_what_was_drawn(
    sqlite_database: Database, growth: Sequence[int], drawn: Sequence[int], share: int, common: int
) -> None:
    with undone(sqlite_database) as session:
        [topic] = queue(session, 0, overlap_share=share, common_items=common)
        jo = user(session)
        size = 0
        for more, count in zip(growth, drawn, strict=False):
            size += more
            before = {item.id: (item.for_everyone, item.is_overlap, item.taken) for item in items_of(session, topic)}
            grow(session, topic, [None] * more, seed=size)
            items = items_of(session, topic)
            assert len(items) == size
            for item in items:
                everyone, overlap, taken = before.get(item.id, (False, False, 0))
                assert item.for_everyone or not (everyone and taken)
                assert item.is_overlap or not (overlap and taken)
                assert item.judgements_wanted == 1 + item.is_overlap
            for_everyone = sum(item.for_everyone for item in items)
            kept = sum(everyone and taken > 0 for everyone, _, taken in before.values())
            assert for_everyone == max(min(common, size), kept)
            assert sum(item.is_overlap for item in items) == min(half_up(share, size), size - for_everyone)
            settled = {item.id: (item.for_everyone, item.is_overlap) for item in items}
            settle_needs(session, topic.collection_id, [topic.id])
            assert {item.id: (item.for_everyone, item.is_overlap) for item in items_of(session, topic)} == settled
            judge(session, jo, take(session, jo, topic, count))
        session.rollback()


@given(data=st.data(), share=st.integers(0, 100), common=st.integers(0, 3))
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_before_anything_is_drawn_marks_do_not_depend_on_how_the_pool_grew(
    sqlite_database: Database, data: st.DataObject, share: int, common: int
) -> None:
    cut = data.draw(st.integers(0, 12))
    with undone(sqlite_database) as session:
        found = []
        for slug, parts in (("once", [12]), ("twice", [cut, 12 - cut])):
            [topic] = queue(session, 0, slug=slug, overlap_share=share, common_items=common)
            for part in parts:
                grow(session, topic, [None] * part)
            found.append(marks(session, topic))
        assert found[0] == found[1]
        session.rollback()


def test_a_pool_is_marked_alike_on_both_databases(sqlite_database: Database, postgres_database: Database) -> None:
    found = []
    for database in (sqlite_database, postgres_database):
        with database.transaction() as session:
            [topic, _] = queue(session, 40, 7, overlap_share=35, common_items=3)
            found.append(
                [(item.lot, *mark) for item, mark in zip(items_of(session, topic), marks(session, topic), strict=True)]
            )
    assert found[0] == found[1]


def test_a_pool_of_a_collection_that_is_there_already_is_settled_by_its_own_settings(session: Session) -> None:
    queue(session, 4, overlap_share=50)
    collection = session.scalars(select(Collection).where(Collection.slug == SLUG)).one()
    topic = add_topic(session, collection, "7")
    ids = grow(session, topic, [None] * 4)
    assert sorted(session.scalars(select(PoolItem.judgements_wanted).where(PoolItem.id.in_(ids)))) == [1, 1, 2, 2]
