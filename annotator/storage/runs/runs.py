"""Runs: files, ranked lists, metadata, and stated costs (facts)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from sqlalchemy import delete, insert, inspect, select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage.collections.collection import round_of_new_runs
from annotator.storage.people.accounts import find_or_add_team
from annotator.storage.runs.run_tops import TOP_BYTES, add_tops
from annotator.storage.runs.tasks import find_task
from annotator.storage.site.bulk_insert import chunks, insert_rows
from annotator.storage.tables.people import Team
from annotator.storage.tables.runs import (
    IN_FORCE,
    RANKED_LISTS,
    RUN_FILES,
    FactColumn,
    RankedList,
    Run,
    RunFact,
    RunType,
)

FILES_AT_ONCE = 10  # of up to hundreds of megabytes each
LISTS_AT_ONCE = 500


def find_run(session: Session, collection_id: int, tag: str, *, team: str | None = None) -> Run:
    """The newest run with that tag, even if withdrawn; raises `NotFoundError` when missing or not of the team."""
    statement = select(Run).where(Run.collection_id == collection_id, Run.tag == tag, Run.replaced_at.is_(None))
    if team is not None:
        statement = statement.join(Team, Team.id == Run.team_id).where(Team.name == team)
    run = session.scalar(statement)
    if run is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    return run


def add_files(session: Session, files: Iterable[tuple[int, bool, bytes]]) -> None:
    """Insert run files: (run id, whether the site compressed it, content)."""
    insert_rows(session, RUN_FILES, ("run_id", "packed_here", "content"), files, at_once=FILES_AT_ONCE)


def add_ranked_lists(session: Session, lists: Iterable[tuple[int, int, bytes, bytes]]) -> None:
    """Insert all ranked lists of runs, run by run: (run id, topic id, packed documents, packed scores)."""
    columns = ("run_id", "topic_id", "documents", "scores")
    for run_id, of_run in groupby(lists, key=itemgetter(0)):
        tops: list[tuple[int, bytes]] = []
        insert_rows(session, RANKED_LISTS, columns, _with_tops(of_run, tops), at_once=LISTS_AT_ONCE)
        add_tops(session, run_id, tops)


def _with_tops(
    lists: Iterable[tuple[int, int, bytes, bytes]], tops: list[tuple[int, bytes]]
) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Pass on the lists, and collect their tops: the whole lists of a run may be too long for the memory."""
    for one in lists:
        _, topic_id, documents, _ = one
        tops.append((topic_id, documents[:TOP_BYTES]))
        yield one


@dataclass(frozen=True)
class ListsOfRun:
    """A run's ranked lists, {topic id: packed documents}."""

    tag: str
    lists: dict[int, bytes] = field(default_factory=dict)


