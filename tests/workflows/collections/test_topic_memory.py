"""Values of topics that a process keeps while their judgements stay the same."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from build import SLUG, labels
from queues import queue
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.storage import Topic, TopicState
from annotator.storage.collections.collection import find_collection
from annotator.storage.topics.revisions import judged_revisions
from annotator.workflows.collections.topic_memory import TopicMemory

Value = TypeVar("Value")


def values(
    session: Session,
    memory: TopicMemory[Value],
    compute: Callable[[Mapping[int, Value | None]], Mapping[int, Value]],
    *key: Hashable,
) -> dict[int, Value]:
    collection_id = find_collection(session, SLUG).id
    return memory.values((collection_id, *key), judged_revisions(session, collection_id), compute)


class Computed:
    """Gives a topic its number of computations, and notes which topics were computed."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, topics: Mapping[int, int | None]) -> dict[int, int]:
        self.asked.append(sorted(topics))
        return {topic: len(self.asked) for topic in topics}


def test_only_topics_with_new_judgements_are_computed_again(session: Session) -> None:
    first, second = queue(session, 3, 3)
    memory, compute = TopicMemory[int](), Computed()
    assert values(session, memory, compute) == {first.id: 1, second.id: 1}
    assert values(session, memory, compute) == {first.id: 1, second.id: 1}
    labels(session, "ann", f"{second.number} 0 d00004 1\n")
    assert values(session, memory, compute) == {first.id: 1, second.id: 2}
    assert compute.asked == [[first.id, second.id], [second.id]]


def test_a_topic_without_a_value_is_not_asked_about_again(session: Session) -> None:
    queue(session, 3)
    memory, asked = TopicMemory[int](), list[Mapping[int, int | None]]()

    def nothing(topics: Mapping[int, int | None]) -> dict[int, int]:
        asked.append(topics)
        return {}

    assert values(session, memory, nothing) == values(session, memory, nothing) == {}
    assert len(asked) == 1


def test_values_of_one_key_are_not_those_of_another(session: Session) -> None:
    topic = queue(session, 3)[0]
    memory = TopicMemory[str]()
    assert values(session, memory, lambda _: {topic.id: "owner's"}, "owner") == {topic.id: "owner's"}
    assert values(session, memory, lambda _: {topic.id: "both"}, "majority") == {topic.id: "both"}
    assert values(session, memory, lambda _: {}, "owner") == {topic.id: "owner's"}


def test_dropped_topics_have_no_values(session: Session) -> None:
    first, second = queue(session, 3, 3)
    memory, compute = TopicMemory[int](), Computed()
    values(session, memory, compute)
    session.execute(update(Topic).where(Topic.id == first.id).values(state=TopicState.DROPPED))
    assert values(session, memory, compute) == {second.id: 1}


def test_a_value_is_computed_from_the_one_before() -> None:
    memory = TopicMemory[int]()
    assert memory.values("news", {1: "a", 2: "a"}, lambda stale: dict.fromkeys(stale, 5)) == {1: 5, 2: 5}
    seen: list[Mapping[int, int | None]] = []

    def one_more(stale: Mapping[int, int | None]) -> dict[int, int]:
        seen.append(stale)
        return {id_: (value or 0) + 1 for id_, value in stale.items()}

    assert memory.values("news", {1: "a", 2: "b", 3: "a"}, one_more) == {1: 5, 2: 6, 3: 1}
    assert seen == [{2: 5, 3: None}]
