"""What a judge said on similar documents of a topic, shown beside the document that they judge: only their own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import NotAllowedError, NotFoundError
from annotator.evaluation.search.similar_texts import Differences, SimilarText, differences, most_similar
from annotator.storage import Assignment, Collection, Document, Judgement, PoolItem, Topic
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.own_judgements import OwnGraded, count_graded, own_graded, own_texts

MOST_SIMILAR = 5
MOST_RELEVANT = 50
# Of each text, and of all texts of a topic: a thousand texts of this length are compared in a tenth of a second.
MOST_CHARACTERS = 60_000
MOST_IN_ALL = 8_000_000


@dataclass(frozen=True)
class SimilarJudged:
    """A similar document with the judge's own judgement, and the sentences that only one of the two has."""

    document: OwnGraded
    similarity: float
    differences: Differences


@dataclass(frozen=True)
class OwnComparison:
    """What a judge may compare a document with.

    `similar` has the most similar first; `relevant` the newest first, of `relevant_total` in the topic. `compared` is
    the number of texts that were compared, and `is_whole` whether these were all.
    """

    similar: tuple[SimilarJudged, ...]
    relevant: tuple[OwnGraded, ...]
    relevant_total: int
    compared: int
    is_whole: bool


@dataclass
class _Budget:
    """Counts the texts that are read, until they have too many characters."""

    texts: Iterable[tuple[int, str]]
    compared: int = 0
    characters: int = 0
    is_whole: bool = True

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for one in self.texts:
            if self.characters + len(one[1]) > MOST_IN_ALL:
                self.is_whole = False
                return
            self.characters += len(one[1])
            self.compared += 1
            yield one


def compare_with_own(session: Session, slug: str, assignment_id: int, judge_id: int) -> OwnComparison:
    """The judge's own judgements of documents of the same topic, for a document that was assigned to them.

    The document itself is left out, as it may be shown a second time, and so is every text equal to it that was judged
    with it. Raises `NotFoundError` for an assignment of somebody else, and `NotAllowedError` where the organiser
    switched it off.
    """
    collection = find_collection(session, slug)
    if not collection.judges_compare:
        raise NotAllowedError("The organiser has switched off comparing with earlier judgements in this collection.")
    topic_id, item_id, body = _assigned(session, collection, assignment_id, judge_id)
    found, texts = _similar(session, topic_id, item_id, judge_id, body)
    documents = own_graded(session, judge_id, Judgement.id.in_([one.key for one in found]), most=MOST_SIMILAR)
    bodies = _bodies(session, list(documents))
    is_relevant = (
        PoolItem.topic_id == topic_id,
        PoolItem.id != item_id,
        Judgement.grade >= collection.relevant_from,
    )
    return OwnComparison(
        tuple(
            SimilarJudged(documents[one.key], one.similarity, differences(body, bodies[one.key]))
            for one in found
            if one.key in documents
        ),
        tuple(own_graded(session, judge_id, *is_relevant, most=MOST_RELEVANT).values()),
        count_graded(session, judge_id, *is_relevant),
        texts.compared,
        texts.is_whole,
    )


def _similar(
    session: Session, topic_id: int, item_id: int, judge_id: int, body: str
) -> tuple[list[SimilarText], _Budget]:
    texts = _Budget(
        own_texts(session, topic_id, judge_id, without=item_id, most=MOST_CHARACTERS) if body.strip() else ()
    )
    return most_similar(body, texts, most=MOST_SIMILAR), texts


def _assigned(session: Session, collection: Collection, assignment_id: int, judge_id: int) -> tuple[int, int, str]:
    """Topic, pool item and the beginning of the text of an assignment of this judge."""
    row = session.execute(
        select(PoolItem.topic_id, PoolItem.id, Document.body)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Assignment.id == assignment_id, Assignment.judge_id == judge_id, Topic.collection_id == collection.id)
    ).one_or_none()
    if row is None:
        raise NotFoundError("You have no such assignment.")
    return row[0], row[1], (row.body or "")[:MOST_CHARACTERS]


def _bodies(session: Session, judgement_ids: list[int]) -> dict[int, str]:
    rows = session.execute(
        select(Judgement.id, Document.body)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Judgement.id.in_(judgement_ids))
    )
    return {id_: (body or "")[:MOST_CHARACTERS] for id_, body in rows}
