"""The revision of a topic is another after every change of what is said of its documents, and only of its own."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, member, pooled_news
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage import CannotJudge, Document, Topic
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.changed_texts import reopen_for_text
from annotator.storage.judging.leases import Decision
from annotator.storage.topics.revisions import revisions
from annotator.workflows.judging import judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.recording import record_acts


def by_number(session: Session) -> dict[str, int]:
    """Topic number → revision."""
    numbers = {id_: number for id_, number in session.execute(select(Topic.id, Topic.number))}
    known = revisions(session, find_collection(session, SLUG).id)
    return {numbers[id_]: revision.total for id_, revision in known.items()}


def say(session: Session, judge: int, id_: str) -> None:
    """Judge the next document of topic 1."""
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    record_acts(
        session, SLUG, judge, [Act(id_, task.assignment_id, Decision(1))], received_at=NOW + timedelta(minutes=1)
    )


def say_twice(session: Session, judge: int) -> None:
    say(session, judge, "a")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    assert task.previous_assignment_id is not None
    again = Act("b", task.previous_assignment_id, Decision(2))
    record_acts(session, SLUG, judge, [again], received_at=NOW + timedelta(minutes=1))


CHANGES: dict[str, Callable[[Session, int], object]] = {
    "a judgement": lambda session, judge: say(session, judge, "a"),
    "another word on the same": say_twice,
    "labels from a file": lambda session, _: labels(session, "kim", "1 0 a 1\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_said_raises_the_revision_of_its_topic_alone(
    session: Session, change: Callable[[Session, int], object]
) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    before = by_number(session)
    change(session, judge)
    after = by_number(session)
    assert after["1"] > before["1"]
    assert after["2"] == before["2"]


def test_what_comes_back_because_its_text_has_come_raises_it(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    without_text = Act("a", task.assignment_id, Decision(None, CannotJudge.NO_TEXT))
    record_acts(session, SLUG, judge, [without_text], received_at=NOW)
    before = by_number(session)
    reopen_for_text(session, session.scalars(select(Document.id)).all())
    assert by_number(session) == {"1": before["1"] + 1, "2": before["2"]}
