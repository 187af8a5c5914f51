"""What a process has computed from the judgements of topics, each value kept while the topic's revision is the same."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from sqlalchemy.orm import Session

from annotator.storage.topics.revisions import Revision, revisions

# How many collections, each with its key, a process keeps.
MOST_KEPT = 64

Value = TypeVar("Value")


class TopicMemory(Generic[Value]):
    """Values by accepted topic of some collections; only those of changed topics are computed again.

    Entries are replaced and never changed in place, so that concurrent requests may read them.
    """

    def __init__(self) -> None:
        """Create an empty memory."""
        self._kept: dict[Hashable, Mapping[int, tuple[Revision, Value | None]]] = {}

    def values(
        self,
        session: Session,
        collection_id: int,
        compute: Callable[[Sequence[int]], Mapping[int, Value]],
        *,
        key: Hashable = None,
    ) -> dict[int, Value]:
        """Topic id → its value; `compute` gives those of the topics that have changed, which may lack some.

        `key` is everything else that the values depend on.
        """
        present = revisions(session, collection_id)
        place = (collection_id, key)
        kept = self._kept.get(place, {})
        stale = [id_ for id_, revision in present.items() if id_ not in kept or kept[id_][0] != revision]
        # Without judgements a topic has no revision.
        computed = compute([id_ for id_ in stale if present[id_].total]) if stale else {}
        now = {id_: kept[id_] for id_ in present.keys() & kept.keys() - set(stale)}
        now |= {id_: (present[id_], computed.get(id_)) for id_ in stale}
        self._kept.pop(place, None)  # reinsert at the end: least recently used entries are evicted first
        self._kept[place] = now
        for oldest in list(self._kept)[:-MOST_KEPT]:
            self._kept.pop(oldest, None)
        return {id_: value for id_, (_, value) in now.items() if value is not None}
