"""Pools are planned from tops of ranked lists that are stored beside them, which are those of the lists at any time."""

from collections.abc import Iterator, Sequence

import pytest
from build import NOW, SLUG, build, checked_run, news, run, stored, topic_file
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from annotator.evaluation.runs.run_tags import Sender
from annotator.storage import Database, DeletedKind, RankedList, Run, RunTops
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.checking import examine
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs import run_tops
from annotator.storage.runs import runs as runs_stored
from annotator.storage.runs.run_tops import (
    add_missing_tops,
    add_tops,
    check_tops,
    different_tops,
    store_tops_again,
    tops_in_lists,
)
from annotator.storage.tables.collections import Door
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.restoring import restore_deletion
from annotator.workflows.pools import pool_planning
from annotator.workflows.pools.pool_planning import PoolPlan, plan_pool
from annotator.workflows.runs.runs import restore_run, withdraw_run

LENGTH = 130  # of the longest list: longer than a top
REQUESTS = (
    PoolRequest("depth", {"depth": 3}),
    PoolRequest("depth", {"depth": 100}),
    PoolRequest("depth", {"depth": 101}),
    PoolRequest("depth", {"depth": 2}, depth_of={"beta": 40}),
    PoolRequest("depth", {"depth": 2}, depth_of={"beta": 120}),
    PoolRequest("depth", {"depth": 5}, per_team=1),
)


def docnos(first: int, length: int) -> list[str]:
    return [f"d{number}" for number in range(first, first + length)]


@pytest.fixture
def filled(session: Session) -> Session:
    fill(session)
    return session


def fill(session: Session) -> None:
    """Three runs of two teams, with lists that are longer and shorter than a top, and topics that only some have."""
    news(session)
    topic_file(session, "".join(f"{number}\ttopic {number}\n" for number in (10, 9, 8, 7)))
    run(session, "alpha", {"10": docnos(0, LENGTH), "9": docnos(0, 4), "8": docnos(3, 100)}, team="red")
    run(session, "beta", {"10": docnos(60, LENGTH), "8": docnos(90, 2)}, team="red")
    run(session, "gamma", {"9": docnos(2, LENGTH), "8": docnos(40, 101)}, team="blue")


def plans(session: Session, requests: Sequence[PoolRequest] = REQUESTS) -> list[PoolPlan]:
    return [plan_pool(session, SLUG, request) for request in requests]


def plans_from_lists(session: Session, requests: Sequence[PoolRequest] = REQUESTS) -> list[PoolPlan]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool_planning, "TOP", 0)
        return plans(session, requests)


def assert_tops_are_those_of_the_lists(session: Session, requests: Sequence[PoolRequest] = REQUESTS) -> None:
    session.flush()
    assert check_tops(session).count == 0
    assert plans(session, requests) == plans_from_lists(session, requests)


def delete_topic(session: Session, number: str) -> int:
    deletion, _ = delete_it(
        session, SLUG, DeletedKind.TOPIC, [number], typed=None, actor=Actor(Door.COMMAND, "ola"), at=NOW
    )
    return deletion


def test_a_plan_is_the_same_from_tops_and_from_lists_and_is_what_is_built(filled: Session) -> None:
    assert_tops_are_those_of_the_lists(filled)
    planned = plans(filled, REQUESTS[:1])[0]
    assert planned.total.size[planned.asked] == build(filled, REQUESTS[0]).added
    assert_tops_are_those_of_the_lists(filled)


def test_lists_are_not_read_for_a_plan_down_to_a_hundred(filled: Session) -> None:
    before = plans(filled)
    filled.execute(text("DELETE FROM ranked_list"))
    assert [plans(filled, [request])[0] == plan for request, plan in zip(REQUESTS, before, strict=True)] == [
        *(True, True, False),
        *(True, False, True),
    ]


