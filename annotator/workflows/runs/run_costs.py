"""Costs of systems, as stated for runs by participants and organisers, and columns added by organisers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.costs.facts import Fact, FactKind, all_facts, own_column, stored_column
from annotator.evaluation.costs.statements import Statement, check_together, read_address, read_detail, those_that_fit
from annotator.evaluation.costs.statements import read_lines as read_lines
from annotator.evaluation.costs.statements import read_statement as read_statement
from annotator.evaluation.costs.statements import write_lines as write_lines
from annotator.evaluation.costs.statements import write_value as write_value
from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.runs.runs import (
    StatedFact,
    columns_of,
    delete_column,
    facts_of_run,
    find_run,
    replace_facts,
    runs_stating,
)
from annotator.storage.tables.runs import FactColumn
from annotator.workflows.runs.submissions import check_may_change

MOST_COLUMNS = 20
TOLD = 5  # runs named in an error message


@dataclass(frozen=True)
class ColumnRequest:
    """A column to add, as entered by an organiser."""

    key: str
    name: str
    kind: str = FactKind.NUMBER
    unit: str = ""
    better: str = ""


@dataclass(frozen=True)
class RunCosts:
    """The costs that may be stated for a run, in table order, and the stated ones."""

    tag: str
    facts: tuple[Fact, ...]
    statements: tuple[Statement, ...]

    def of(self, fact: Fact) -> list[Statement]:
        """The statements of one cost, in the order of its details."""
        told = [one for one in self.statements if one.fact == fact.key]
        return sorted(told, key=lambda one: natural_order(one.detail))


def list_facts(session: Session, slug: str) -> tuple[Fact, ...]:
    """The costs that may be stated for a run in this collection, in table order."""
    return tuple(facts_by_key(session, find_collection(session, slug).id).values())


def add_column(session: Session, slug: str, request: ColumnRequest, *, at: datetime) -> Fact:
    """Add a column; `InvalidValueError` for an invalid one, `ConflictError` for one that exists."""
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
    """Remove a column, and return it.

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
    """The costs stated for a run's newest file; with `team`, only for runs of that team."""
    collection_id = find_collection(session, slug).id
    run = find_run(session, collection_id, tag, team=team)
    facts = facts_by_key(session, collection_id)
    return RunCosts(tag, tuple(facts.values()), fitting_statements(facts, facts_of_run(session, run.id)))


def state_costs(
    session: Session,
    slug: str,
    tag: str,
    written: Sequence[tuple[str, str, str]],
    *,
    at: datetime,
    by_id: int | None = None,
    team: str | None = None,
) -> list[Statement]:
    """Parse keys, details and values, replace a run's costs as `replace_costs`, and return them.

    Raises as `change_costs`.
    """
    collection = check_may_change(session, slug, by_id, team=team, at=at)
    statements = _read_written(facts_by_key(session, collection.id), written)
    replace_costs(session, slug, tag, statements, at=at, by_id=by_id, team=team)
    return statements


def replace_costs(
    session: Session,
    slug: str,
    tag: str,
    statements: Sequence[Statement],
    *,
    at: datetime,
    by_id: int | None = None,
    team: str | None = None,
) -> None:
    """Replace all costs stated for a run; with `team`, only for that team's runs, as a participant.

    Raises `InvalidValueError` for inconsistent statements, and as `check_may_change`.
    """
    collection = check_may_change(session, slug, by_id, team=team, at=at)
    check_together(statements)
    run = find_run(session, collection.id, tag, team=team)
    replace_facts(session, run.id, map(as_stored, statements), at=at)


def change_costs(
    session: Session,
    slug: str,
    tag: str,
    written: Mapping[str, str],
    *,
    at: datetime,
    by_id: int | None = None,
    team: str | None = None,
) -> None:
    """Change some costs, e.g. `latency_p95` → `48 ms`; an empty value deletes one, others are kept.

    Raises `NotFoundError` for an unknown cost, `InvalidValueError` for an invalid value, and as `check_may_change`.
    """
    # Locked before reading, so that concurrent changes are not lost.
    check_may_change(session, slug, by_id, team=team, at=at)
    before = costs_of_run(session, slug, tag, team=team)
    facts = {fact.key: fact for fact in before.facts}
    stand = {one.address: one for one in before.statements}
    for address, text in written.items():
        fact, detail = read_address(facts, address)
        statement = read_statement(fact, text, detail)
        stand.pop(Statement(fact.key, read_detail(fact, detail)).address, None)
        if statement is not None:
            stand[statement.address] = statement
    replace_costs(session, slug, tag, list(stand.values()), at=at, by_id=by_id, team=team)


def state_with_runs(
    session: Session, slug: str, tags: Iterable[str], statements: Sequence[Statement], *, at: datetime
) -> None:
    """State these costs for runs just stored; other costs are copied from the runs they correct."""
    for tag in tags if statements else ():
        before = {one.address: one for one in costs_of_run(session, slug, tag).statements}
        stand = before | {one.address: one for one in statements}
        replace_costs(session, slug, tag, list(stand.values()), at=at)


def _read_written(facts: Mapping[str, Fact], written: Sequence[tuple[str, str, str]]) -> list[Statement]:
    found = []
    for key, detail, text in written:
        statement = read_statement(read_address(facts, key)[0], text, detail)
        if statement is not None:
            found.append(statement)
    return found


def as_stored(statement: Statement) -> StatedFact:
    """A statement as a row of the table."""
    return StatedFact(statement.fact, statement.detail, statement.number, statement.words)


def facts_by_key(session: Session, collection_id: int) -> dict[str, Fact]:
    """Key → cost that may be stated for a run in a collection, in table order."""
    return all_facts(
        stored_column(column.key, column.name, kind=column.kind, unit=column.unit, better=column.better)
        for column in columns_of(session, collection_id)
    )


def fitting_statements(facts: Mapping[str, Fact], stored: Iterable[StatedFact]) -> tuple[Statement, ...]:
    """The stored statements of a run, without those of costs that no longer exist."""
    told = (Statement(one.fact, one.detail, one.number, one.words) for one in stored)
    return those_that_fit(facts, told)
