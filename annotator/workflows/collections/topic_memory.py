"""What a process has computed of topics, each value kept while the mark of its topic is the same."""

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

# How many collections, each with what else its values depend on, a process keeps.
MOST_KEPT = 64

Value = TypeVar("Value")


class TopicMemory(Generic[Value]):
    """Values of topics in several places; only those of topics with another mark are computed again.

    Entries are replaced and never changed in place, so that concurrent requests may read them.
    """

    def __init__(self) -> None:
        """Create an empty memory."""
        self._kept: dict[Hashable, Mapping[int, tuple[Hashable, Value | None]]] = {}

    def values(
        self,
        place: Hashable,
        marks: Mapping[int, Hashable],
        compute: Callable[[Mapping[int, Value | None]], Mapping[int, Value]],
    ) -> dict[int, Value]:
        """Topic id → its value, for the topics that have a mark and a value.

        `place` is the collection and everything else that the values depend on; a mark, such as the revision, changes
        with its topic. `compute` is called with the topics that have another mark, each with its value under the mark
        before, or None, and may leave some out.
        """
        kept = self._kept.get(place, {})
        stale = {id_: kept[id_][1] if id_ in kept else None for id_, mark in marks.items() if not _has(kept, id_, mark)}
        computed = compute(stale) if stale else {}
        now = {id_: kept[id_] for id_ in marks.keys() - stale.keys()}
        now |= {id_: (marks[id_], computed.get(id_)) for id_ in stale}
        self._kept.pop(place, None)  # reinsert at the end: least recently used entries are evicted first
        self._kept[place] = now
        for oldest in list(self._kept)[:-MOST_KEPT]:
            self._kept.pop(oldest, None)
        return {id_: value for id_, (_, value) in now.items() if value is not None}


def _has(kept: Mapping[int, tuple[Hashable, object]], id_: int, mark: Hashable) -> bool:
    return id_ in kept and kept[id_][0] == mark
