"""Which topic a judge continues with, and why there is none."""

from datetime import timedelta

from build import NOW, SLUG, member, pooled_news
from sqlalchemy.orm import Session

from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import LEASE
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.judging import judging, recording
from annotator.workflows.judging.judging import TopicWork
from annotator.workflows.judging.next_topic import (
    FoundTopic,
    NextTopic,
    NothingLeft,
    find_topics,
    next_topic,
    topic_after,
)


def judge_all(session: Session, judge: int, topic: str) -> None:
    while task := judging.next_task(session, SLUG, topic, judge, now=NOW):
        recording.record_judgement(
            session, SLUG, task.assignment_id, judge, Decision(1), client_id=f"c{task.assignment_id}", judged_at=NOW
        )


def test_after_a_topic_comes_the_next_one_of_the_list_and_after_the_last_the_first() -> None:
    work = [TopicWork("1", "", 0, 3), TopicWork("2", "", 4, 0), TopicWork("3", "", 0, 2)]
    assert [getattr(topic_after(work, number), "number", None) for number in "123"] == ["3", "3", "1"]
    assert topic_after(work[:1], "1") is None


def test_topics_with_deferred_documents_only_come_last() -> None:
    work = [TopicWork("1", "", 0, 3), TopicWork("2", "", 0, 2, put_off=2), TopicWork("3", "", 0, 2, put_off=1)]
    assert topic_after(work, "1") == work[2]
    assert topic_after(work[:2], "1") == work[1]


def test_the_next_topic_has_documents_for_the_judge(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    found = next_topic(session, SLUG, "1", jo, now=NOW)
    assert found == NextTopic(TopicWork("2", "second topic", 0, 2), None)


def test_without_a_topic_there_is_a_reason(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    judging.next_task(session, SLUG, "2", kim, now=NOW)
    judge_all(session, jo, "1")
    assert next_topic(session, SLUG, "1", jo, now=NOW).reason == NothingLeft.HELD
    later = NOW + LEASE + timedelta(minutes=1)
    returned = next_topic(session, SLUG, "1", jo, now=later).topic
    assert returned is not None
    assert returned.number == "2"
    judge_all(session, jo, "2")
    assert next_topic(session, SLUG, "2", jo, now=later).reason == NothingLeft.ALL
    close_collection(session, SLUG)
    assert next_topic(session, SLUG, "2", jo, now=later).reason == NothingLeft.CLOSED


def test_topics_are_found_by_number_or_title_when_documents_wait_there(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    assert find_topics(session, SLUG, jo, "second", now=NOW) == [FoundTopic("2", "second topic", 2)]
    assert [topic.number for topic in find_topics(session, SLUG, jo, "topic", now=NOW)] == ["1", "2"]
    judge_all(session, jo, "1")
    assert find_topics(session, SLUG, jo, "1", now=NOW) == []
