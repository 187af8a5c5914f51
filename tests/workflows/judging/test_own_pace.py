"""A judge's own pace beside the document: time, what is left, and grades."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, member
from queues import judge, queue, take
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.storage import Judgement
from annotator.workflows.judging.own_pace import LEAST_MEASURED, OwnPace, own_pace

DAY = timedelta(days=1)


def pace_of(session: Session, who: int, **wanted: object) -> OwnPace:
    return own_pace(session, SLUG, "1", who, since=NOW - timedelta(hours=1), now=NOW, **wanted)  # type: ignore[arg-type]  # what each test asks for


def test_pace_and_what_is_left_are_known_after_a_few_judgements(session: Session) -> None:
    first, second = queue(session, 20, 5, judgements_wanted=2)
    jo, kim = member(session, "jo"), member(session, "kim")
    judge(session, jo, take(session, jo, first, LEAST_MEASURED - 1))
    session.execute(update(Judgement).values(seconds=30))
    assert pace_of(session, jo).seconds is None
    judge(session, jo, take(session, jo, second, 1))
    judge(session, kim, take(session, kim, first, 7))
    session.execute(update(Judgement).where(Judgement.judge_id == jo).values(seconds=30))
    session.execute(update(Judgement).where(Judgement.judge_id == kim).values(seconds=3))
    found = pace_of(session, jo)
    assert found.seconds == pytest.approx(30)
    assert (found.left_topic, found.left_all, found.today) == (16, 20, 5)
    assert pace_of(session, jo, to_come={"2": 3}).left_all == 23


def test_grades_are_counted_in_the_topic_in_all_and_since_the_day_began(session: Session) -> None:
    first, second = queue(session, 9, 9)
    jo = member(session, "jo")
    judge(session, jo, take(session, jo, first, 2), 0, at=NOW - DAY)
    judge(session, jo, take(session, jo, first, 2), 1)
    judge(session, jo, take(session, jo, second, 1), 1, at=NOW - DAY)
    judge(session, jo, take(session, jo, second, 1), None)
    found = pace_of(session, jo)
    assert [tuple(one) for one in found.grades] == [(0, 2, 2, 0), (1, 3, 2, 2), (None, 1, 0, 1)]
    assert (found.today, found.mean_today) == (3, 1.0)
    assert found.mean_before == pytest.approx(1 / 3)
