"""Topics: read files of them, store them, list them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import Problems
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.topic_formats import ParsedTopic, parse_topics
from annotator.evaluation.unpacking import unpack_into
from annotator.files import InputFile
from annotator.storage import PoolItem, Topic
from annotator.storage.collection import find_collection, lock_open_collection


@dataclass(frozen=True)
class TopicRow:
    """A topic with the size of its pool."""

    number: str
    title: str
    description: str
    narrative: str
    pool_items: int


@dataclass(frozen=True)
class TopicImport:
    """What an import of topics came to."""

    added: int
    changed: int
    unchanged: int


def read_topics(files: Sequence[InputFile], *, unpacked_limit: int) -> list[ParsedTopic]:
    """Parse files of topics; `FileRefusedError` lists everything wrong with any of them."""
    problems = Problems()
    topics: dict[str, tuple[str, ParsedTopic]] = {}
    for file in files:
        text = unpack_into(problems, file.name, file.content, unpacked_limit)
        for topic in (parse_topics(file.name, text, problems) if text is not None else None) or []:
            earlier = topics.setdefault(topic.number, (file.name, topic))
            if earlier[1] is not topic:
                problems.add(
                    file.name,
                    topic.line,
                    "Topic %(number)s is already in %(other)s.",
                    number=topic.number,
                    other=earlier[0],
                )
    problems.refuse_if_any()
    return [topic for _, topic in topics.values()]


def import_topics(session: Session, slug: str, topics: Sequence[ParsedTopic]) -> TopicImport:
    """Store topics; one whose number is there already takes the new words, so that a typo can be mended."""
    collection = lock_open_collection(session, slug)
    stored = {
        topic.number: topic for topic in session.scalars(select(Topic).where(Topic.collection_id == collection.id))
    }
    new = [topic for topic in topics if topic.number not in stored]
    changed = sum(_reword(stored[topic.number], topic) for topic in topics if topic.number in stored)
    if new:
        session.execute(insert(Topic), [{"collection_id": collection.id, **_words(topic)} for topic in new])
    return TopicImport(len(new), changed, len(topics) - len(new) - changed)


def list_topics(session: Session, slug: str) -> list[TopicRow]:
    """The topics in their natural order, each with the number of its pool items."""
    items = func.count(PoolItem.id)
    rows = session.execute(
        select(Topic, items)
        .outerjoin(PoolItem, PoolItem.topic_id == Topic.id)
        .where(Topic.collection_id == find_collection(session, slug).id)
        .group_by(Topic.id)
    )
    listed = [TopicRow(topic.number, topic.title, topic.description, topic.narrative, count) for topic, count in rows]
    return sorted(listed, key=lambda row: natural_order(row.number))


def _words(topic: ParsedTopic) -> dict[str, str | None]:
    return {
        "number": topic.number,
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
        "language": topic.language,
    }


def _reword(stored: Topic, topic: ParsedTopic) -> bool:
    """Put the new words on the row; whether any differed."""
    differing = {name: value for name, value in _words(topic).items() if getattr(stored, name) != value}
    for name, value in differing.items():
        setattr(stored, name, value)
    return bool(differing)
