"""Adding search results to the pool, or judging them at once, besides the documents from runs."""

from collections.abc import Collection as Several
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, insert, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.search.search_query import Query, parse_query
from annotator.storage import (
    ACCEPTED,
    Assignment,
    AssignmentState,
    Collection,
    Contribution,
    Document,
    Pool,
    Purpose,
    Topic,
    User,
)
from annotator.storage.collections.collection import (
    find_topic,
    lock_collection,
    lock_open_collection,
    refuse_closed_judging,
)
from annotator.storage.documents.documents import docnos_of, document_ids
from annotator.storage.documents.search import found_among, pooled_items, refuse_judges_unless
from annotator.storage.judging.drawing import note_text_shown
from annotator.storage.judging.duplicates import standing_item
from annotator.storage.judging.leases import give_back, lend
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pool_items import NewItem, insert_items
from annotator.storage.pools.pools import latest_pool, next_pool, next_seed
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import DECIDES
from annotator.storage.tables.pools import Besides
from annotator.storage.topics.revisions import raise_topics
from annotator.workflows.documents.search import condition_of

# Searches take hours and add one document at a time. To keep the history short, everything found within a working
# day of a pool version's creation is added to it while it is the newest. Each item has its searcher and query.
SESSION = timedelta(hours=8)
MOST_AT_ONCE = 1_000


@dataclass(frozen=True)
class AddedItems:
    """Result of adding documents to the pool; `version` is the current pool version."""

    version: int
    added: int
    already_pooled: int


def add_found(
    session: Session,
    slug: str,
    *,
    topic: str,
    docnos: Sequence[str],
    query: str,
    actor_id: int | None,
    at: datetime,
    from_source: Several[str] = (),
) -> AddedItems:
    """Pool documents that a person found for a topic, and record the searcher for each of them.

    Those `from_source` were found by its search, which nothing here repeats.

    Documents pooled already stay as they are. Raises `InvalidValueError` for no documents, an invalid query, or one
    that does not find them; `NotFoundError` for a topic that is not an accepted one and for documents without text;
    `ConflictError` when the collection is closed.
    """
    asked = _read_query(query, docnos, from_source)
    if not 1 <= len(docnos) <= MOST_AT_ONCE:
        raise InvalidValueError(
            "Choose 1 to %(most)d documents to add, not %(count)d.", most=MOST_AT_ONCE, count=len(docnos)
        )
    collection = lock_open_collection(session, slug)
    wanted = find_topic(session, collection.id, topic, ACCEPTED)
    ids = _ids_with_text(session, collection.id, docnos)
    _refuse_not_found(session, collection.id, asked, docnos_of(session, ids))
    known = pooled_items(session, wanted.id, ids)
    _pool(session, collection, wanted, ids, str(asked), actor_id, at)
    latest = latest_pool(session, collection.id)
    return AddedItems(latest.version if latest else 0, len(ids) - len(known), len(known))


def take_for_judging(
    session: Session,
    slug: str,
    *,
    topic: str,
    docno: str,
    query: str,
    judge_id: int,
    now: datetime,
    from_source: Several[str] = (),
) -> int:
    """Assign a judge the document they found, pooled first if necessary; returns the assignment.

    Of documents with the same text, the one judged for all is assigned. One they hold or have judged is opened again,
    and one that needs no further judgement gets one more: a refusal would reveal that others have it. A judge who
    compares the number waiting before and after can still detect whether the document was pooled. Raises as
    `add_found`, `NotAllowedError` unless the organiser lets judges search, and `ConflictError` for documents they were
    given as adjudicators; nothing is stored then.
    """
    asked = _read_query(query, [docno], from_source)
    collection = lock_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    refuse_judges_unless(judges_search=collection.judges_search)
    wanted = find_topic(session, collection.id, topic, ACCEPTED)
    [document_id] = _ids_with_text(session, collection.id, [docno])
    _refuse_not_found(session, collection.id, asked, {document_id: docno})
    give_back(session, Assignment.lease_until < now)
    item_id = _pool(session, collection, wanted, [document_id], str(asked), judge_id, now)[document_id]
    return _hold(session, standing_item(session, item_id), judge_id, now)


def searcher_id(session: Session, name: str) -> int:
    """The user id of the searcher; `NotFoundError` for an unknown name."""
    return find_user(session, name).id


