"""Submitted run files: those in force, withdrawn or replaced, and runs with identical rankings."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import NotFoundError, Sentence
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import Round
from annotator.storage.tables.people import Team, User
from annotator.storage.tables.pools import PoolRun
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run, RunFile, RunState, RunType
from annotator.storage.tables.tasks import Task

GZIP_SIZE_BYTES = 4


@dataclass(frozen=True)
class SentRun:
    """One submitted file of a run; `version` counts per tag from 1, `retrieved` is also its number of lines."""

    id: int
    tag: str
    version: int
    state: RunState
    team: str | None
    description: str
    run_type: RunType
    priority: int
    topics: int
    retrieved: int
    warnings: int
    pooled: bool
    file_name: str
    checksum: str
    uploaded_by: str | None
    uploaded_at: datetime
    withdrawn_at: datetime | None
    withdrawn_by: str | None
    withdrawn_by_team: bool
    replaced_at: datetime | None
    round: int | None  # None where the collection has no rounds
    in_closed_round: bool
    task: str | None  # the key; None where the collection has no tasks, and for a run from before they were set

    @property
    def corrects(self) -> bool:
        """Whether it replaced an earlier file."""
        return self.version > 1


@dataclass(frozen=True)
class Receipt(SentRun):
    """The receipt of a stored run, for its submitter."""

    bytes: int  # of the uploaded file
    sentences: tuple[Sentence, ...]  # its warnings


def sent_runs(session: Session, collection_id: int, tag: str | None = None) -> list[SentRun]:
    """All files of a collection's runs, or of one tag, in order of upload."""
    statement = _selected().where(Run.collection_id == collection_id).order_by(Run.id)
    if tag is not None:
        statement = statement.where(Run.tag == tag)
    versions: Counter[str] = Counter()
    sent = []
    for run, team, user, withdrawn_by, topics, is_pooled, its_round, task in session.execute(statement):
        versions[run.tag] += 1
        sent.append(
            SentRun(
                id=run.id,
                tag=run.tag,
                version=versions[run.tag],
                state=run.state,
                team=team,
                description=run.description,
                run_type=RunType(run.run_type),
                priority=run.priority,
                topics=topics,
                retrieved=run.retrieved,
                warnings=len(run.warnings),
                pooled=is_pooled,
                file_name=run.file_name,
                checksum=run.checksum,
                uploaded_by=user,
                uploaded_at=run.uploaded_at,
                withdrawn_at=run.withdrawn_at,
                withdrawn_by=withdrawn_by,
                withdrawn_by_team=run.withdrawn_by_team,
                replaced_at=run.replaced_at,
                round=its_round.number if its_round is not None else None,
                in_closed_round=its_round is not None and its_round.closed_at is not None,
                task=task,
            )
        )
    return sent


def _selected() -> Select[Run, str, str, str, int, bool, Round | None, str | None]:
    """Query of runs with team, submitter, withdrawer, number of lists, whether pooled, round, and key of the task."""
    lists = select(func.count()).where(RankedList.run_id == Run.id).correlate(Run).scalar_subquery()
    pooled = select(PoolRun.run_id).where(PoolRun.run_id == Run.id).correlate(Run).exists()
    withdrawer = aliased(User)
    return (
        select(Run, Team.name, User.name, withdrawer.name, lists, pooled, Round, Task.key)
        .outerjoin(Round, Round.id == Run.round_id)
        .outerjoin(Task, Task.id == Run.task_id)
        .outerjoin(Team, Team.id == Run.team_id)
        .outerjoin(User, User.id == Run.uploaded_by_id)
        .outerjoin(withdrawer, withdrawer.id == Run.withdrawn_by_id)
    )


def find_sent_run(
    session: Session, collection_id: int, tag: str, *, version: int | None = None, team: str | None = None
) -> SentRun:
    """The newest file of a run, or one version; raises `NotFoundError` when missing or not of the team."""
    sent = [run for run in sent_runs(session, collection_id, tag) if team is None or run.team == team]
    if not sent:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    wanted = sent[-1].version if version is None else version
    for run in sent:
        if run.version == wanted:
            return run
    raise NotFoundError(
        "The run “%(tag)s” has no version %(version)d; its newest is %(newest)d.",
        tag=tag,
        version=version,
        newest=sent[-1].version,
    )


