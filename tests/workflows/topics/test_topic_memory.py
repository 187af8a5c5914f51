"""Values of topics that a process keeps while their judgements stay the same."""

from collections.abc import Sequence

from build import SLUG, labels
from queues import queue
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.storage import Topic, TopicState
from annotator.storage.collections.collection import find_collection
from annotator.workflows.topics.topic_memory import TopicMemory


class Computed:
    """Gives a topic its number of computations, and notes which topics were computed."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, topics: Sequence[int]) -> dict[int, int]:
        self.asked.append(sorted(topics))
        return {topic: len(self.asked) for topic in topics}


def test_only_topics_with_new_judgements_are_computed_again(session: Session) -> None:
    first, second = queue(session, 3, 3)
    collection, memory, compute = find_collection(session, SLUG).id, TopicMemory[int](), Computed()
    assert memory.values(session, collection, compute) == {first.id: 1, second.id: 1}
    assert memory.values(session, collection, compute) == {first.id: 1, second.id: 1}
    labels(session, "ann", f"{second.number} 0 d00004 1\n")
    assert memory.values(session, collection, compute) == {first.id: 1, second.id: 2}
    assert compute.asked == [[first.id, second.id], [second.id]]


def test_a_topic_without_a_value_is_not_asked_about_again(session: Session) -> None:
    queue(session, 3)
    collection, memory, asked = find_collection(session, SLUG).id, TopicMemory[int](), list[Sequence[int]]()

    def nothing(topics: Sequence[int]) -> dict[int, int]:
        asked.append(topics)
        return {}

    assert memory.values(session, collection, nothing) == memory.values(session, collection, nothing) == {}
    assert len(asked) == 1


def test_values_of_one_key_are_not_those_of_another(session: Session) -> None:
    topic = queue(session, 3)[0]
    collection, memory = find_collection(session, SLUG).id, TopicMemory[str]()
    assert memory.values(session, collection, lambda _: {topic.id: "owner's"}, key="owner") == {topic.id: "owner's"}
    assert memory.values(session, collection, lambda _: {topic.id: "both"}, key="majority") == {topic.id: "both"}
    assert memory.values(session, collection, lambda _: {}, key="owner") == {topic.id: "owner's"}


def test_dropped_topics_have_no_values(session: Session) -> None:
    first, second = queue(session, 3, 3)
    collection, memory, compute = find_collection(session, SLUG).id, TopicMemory[int](), Computed()
    memory.values(session, collection, compute)
    session.execute(update(Topic).where(Topic.id == first.id).values(state=TopicState.DROPPED))
    assert memory.values(session, collection, compute) == {second.id: 1}
