"""All that settled grades and scores depend on, but what is said of documents, which has its revisions."""

from collections.abc import Collection as SizedIterable
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.new_judgements import latest_judgement
from annotator.storage.pools.samples import DrawnSample, drawn_sample
from annotator.storage.qrels.qrels_versions import kept_version
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.collections import Collection, Grade
from annotator.storage.tables.documents import Document
from annotator.storage.tables.people import MACHINES, Team
from annotator.storage.tables.pools import Pool, PoolItem, PoolRun
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run
from annotator.storage.tables.topics import ACCEPTED, Topic
from annotator.storage.topics.revisions import Revision, revisions

# More documents than that are asked for together.
ALL_AT_ONCE = 5_000
_ID, _DOCNO = Document.__table__.c.id, Document.__table__.c.docno


class ScoredRun(NamedTuple):
    """A run in force."""

    id: int
    tag: str
    team: str | None
    uploaded_at: datetime
    fed_pool: bool  # whether a version of the pool was made from it


@dataclass(frozen=True)
class TopicState:
    """An accepted topic; a change of what is said of its documents raises its revision.

    `latest` is the last judgement of all at that moment, None where ids do not tell which came first.
    """

    number: str
    owner_id: int | None
    revision: Revision
    latest: int | None = field(default=None, compare=False)

    def is_continued_by(self, later: "TopicState") -> bool:
        """Whether all that changed from then to `later` are judgements after `latest`."""
        return (
            self.latest is not None
            and later.latest is not None
            and self.latest <= later.latest
            and (self.number, self.owner_id) == (later.number, later.owner_id)
            and self.revision.of_everybody == later.revision.of_everybody
            and self.revision.total < later.revision.total
        )


@dataclass(frozen=True)
class ScoredState:
    """A collection at one moment; what is made from equal states and revisions is equal."""

    collection_id: int
    runs: tuple[ScoredRun, ...]
    topics: dict[int, TopicState]
    relevant_from: int
    best_grade: int
    machines: tuple[int, ...]  # the accounts that are machines; they count or not, but are never in dispute
    sample: DrawnSample | None  # of the pool, if it was drawn

    def in_time(self, before: datetime | None) -> "ScoredState":
        """The same without the runs that were uploaded from that moment on."""
        return replace(self, runs=tuple(one for one in self.runs if before is None or one.uploaded_at < before))

    def continued(self, earlier: Mapping[int, object]) -> dict[int, int]:
        """Of the topics, {topic: its state then}, those to which only judgements were added: the last one by then."""
        return {
            topic: state.latest
            for topic, state in earlier.items()
            if isinstance(state, TopicState) and state.latest is not None and state.is_continued_by(self.topics[topic])
        }


def scored_state(session: Session, collection: Collection, *, as_kept: int | None = None) -> ScoredState:
    """Read all of it in one transaction with what else is read; the scale is that of now, or of a version's time."""
    topics = session.execute(
        select(Topic.id, Topic.number, Topic.owner_id)
        .where(Topic.collection_id == collection.id, ACCEPTED)
        .order_by(Topic.id)
    )
    raised = revisions(session, collection.id)
    latest = latest_judgement(session)
    relevant_from = collection.relevant_from
    best_grade = session.scalar(select(func.max(Grade.value)).where(Grade.collection_id == collection.id))
    if as_kept is not None:
        version = kept_version(session, collection.id, str(as_kept))
        relevant_from, best_grade = version.relevant_from or relevant_from, version.best_grade or best_grade
    return ScoredState(
        collection.id,
        _runs(session, collection.id),
        {id_: TopicState(number, owner, raised[id_], latest) for id_, number, owner in topics},
        relevant_from,
        best_grade or 0,
        tuple(sorted(session.scalars(MACHINES))),
        drawn_sample(session, collection.id),
    )


def lists_with_scores(
    session: Session, run_ids: SizedIterable[int], topics: SizedIterable[int], *, with_scores: bool
) -> list[tuple[int, int, bytes, bytes | None]]:
    """Run id, topic id, documents and, if wanted, scores, as they are packed, of every list of these."""
    columns = (RankedList.run_id, RankedList.topic_id, RankedList.documents)
    statement = select(*columns, RankedList.scores) if with_scores else select(*columns)
    rows = []
    for some in chunks(sorted(run_ids)):
        for few in chunks(sorted(topics)):
            wanted = statement.where(RankedList.run_id.in_(some), RankedList.topic_id.in_(few))
            rows += [(row[0], row[1], row[2], row[3] if with_scores else None) for row in session.execute(wanted)]
    return rows


def docnos_in_topics(session: Session, topics: SizedIterable[int], documents: set[int]) -> dict[int, bytes]:
    """The docnos of these documents; of many, those of all items of these topics at once."""
    known: dict[int, bytes] = {}
    if len(documents) > ALL_AT_ONCE:
        for some in chunks(sorted(topics)):
            pooled = select(PoolItem.document_id).where(PoolItem.topic_id.in_(some))
            rows = fetch_rows(session, select(_ID, _DOCNO).where(_ID.in_(pooled)))
            known.update((id_, docno.encode()) for id_, docno in rows if id_ in documents)
    others = docnos_of(session, documents.difference(known))
    return known | {id_: docno.encode() for id_, docno in others.items()}


def _runs(session: Session, collection_id: int) -> tuple[ScoredRun, ...]:
    feeding = select(PoolRun.run_id).join(Pool, Pool.id == PoolRun.pool_id).where(Pool.collection_id == collection_id)
    fed = set(session.scalars(feeding.distinct()))
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, Run.uploaded_at)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id, IN_FORCE)
        .order_by(Run.id)
    )
    return tuple(ScoredRun(id_, tag, team, at, id_ in fed) for id_, tag, team, at in rows)
