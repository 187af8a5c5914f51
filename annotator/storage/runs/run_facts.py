"""What a system costs, as it is stated with a run: a fact a row, and the columns that a collection adds to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.people import Team
from annotator.storage.tables.runs import IN_FORCE, FactColumn, Run, RunFact


@dataclass(frozen=True)
class StatedFact:
    """A fact as it is kept: a number, or words."""

    fact: str
    detail: str
    number: float | None
    words: str = ""


@dataclass(frozen=True)
class RunWithFacts:
    """A run and what is stated of it."""

    tag: str
    team: str | None
    facts: tuple[StatedFact, ...]


def columns_of(session: Session, collection_id: int) -> list[FactColumn]:
    """The columns that a collection adds, in the order in which they came."""
    wanted = FactColumn.collection_id == collection_id
    return list(session.scalars(select(FactColumn).where(wanted).order_by(FactColumn.id)))


def facts_of_run(session: Session, run_id: int) -> list[StatedFact]:
    """What is stated of one run."""
    return _facts(session, [run_id]).get(run_id, [])


def runs_with_facts(session: Session, collection_id: int, *, before: datetime | None = None) -> list[RunWithFacts]:
    """The runs that count, with what is stated of each; with `before` only those uploaded before that moment."""
    wanted = select(Run, Team.name).outerjoin(Team, Team.id == Run.team_id)
    wanted = wanted.where(Run.collection_id == collection_id, IN_FORCE)
    if before is not None:
        wanted = wanted.where(Run.uploaded_at < before)
    runs = session.execute(wanted.order_by(Run.id)).all()
    facts = _facts(session, [run.id for run, _ in runs])
    return [RunWithFacts(run.tag, team, tuple(facts.get(run.id, ()))) for run, team in runs]


def replace_facts(session: Session, run_id: int, facts: Iterable[StatedFact], *, at: datetime) -> None:
    """Let these stand instead of all that was stated of a run; what says the same keeps its moment."""
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
    """What is stated of a run goes over to the one that corrects it: old run id → new run id."""
    rows = [
        _row(runs[row.run_id], StatedFact(row.fact, row.detail, row.number, row.words), row.stated_at)
        for row in _rows(session, list(runs))
    ]
    if rows:
        session.execute(insert(RunFact), rows)


def runs_stating(session: Session, collection_id: int, fact: str) -> list[str]:
    """The tags of the runs, withdrawn ones included, that state this fact."""
    wanted = select(Run.tag).join(RunFact, RunFact.run_id == Run.id).where(RunFact.fact == fact)
    return sorted(set(session.scalars(wanted.where(Run.collection_id == collection_id, Run.replaced_at.is_(None)))))


def delete_column(session: Session, column: FactColumn) -> None:
    """Take a column away, with what replaced files stated of it."""
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
