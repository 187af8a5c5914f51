"""A turn of a judge: what was said is stored, whatever comes of drawing the next documents."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, member, pooled_news
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.errors import BusyError, NotFoundError
from annotator.storage import Assignment, AssignmentState, Database, Judgement
from annotator.storage.judging.leases import Decision
from annotator.workflows.judging import judging, judging_turn
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging_turn import Turn, submit


def turn(session: Session, judge: int, assignment: int, *, holds: tuple[int, ...] | None, topic: str = "1") -> Turn:
    act = Act(f"a{assignment}", assignment, Decision(1))
    at = NOW + timedelta(minutes=1)
    return submit(session, SLUG, topic, judge, [act], holds=holds, known=None, at=at)


def drawn(database: Database) -> tuple[int, list[int]]:
    """A judge, and the assignments that they drew."""
    with database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")
        task = judging.next_task(session, SLUG, "1", jo, now=NOW)
        assert task is not None
        return jo, [one.assignment_id for one in task.documents]


def stored(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Judgement.client_id)))


def test_a_turn_that_draws_nothing_only_stores(database: Database) -> None:
    jo, [first, *_] = drawn(database)
    taken = database.attempt(lambda session: turn(session, jo, first, holds=None))
    assert (taken.recorded.acknowledged, list(taken.documents), taken.stopped) == ((f"a{first}",), [], None)
    assert stored(database) == [f"a{first}"]


def test_a_turn_that_draws_sends_what_the_browser_lacks_and_not_what_was_just_said(database: Database) -> None:
    jo, [first, second, *others] = drawn(database)
    taken = database.attempt(lambda session: turn(session, jo, first, holds=(second,)))
    assert [one.assignment_id for one in taken.documents] == others
    assert stored(database) == [f"a{first}"]


def test_a_topic_that_is_not_there_stops_the_drawing_only(database: Database) -> None:
    jo, [first, *_] = drawn(database)
    taken = database.attempt(lambda session: turn(session, jo, first, holds=(), topic="77"))
    assert isinstance(taken.stopped, NotFoundError)
    assert stored(database) == [f"a{first}"]


def test_a_drawing_that_gives_way_to_another_is_undone_and_what_was_said_is_stored(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = postgres_database
    jo, [first, *_] = drawn(database)

    def gives_way(session: Session, *_: object, **_more: object) -> None:
        session.execute(update(Assignment).values(state=AssignmentState.RETURNED))
        raise OperationalError("UPDATE", {}, Exception("deadlock detected"))

    monkeypatch.setattr(judging_turn, "more_documents", gives_way)
    taken = database.attempt(lambda session: turn(session, jo, first, holds=()))
    assert isinstance(taken.stopped, BusyError)
    assert stored(database) == [f"a{first}"]
    with database.reading() as session:
        states = set(session.scalars(select(Assignment.state)))
    assert states == {AssignmentState.DONE, AssignmentState.LIVE}


def test_on_sqlite_a_fault_of_the_database_stores_nothing_and_is_no_waiting_for_others(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jo, [first, *_] = drawn(sqlite_database)

    def is_full(*_: object, **_more: object) -> None:
        raise OperationalError("UPDATE", {}, Exception("database or disk is full"))

    monkeypatch.setattr(judging_turn, "more_documents", is_full)
    with pytest.raises(OperationalError):
        sqlite_database.attempt(lambda session: turn(session, jo, first, holds=()))
    assert stored(sqlite_database) == []
