"""The judges by whose grades alone one may export qrels or score runs: the choices of a page."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judges import common_shares, judges_with_shares, names_of_judges
from annotator.storage.site.bulk_insert import chunks
from annotator.workflows.judging.topic_judgements import read_judgements

# How many collections a process keeps the judges of.
MOST_KEPT = 64


class JudgesMemory:
    """Cache of the judges of imported labels by topic; a topic is read again when its common share has changed.

    Entries are replaced and never changed in place, so that concurrent requests may read them.
    """

    def __init__(self) -> None:
        """Create an empty cache."""
        self._kept: dict[int, Mapping[int, tuple[int, frozenset[int]]]] = {}

    def with_labels(self, session: Session, collection_id: int) -> set[int]:
        """Ids of the judges with grades in accepted topics to which labels may have been imported."""
        common = common_shares(session, collection_id)
        kept = self._kept.get(collection_id, {})
        stale = [id_ for id_, share in common.items() if kept.get(id_, (0,))[0] != share]
        found: dict[int, frozenset[int]] = {}
        for some in chunks(sorted(stale)):
            found |= read_judgements(session, collection_id, some, docnos=False, seconds=False).graders_by_topic()
        now = {id_: kept[id_] for id_ in common.keys() & kept.keys()}
        now |= {id_: (common[id_], found.get(id_, frozenset())) for id_ in stale}
        self._kept.pop(collection_id, None)  # reinsert at the end: least recently used entries are evicted first
        self._kept[collection_id] = now
        for oldest in list(self._kept)[:-MOST_KEPT]:
            self._kept.pop(oldest, None)
        return {judge for _, judges in now.values() for judge in judges}


def judges_to_choose(session: Session, slug: str, memory: JudgesMemory | None = None) -> list[str]:
    """The names of those who judged documents of accepted topics, sorted; raises `NotFoundError`.

    Those who judged by hand have shares of the topics' revisions. Without a memory all judgements are read for the
    others, at each call.
    """
    collection_id = find_collection(session, slug).id
    judged = judges_with_shares(session, collection_id)
    return names_of_judges(session, judged | (memory or JudgesMemory()).with_labels(session, collection_id))
