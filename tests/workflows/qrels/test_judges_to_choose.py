"""The judges by whose grades alone one may export or score, as the pages offer them."""

from collections.abc import Collection

import pytest
from build import NOW, SLUG, labels, member
from queues import queue
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.qrels.topic_judgements import JudgementColumns
from annotator.storage import LabelFile, Role, Topic, TopicState
from annotator.storage.collections.audit import Actor
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.collections import DeletedKind, Door
from annotator.workflows.collections import deletions, restoring
from annotator.workflows.judging import judging, recording
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.topic_judgements import read_judgements
from annotator.workflows.qrels.judges_to_choose import JudgesMemory, judges_to_choose


def judge_one(session: Session, name: str, topic: str = "1") -> None:
    judge = member(session, name, Role.JUDGE)
    task = judging.next_task(session, SLUG, topic, judge, now=NOW)
    assert task is not None
    act = Act(f"of-{name}-{topic}", task.documents[0].assignment_id, Decision(1, None))
    recording.record_acts(session, SLUG, judge, [act], received_at=NOW)


def test_nobody_can_be_chosen_before_somebody_has_judged(session: Session) -> None:
    queue(session, 3)
    member(session, "ann", Role.JUDGE)
    assert judges_to_choose(session, SLUG) == []
    with pytest.raises(NotFoundError):
        judges_to_choose(session, "other")


def test_those_who_judged_and_those_whose_labels_were_imported_can_be_chosen(session: Session) -> None:
    topic = queue(session, 30)[0]
    memory = JudgesMemory()
    judge_one(session, "bob")
    assert judges_to_choose(session, SLUG, memory) == ["bob"]
    labels(session, "ann", f"{topic.number} 0 d00001 1\n")
    assert judges_to_choose(session, SLUG, memory) == ["ann", "bob"]
    judge_one(session, "cy")
    assert judges_to_choose(session, SLUG, memory) == judges_to_choose(session, SLUG) == ["ann", "bob", "cy"]


def test_only_topics_to_which_more_labels_came_are_read_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = queue(session, 30, 30)
    memory, read = JudgesMemory(), list[Collection[int]]()

    def watched(session: Session, collection_id: int, topics: Collection[int], **without: bool) -> JudgementColumns:
        read.append(topics)
        return read_judgements(session, collection_id, topics, **without)

    monkeypatch.setattr("annotator.workflows.qrels.judges_to_choose.read_judgements", watched)
    labels(session, "ann", f"{first.number} 0 d00001 1\n")
    assert judges_to_choose(session, SLUG, memory) == ["ann"]
    judge_one(session, "bob", first.number)
    labels(session, "cy", f"{second.number} 0 d00031 1\n", name="more")
    assert judges_to_choose(session, SLUG, memory) == ["ann", "bob", "cy"]
    assert read == [[first.id, second.id], [second.id]]  # a new pool, too, is for all judges


def test_a_judge_whose_labels_were_removed_cannot_be_chosen(session: Session) -> None:
    topic = queue(session, 30)[0]
    memory = JudgesMemory()
    for judge in ("ann", "bob"):
        labels(session, judge, f"{topic.number} 0 d00001 1\n", name=judge)
    assert judges_to_choose(session, SLUG, memory) == ["ann", "bob"]
    last = str(max(session.scalars(select(LabelFile.id))))
    number, _ = deletions.delete_it(
        session, SLUG, DeletedKind.LABELS, [last], typed=None, actor=Actor(Door.COMMAND, "ola"), at=NOW
    )
    assert judges_to_choose(session, SLUG, memory) == ["ann"]
    restoring.restore_deletion(session, SLUG, number, at=NOW)
    assert judges_to_choose(session, SLUG, memory) == ["ann", "bob"]


def test_judges_of_other_collections_and_of_dropped_topics_cannot_be_chosen(session: Session) -> None:
    queue(session, 3, slug="other")
    labels(session, "dee", "1 0 d00001 1\n", slug="other")
    first, _ = queue(session, 30, 30)
    labels(session, "ann", f"{first.number} 0 d00031 1\n")
    judge_one(session, "bob", "2")
    memory = JudgesMemory()
    assert judges_to_choose(session, SLUG, memory) == ["ann", "bob"]
    session.execute(update(Topic).where(Topic.id == first.id).values(state=TopicState.DROPPED))
    assert judges_to_choose(session, SLUG, memory) == ["bob"]
