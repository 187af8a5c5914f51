"""What settled grades and scores depend on: runs, topics, revisions, and judgements added since."""

import hashlib
from collections.abc import Collection as SizedIterable
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.documents.documents import docnos_of
from annotator.storage.pools.pools import DrawnSample, drawn_sample
from annotator.storage.qrels.qrels_versions import kept_version
from annotator.storage.runs.runs import find_run
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection, Deletion, Grade
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import MACHINES, Team, User
from annotator.storage.tables.pools import Contribution, Pool, PoolItem, PoolRun, SelectionEvent
from annotator.storage.tables.qrels import QrelsVersion
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run
from annotator.storage.tables.topics import ACCEPTED, Topic, TopicRevision
from annotator.storage.topics.revisions import Revision, revisions

# Of more, to read whole topics takes no longer.
MOST_NEW = 5_000

_SAID = cast("Table", Judgement.__table__).c
_ITEMS = cast("Table", PoolItem.__table__).c
_NEW = select(_SAID.id, _SAID.pool_item_id, _SAID.grade, _SAID.replaces_id, _SAID.current)


def latest_judgement(session: Session) -> int | None:
    """The last judgement of all, 0 when there is none; None where ids do not tell which came first.

    On SQLite, with one writer at a time, the higher id is the later one; on PostgreSQL a judgement may become visible
    after one with a higher id.
    """
    if not has_one_writer(session):
        return None
    return session.scalar(select(func.coalesce(func.max(_SAID.id), 0)))


def items_judged_since(session: Session, since: Mapping[int, int]) -> dict[int, dict[int, int]]:
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


@dataclass(frozen=True)
class ListedRun:
    """A run in force with its lists, {topic id: documents packed}."""

    id: int
    tag: str
    team: str | None
    lists: dict[int, bytes] = field(default_factory=dict)


def listed_runs(
    session: Session, collection_id: int, topics: SizedIterable[int], *, runs_of: SizedIterable[int] | None = None
) -> list[ListedRun]:
    """The runs in force by their arrival, with their lists for these topics.

    `runs_of` are the ids of the runs of a round, the only ones then.
    """
    counting = [Run.collection_id == collection_id, IN_FORCE]
    if runs_of is not None:
        counting.append(Run.id.in_(runs_of))
    named = select(Run.id, Run.tag, Team.name).outerjoin(Team, Team.id == Run.team_id).where(*counting).order_by(Run.id)
    runs = {id_: ListedRun(id_, tag, team) for id_, tag, team in session.execute(named)}
    lists = select(RankedList.run_id, RankedList.topic_id, RankedList.documents)
    for some in chunks(sorted(topics)):
        wanted = lists.where(RankedList.run_id.in_(select(Run.id).where(*counting)), RankedList.topic_id.in_(some))
        for run_id, topic_id, packed in session.execute(wanted):
            runs[run_id].lists[topic_id] = packed
    return list(runs.values())


def require_in_force(session: Session, collection_id: int, tag: str) -> Run:
    """The run of this tag; `NotFoundError` when there is none, `ConflictError` when it is withdrawn."""
    run = find_run(session, collection_id, tag)
    if run.withdrawn_at is not None:
        raise ConflictError("The run %(tag)s is withdrawn, so that it is not scored.", tag=tag)
    return run


def packed_scores(session: Session, run_id: int) -> dict[int, bytes]:
    """The scores of a run's documents by topic id, packed in the order of its lists."""
    rows = session.execute(select(RankedList.topic_id, RankedList.scores).where(RankedList.run_id == run_id))
    return {topic: packed for topic, packed in rows}


def searchers_of(session: Session, topic_id: int) -> dict[int, tuple[str, ...]]:
    """Document id → who found it by searching, by name; only documents that were found so."""
    rows = session.execute(
        select(PoolItem.document_id, User.name)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(User, User.id == Contribution.searched_by_id)
        .where(PoolItem.topic_id == topic_id)
        .distinct()
        .order_by(User.name)
    )
    found: dict[int, tuple[str, ...]] = {}
    for document, name in rows:
        found[document] = (*found.get(document, ()), name)
    return found


def report_state(session: Session, collection: Collection) -> bytes:
    """A digest that is another one after every change that a report of scored runs or compared judges can show.

    Such a report reads every judgement and every ranked list, which takes up to a second; this reads small tables
    alone. What it needs of the large ones changes with something that stands here:

    - judgements, assignments and pool items, and documents found by searching: the revision of their topic;
    - ranked lists: the run, which is never changed, only withdrawn or replaced by another;
    - strata, and contributions of runs and of files: the version of the pool, or the choices of an adaptive one;
    - the grades of a kept version of the qrels: that version;
    - the names of documents: the judgements, since no document that is judged is deleted;
    - all of these: the deletions, made and taken back.

    What was done in other collections changes it only where it concerns accounts.
    """
    digest = hashlib.sha256()
    for statement in _statements(collection.id):
        digest.update(repr([tuple(row) for row in fetch_rows(session, statement)]).encode())
    return digest.digest()


def _statements(collection_id: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """The small tables, each in a fixed order."""
    yield select(Collection.__table__).where(Collection.id == collection_id)
    yield select(Grade.__table__).where(Grade.collection_id == collection_id).order_by(Grade.value)
    own_topics = Topic.collection_id == collection_id
    yield select(Topic.id, Topic.number, Topic.state, Topic.owner_id).where(own_topics).order_by(Topic.id)
    yield (
        select(TopicRevision.topic_id, func.sum(TopicRevision.revision))
        .join(Topic, Topic.id == TopicRevision.topic_id)
        .where(own_topics)
        .group_by(TopicRevision.topic_id)
        .order_by(TopicRevision.topic_id)
    )
    yield (
        select(Run.id, Run.tag, Team.name, Run.round_id, Run.withdrawn_at, Run.replaced_at)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    )
    own_pools = Pool.collection_id == collection_id
    yield (
        select(Pool.id, Pool.version, Pool.built_at, func.count(SelectionEvent.step))
        .outerjoin(SelectionEvent, SelectionEvent.pool_id == Pool.id)
        .where(own_pools)
        .group_by(Pool.id, Pool.version, Pool.built_at)
        .order_by(Pool.id)
    )
    yield (
        select(QrelsVersion.id, QrelsVersion.number, QrelsVersion.policy, QrelsVersion.fingerprint)
        .where(QrelsVersion.collection_id == collection_id)
        .order_by(QrelsVersion.id)
    )
    yield (
        select(Deletion.id, Deletion.restored_at, Deletion.removed_at)
        .where(Deletion.collection_id == collection_id)
        .order_by(Deletion.id)
    )
    yield select(User.id, User.name).order_by(User.id)
    facts = (User.id, User.kind, User.model, User.prompt, User.labelled_on)
    yield select(*facts).where(User.id.in_(MACHINES)).order_by(User.id)
