"""The judgements that were added since some moment, and the pool items whose grade they may change.

They are found by their ids. On SQLite, where one writes at a time and no id comes twice, the higher id is the later
one; on PostgreSQL a judgement may become visible after one with a higher id, so that its ids tell nothing.
"""

from collections.abc import Mapping
from typing import cast

from sqlalchemy import Table, func, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.pools import PoolItem

# Of more, to read whole topics takes no longer.
MOST_NEW = 5_000

_SAID = cast("Table", Judgement.__table__).c
_ITEMS = cast("Table", PoolItem.__table__).c
_NEW = select(_SAID.id, _SAID.pool_item_id, _SAID.grade, _SAID.replaces_id, _SAID.current)


def latest_judgement(session: Session) -> int | None:
    """The last judgement of all, 0 when there is none; None where ids do not tell which came first."""
    if not has_one_writer(session):
        return None
    return session.scalar(select(func.coalesce(func.max(_SAID.id), 0)))


def items_said_of(session: Session, since: Mapping[int, int]) -> dict[int, dict[int, int]]:
    """Topic → {pool item: document} of what was judged in it after this judgement, {topic: judgement}.

    A topic is not among them where somebody took a grade back, or where there is too much new: it has to be read whole.
    """
    if not since:
        return {}
    statement = _NEW.where(_SAID.id > min(since.values())).order_by(_SAID.id).limit(MOST_NEW + 1)
    rows = fetch_rows(session, statement)
    if len(rows) > MOST_NEW:
        return {}
    repeating = _items_repeating(session, [row[3] for row in rows if row[3] is not None])
    places = _places(session, {row[1] for row in rows} | repeating)
    found: dict[int, dict[int, int]] = {}
    unclear = set()
    for id_, item, grade, replaces, is_current in rows:
        topic, document = places[item]
        if id_ > since.get(topic, id_):
            found.setdefault(topic, {})[item] = document
            if grade is None and (replaces is not None or not is_current):
                unclear.add(topic)
    for item in repeating:
        topic, document = places[item]
        if topic in found:
            found[topic][item] = document
    return {topic: items for topic, items in found.items() if topic not in unclear}


def _items_repeating(session: Session, judgements: list[int]) -> set[int]:
    """The items to which these judgements, which count no more, are still carried over."""
    return {
        item
        for some in chunks(judgements)
        for (item,) in fetch_rows(
            session, select(_SAID.pool_item_id).where(_SAID.carried_from_id.in_(some), _SAID.current)
        )
    }


def _places(session: Session, items: set[int]) -> dict[int, tuple[int, int]]:
    """Item → its topic and its document."""
    statement = select(_ITEMS.id, _ITEMS.topic_id, _ITEMS.document_id)
    return {
        item: (topic, document)
        for some in chunks(sorted(items))
        for item, topic, document in fetch_rows(session, statement.where(_ITEMS.id.in_(some)))
    }
