"""Near-duplicates and exact duplicates among the documents of a topic."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.search.near_duplicates import NearDuplicates, near_duplicates
from annotator.storage import ACCEPTED, Document, Judgement, PoolItem, Topic, User
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.people import MACHINES

USUALLY_AT_LEAST = 0.8
LEAST_SIMILARITY = 0.5
# That takes about two seconds, the most a reader should wait; the command compares any number.
MOST_CHARACTERS = 4_000_000
# Texts from one template are all similar, which gives the largest number of pairs: comparing these takes a second.
MOST_COMPARED = 50_000


@dataclass(frozen=True)
class SimilarDocument:
    """One of two similar documents, with the grades that judges gave it directly, by judge."""

    docno: str
    title: str
    grades: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class SimilarPair:
    """Two documents of a topic, and the Jaccard similarity of their shingles."""

    first: SimilarDocument
    second: SimilarDocument
    similarity: float

    @property
    def differs(self) -> bool | None:
        """Whether the sets of grades of the two differ; None when one of them has no grade."""
        given = [{grade for _, grade in document.grades} for document in (self.first, self.second)]
        return None if not all(given) else given[0] != given[1]


@dataclass(frozen=True)
class IdenticalDocument:
    """A document that is not shown, the one with the same text that is, and how many judgements it copied."""

    docno: str
    shown_instead: str
    title: str
    carried: int


@dataclass(frozen=True)
class TopicLikeness:
    """Duplicates in one topic, whose pool has `documents` distinct texts.

    `pairs` is None when the texts exceed the limit; `more` when the search ended early at the limit of pairs.
    """

    number: str
    title: str
    documents: int
    pairs: tuple[SimilarPair, ...] | None
    identical: tuple[IdenticalDocument, ...]
    more: bool = False


def topics_to_compare(session: Session, slug: str) -> list[str]:
    """The numbers of accepted topics that have a pool, in natural order."""
    numbers = session.scalars(
        select(Topic.number)
        .where(Topic.collection_id == find_collection(session, slug).id, ACCEPTED)
        .where(select(PoolItem.id).where(PoolItem.topic_id == Topic.id).exists())
    )
    return sorted(numbers, key=natural_order)


def show_likeness(
    session: Session,
    slug: str,
    number: str,
    at_least: float = USUALLY_AT_LEAST,
    *,
    most_characters: int | None = None,
    most_compared: int | None = None,
) -> TopicLikeness:
    """Compare the texts of a topic's pooled documents pairwise, the most similar pairs first.

    A million characters take about half a second; a topic with more than `most_characters` is not compared. Texts from
    one template may all be similar: the search ends after `most_compared` pairs.

    Raises `NotFoundError` for a topic that is not an accepted one and `InvalidValueError` for a similarity outside 0.5
    to 1: below that, pairs have little in common and would be many.
    """
    if not LEAST_SIMILARITY <= at_least <= 1:
        raise InvalidValueError("The similarity is from 0.5 to 1, not %(given)s.", given=at_least)
    topic = find_topic(session, find_collection(session, slug).id, number, ACCEPTED)
    with_text = (
        PoolItem.topic_id == topic.id,
        PoolItem.duplicate_of_id.is_(None),
        Document.id == PoolItem.document_id,
        Document.body.is_not(None),
    )
    documents, characters = session.execute(
        select(func.count(), func.coalesce(func.sum(func.length(Document.body)), 0)).where(*with_text)
    ).one()
    pairs, is_all = None, True
    if most_characters is None or characters <= most_characters:
        rows = session.execute(
            select(PoolItem.id, Document.docno, Document.title, Document.body)
            .where(*with_text)
            .order_by(Document.docno)
        ).all()
        found = near_duplicates({row.id: row.body or "" for row in rows}, at_least, most_compared=most_compared)
        pairs, is_all = _described(session, rows, found.pairs), found.is_all
    return TopicLikeness(topic.number, topic.title, documents, pairs, _identical(session, topic.id), not is_all)


def _described(
    session: Session, rows: Sequence[Row[int, str, str, str | None]], found: Sequence[NearDuplicates]
) -> tuple[SimilarPair, ...]:
    grades = _grades(session, [item for pair in found for item in (pair.first, pair.second)])
    documents = {row.id: SimilarDocument(row.docno, row.title, grades.get(row.id, ())) for row in rows}
    return tuple(SimilarPair(documents[pair.first], documents[pair.second], pair.similarity) for pair in found)


def _grades(session: Session, item_ids: Sequence[int]) -> dict[int, tuple[tuple[str, int], ...]]:
    """Pool item → judge and grade of every person who graded it as shown, by name."""
    grades: dict[int, list[tuple[str, int]]] = {}
    for chunk in chunks(sorted(set(item_ids))):
        rows = session.execute(
            select(Judgement.pool_item_id, User.name, Judgement.grade)
            .join(User, User.id == Judgement.judge_id)
            .where(Judgement.pool_item_id.in_(chunk), Judgement.current, SHOWN, Judgement.grade.is_not(None))
            .where(Judgement.judge_id.not_in(MACHINES))
            .order_by(User.name)
        )
        for item, judge, grade in rows:
            grades.setdefault(item, []).append((judge, grade or 0))
    return {item: tuple(given) for item, given in grades.items()}


def _identical(session: Session, topic_id: int) -> tuple[IdenticalDocument, ...]:
    """Exact duplicates, by the docno of the document shown and their own."""
    standing, shown = aliased(PoolItem), aliased(Document)
    carried = (
        select(func.count())
        .where(Judgement.pool_item_id == PoolItem.id, Judgement.current, ~SHOWN)
        .correlate(PoolItem)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Document.docno, shown.docno, Document.title, carried)
        .select_from(PoolItem)
        .join(Document, Document.id == PoolItem.document_id)
        .join(standing, standing.id == PoolItem.duplicate_of_id)
        .join(shown, shown.id == standing.document_id)
        .where(PoolItem.topic_id == topic_id)
        .order_by(shown.docno, Document.docno)
    )
    return tuple(IdenticalDocument(*row) for row in rows)
