"""Inputs of scoring: runs, topics, revisions and recent judgements; used as cache keys for grades and scores."""

import hashlib
from collections.abc import Collection as SizedIterable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, func, null, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.documents.documents import docnos_of
from annotator.storage.pools.pools import DrawnSample, drawn_sample
from annotator.storage.qrels.qrels_versions import kept_version
from annotator.storage.runs.runs import find_run
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection, Deletion, Grade, Round
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import MACHINES, Team, User
from annotator.storage.tables.pools import Contribution, Pool, PoolItem, PoolRun, SelectionEvent, StoppingDecision
from annotator.storage.tables.qrels import KEPT, QrelsVersion
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run, RunFact
from annotator.storage.tables.tasks import Task, TaskTopic
from annotator.storage.tables.topics import ACCEPTED, Topic, TopicRevision
from annotator.storage.topics.revisions import Revision, revisions

# With more new judgements, rereading whole topics is as fast.
MOST_NEW = 5_000

_SAID = cast("Table", Judgement.__table__).c
_ITEMS = cast("Table", PoolItem.__table__).c
_NEW = select(_SAID.id, _SAID.pool_item_id, _SAID.grade, _SAID.replaces_id, _SAID.current)


def latest_judgement(session: Session) -> int | None:
    """The greatest judgement id, 0 without judgements; None where ids do not reflect the order of commits.

    On SQLite, with a single writer, they do; on PostgreSQL a judgement may become visible after one with a greater id.
    """
    if not has_one_writer(session):
        return None
    return session.scalar(select(func.coalesce(func.max(_SAID.id), 0)))


def items_judged_since(session: Session, since: Mapping[int, int]) -> dict[int, dict[int, int]]:
    """Topic id → {pool item id: document id} judged after the given judgement; `since` is {topic id: judgement id}.

    Left out, since they must be reread whole, are topics with a withdrawn grade; all topics if too much is new.
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
    """Items with current judgements that were carried over from these replaced ones."""
    return {
        item
        for some in chunks(judgements)
        for (item,) in fetch_rows(
            session, select(_SAID.pool_item_id).where(_SAID.carried_from_id.in_(some), _SAID.current)
        )
    }


def _places(session: Session, items: set[int]) -> dict[int, tuple[int, int]]:
    """Pool item id → (topic id, document id)."""
    statement = select(_ITEMS.id, _ITEMS.topic_id, _ITEMS.document_id)
    return {
        item: (topic, document)
        for some in chunks(sorted(items))
        for item, topic, document in fetch_rows(session, statement.where(_ITEMS.id.in_(some)))
    }


# With more documents than this, they are read with the items of whole topics.
ALL_AT_ONCE = 5_000
_ID, _DOCNO = Document.__table__.c.id, Document.__table__.c.docno


class ScoredRun(NamedTuple):
    """A run in force."""

    id: int
    tag: str
    team: str | None
    uploaded_at: datetime
    fed_pool: bool  # whether it contributed to any pool version
    run_type: str = ""


@dataclass(frozen=True)
class TopicState:
    """An accepted topic; every change of its judgements raises its revision.

    `latest` is the greatest judgement id at that time, None where ids do not reflect the order of commits.
    """

    number: str
    owner_id: int | None
    revision: Revision
    latest: int | None = field(default=None, compare=False)

    def is_continued_by(self, later: "TopicState") -> bool:
        """Whether judgements with ids above `latest` are the only changes between this state and `later`."""
        return (
            self.latest is not None
            and later.latest is not None
            and self.latest <= later.latest
            and (self.number, self.owner_id) == (later.number, later.owner_id)
            and self.revision.is_continued_by(later.revision)
        )


@dataclass(frozen=True)
class ScoredState:
    """State of a collection at one time: scores computed from equal states (and qrels) are equal."""

    collection_id: int
    runs: tuple[ScoredRun, ...]
    topics: dict[int, TopicState]
    relevant_from: int
    best_grade: int
    machines: tuple[int, ...]  # machine accounts; their grades may count, but are never disputed
    sample: DrawnSample | None  # of the pool, if it was sampled
    has_every_topic: bool = True  # or those of a task alone

    def in_time(self, before: datetime | None) -> "ScoredState":
        """The state without runs uploaded at `before` or later; unchanged for None."""
        return replace(self, runs=tuple(one for one in self.runs if before is None or one.uploaded_at < before))

    def within(self, runs: SizedIterable[int], topics: SizedIterable[int] | None) -> "ScoredState":
        """The state with only these runs, and with only these topics unless they are None; all by id."""
        left = self.topics if topics is None else {id_: one for id_, one in self.topics.items() if id_ in topics}
        of_runs = tuple(run for run in self.runs if run.id in runs)
        return replace(self, runs=of_runs, topics=left, has_every_topic=self.has_every_topic and topics is None)

    def continued(self, earlier: Mapping[int, object]) -> dict[int, int]:
        """Topic id → last judgement of the earlier state, for topics in which only judgements were added since."""
        return {
            topic: state.latest
            for topic, state in earlier.items()
            if isinstance(state, TopicState) and state.latest is not None and state.is_continued_by(self.topics[topic])
        }


def scored_state(session: Session, collection: Collection, *, as_kept: int | None = None) -> ScoredState:
    """Read the state in the caller's transaction; `as_kept` takes the scale from that qrels version."""
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
    """(run id, topic id, packed documents, packed scores or None) of every ranked list of these runs and topics."""
    columns = (RankedList.run_id, RankedList.topic_id, RankedList.documents)
    statement = select(*columns, RankedList.scores if with_scores else null())
    rows: list[tuple[int, int, bytes, bytes | None]] = []
    for some in chunks(sorted(run_ids)):
        for few in chunks(sorted(topics)):
            wanted = statement.where(RankedList.run_id.in_(some), RankedList.topic_id.in_(few))
            rows += fetch_rows(session, wanted)
    return rows


