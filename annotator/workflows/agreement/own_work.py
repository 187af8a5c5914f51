"""What waits for one person in each of their collections, counted for many collections at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from annotator.evaluation.pooling.pool_choice import ADAPTIVE
from annotator.storage import Collection, CollectionState, Pool, PoolItem, Question, Role, Topic
from annotator.storage.agreement.adjudication_queue import own_disputes
from annotator.storage.judging.eligibility import waiting_items
from annotator.storage.tables.topics import ACCEPTED

ToCome = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class OwnWork:
    """Documents that wait for a judge and their topics, disputes for an adjudicator, questions for an organiser."""

    documents: int = 0
    topics: int = 0
    disputes: int = 0
    questions: int = 0


def adaptive_collections(session: Session, slugs: Iterable[str]) -> list[str]:
    """Those of these collections that are open and have a pool whose documents are chosen while people judge."""
    chosen = select(Pool.collection_id).where(Pool.strategy.in_(ADAPTIVE))
    return [one.slug for one in _open(session, slugs, Collection.id.in_(chosen))]


def own_work(
    session: Session, user_id: int, roles: Mapping[str, frozenset[Role]], *, now: datetime, to_come: ToCome
) -> dict[str, OwnWork]:
    """Slug → what waits, for the open collections in which a person has roles.

    `to_come` has the documents that adaptive pools will still choose for this judge, by slug and topic. The number of
    queries does not grow with that of the collections.
    """
    here = {role: _open(session, [slug for slug, held in roles.items() if role in held]) for role in Role}
    documents, topics = _documents(session, user_id, here[Role.JUDGE], now, to_come)
    disputes = _disputes(session, user_id, here[Role.ADJUDICATOR])
    questions = _questions(session, here[Role.ORGANISER])
    return {
        one.slug: OwnWork(documents[one.id], topics[one.id], disputes[one.id], questions[one.id])
        for collections in here.values()
        for one in collections
    }


def _open(session: Session, slugs: Iterable[str], *conditions: ColumnElement[bool]) -> Sequence[Collection]:
    is_open = Collection.state == CollectionState.OPEN
    return session.scalars(select(Collection).where(Collection.slug.in_(list(slugs)), is_open, *conditions)).all()


def _documents(
    session: Session, judge_id: int, collections: Sequence[Collection], now: datetime, to_come: ToCome
) -> tuple[Counter[int], Counter[int]]:
    """Collection id → waiting documents, and topics that have some."""
    # The queries depend on these two settings alone.
    alike = defaultdict[tuple[str, int], list[Collection]](list)
    for one in collections:
        alike[one.judging_mode, one.reshow_share].append(one)
    waiting = Counter[int]()
    for some in alike.values():
        waiting += waiting_items(session, judge_id, some[0], _in_topics(some), now)
    chosen = {one.id: to_come.get(one.slug, {}) for one in collections}
    documents, topics = Counter[int](), Counter[int]()
    for topic_id, number, collection_id in _topics(session, collections):
        count = waiting[topic_id] + chosen[collection_id].get(number, 0)
        documents[collection_id] += count
        topics[collection_id] += count > 0
    return documents, topics


def _disputes(session: Session, judge_id: int, collections: Sequence[Collection]) -> Counter[int]:
    if not collections:
        return Counter()
    own = own_disputes(session, None, judge_id, _in_topics(collections))
    found = Counter[int]()
    for topic_id, _, collection_id in _topics(session, collections):
        found[collection_id] += own[topic_id].waiting if topic_id in own else 0
    return found


def _questions(session: Session, collections: Sequence[Collection]) -> Counter[int]:
    unanswered = (
        select(Question.collection_id, func.count())
        .where(Question.collection_id.in_([one.id for one in collections]), Question.answered_at.is_(None))
        .group_by(Question.collection_id)
    )
    return Counter({id_: count for id_, count in session.execute(unanswered)})


def _in_topics(collections: Sequence[Collection]) -> ColumnElement[bool]:
    ids = [one.id for one in collections]
    return PoolItem.topic_id.in_(select(Topic.id).where(Topic.collection_id.in_(ids), ACCEPTED))


def _topics(session: Session, collections: Sequence[Collection]) -> Sequence[tuple[int, str, int]]:
    ids = [one.id for one in collections]
    columns = Topic.id, Topic.number, Topic.collection_id
    return [
        (id_, number, where)
        for id_, number, where in session.execute(select(*columns).where(Topic.collection_id.in_(ids), ACCEPTED))
    ]
