"""Topics: parse, store, list and export."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, Problems
from annotator.evaluation.formats.foreign_rows import query_key
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.topic_formats import ParsedTopic, numbered_queries, parse_topics
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.files import InputFile
from annotator.storage import ACCEPTED, PoolItem, Topic, TopicState
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.judging.progress import judged_topic_ids

NUMBERS_TOLD = 20
# Per collection: statements name topics one by one, and SQLite allows 32,766 parameters.
MOST_TOPICS = 20_000


@dataclass(frozen=True)
class TopicRow:
    """A topic with the size of its pool; `reason` is why it was dropped."""

    number: str
    title: str
    description: str
    narrative: str
    language: str | None
    pool_items: int
    state: TopicState
    reason: str


@dataclass(frozen=True)
class TopicImport:
    """Result of a topic import."""

    added: int
    changed: int
    unchanged: int


def read_topics(files: Sequence[InputFile], *, unpacked_limit: int) -> list[ParsedTopic]:
    """Parse files of topics; `FileRefusedError` lists every problem of any of them."""
    problems = Problems()
    topics: dict[str, tuple[str, ParsedTopic]] = {}
    for file in files:
        text = unpack_into(problems, file.name, file.content, unpacked_limit)
        for topic in _topics_in(file, text, problems):
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


def _topics_in(file: InputFile, text: bytes | None, problems: Problems) -> Sequence[ParsedTopic]:
    return () if text is None else parse_topics(file.name, text, problems, file.input_format) or ()


def numbers_by_query(session: Session, collection_id: int) -> dict[str, str]:
    """The numbers of topics by their titles, as `query_key` writes them: files of other tools name topics so."""
    rows = session.execute(select(Topic.title, Topic.number).where(Topic.collection_id == collection_id))
    return {query_key(title): number for title, number in rows}


def pasted_topics(session: Session, slug: str, name: str, text: str) -> InputFile:
    """Pasted text as a file of topics: lines of queries are numbered after the topics there are, none of which changes.

    Other formats are kept. Raises `NotFoundError` for an unknown collection.
    """
    known = {topic.number: topic.title for topic in list_topics(session, slug)}
    return InputFile(name, numbered_queries(text, known).encode())


def import_topics(
    session: Session,
    slug: str,
    topics: Sequence[ParsedTopic],
    *,
    state: TopicState = TopicState.ACCEPTED,
    most: int = MOST_TOPICS,
) -> TopicImport:
    """Insert new topics in this state; existing numbers get the new text and keep their state.

    Raises `ConflictError` when a topic to change has judgements, and when the collection would have more than `most`
    topics; nothing is stored then.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    stored = {
        topic.number: topic for topic in session.scalars(select(Topic).where(Topic.collection_id == collection.id))
    }
    new = [topic for topic in topics if topic.number not in stored]
    if len(stored) + len(new) > most:
        raise ConflictError(
            "The collection would have %(count)d topics, and at most %(most)d are possible here. Send fewer, or have "
            "the setting ANNOTATOR_TOPIC_LIMIT raised.",
            count=len(stored) + len(new),
            most=most,
        )
    changed = [topic for topic in topics if topic.number in stored and _differing(stored[topic.number], topic)]
    _refuse_to_reword_judged(session, [stored[topic.number] for topic in changed])
    for topic in changed:
        for name, value in _differing(stored[topic.number], topic).items():
            setattr(stored[topic.number], name, value)
    if new:
        session.execute(
            insert(Topic), [{"collection_id": collection.id, "state": state, **_words(topic)} for topic in new]
        )
    return TopicImport(len(new), len(changed), len(topics) - len(new) - len(changed))


def list_topics(session: Session, slug: str) -> list[TopicRow]:
    """The topics in natural order, including drafts and dropped ones, each with its number of pool items."""
    items = func.count(PoolItem.id)
    rows = session.execute(
        select(Topic, items)
        .outerjoin(PoolItem, PoolItem.topic_id == Topic.id)
        .where(Topic.collection_id == find_collection(session, slug).id)
        .group_by(Topic.id)
    )
    listed = [
        TopicRow(
            number=topic.number,
            title=topic.title,
            description=topic.description,
            narrative=topic.narrative,
            language=topic.language,
            pool_items=count,
            state=TopicState(topic.state),
            reason=topic.reason,
        )
        for topic, count in rows
    ]
    return sorted(listed, key=lambda row: natural_order(row.number))


def published_topics(session: Session, slug: str) -> list[TopicRow]:
    """Topics visible to participants: accepted ones, and those dropped after they were pooled.

    A topic dropped before may have been a draft, which participants never saw. The reason is left out: it is the
    organisers' own.
    """
    return [
        replace(row, reason="")
        for row in list_topics(session, slug)
        if row.state == TopicState.ACCEPTED or (row.state == TopicState.DROPPED and row.pool_items)
    ]


def accepted_topics(session: Session, slug: str) -> list[Topic]:
    """The accepted topics in natural order, without their pool items, which take long to count."""
    accepted = select(Topic).where(Topic.collection_id == find_collection(session, slug).id, ACCEPTED)
    return sorted(session.scalars(accepted), key=lambda topic: natural_order(topic.number))


def topics_jsonl(rows: Sequence[TopicRow | Topic]) -> str:
    """The accepted topics of `rows`, one JSON object per line, in the format of a topic import."""
    records = (
        {
            "number": row.number,
            "title": row.title,
            "description": row.description,
            "narrative": row.narrative,
            "language": row.language,
        }
        for row in rows
        if row.state == TopicState.ACCEPTED
    )
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _words(topic: ParsedTopic) -> dict[str, str | None]:
    return {
        "number": topic.number,
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
        "language": topic.language,
    }


def _differing(stored: Topic, topic: ParsedTopic) -> dict[str, str | None]:
    """The fields of the topic's text that differ from the row."""
    return {name: value for name, value in _words(topic).items() if getattr(stored, name) != value}


def _refuse_to_reword_judged(session: Session, topics: Sequence[Topic]) -> None:
    judged = judged_topic_ids(session, [topic.id for topic in topics])
    numbers = sorted((topic.number for topic in topics if topic.id in judged), key=natural_order)
    if numbers:
        raise ConflictError(
            "Documents were judged by the present text of these topics, so it cannot change; leave the topics out of "
            "the file, or give them their present text: %(numbers)s.",
            numbers=", ".join(numbers[:NUMBERS_TOLD]) + (", …" if len(numbers) > NUMBERS_TOLD else ""),
        )
