"""The ranked lists of a collection's runs, as they are stored."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run


@dataclass(frozen=True)
class ListsOfRun:
    """A run's lists, {topic id: documents packed}."""

    tag: str
    lists: dict[int, bytes] = field(default_factory=dict)


def lists_of_runs(
    session: Session, collection_id: int, topic_ids: Collection[int], *, runs_of: Collection[int] | None = None
) -> list[ListsOfRun]:
    """Every run in force in the order of their arrival, with its lists for these topics.

    `runs_of` are the ids of the runs of a round, the only ones then.
    """
    counting = [Run.collection_id == collection_id, IN_FORCE]
    if runs_of is not None:
        counting.append(Run.id.in_(runs_of))
    runs = {
        id_: ListsOfRun(tag) for id_, tag in session.execute(select(Run.id, Run.tag).where(*counting).order_by(Run.id))
    }
    in_force = select(Run.id).where(*counting)
    lists = select(RankedList.run_id, RankedList.topic_id, RankedList.documents)
    for some in chunks(sorted(topic_ids)):
        wanted = lists.where(RankedList.run_id.in_(in_force), RankedList.topic_id.in_(some))
        for run_id, topic_id, packed in session.execute(wanted):
            runs[run_id].lists[topic_id] = packed
    return list(runs.values())