def docnos_in_topics(session: Session, topics: SizedIterable[int], documents: set[int]) -> dict[int, bytes]:
    """Document id → encoded docno; for many documents, read with the items of whole topics."""
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
        select(Run.id, Run.tag, Team.name, Run.uploaded_at, Run.run_type)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id, IN_FORCE)
        .order_by(Run.id)
    )
    return tuple(ScoredRun(id_, tag, team, at, id_ in fed, run_type) for id_, tag, team, at, run_type in rows)


@dataclass(frozen=True)
class ListedRun:
    """A run in force and its ranked lists, {topic id: packed documents}."""

    id: int
    tag: str
    team: str | None
    lists: dict[int, bytes] = field(default_factory=dict)


def listed_runs(
    session: Session,
    collection_id: int,
    topics: SizedIterable[int],
    *,
    runs_of: SizedIterable[int] | None = None,
    with_replaced: bool = False,
) -> list[ListedRun]:
    """Runs in force in order of upload, with their ranked lists for these topics.

    With `runs_of`, only these run ids, such as those of a round; `with_replaced`, also earlier versions of runs.
    """
    counting = [Run.collection_id == collection_id, Run.withdrawn_at.is_(None) if with_replaced else IN_FORCE]
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
    """The run with this tag; raises `NotFoundError` when there is none, `ConflictError` when it is withdrawn."""
    run = find_run(session, collection_id, tag)
    if run.withdrawn_at is not None:
        raise ConflictError("The run %(tag)s is withdrawn, so that it is not scored.", tag=tag)
    return run


def active_tags(session: Session, collection_id: int) -> Sequence[str]:
    """The tags of the runs that are not withdrawn or replaced."""
    return session.scalars(select(Run.tag).where(Run.collection_id == collection_id, IN_FORCE)).all()


def packed_scores(session: Session, run_id: int) -> dict[int, bytes]:
    """Topic id → packed scores of a run, in the order of its ranked lists."""
    rows = session.execute(select(RankedList.topic_id, RankedList.scores).where(RankedList.run_id == run_id))
    return {topic: packed for topic, packed in rows}


def searchers_of(session: Session, topic_id: int) -> dict[int, tuple[str, ...]]:
    """Document id → names of the people who added it by a search; other documents are absent."""
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
    """A digest that changes with everything that a report on scored runs or compared judges can show.

    Such a report reads every judgement and ranked list, which takes up to a second; this reads only small tables. Large
    tables are covered by rows that change with them:

    - judgements, labels of machines, assignments, pool items, documents found by searching: the revision of their
      topic;
    - ranked lists: the run, which is never changed, only withdrawn or replaced;
    - strata, and contributions of runs and files: the pool version, or the selections of an adaptive one;
    - the grades of a stored qrels version: that version;
    - docnos: the judgements, since judged documents are not deleted;
    - all of these: deletions and their restoration.

    Changes in other collections matter only where they affect accounts.
    """
    digest = hashlib.sha256()
    for statement in _statements(collection.id):
        digest.update(repr([tuple(row) for row in fetch_rows(session, statement)]).encode())
    return digest.digest()


def _statements(collection_id: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """Queries of the small tables, each in a fixed order."""
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
    yield from _runs_declared(collection_id)
    yield from _scopes(collection_id)
    own_pools = Pool.collection_id == collection_id
    yield (
        select(Pool.id, Pool.version, Pool.built_at, func.count(SelectionEvent.step))
        .outerjoin(SelectionEvent, SelectionEvent.pool_id == Pool.id)
        .where(own_pools)
        .group_by(Pool.id, Pool.version, Pool.built_at)
        .order_by(Pool.id)
    )
    decisions = select(func.max(StoppingDecision.id)).join(Topic, Topic.id == StoppingDecision.topic_id)
    yield decisions.where(own_topics)
    yield (
        select(QrelsVersion.id, QrelsVersion.number, QrelsVersion.policy, QrelsVersion.fingerprint)
        .where(QrelsVersion.collection_id == collection_id, KEPT)
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


def _scopes(collection_id: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """Queries of the rounds and of the tasks with their topics."""
    yield select(Round.id).where(Round.collection_id == collection_id).order_by(Round.id)
    yield select(Task.id, Task.key, Task.every_topic).where(Task.collection_id == collection_id).order_by(Task.id)
    yield (
        select(TaskTopic.task_id, TaskTopic.topic_id)
        .join(Task, Task.id == TaskTopic.task_id)
        .where(Task.collection_id == collection_id)
        .order_by(TaskTopic.task_id, TaskTopic.topic_id)
    )


def _runs_declared(collection_id: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """Queries of the runs, and of what was declared with them in words."""
    yield (
        select(Run.id, Run.tag, Run.description, Team.name, Run.round_id, Run.task_id, Run.withdrawn_at)
        .add_columns(Run.replaced_at)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    )
    yield (
        select(RunFact.run_id, RunFact.fact, RunFact.detail, RunFact.words)
        .join(Run, Run.id == RunFact.run_id)
        .where(Run.collection_id == collection_id, RunFact.words != "")
        .order_by(RunFact.run_id, RunFact.fact, RunFact.detail)
    )
