"""How judging proceeds: days, judges, and who is late."""

from datetime import timedelta

from build import NOW, SLUG, labels, member
from queues import items_of, judge, queue, take
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.evaluation.pooling.burn_down import NoProjection
from annotator.storage import Collection, CollectionState, JudgingMode, Topic
from annotator.workflows.judging.judging_pace import JudgedByDay, JudgingPace, judged_by_day, judging_pace
from annotator.workflows.pools.pools import pool_progress

DAY = timedelta(days=1)


def pace(session: Session, *, days: int = 0) -> JudgingPace:
    session.flush()
    return judging_pace(session, SLUG, pool_progress(session, SLUG), now=NOW + days * DAY)


def judge_some(session: Session, who: int, topic: Topic, count: int, *, days: int = 0) -> None:
    at = NOW + days * DAY
    judge(session, who, take(session, who, topic, count, at=at), at=at)


def test_documents_are_counted_by_judge_and_day(session: Session) -> None:
    topic = queue(session, 10)[0]
    ann, bob = member(session, "ann"), member(session, "bob")
    judge_some(session, ann, topic, 3)
    judge_some(session, ann, topic, 1, days=2)
    judge_some(session, bob, topic, 2, days=2)
    found = pace(session, days=8)
    assert [(one.given, one.remaining) for one in found.burn_down.days][:4] == [(3, 7), (0, 7), (3, 4), (0, 4)]
    by_day = judged_by_day(session, SLUG, most=90)
    assert by_day.judges == ("ann", "bob")
    assert by_day.days == ((NOW.date(), (3, 0)), (NOW.date() + DAY, (0, 0)), (NOW.date() + 2 * DAY, (1, 2)))
    assert judged_by_day(session, SLUG, most=1).days == ((NOW.date() + 2 * DAY, (1, 2)),)
    assert [(one.judge, one.today, one.week, one.total) for one in found.judges] == [("ann", 0, 1, 4), ("bob", 0, 2, 2)]
    assert [one.today for one in pace(session, days=2).judges] == [1, 2]


def test_imported_labels_have_no_day(session: Session) -> None:
    queue(session, 2)
    labels(session, "ann", "1 0 d00001 1\n")
    found = pace(session)
    assert found.burn_down.remaining == 1
    assert found.burn_down.days == ()
    assert judged_by_day(session, SLUG, most=90) == JudgedByDay((), ())
    assert found.burn_down.reason is NoProjection.FEW_DAYS


def test_a_judge_is_late_after_a_week_without_a_judgement_while_documents_are_left(session: Session) -> None:
    topic = queue(session, 3)[0]
    ann = member(session, "ann")
    member(session, "bob")
    judge_some(session, ann, topic, 1, days=3)
    assert pace(session, days=6).late == ()
    assert [one.judge for one in pace(session, days=7).late] == ["bob"]
    assert [one.judge for one in pace(session, days=10).late] == ["ann", "bob"]
    judge_some(session, ann, topic, 2, days=10)
    assert pace(session, days=30).late == ()


def test_nobody_is_late_in_a_closed_collection(session: Session) -> None:
    queue(session, 3)
    member(session, "ann")
    session.execute(update(Collection).values(state=CollectionState.CLOSED))
    assert pace(session, days=30).late == ()


def test_owners_are_late_only_for_their_own_topics(session: Session) -> None:
    first, second = queue(session, 2, 2, judging_mode=JudgingMode.OWNED)
    ann, bob = member(session, "ann"), member(session, "bob")
    first.owner_id, second.owner_id = ann, bob
    assert len(items_of(session, first)) == 2
    judge_some(session, ann, first, 2)
    assert [one.judge for one in pace(session, days=30).late] == ["bob"]
