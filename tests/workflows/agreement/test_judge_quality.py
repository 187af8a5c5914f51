"""How each judge works, from what is stored: whose judgements count, and which of them."""

from datetime import datetime, timedelta

import pytest
from build import NOW, SLUG, labels, pooled_news
from queues import queue
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.agreement.judge_quality import Pace, Share
from annotator.storage import (
    Assignment,
    AssignmentState,
    CannotJudge,
    Document,
    Judgement,
    PoolItem,
    Purpose,
    Topic,
    TopicState,
    User,
    UserKind,
)
from annotator.storage.people.accounts import find_or_add_user
from annotator.workflows.agreement.judge_quality import (
    Fast,
    FastStreak,
    JudgeQuality,
    QualityReport,
    quality_table,
    report_quality,
)

DAY = timedelta(days=1)


def items(session: Session) -> list[int]:
    return list(session.scalars(select(PoolItem.id).order_by(PoolItem.topic_id, PoolItem.id)))


def say(
    session: Session,
    judge: str,
    item: int,
    grade: int | None = 0,
    seconds: float | None = None,
    *,
    purpose: Purpose = Purpose.FIRST,
    at: datetime = NOW,
) -> Judgement:
    """A judge's word on an item, in place of what they said of it before."""
    judge_id = find_or_add_user(session, judge, NOW).id
    is_judge = (Assignment.pool_item_id == item) & (Assignment.judge_id == judge_id) & (Assignment.purpose == purpose)
    held = session.scalar(select(Assignment).where(is_judge))
    if held is None:
        held = Assignment(
            pool_item_id=item,
            judge_id=judge_id,
            state=AssignmentState.DONE,
            purpose=purpose,
            drawn_at=at,
            lease_until=at,
        )
        session.add(held)
        session.flush()
    before = session.scalar(
        select(Judgement).where(Judgement.assignment_id == held.id).order_by(Judgement.id.desc()).limit(1)
    )
    if before is not None:
        before.current = False
        session.flush()
    said = Judgement(
        client_id=f"{judge} {item} {purpose} {before.id if before else 0}",
        assignment_id=held.id,
        pool_item_id=item,
        judge_id=judge_id,
        grade=grade,
        cannot_judge=None if grade is not None else CannotJudge.BROKEN,
        seconds=seconds,
        judged_at=at,
        received_at=at,
        current=purpose != Purpose.RE_SHOWN,
        replaces_id=before.id if before else None,
    )
    session.add(said)
    session.flush()
    return said


def quality(session: Session, judge: str, fast: Fast | None = None) -> JudgeQuality:
    return report_quality(session, SLUG, fast).of(judge)


def test_nobody_judged_anything_yet(session: Session) -> None:
    queue(session, 2)
    report = report_quality(session, SLUG)
    assert report == QualityReport((), Fast())
    assert quality_table(report).rows == []
    with pytest.raises(NotFoundError, match="jo"):
        report.of("jo")


def test_the_pace_is_of_the_first_words(session: Session) -> None:
    queue(session, 4)
    first, second, third, _ = items(session)
    say(session, "jo", first, 0, 4)
    say(session, "jo", second, 1, 6)
    say(session, "jo", third, None, 20)
    say(session, "jo", first, 1, 100)  # a change of mind
    jo = quality(session, "jo")
    assert jo.pace == Pace(3, 6, 3 * 3600 / 30)
    assert (jo.judged, jo.could_not) == (3, 1)
    assert jo.work is not None
    assert jo.work.relevant == Share(2, 2)


