"""What the removal of the newest version of a pool takes out, read without a lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from annotator.storage.collections.removal import KeptRows, keep_rows
from annotator.storage.pools.pools import PoolState, pool_state
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.pools import Contribution, Pool, PoolItem

ITEMS, CONTRIBUTIONS = (cast("Table", model.__table__) for model in (PoolItem, Contribution))


@dataclass(frozen=True, eq=False)
class KeptPool:
    """The items and contributions of a version, while the pool has this state and nobody holds or judged the items."""

    pool_id: int
    state: PoolState
    kept: Mapping[Table, KeptRows]

    def holds(self, session: Session, pool: Pool) -> bool:
        """Whether they are those of this version and unchanged, if nobody holds or judged the items."""
        return self.pool_id == pool.id and self.state == pool_state(session, pool.collection_id)


def keep_pool(session: Session, pool: Pool) -> KeptPool:
    """Read the items and contributions of the newest version: most of the work of its removal."""
    of_version = {
        ITEMS: select(ITEMS.c.id).where(ITEMS.c.first_pool_id == pool.id),
        CONTRIBUTIONS: select(CONTRIBUTIONS.c.id).where(CONTRIBUTIONS.c.pool_id == pool.id),
    }
    ids = {table: [id_ for (id_,) in fetch_rows(session, rows)] for table, rows in of_version.items()}
    kept = {table: keep_rows(session, table, some) for table, some in ids.items() if some}
    return KeptPool(pool.id, pool_state(session, pool.collection_id), kept)