def lists_of_runs(
    session: Session, collection_id: int, topic_ids: Collection[int], *, runs_of: Collection[int] | None = None
) -> list[ListsOfRun]:
    """All runs in force in order of upload, with their ranked lists for these topics.

    With `runs_of`, only these run ids, such as those of a round.
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


@dataclass(frozen=True)
class RunDetails:
    """Metadata that is not in a run file; None leaves a value unchanged, or unset for a new run.

    `priority` is the team's order of pooling, from 1; runs may share one. `round` is a number; a new run that does not
    correct another gets the open round by default. `task` is the key of a task.
    """

    team: str | None = None
    description: str | None = None
    run_type: RunType | None = None
    priority: int | None = None
    round: int | None = None
    task: str | None = None


def apply_details(
    session: Session, run: Run, details: RunDetails, *, task_ids: Mapping[str, int] | None = None
) -> None:
    """Set the given values on a run; a new team is created. Of many runs `task_ids` are those of the tasks by key."""
    if details.team is not None:
        run.team_id = find_or_add_team(session, run.collection_id, details.team).id
    if details.description is not None:
        run.description = details.description
    if details.run_type is not None:
        run.run_type = details.run_type
    if details.priority is not None:
        run.priority = details.priority
    if details.round is not None or (inspect(run).transient and run.round_id is None):
        run.round_id = round_of_new_runs(session, run.collection_id, details.round)
    if details.task is not None:
        known = (task_ids or {}).get(details.task)
        run.task_id = find_task(session, run.collection_id, details.task).id if known is None else known


@dataclass(frozen=True)
class StatedFact:
    """A stored fact: a number or text."""

    fact: str
    detail: str
    number: float | None
    words: str = ""


@dataclass(frozen=True)
class RunWithFacts:
    """A run and its stated facts."""

    tag: str
    team: str | None
    facts: tuple[StatedFact, ...]


def columns_of(session: Session, collection_id: int) -> list[FactColumn]:
    """The fact columns that a collection defines, in order of creation."""
    wanted = FactColumn.collection_id == collection_id
    return list(session.scalars(select(FactColumn).where(wanted).order_by(FactColumn.id)))


def facts_of_run(session: Session, run_id: int) -> list[StatedFact]:
    """Stated facts of one run."""
    return _facts(session, [run_id]).get(run_id, [])


def runs_with_facts(session: Session, collection_id: int, *, before: datetime | None = None) -> list[RunWithFacts]:
    """Runs in force with their facts; with `before`, only those uploaded before that time."""
    wanted = select(Run, Team.name).outerjoin(Team, Team.id == Run.team_id)
    wanted = wanted.where(Run.collection_id == collection_id, IN_FORCE)
    if before is not None:
        wanted = wanted.where(Run.uploaded_at < before)
    runs = session.execute(wanted.order_by(Run.id)).all()
    facts = _facts(session, [run.id for run, _ in runs])
    return [RunWithFacts(run.tag, team, tuple(facts.get(run.id, ()))) for run, team in runs]


def declarations_of_runs(session: Session, collection_id: int) -> dict[str, list[str]]:
    """Tag of a run in force → the texts that were declared with it: tag, description and facts in words."""
    runs = select(Run.tag, Run.description).where(Run.collection_id == collection_id, IN_FORCE).order_by(Run.id)
    declared = {tag: [tag, description] for tag, description in session.execute(runs)}
    in_words = select(Run.tag, RunFact.words).join(RunFact, RunFact.run_id == Run.id).where(RunFact.words != "")
    for tag, words in session.execute(in_words.where(Run.collection_id == collection_id, IN_FORCE)):
        declared[tag].append(words)
    return declared


def replace_facts(session: Session, run_id: int, facts: Iterable[StatedFact], *, at: datetime) -> None:
    """Replace all facts of a run; unchanged facts keep their time."""
    before = {(row.fact, row.detail): row for row in _rows(session, [run_id])}
    rows = []
    for one in facts:
        old = before.get((one.fact, one.detail))
        is_same = old is not None and (old.number, old.words) == (one.number, one.words)
        rows.append(_row(run_id, one, old.stated_at if old is not None and is_same else at))
    session.execute(delete(RunFact).where(RunFact.run_id == run_id))
    if rows:
        session.execute(insert(RunFact), rows)


def carry_facts(session: Session, runs: Mapping[int, int]) -> None:
    """Copy facts to corrected runs: {old run id: new run id}."""
    rows = [
        _row(runs[row.run_id], StatedFact(row.fact, row.detail, row.number, row.words), row.stated_at)
        for row in _rows(session, list(runs))
    ]
    if rows:
        session.execute(insert(RunFact), rows)


def runs_stating(session: Session, collection_id: int, fact: str) -> list[str]:
    """Sorted tags of the runs, withdrawn ones included, with this fact."""
    wanted = select(Run.tag).join(RunFact, RunFact.run_id == Run.id).where(RunFact.fact == fact)
    return sorted(set(session.scalars(wanted.where(Run.collection_id == collection_id, Run.replaced_at.is_(None)))))


def delete_column(session: Session, column: FactColumn) -> None:
    """Delete a fact column, with the values of replaced runs."""
    runs = select(Run.id).where(Run.collection_id == column.collection_id)
    session.execute(delete(RunFact).where(RunFact.run_id.in_(runs), RunFact.fact == column.key))
    session.delete(column)


def _row(run_id: int, one: StatedFact, at: datetime) -> dict[str, object]:
    return {
        "run_id": run_id,
        "fact": one.fact,
        "detail": one.detail,
        "number": one.number,
        "words": one.words,
        "stated_at": at,
    }


def _rows(session: Session, run_ids: list[int]) -> list[RunFact]:
    found: list[RunFact] = []
    for some in chunks(run_ids):
        found += session.scalars(select(RunFact).where(RunFact.run_id.in_(some)))
    return sorted(found, key=lambda row: (row.run_id, row.fact, row.detail))


def _facts(session: Session, run_ids: list[int]) -> dict[int, list[StatedFact]]:
    found: dict[int, list[StatedFact]] = {}
    for row in _rows(session, run_ids):
        found.setdefault(row.run_id, []).append(StatedFact(row.fact, row.detail, row.number, row.words))
    return found
