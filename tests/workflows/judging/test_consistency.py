"""A judge compares a document with what they judged themselves: similar ones, and the relevant ones of the topic."""

import pytest
from build import NOW, SLUG, member
from queues import grow, judge, queue, take
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import NotAllowedError, NotFoundError
from annotator.storage import Assignment, Judgement, Topic
from annotator.storage.judging.leases import lend
from annotator.storage.tables.judging import Purpose
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.judging.consistency import OwnComparison, compare_with_own

ONE = "The cat sat on the mat. It slept for the whole of a long day. Nobody came to wake it up."
OTHER = "The cat sat on the mat. It slept for the whole of a long day. Nobody came to feed it."


def assignment(session: Session, item: int, who: int, purpose: str | None = None) -> int:
    statement = select(Assignment.id).where(Assignment.pool_item_id == item, Assignment.judge_id == who)
    return session.scalars(statement.where(Assignment.purpose == purpose) if purpose else statement).one()


def compared(session: Session, item: int, who: int) -> OwnComparison:
    return compare_with_own(session, SLUG, assignment(session, item, who), who)


@pytest.fixture
def topic(session: Session) -> Topic:
    [topic] = queue(session, 0, judgements_wanted=2)
    return topic


def test_similar_documents_come_with_the_judges_own_grade_and_the_sentences_that_differ(
    session: Session, topic: Topic
) -> None:
    items = grow(session, topic, [ONE, OTHER, "Something else altogether, which nobody compares."])
    jo, kim = member(session, "jo"), member(session, "kim")
    for who, grade in ((jo, 1), (kim, 0)):
        take(session, who, topic)
        judge(session, who, items[1:], grade)
    found = compared(session, items[0], jo)
    [similar] = found.similar
    assert (similar.document.docno, similar.document.decision.grade) == ("d00002", 1)
    assert similar.differences[:2] == (("Nobody came to wake it up.",), ("Nobody came to feed it.",))
    assert 0.6 < similar.similarity < 1
    assert [one.docno for one in found.relevant] == ["d00003", "d00002"]
    assert (found.relevant_total, found.compared, found.is_whole) == (2, 2, True)
    # Only one's own.
    assert compared(session, items[0], kim).relevant == ()


def test_a_document_shown_again_does_not_come_with_its_earlier_grade(session: Session, topic: Topic) -> None:
    items = grow(session, topic, [ONE, OTHER])
    jo = member(session, "jo")
    take(session, jo, topic)
    judge(session, jo, items)
    lend(session, items[:1], jo, NOW, {items[0]: Purpose.RE_SHOWN})
    again = assignment(session, items[0], jo, Purpose.RE_SHOWN)
    found = compare_with_own(session, SLUG, again, jo)
    assert [one.document.docno for one in found.similar] == [one.docno for one in found.relevant] == ["d00002"]


def test_nothing_is_compared_with_other_topics_and_other_peoples_assignments_are_not_found(session: Session) -> None:
    first, second = queue(session, 0, 0)
    jo, kim = member(session, "jo"), member(session, "kim")
    [here] = grow(session, first, [ONE])
    there = grow(session, second, [OTHER])
    take(session, jo, first)
    take(session, jo, second)
    judge(session, jo, there)
    assert compared(session, here, jo).compared == 0
    with pytest.raises(NotFoundError):
        compare_with_own(session, SLUG, assignment(session, here, jo), kim)


def test_the_organiser_can_switch_it_off(session: Session, topic: Topic) -> None:
    [item] = grow(session, topic, [ONE])
    jo = member(session, "jo")
    take(session, jo, topic)
    assert compared(session, item, jo).similar == ()
    change_collection(session, SLUG, CollectionChange(judges_compare=False))
    with pytest.raises(NotAllowedError, match="switched off"):
        compared(session, item, jo)


def test_many_long_texts_are_compared_up_to_a_limit(
    session: Session, topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.workflows.judging.consistency.MOST_IN_ALL", 100)
    items = grow(session, topic, [ONE, OTHER, OTHER + " Never."])
    jo = member(session, "jo")
    take(session, jo, topic)
    judge(session, jo, items[1:])
    assert session.scalars(select(Judgement.id)).all()
    found = compared(session, items[0], jo)
    assert (found.compared, found.is_whole) == (1, False)
    # The newest first.
    assert [one.document.docno for one in found.similar] == ["d00003"]
