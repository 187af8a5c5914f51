"""Reviewing documents one after the other: the lists, and one document with its neighbours in the list.

Nothing is recorded. Organisers see who judged what; adjudicators see what they may see when they decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.search.search_snippets import Mark, marks_in
from annotator.storage import Topic
from annotator.storage.agreement.adjudication_queue import disputed_items, given_grades
from annotator.storage.agreement.judges_notes import judges_notes
from annotator.storage.agreement.review_lists import (
    ItemKey,
    ReviewedItem,
    ReviewedJudgement,
    gold_missed,
    item_of,
    judged_by,
    judgements_of,
    keys_of,
    person_who_judged,
    reviewed_item,
)
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judge_history import ShownDocument, shown
from annotator.workflows.judging.judge_history import CANNOT


@dataclass(frozen=True)
class ReviewedTopic:
    """The topic of a reviewed document, and the words to mark in it."""

    number: str
    title: str
    description: str
    narrative: str
    language: str | None
    words: tuple[Mark, ...]


@dataclass(frozen=True)
class Reviewed:
    """A document of a list with what is to be seen of it; `judgements` are for organisers only.

    `position` counts from 1; it is None for a document that is no longer in the list. `previous` and `following` are
    its neighbours.
    """

    key: ItemKey
    topic: ReviewedTopic
    document: ShownDocument
    known_grade: int | None
    judgements: tuple[ReviewedJudgement, ...]
    position: int | None
    total: int
    previous: ItemKey | None
    following: ItemKey | None


@dataclass(frozen=True)
class _Place:
    """A place in a list of items."""

    item_id: int
    key: ItemKey
    position: int | None
    total: int
    previous: ItemKey | None
    following: ItemKey | None


def list_judged_items(
    session: Session, slug: str, judge: str, *, grade: int | str | None = None, topic: str | None = None
) -> tuple[int, ...]:
    """The items that a person judged, the last judged first; `grade` may be “cannot”. Raises `NotFoundError`."""
    collection_id = find_collection(session, slug).id
    judge_id = _judge(session, collection_id, judge)
    found = judged_by(
        *(session, collection_id, judge_id),
        grade=grade if isinstance(grade, int) else None,
        without=grade == CANNOT,
        topic=topic,
    )
    return tuple(found)


def list_missed_gold(session: Session, slug: str, judge: str | None = None) -> tuple[int, ...]:
    """The gold questions that anybody, or this judge, graded wrongly or could not judge, by topic and document."""
    collection_id = find_collection(session, slug).id
    found = gold_missed(session, collection_id, None if judge is None else _judge(session, collection_id, judge))
    return tuple(sorted(found, key=lambda id_: (natural_order(found[id_].topic), found[id_].docno)))


def list_disputed(session: Session, slug: str, judge_id: int, topic: str | None = None) -> tuple[int, ...]:
    """The items that are in dispute for an adjudicator or that they decided.

    As in their queue, the worst disputes come first if grades are shown; any other order by grades would reveal them.
    """
    collection = find_collection(session, slug)
    found = [one for one in disputed_items(session, collection.id, judge_id) if topic in {None, one.topic}]
    found.sort(key=lambda one: natural_order(one.topic))
    if collection.shows_grades:
        line = collection.relevant_from
        found.sort(key=lambda one: (not (one.low or 0) < line <= (one.high or 0), (one.low or 0) - (one.high or 0)))
    return tuple(one.id for one in found)


def open_reviewed(session: Session, slug: str, items: Sequence[int], key: ItemKey | None, at: int) -> Reviewed:
    """A document of a list with all judgements, for organisers: that of `key`, otherwise the one at position `at`.

    Raises `NotFoundError` for a document that is not in the pool, and for an empty list.
    """
    place = _find(session, find_collection(session, slug).id, items, key, at)
    item = reviewed_item(session, place.item_id)
    document = _without_assignment(item)
    return _reviewed(session, place, item, document, tuple(judgements_of(session, place.item_id)))


def open_disputed(
    session: Session, slug: str, items: Sequence[int], key: ItemKey | None, at: int, judge_id: int
) -> Reviewed:
    """A document of an adjudicator's list with their decision, and what their screen shows of the judges.

    Raises `NotFoundError` for a document that is not in the list.
    """
    collection = find_collection(session, slug)
    place = _find(session, collection.id, items, key, at)
    if place.position is None:
        raise NotFoundError("This document is not in dispute, or you may not decide on it.")
    item = reviewed_item(session, place.item_id)
    given = given_grades(session, [place.item_id]) if collection.shows_grades else None
    notes = judges_notes(session, [place.item_id], with_grades=collection.shows_grades)
    [document] = shown(session, [item.document], judge_id, given, notes)
    # Gold questions are none of an adjudicator's business.
    return _reviewed(session, place, item._replace(known_grade=None), document, ())


def reviewed_text(session: Session, slug: str, key: ItemKey) -> ShownDocument:
    """The document of a pool item, for its further parts; raises `NotFoundError`."""
    item_id = item_of(session, find_collection(session, slug).id, key)
    if item_id is None:
        raise _no_document(key)
    return _without_assignment(reviewed_item(session, item_id))


def _judge(session: Session, collection_id: int, name: str) -> int:
    judge_id = person_who_judged(session, collection_id, name)
    if judge_id is None:
        raise NotFoundError("“%(judge)s” has judged nothing in this collection.", judge=name)
    return judge_id


def _find(session: Session, collection_id: int, items: Sequence[int], key: ItemKey | None, at: int) -> _Place:
    """The place of an item in a list, and its neighbours; one that left the list is between those at its place."""
    item_id = None if key is None else item_of(session, collection_id, key)
    if key is not None and item_id is None:
        raise _no_document(key)
    if item_id is None and not items:
        raise NotFoundError("No matching documents.")
    at = min(max(at, 1), max(len(items), 1))
    if item_id is None:
        item_id = items[at - 1]
    position = items.index(item_id) + 1 if item_id in items else None
    before, after = (at - 2, at - 1) if position is None else (position - 2, position)
    around = [items[index] if 0 <= index < len(items) else None for index in (before, after)]
    keys = keys_of(session, [item_id, *(one for one in around if one is not None)])
    previous, following = (None if one is None else keys[one] for one in around)
    return _Place(item_id, keys[item_id], position, len(items), previous, following)


def _reviewed(
    session: Session,
    place: _Place,
    item: ReviewedItem,
    document: ShownDocument,
    judgements: tuple[ReviewedJudgement, ...],
) -> Reviewed:
    topic = session.get_one(Topic, item.topic_id)
    about = ReviewedTopic(
        *(topic.number, topic.title, topic.description, topic.narrative, topic.language),
        words=tuple(marks_in(topic.title)),
    )
    return Reviewed(
        *(place.key, about, document, item.known_grade, judgements),
        *(place.position, place.total, place.previous, place.following),
    )


def _without_assignment(item: ReviewedItem) -> ShownDocument:
    one = item.document
    return ShownDocument(
        *(one.assignment_id, one.document_id, one.docno, one.title, one.body, one.url, one.language, one.text_hash),
        judgement=None,
    )


def _no_document(key: ItemKey) -> NotFoundError:
    return NotFoundError("There is no document “%(docno)s” in the pool of this topic.", docno=key.docno)
