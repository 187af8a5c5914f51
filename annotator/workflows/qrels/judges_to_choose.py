"""The judges by whose grades alone one may export qrels or score runs: the choices of a page."""

from collections.abc import Collection, Mapping

from sqlalchemy.orm import Session

from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judges import common_shares, judges_with_shares, names_of_judges
from annotator.storage.site.bulk_insert import chunks
from annotator.workflows.collections.topic_memory import TopicMemory
from annotator.workflows.judging.topic_judgements import read_judgements

# Of topics to which labels may have been imported: the ids of the judges with grades.
JudgesMemory = TopicMemory[frozenset[int]]


def judges_to_choose(session: Session, slug: str, memory: JudgesMemory | None = None) -> list[str]:
    """The names of those who judged documents of accepted topics, sorted; raises `NotFoundError`.

    Those who judged by hand have shares of the topics' revisions. Without a memory all judgements are read for the
    others, at each call.
    """
    collection_id = find_collection(session, slug).id
    by_hand = judges_with_shares(session, collection_id)
    return names_of_judges(session, by_hand.union(*_with_labels(session, collection_id, memory or JudgesMemory())))


def _with_labels(session: Session, collection_id: int, memory: JudgesMemory) -> Collection[frozenset[int]]:
    """The judges with grades in each topic that was changed for all judges at once, as by importing labels."""

    def read(stale: Mapping[int, object]) -> dict[int, frozenset[int]]:
        found: dict[int, frozenset[int]] = {}
        for some in chunks(sorted(stale)):
            found |= read_judgements(session, collection_id, some, docnos=False, seconds=False).graders_by_topic()
        return found

    return memory.values(collection_id, common_shares(session, collection_id), read).values()