@pytest.mark.parametrize("together", [1, 2, 1000])
def test_topics_are_stored_together_by_their_ids(
    session: Session, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(run_tops, "TOPICS_TOGETHER", together)
    fill(session)
    rows = session.execute(select(RunTops.run_id, RunTops.topic_group)).all()
    lists = session.execute(select(RankedList.run_id, RankedList.topic_id)).all()
    assert set(map(tuple, rows)) == {(run_id, topic_id // together) for run_id, topic_id in lists}
    assert_tops_are_those_of_the_lists(session)


def test_tops_follow_runs_that_are_withdrawn_restored_and_corrected(filled: Session) -> None:
    withdraw_run(filled, SLUG, "gamma", at=NOW)
    without_gamma = [one for one in REQUESTS if not one.depth_of]
    assert_tops_are_those_of_the_lists(filled, without_gamma)
    restore_run(filled, SLUG, "gamma", at=NOW)
    before = plans(filled)
    sender = Sender("red", organises=True, replaces=True)
    stored(filled, checked_run(filled, "alpha", {"7": docnos(500, LENGTH)}, sender=sender))
    assert_tops_are_those_of_the_lists(filled)
    assert plans(filled) != before


def test_a_deleted_topic_comes_back_with_its_tops(filled: Session) -> None:
    before = plans(filled)
    deletion = delete_topic(filled, "10")
    assert_tops_are_those_of_the_lists(filled)
    topic_file(filled, "10\tanother topic 10\n")
    run(filled, "delta", {"10": docnos(0, 3)})
    assert_tops_are_those_of_the_lists(filled)
    delete_topic(filled, "10")
    withdraw_run(filled, SLUG, "delta", at=NOW)
    restore_deletion(filled, SLUG, deletion, at=NOW)
    assert_tops_are_those_of_the_lists(filled)
    assert plans(filled) == before


def test_a_topic_that_was_deleted_before_tops_were_stored_gets_them(filled: Session) -> None:
    run(filled, "delta", {"10": docnos(30, LENGTH)})
    before = plans(filled)
    deletion = delete_topic(filled, "10")
    filled.execute(text("DELETE FROM run_tops"))
    for run_id in filled.scalars(select(Run.id)).all():
        add_tops(filled, run_id, tops_in_lists(filled, run_id))
    restore_deletion(filled, SLUG, deletion, at=NOW)
    assert_tops_are_those_of_the_lists(filled)
    assert plans(filled) == before


LOST = "DELETE FROM run_tops WHERE run_id = (SELECT max(id) FROM run)"  # as of a program from before tops were stored
DAMAGES = (
    "UPDATE run_tops SET topics = substr(topics, 1, 4) WHERE run_id = 1",
    "UPDATE run_tops SET sizes = substr(sizes, 1, 5) WHERE run_id = 1",
    "UPDATE run_tops SET documents = substr(documents, 1, 5) WHERE run_id = 1",
    "UPDATE run_tops SET topics = substr(topics, 1, 0) WHERE run_id = 1",
)


@pytest.mark.parametrize("statement", [LOST, *DAMAGES])
def test_a_plan_reads_the_lists_where_tops_are_missing_or_damaged(filled: Session, statement: str) -> None:
    before = plans(filled)
    filled.execute(text(statement))
    assert plans(filled) == before


def test_missing_tops_are_added_from_the_lists(filled: Session) -> None:
    assert add_missing_tops(filled) == 0
    filled.execute(text(LOST))
    assert check_tops(filled).count == 1
    assert add_missing_tops(filled) == 1
    assert_tops_are_those_of_the_lists(filled)


@pytest.mark.parametrize("statement", [LOST, *DAMAGES])
def test_damaged_tops_are_stored_again_from_the_lists(filled: Session, statement: str) -> None:
    assert different_tops(filled) == []
    filled.execute(text(statement))
    [(run_id, named)] = different_tops(filled)
    assert named.startswith(f"{SLUG} ")
    store_tops_again(filled, run_id)
    assert check_tops(filled).count == 0
    assert_tops_are_those_of_the_lists(filled)
    store_tops_again(filled, 999)  # deleted meanwhile


@pytest.mark.parametrize("statement", [LOST, *DAMAGES])
@pytest.mark.parametrize("together", [1, 1000])
def test_a_topic_is_restored_though_tops_are_missing_or_damaged(
    session: Session, monkeypatch: pytest.MonkeyPatch, together: int, statement: str
) -> None:
    monkeypatch.setattr(run_tops, "TOPICS_TOGETHER", together)
    fill(session)
    before = plans(session)
    deletion = delete_topic(session, "8")
    session.execute(text(statement))
    restore_deletion(session, SLUG, deletion, at=NOW)
    assert plans(session) == before


def test_lists_are_stored_while_others_are_still_packed(filled: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_stored, "LISTS_AT_ONCE", 1)
    lists = filled.execute(select(RankedList.topic_id, RankedList.documents, RankedList.scores)).all()[:3]
    filled.execute(text("DELETE FROM ranked_list"))
    filled.execute(text("DELETE FROM run_tops"))
    stored_before: list[int] = []

    def packed() -> Iterator[tuple[int, int, bytes, bytes]]:
        for topic_id, documents, scores in lists:
            stored_before.append(filled.scalar(select(func.count()).select_from(RankedList)) or 0)
            yield 1, topic_id, documents, scores

    runs_stored.add_ranked_lists(filled, packed())
    assert stored_before == [0, 1, 2]
    assert check_tops(filled).count == 0


FAULTS = (
    *DAMAGES,
    "DELETE FROM run_tops WHERE run_id = 1",
    "UPDATE ranked_list SET documents = substr(documents, 5), scores = substr(scores, 9) WHERE run_id = 1",
    "DELETE FROM ranked_list WHERE run_id = 1 AND topic_id = 1",
)


@pytest.mark.parametrize("statement", FAULTS)
def test_tops_that_are_not_those_of_the_lists_are_found(database: Database, statement: str) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": docnos(0, LENGTH), "2": docnos(0, 4)})
        run(session, "beta", {"1": docnos(0, 4)})
    assert examine(database, further=[check_tops]).wrong == []
    with database.transaction() as session:
        session.execute(text(statement))
    (found,) = examine(database, further=[check_tops]).wrong
    assert str(found) == "Runs whose stored tops are not those of their ranked lists (news alpha): 1"
