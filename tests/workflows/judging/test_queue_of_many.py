"""Thirty-two judges at once, whose sessions end in all ways: no item short, none over, none twice to one judge.

It takes 100 items; with `FULL_LENGTH=1` in the environment 5,000, which takes minutes.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Event, Thread

from build import member
from many_judges import JUDGES, Judge, judge_at_once
from queues import grow, queue
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from annotator.storage import Assignment, Collection, Database, Judgement, PoolItem, Topic

ITEMS = 5_000 if os.environ.get("FULL_LENGTH") else 100
TOPICS = 2
TWINS = 3  # of each topic, beside the items
SECONDS_BETWEEN_LOOKS = 0.02

# Places that are taken, less those of judgements that came when their place had gone to somebody else.
OVER = text("""
    SELECT count(*) FROM pool_item WHERE NOT for_everyone AND taken > judgements_wanted + (
        SELECT count(DISTINCT judgement.judge_id) FROM judgement
        WHERE judgement.pool_item_id = pool_item.id AND judgement.late
    )
""")


@contextmanager
def watched(database: Database) -> Iterator[list[int]]:
    """How many items are in more hands than they want, looked at again and again meanwhile."""
    counts: list[int] = []
    end = Event()

    def look() -> None:
        while not end.wait(SECONDS_BETWEEN_LOOKS):
            with database.reading() as session:
                counts.append(session.scalars(OVER).one())

    watcher = Thread(target=look)
    watcher.start()
    try:
        yield counts
    finally:
        end.set()
        watcher.join()


def fill(database: Database, **settings: str | int) -> tuple[list[int], list[str]]:
    """Topics with their pools, a gold question and some twins in each; the judges and the topics' numbers."""
    with database.transaction() as session:
        topics = queue(session, *[ITEMS // TOPICS] * TOPICS)
        for name, value in settings.items():
            setattr(session.get_one(Collection, topics[0].collection_id), name, value)
        judges = [member(session, f"judge{number}") for number in range(JUDGES)]
        for number, topic in enumerate(topics):
            topic.owner_id = judges[number]
            [question, *_] = grow(session, topic, ["same"] * (1 + TWINS))
            session.get_one(PoolItem, question).known_grade = 1
            session.get_one(PoolItem, question).for_everyone = True
        return judges, [topic.number for topic in topics]


def work_of(database: Database, **settings: str | int) -> list[Judge]:
    judges, topics = fill(database, **settings)
    with watched(database) as over:
        done = judge_at_once(database, judges, topics, seed=1)
    assert len(over) > 3
    assert set(over) == {0}
    return done


def judges_of(session: Session, *, late: bool) -> dict[int, set[int]]:
    """Item → those who have judged it as it was shown to them, with or without those who came too late."""
    said = select(Judgement.pool_item_id, Judgement.judge_id).where(Judgement.carried_from_id.is_(None))
    pairs = {(item, judge) for item, judge in session.execute(said)}
    if not late:
        pairs -= {(item, judge) for item, judge in session.execute(said.where(Judgement.late))}
    found: dict[int, set[int]] = {}
    for item, judge in pairs:
        found.setdefault(item, set()).add(judge)
    return found


def check_what_always_holds(session: Session, judges: list[Judge]) -> None:
    sent = [id_ for judge in judges for id_ in judge.sent]
    stored = session.scalars(select(Judgement.client_id).where(Judgement.carried_from_id.is_(None))).all()
    assert sorted(stored) == sorted(sent)
    places = select(Assignment.pool_item_id, func.count()).where(
        Assignment.state != "returned", Assignment.purpose.not_in(["re-shown", "carried"])
    )
    taken = {item: count for item, count in session.execute(places.group_by(Assignment.pool_item_id))}
    items = session.scalars(select(PoolItem)).all()
    assert {item.id: item.taken for item in items if item.taken} == taken
    assert set(session.scalars(select(Assignment.state).distinct())) <= {"done", "returned"}
    everybody = {judge.id for judge in judges}
    said, in_time = judges_of(session, late=True), judges_of(session, late=False)
    for item in items:
        had = said.get(item.id, set())
        if item.for_everyone:
            assert had == everybody
        else:
            assert len(had) >= item.judgements_wanted
            assert len(in_time.get(item.id, set())) <= item.judgements_wanted
        assert item.duplicate_of_id is None or not had
    check_twins(session)


def check_twins(session: Session) -> None:
    present = select(Judgement.pool_item_id, Judgement.judge_id, Judgement.grade).where(Judgement.current)
    grades: dict[int, dict[int, int | None]] = {}
    for item, judge, grade in session.execute(present):
        grades.setdefault(item, {})[judge] = grade
    twins = session.scalars(select(PoolItem).where(PoolItem.duplicate_of_id.is_not(None))).all()
    assert len(twins) == TOPICS * TWINS
    for twin in twins:
        assert grades[twin.id] == grades[twin.duplicate_of_id or 0]


def check_nobody_saw_anything_again_that_they_had_judged(session: Session, judges: list[Judge]) -> None:
    """Each document came to a judge under one assignment after another, never under two that both ended in judging."""
    done = set(session.scalars(select(Assignment.id).where(Assignment.state == "done")))
    for judge in judges:
        by_document: dict[tuple[str, str], list[int]] = {}
        for topic, assignment, docno in judge.shown:
            by_document.setdefault((topic, docno), []).append(assignment)
        for assignments in by_document.values():
            assert all(first <= second for first, second in pairwise(assignments))
            assert len(done.intersection(assignments)) <= 1


def test_many_judges_share_a_queue(database: Database) -> None:
    judges = work_of(database, judgements_wanted=2, overlap_share=20, common_items=1)
    with database.reading() as session:
        check_what_always_holds(session, judges)
        check_nobody_saw_anything_again_that_they_had_judged(session, judges)
        overlap = session.execute(
            select(PoolItem.topic_id, func.count()).where(PoolItem.is_overlap).group_by(PoolItem.topic_id)
        )
        assert {count for _, count in overlap} == {round(0.2 * ITEMS / TOPICS)}


def test_many_judges_give_second_opinions_where_topics_are_owned(database: Database) -> None:
    judges = work_of(database, judging_mode="owned", overlap_share=20)
    with database.reading() as session:
        check_what_always_holds(session, judges)
        check_nobody_saw_anything_again_that_they_had_judged(session, judges)
        owners = {id_: owner for id_, owner in session.execute(select(Topic.id, Topic.owner_id))}
        said = judges_of(session, late=True)
        seconds = Counter[int]()
        for item in session.scalars(select(PoolItem).where(PoolItem.duplicate_of_id.is_(None))):
            others = said[item.id] - {owners[item.topic_id]}
            # Second opinions that come late fill the item up, too.
            assert owners[item.topic_id] in said[item.id] or len(others) >= item.judgements_wanted
            assert item.for_everyone or bool(others) == item.is_overlap
            seconds[item.topic_id] += item.is_overlap
        assert set(seconds.values()) == {round(0.2 * ITEMS / TOPICS)}