def test_labels_from_a_file_have_no_pace_and_no_streaks(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 0\n1 0 b 1\n")
    jo = quality(session, "jo")
    assert (jo.pace, jo.fast_below, jo.streaks) == (None, None, ())
    assert jo.work is not None


def test_streaks_are_told_with_where_they_began_and_what_was_said(session: Session) -> None:
    queue(session, 9)
    for place, (item, seconds) in enumerate(zip(items(session), [9, 8, 1, 1, 2, 8, 9, 1, 1], strict=True)):
        say(session, "jo", item, 0 if place < 8 else 1, seconds, at=NOW + timedelta(minutes=place))
    jo = quality(session, "jo", Fast(streak=2, percent=50))
    # A half of the median, which is 2.
    assert jo.fast_below == 1
    assert jo.streaks == ()
    jo = quality(session, "jo", Fast(streak=2, percent=100))
    assert jo.streaks == (
        FastStreak("1", NOW + timedelta(minutes=2), 2, 1, 0),
        FastStreak("1", NOW + timedelta(minutes=7), 2, 1, None),
    )


def test_who_rushes_through_everything_is_measured_by_the_others(session: Session) -> None:
    queue(session, 12)
    for item in items(session):
        say(session, "jo", item, 0, 1)
        say(session, "kim", item, 0, 8)
    assert [streak.documents for streak in quality(session, "jo").streaks] == [12]
    assert quality(session, "jo").fast_below == 2
    assert quality(session, "kim").streaks == ()


@pytest.mark.parametrize(("streak", "percent"), [(1, 25), (10, 0), (10, 101)])
def test_a_streak_of_one_or_of_no_time_is_refused(streak: int, percent: int) -> None:
    with pytest.raises(InvalidValueError, match="very fast streak"):
        Fast(streak, percent)


def test_lenience_and_agreement_are_beside_the_others_on_the_same(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 0\n1 0 d 0\n", name="k.txt")
    jo = quality(session, "jo").work
    assert jo is not None
    assert (jo.graded, jo.relevant, jo.shared, jo.agreement) == (4, Share(3, 4), 2, 0.5)
    assert jo.lenience is not None
    # Of topic 1 alone, where kim judged, too.
    assert jo.lenience.documents == 3
    assert (jo.lenience.own, jo.lenience.others) == pytest.approx((2 / 3, 1 / 3))


def test_test_questions_that_were_graded_are_right_or_wrong(session: Session) -> None:
    queue(session, 4)
    first, second, third, fourth = items(session)
    session.execute(
        update(PoolItem).where(PoolItem.id.in_([first, second, third])).values(known_grade=1, for_everyone=True)
    )
    say(session, "jo", first, 0)
    say(session, "jo", first, 1)
    say(session, "jo", second, 2)
    say(session, "jo", third, None)
    say(session, "jo", fourth, 1)
    say(session, "kim", fourth, 1)
    assert quality(session, "jo").right == Share(1, 2)
    assert quality(session, "kim").right is None


def test_what_was_said_the_second_time_is_compared_with_the_word_until_then(session: Session) -> None:
    queue(session, 4)
    first, second, third, fourth = items(session)
    say(session, "jo", first, 0)
    say(session, "jo", second, 2)
    say(session, "jo", third, 1)
    say(session, "jo", fourth, 1)
    say(session, "jo", second, 1)  # before it is shown again
    say(session, "jo", first, 0, purpose=Purpose.RE_SHOWN, at=NOW + DAY)
    say(session, "jo", second, 2, purpose=Purpose.RE_SHOWN, at=NOW + DAY)
    say(session, "jo", second, 1, purpose=Purpose.RE_SHOWN, at=NOW + DAY)  # the last word of the second showing
    say(session, "jo", third, 2, purpose=Purpose.RE_SHOWN, at=NOW + DAY)
    say(session, "jo", third, 2)  # what is changed later was not said until then
    say(session, "jo", fourth, None, purpose=Purpose.RE_SHOWN, at=NOW + DAY)
    again = quality(session, "jo").again
    assert again.same == Share(2, 3)
    assert again.kappa.confusion.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert quality(session, "jo").judged == 4


def test_a_judge_who_was_shown_nothing_again_has_no_self_agreement(session: Session) -> None:
    queue(session, 1)
    say(session, "jo", items(session)[0], 0)
    again = quality(session, "jo").again
    assert again.same is None
    assert again.kappa.value is None


def test_machines_adjudications_and_carried_words_are_left_out(session: Session) -> None:
    queue(session, 3)
    first, second, third = items(session)
    say(session, "jo", first, 1, 5)
    origin = say(session, "kim", first, 1, 5)
    say(session, "kim", second, 0, 50, purpose=Purpose.ADJUDICATION)
    say(session, "gpt", first, 0)
    session.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE))
    say(session, "kim", third, 1).carried_from_id = origin.id
    session.flush()
    report = report_quality(session, SLUG)
    assert [one.judge for one in report.judges] == ["jo", "kim"]
    kim = report.of("kim")
    assert (kim.judged, kim.pace) == (1, Pace(1, 5, 720))
    jo = report.of("jo")
    assert jo.work is not None
    assert (jo.work.agreement, jo.work.shared) == (1, 1)


def test_dropped_topics_and_other_collections_do_not_count(session: Session) -> None:
    queue(session, 1, 1)
    queue(session, 1, slug="other")
    for item in items(session):
        say(session, "jo", item, 0, 5)
    session.execute(update(Topic).where(Topic.number == "2").values(state=TopicState.DROPPED))
    assert quality(session, "jo").judged == 1
    assert report_quality(session, "other").of("jo").judged == 1


def test_as_a_table_every_row_fits_its_headings(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 0\n1 0 d 0\n", name="k.txt")
    labels(session, "mo", "2 0 e 0\n", name="m.txt")
    table = quality_table(report_quality(session, SLUG))
    rows = [dict(zip(table.headings, row, strict=True)) for row in table.rows]
    assert [row["judge"] for row in rows] == ["jo", "kim", "mo"]
    assert (rows[0]["relevant"], rows[0]["agreement"], rows[0]["documents_shared"]) == (0.75, 0.5, 2)
    assert (rows[0]["answered"], rows[0]["right"], rows[0]["median_seconds"]) == (0, None, None)
    assert (rows[2]["agreement"], rows[2]["kappa_again"]) == (None, None)


def test_who_rushes_through_everything_is_found_with_nobody_to_compare_with(session: Session) -> None:
    queue(session, 12)
    for item in items(session):
        say(session, "anna", item, 0, 0.4)
    assert quality(session, "anna").streaks == ()  # the texts of these are too short to say anything
    session.execute(update(Document).values(body="A text of sixty characters takes a second even at a glance. " * 5))
    [streak] = quality(session, "anna").streaks
    assert (streak.documents, streak.median_seconds) == (12, 0.4)
    for item in items(session):
        say(session, "ben", item, 0, 2.5)
    assert quality(session, "ben").streaks == ()


def test_labels_of_a_file_do_not_drift(session: Session) -> None:
    queue(session, 20)
    for place, item in enumerate(items(session)):
        say(session, "jo", item, place // 10).client_id = f"file-1-1-abc-{place}"
        say(session, "kim", item, place % 2)  # as a browser without scripts, which sends no seconds
    jo = quality(session, "jo").work
    assert jo is not None
    assert (jo.drift.lenience, jo.drift.agreement, jo.drift.untimed, jo.stretches) == (None, None, 20, ())
    kim = quality(session, "kim").work
    assert kim is not None
    assert kim.drift.untimed == 0
    assert kim.drift.lenience is not None