def _ids_with_text(session: Session, collection_id: int, docnos: Sequence[str]) -> list[int]:
    """The ids of documents, deduplicated, in the given order; `NotFoundError` names the first without text."""
    ids = document_ids(session, collection_id, docnos)
    with_text = {
        id_
        for chunk in chunks(list(ids.values()))
        for id_ in session.scalars(select(Document.id).where(Document.id.in_(chunk), Document.body.is_not(None)))
    }
    for docno in docnos:
        if ids.get(docno) not in with_text:
            raise NotFoundError("There is no document “%(docno)s” with a text in this collection.", docno=docno)
    return list(dict.fromkeys(ids[docno] for docno in docnos))


def _read_query(query: str, docnos: Sequence[str], from_source: Several[str]) -> Query | str:
    """The query that finds the documents; as it is written when a source has found them all."""
    return query.strip() if docnos and set(docnos) <= set(from_source) else parse_query(query)


def _refuse_not_found(session: Session, collection_id: int, query: Query | str, ids: Mapping[int, str]) -> None:
    """Raise `InvalidValueError` for the first of these documents (id → docno) that the query does not find."""
    if isinstance(query, str):
        return
    found = found_among(session, collection_id, condition_of(query), ids)
    for id_, docno in ids.items():
        if id_ not in found:
            raise InvalidValueError(
                "“%(query)s” does not find document “%(docno)s”: search again, and choose from what is found.",
                query=query,
                docno=docno,
            )


def _pool(
    session: Session,
    collection: Collection,
    topic: Topic,
    document_ids: Sequence[int],
    query: str,
    actor_id: int | None,
    at: datetime,
) -> dict[int, int]:
    """Pool documents not pooled yet, and record the searcher and query of each, once.

    Returns document id → pool item id.
    """
    known = pooled_items(session, topic.id, document_ids)
    fresh = [id_ for id_ in document_ids if id_ not in known]
    pool = _search_version(session, collection.id, query, actor_id, at, adds=bool(fresh))
    if fresh:
        docnos = docnos_of(session, fresh)
        priorities = judging_order([docnos[id_] for id_ in fresh], pool.seed, topic.number).tolist()
        items = [NewItem(topic.id, id_, priority) for id_, priority in zip(fresh, priorities, strict=True)]
        insert_items(session, pool, items, judgements_wanted=collection.judgements_wanted)
        known |= pooled_items(session, topic.id, fresh)
    noted = session.scalars(
        select(Contribution.pool_item_id).where(
            Contribution.pool_item_id.in_(known.values()),
            Contribution.searched_by_id.is_not_distinct_from(actor_id),
            Contribution.query == query,
        )
    ).all()
    rows = [
        {"pool_item_id": item_id, "pool_id": pool.id, "searched_by_id": actor_id, "query": query}
        for item_id in known.values()
        if item_id not in noted
    ]
    if rows:
        session.execute(insert(Contribution), rows)
        # Reports count documents found by searching, and this pool version may be of an earlier search.
        raise_topics(session, [topic.id])
    return known


def _search_version(
    session: Session, collection_id: int, query: str, actor_id: int | None, at: datetime, *, adds: bool
) -> Pool:
    """The pool version for a search: the newest if it may be extended or nothing is added, else a new one."""
    latest = latest_pool(session, collection_id)
    if latest is not None and (not adds or (latest.strategy == Besides.SEARCH and at - latest.built_at < SESSION)):
        if adds and query not in latest.parameters["queries"]:
            latest.parameters = {"queries": [*latest.parameters["queries"], query]}
        return latest
    return next_pool(
        session,
        collection_id,
        strategy=Besides.SEARCH,
        parameters={"queries": [query]},
        seed=next_seed(session, collection_id),
        built_by_id=actor_id,
        built_at=at,
    )


def _hold(session: Session, item_id: int, judge_id: int, now: datetime) -> int:
    """The judge's assignment of an item, created if there is none, whether or not others hold it.

    Raises `ConflictError` for an item they were ever given as an adjudicator.
    """
    # Serialises requests of a judge from two tabs.
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))
    decides = exists().where(Assignment.pool_item_id == item_id, Assignment.judge_id == judge_id, DECIDES)
    if session.scalar(select(decides)):
        raise ConflictError("You were given this document as an adjudicator, to decide on: it is not yours to judge.")
    own = select(Assignment.id).where(
        Assignment.pool_item_id == item_id,
        Assignment.judge_id == judge_id,
        Assignment.state != AssignmentState.RETURNED,
        Assignment.purpose != Purpose.RE_SHOWN,
    )
    held = session.scalar(own)
    if held is not None:
        note_text_shown(session, [held])
        return held
    lend(session, [item_id], judge_id, now)
    return session.scalars(own).one()
