"""What systems cost: participants and organisers state it of a run, organisers add columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.costs.facts import Fact, FactKind, all_facts, own_column, stored_column
from annotator.evaluation.costs.report import CostedRun, CostReport, Question, make_report
from annotator.evaluation.costs.statements import Statement, check_together, read_address, read_detail, those_that_fit
from annotator.evaluation.costs.statements import read_lines as read_lines
from annotator.evaluation.costs.statements import read_statement as read_statement
from annotator.evaluation.costs.statements import write_lines as write_lines
from annotator.evaluation.costs.statements import write_value as write_value
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.runs.runs import (
    StatedFact,
    columns_of,
    delete_column,
    facts_of_run,
    find_run,
    replace_facts,
    runs_stating,
    runs_with_facts,
)
from annotator.storage.tables.runs import FactColumn

MOST_COLUMNS = 20
TOLD = 5  # runs that are named in a sentence
USUAL = Question()


@dataclass(frozen=True)
class ColumnRequest:
    """A column that organisers want, as they wrote it."""

    key: str
    name: str
    kind: str = FactKind.NUMBER
    unit: str = ""
    better: str = ""


@dataclass(frozen=True)
class RunCosts:
    """What may be stated of a run, in the order of tables, and what is."""

    tag: str
    facts: tuple[Fact, ...]
    statements: tuple[Statement, ...]

    def of(self, fact: Fact) -> list[Statement]:
        """What is stated of one fact, in the order of its details."""
        told = [one for one in self.statements if one.fact == fact.key]
        return sorted(told, key=lambda one: natural_order(one.detail))


def list_facts(session: Session, slug: str) -> tuple[Fact, ...]:
    """What may be stated of a run in this collection, in the order of tables."""
    return tuple(_facts(session, find_collection(session, slug).id).values())


def add_column(session: Session, slug: str, request: ColumnRequest, *, at: datetime) -> Fact:
    """Ask for something else, too; `InvalidValueError` for what cannot be asked, `ConflictError` for it again."""
    collection = lock_open_collection(session, slug)
    fact = own_column(request.key, request.name, kind=request.kind, unit=request.unit, better=request.better)
    present = columns_of(session, collection.id)
    if any(column.key == fact.key for column in present):
        raise ConflictError("There is a column “%(key)s” already.", key=fact.key)
    if len(present) >= MOST_COLUMNS:
        raise ConflictError("A collection has at most %(most)d columns of its own.", most=MOST_COLUMNS)
    session.add(
        FactColumn(
            collection_id=collection.id,
            key=fact.key,
            name=str(fact.name),
            kind=fact.kind,
            unit=fact.unit,
            better=fact.better,
            added_at=at,
        )
    )
    return fact


def remove_column(session: Session, slug: str, key: str) -> Fact:
    """Ask for it no more, and return it.

    Raises `ConflictError` while a run states it and `NotFoundError` when there is no such column.
    """
    collection = lock_open_collection(session, slug)
    column = next((one for one in columns_of(session, collection.id) if one.key == key), None)
    if column is None:
        raise NotFoundError("There is no column “%(key)s” in this collection.", key=key)
    stating = runs_stating(session, collection.id, key)
    if stating:
        raise ConflictError(
            "Runs state “%(key)s”: %(tags)s (%(count)d in all). Withdraw these statements first.",
            key=key,
            count=len(stating),
            tags=", ".join(stating[:TOLD]) + (" …" if len(stating) > TOLD else ""),
        )
    fact = stored_column(column.key, column.name, kind=column.kind, unit=column.unit, better=column.better)
    delete_column(session, column)
    return fact


def costs_of_run(session: Session, slug: str, tag: str, *, team: str | None = None) -> RunCosts:
    """What is stated of a run's newest file; with `team`, only of theirs."""
    collection_id = find_collection(session, slug).id
    run = find_run(session, collection_id, tag, team=team)
    facts = _facts(session, collection_id)
    return RunCosts(tag, tuple(facts.values()), _statements(facts, facts_of_run(session, run.id)))


def replace_costs(
    session: Session, slug: str, tag: str, statements: Sequence[Statement], *, at: datetime, team: str | None = None
) -> None:
    """Let these stand instead of all that was stated of a run; with `team`, only of theirs.

    Raises `InvalidValueError` for what does not fit together.
    """
    check_together(statements)
    run = find_run(session, lock_open_collection(session, slug).id, tag, team=team)
    replace_facts(session, run.id, map(as_stored, statements), at=at)


def change_costs(
    session: Session, slug: str, tag: str, written: Mapping[str, str], *, at: datetime, team: str | None = None
) -> None:
    """Change some of what is stated: `latency_p95` → `48 ms`; nothing written takes it back, all else stays.

    Raises `NotFoundError` for a fact there is not, `InvalidValueError` for what cannot be stated.
    """
    lock_open_collection(session, slug)  # before it is read: what somebody else changes meanwhile stays, too
    before = costs_of_run(session, slug, tag, team=team)
    facts = {fact.key: fact for fact in before.facts}
    stand = {one.address: one for one in before.statements}
    for address, text in written.items():
        fact, detail = read_address(facts, address)
        statement = read_statement(fact, text, detail)
        stand.pop(Statement(fact.key, read_detail(fact, detail)).address, None)
        if statement is not None:
            stand[statement.address] = statement
    replace_costs(session, slug, tag, list(stand.values()), at=at, team=team)


def state_with_runs(
    session: Session, slug: str, tags: Iterable[str], statements: Sequence[Statement], *, at: datetime
) -> None:
    """State this of runs that were just stored; what else is stated of those that they correct stays."""
    for tag in tags if statements else ():
        before = {one.address: one for one in costs_of_run(session, slug, tag).statements}
        stand = before | {one.address: one for one in statements}
        replace_costs(session, slug, tag, list(stand.values()), at=at)


def build_costs(
    session: Session,
    slug: str,
    board: Leaderboard | None,
    question: Question = USUAL,
    *,
    before: datetime | None = None,
) -> CostReport:
    """What every run in force states, beside the leaderboard's first measure if there is a leaderboard.

    With `before` only of runs uploaded before that moment. Raises `NotFoundError` for a cost there is not,
    `InvalidValueError` for one that is no number and for a bound that is none.
    """
    collection_id = find_collection(session, slug).id
    facts = _facts(session, collection_id)
    runs = [
        CostedRun(run.tag, run.team, {one.address: one for one in _statements(facts, run.facts)})
        for run in runs_with_facts(session, collection_id, before=before)
    ]
    return make_report(facts, runs, board, question)


def read_written(facts: Iterable[Fact], written: Sequence[tuple[str, str, str]]) -> list[Statement]:
    """Statements of keys, details and what was written for them; raises what `change_costs` does."""
    by_key = {fact.key: fact for fact in facts}
    found = []
    for key, detail, text in written:
        statement = read_statement(read_address(by_key, key)[0], text, detail)
        if statement is not None:
            found.append(statement)
    return found


def as_stored(statement: Statement) -> StatedFact:
    """A statement as the table has it."""
    return StatedFact(statement.fact, statement.detail, statement.number, statement.words)


def _facts(session: Session, collection_id: int) -> dict[str, Fact]:
    return all_facts(
        stored_column(column.key, column.name, kind=column.kind, unit=column.unit, better=column.better)
        for column in columns_of(session, collection_id)
    )


def _statements(facts: Mapping[str, Fact], stored: Iterable[StatedFact]) -> tuple[Statement, ...]:
    told = (Statement(one.fact, one.detail, one.number, one.words) for one in stored)
    return those_that_fit(facts, told)
