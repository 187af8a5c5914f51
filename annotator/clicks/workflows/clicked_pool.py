"""Put what users clicked into the pool, as a version of its own: their clicks are no judgements, but worth one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert
from sqlalchemy.orm import Session

from annotator.clicks.storage.click_logs import find_click_log
from annotator.errors import NotFoundError
from annotator.evaluation.pooling.ordering import judging_order
from annotator.storage import ACCEPTED, Contribution
from annotator.storage.collections.collection import lock_open_collection, topic_ids
from annotator.storage.documents.documents import document_ids
from annotator.storage.pools.pool_items import add_pool_items
from annotator.storage.pools.pools import latest_pool, next_pool, next_seed, pool_item_ids
from annotator.storage.tables.pools import Besides

# A topic's number and a docno.
Clicked = tuple[str, str]


@dataclass(frozen=True)
class ClickedPool:
    """What putting clicked documents into the pool came to; `version` is the one in force, new if anything was added.

    `unknown` are documents that no run of the collection has, and no text is known of.
    """

    version: int
    added: int
    already_pooled: int
    unknown: int


def pool_clicked(
    session: Session, slug: str, *, log: str, clicked: Sequence[Clicked], built_by_id: int | None, built_at: datetime
) -> ClickedPool:
    """Add documents that users clicked to the pool, and keep of each new one by which log.

    Judges see them among the others in random order, and nothing of where they come from. Raises `NotFoundError` for
    an unknown log and a topic that is not an accepted one, `ConflictError` when the collection is closed.
    """
    collection = lock_open_collection(session, slug)
    name = find_click_log(session, collection.id, log).name
    topics = topic_ids(session, collection.id, ACCEPTED)
    documents = document_ids(session, collection.id, {docno for _, docno in clicked})
    for number, _ in clicked:
        if number not in topics:
            raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    known = {(topics[number], documents[docno]) for number, docno in clicked if docno in documents}
    pooled = pool_item_ids(session, collection.id)
    new = sorted(known - pooled.keys())
    if new:
        parameters = {"file": name, "topics": len({topic for topic, _ in new})}
        pool = next_pool(
            session,
            collection.id,
            strategy=Besides.CLICKS,
            parameters=parameters,
            seed=next_seed(session, collection.id),
            built_by_id=built_by_id,
            built_at=built_at,
        )
        wanted = collection.judgements_wanted
        items = add_pool_items(session, pool, new, judgements_wanted=wanted, order=judging_order)
        rows = [{"pool_item_id": items[pair], "pool_id": pool.id, "imported_from": name} for pair in new]
        session.execute(insert(Contribution), rows)
    latest = latest_pool(session, collection.id)
    unknown = len(set(clicked)) - len(known)
    return ClickedPool(latest.version if latest else 0, len(new), len(known) - len(new), unknown)