def size_as_sent(session: Session, run_id: int) -> int:
    """Size of a run's file in bytes as uploaded, without reading the content."""
    end = func.substr(RunFile.content, func.length(RunFile.content) - GZIP_SIZE_BYTES + 1)
    size, packed_here, last_bytes = session.execute(
        select(func.length(RunFile.content), RunFile.packed_here, end).where(RunFile.run_id == run_id)
    ).one()
    # Files compressed here are one gzip member, which ends with the uncompressed size (all are below 4 GB).
    return int.from_bytes(last_bytes, "little") if packed_here else int(size)


class _Sketch(NamedTuple):
    """A key that runs with equal rankings share, known without reading their lists."""

    retrieved: int
    topics: int
    first_topic: int
    task_id: int | None


def same_rankings(session: Session, collection_id: int) -> dict[int, tuple[str, ...]]:
    """Run id → tags of other teams' runs in force, of the same task, with an identical ranking.

    A run without a team counts as another team's. Equal rankings are rare, so one list of each candidate is compared
    before all lists.
    """
    sketches, teams, tags = {}, {}, {}
    listing = (func.count(), func.min(RankedList.topic_id), Run.task_id)
    for run_id, tag, team_id, retrieved, topics, first_topic, task_id in session.execute(
        select(Run.id, Run.tag, Run.team_id, Run.retrieved, *listing)
        .join(RankedList, RankedList.run_id == Run.id)
        .where(Run.collection_id == collection_id, IN_FORCE)
        .group_by(Run.id, Run.tag, Run.team_id, Run.retrieved, Run.task_id)
        .order_by(Run.id)
    ):
        sketches[run_id] = _Sketch(retrieved, topics, first_topic, task_id)
        teams[run_id], tags[run_id] = team_id, tag
    groups = _grouped(sketches, sketches.__getitem__)
    groups = [part for group in groups for part in _alike_in_first(session, group, sketches[group[0]].first_topic)]
    groups = [part for group in groups for part in _alike(session, group)]
    return {
        run: tuple(tags[other] for other in others)
        for group in groups
        for run in group
        if (others := [one for one in group if one != run and (teams[one] is None or teams[one] != teams[run])])
    }


def _grouped(runs: Iterable[int], key: Callable[[int], Hashable]) -> list[list[int]]:
    """Groups of two or more runs with the same key."""
    groups = defaultdict(list)
    for run in runs:
        groups[key(run)].append(run)
    return [group for group in groups.values() if len(group) > 1]


def _alike_in_first(session: Session, runs: Collection[int], topic_id: int) -> list[list[int]]:
    """Groups of runs with the same ranking for one topic."""
    documents: dict[int, bytes] = {}
    for some in chunks(list(runs)):
        rows = select(RankedList.run_id, RankedList.documents).where(
            RankedList.run_id.in_(some), RankedList.topic_id == topic_id
        )
        documents.update((run_id, hashlib.sha256(packed).digest()) for run_id, packed in session.execute(rows))
    return _grouped(runs, documents.__getitem__)


def _alike(session: Session, runs: Collection[int]) -> list[list[int]]:
    """Groups of runs with the same ranking for every topic."""
    return _grouped(runs, {run: _digest(session, run) for run in runs}.__getitem__)


def _digest(session: Session, run_id: int) -> bytes:
    digest = hashlib.sha256()
    lists = select(RankedList.topic_id, RankedList.documents).where(RankedList.run_id == run_id)
    for topic_id, packed in session.execute(lists.order_by(RankedList.topic_id)):
        digest.update(b"%d %d " % (topic_id, len(packed)))
        digest.update(packed)
    return digest.digest()


def runs_with_lists(
    session: Session,
    collection_id: int,
    lists: Mapping[int, bytes],
    *,
    team: str | None = None,
    other_than: int | None = None,
) -> list[str]:
    """Tags of runs in force with exactly these ranked lists, {topic id: packed documents}; `team` restricts them."""
    first = min(lists)
    counted = select(func.count()).where(RankedList.run_id == Run.id).correlate(Run).scalar_subquery()
    alike = (
        select(Run.id, Run.tag)
        .join(RankedList, RankedList.run_id == Run.id)
        .where(Run.collection_id == collection_id, IN_FORCE, RankedList.topic_id == first)
        .where(RankedList.documents == lists[first], counted == len(lists))
        .order_by(Run.id)
    )
    if team is not None:
        alike = alike.join(Team, Team.id == Run.team_id).where(Team.name == team)
    candidates = [(id_, tag) for id_, tag in session.execute(alike) if id_ != other_than]
    rows = select(RankedList.topic_id, RankedList.documents)
    return [
        tag
        for id_, tag in candidates
        if {topic: bytes(packed) for topic, packed in session.execute(rows.where(RankedList.run_id == id_))} == lists
    ]
