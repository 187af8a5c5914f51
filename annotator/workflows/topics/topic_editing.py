"""Editing of topics by hand: draft, edit, accept, drop and restore."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Problems
from annotator.evaluation.formats.identifiers import check_free_text, check_topic_number
from annotator.storage import Assignment, PoolItem, Topic, TopicState
from annotator.storage.collections.collection import find_collection, find_topic, lock_open_collection
from annotator.storage.judging.leases import give_back
from annotator.storage.judging.progress import judged_topic_ids
from annotator.storage.tables.collections import Collection

LONGEST_TITLE = 1_000
LONGEST_TEXT = 20_000
LONGEST_LANGUAGE = 35  # of a BCP 47 language tag
LONGEST_REASON = 1_000


@dataclass(frozen=True)
class TopicWords:
    """The text of a topic; only the title is required."""

    title: str
    description: str = ""
    narrative: str = ""
    language: str | None = None


@dataclass(frozen=True)
class TopicView:
    """One topic for its page."""

    number: str
    words: TopicWords
    state: TopicState
    reason: str
    is_judged: bool  # its text is read-only


def show_topic(session: Session, slug: str, number: str) -> TopicView:
    """One topic; `NotFoundError` for an unknown number."""
    topic = find_topic(session, find_collection(session, slug).id, number)
    return TopicView(
        number=topic.number,
        words=_words_of(topic),
        state=TopicState(topic.state),
        reason=topic.reason,
        is_judged=bool(judged_topic_ids(session, [topic.id])),
    )


def add_draft(session: Session, slug: str, number: str, words: TopicWords) -> None:
    """Create a draft topic.

    Raises `InvalidValueError` for an invalid number or text, and `ConflictError` for a number in use.
    """
    collection = lock_open_collection(session, slug)
    _check_number(number)
    taken = session.scalar(select(Topic.id).where(Topic.collection_id == collection.id, Topic.number == number))
    if taken is not None:
        raise ConflictError("There is a topic “%(number)s” already.", number=number)
    topic = Topic(collection_id=collection.id, number=number, state=TopicState.DRAFT)
    _put(_as_stored(words), topic)
    session.add(topic)
    session.flush()


def change_words(session: Session, slug: str, number: str, words: TopicWords) -> bool:
    """Replace a topic's text; returns whether anything changed.

    Raises `ConflictError` when it has judgements, and `InvalidValueError` for an invalid text.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    topic = find_topic(session, collection.id, number)
    new = _as_stored(words)
    if new == _words_of(topic):
        return False
    if judged_topic_ids(session, [topic.id]):
        raise ConflictError(
            "Documents were judged by the present text of topic “%(number)s”, so it cannot change. Drop the topic and "
            "draft a new one instead.",
            number=number,
        )
    _put(new, topic)
    return True


def change_some_words(session: Session, slug: str, number: str, changes: Mapping[str, str]) -> bool:
    """Change the given fields of a topic's text; returns and raises as `change_words`."""
    present = show_topic(session, slug, number).words
    return change_words(session, slug, number, replace(present, **changes))


def accept_topics(session: Session, slug: str, numbers: Sequence[str]) -> list[str]:
    """Accept drafts and return their numbers; a topic that is accepted already is left unchanged.

    Raises `ConflictError` for a dropped one.
    """
    topics = _topics(session, lock_open_collection(session, slug), numbers)
    for topic in topics:
        if topic.state == TopicState.DROPPED:
            raise ConflictError("Topic “%(number)s” was dropped: restore it instead.", number=topic.number)
    return _put_into(TopicState.ACCEPTED, topics)


def drop_topics(session: Session, slug: str, numbers: Sequence[str], *, reason: str) -> list[str]:
    """Drop topics for a reason, and return those not dropped before; the others get the new reason.

    Leases are returned; judgements that still arrive are stored as late. Raises `InvalidValueError` without a reason.
    """
    reason = " ".join(reason.split())
    if not reason:
        raise InvalidValueError(
            "Give a reason for dropping the topic: it is shown with the topic and recorded in the manifest."
        )
    check_free_text(reason, LONGEST_REASON)
    topics = _topics(session, lock_open_collection(session, slug, against_judging=True), numbers)
    for topic in topics:
        topic.reason = reason
    dropped = _put_into(TopicState.DROPPED, topics)
    items = select(PoolItem.id).where(PoolItem.topic_id.in_([topic.id for topic in topics]))
    give_back(session, Assignment.pool_item_id.in_(items))
    return dropped


def restore_topics(session: Session, slug: str, numbers: Sequence[str]) -> list[str]:
    """Restore dropped topics as accepted ones with all their judgements, and return their numbers.

    Raises `ConflictError` for a draft, which can only be accepted.
    """
    topics = _topics(session, lock_open_collection(session, slug), numbers)
    for topic in topics:
        if topic.state == TopicState.DRAFT:
            raise ConflictError("Topic “%(number)s” is a draft: accept it instead.", number=topic.number)
    for topic in topics:
        topic.reason = ""
    return _put_into(TopicState.ACCEPTED, topics)


def _topics(session: Session, collection: Collection, numbers: Sequence[str]) -> list[Topic]:
    if not numbers:
        raise InvalidValueError("Choose a topic first.")
    return [find_topic(session, collection.id, number) for number in dict.fromkeys(numbers)]


def _put_into(state: TopicState, topics: Sequence[Topic]) -> list[str]:
    """Set the state of topics and return the numbers of those that had another."""
    moved = [topic for topic in topics if topic.state != state]
    for topic in moved:
        topic.state = state
    return [topic.number for topic in moved]


def _words_of(topic: Topic) -> TopicWords:
    return TopicWords(topic.title, topic.description, topic.narrative, topic.language)


def _put(words: TopicWords, topic: Topic) -> None:
    topic.title = words.title
    topic.description = words.description
    topic.narrative = words.narrative
    topic.language = words.language


def _as_stored(words: TopicWords) -> TopicWords:
    """The text normalised as by an import: the title on one line, fields stripped."""
    stored = TopicWords(
        title=" ".join(words.title.split()),
        description=words.description.strip(),
        narrative=words.narrative.strip(),
        language=(words.language or "").strip() or None,
    )
    if not stored.title:
        raise InvalidValueError("A topic needs a title.")
    check_free_text(stored.title, LONGEST_TITLE)
    check_free_text(stored.description, LONGEST_TEXT)
    check_free_text(stored.narrative, LONGEST_TEXT)
    check_free_text(stored.language or "", LONGEST_LANGUAGE)
    return stored


def _check_number(number: str) -> None:
    """Raise for a number that an import of topics would refuse, with the same message."""
    problems = Problems()
    if not check_topic_number(problems, "", 1, number):
        sentence = problems.first[0].sentence
        raise InvalidValueError(sentence.template, **sentence.values)
