"""Examining a database: whether the file is whole, everything refers to what is there, and the counts agree."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Table, and_, func, select, text
from sqlalchemy.orm import Session

from annotator.storage.checking_statements import CHECKS, OF_SQLITE, REMARKS, within
from annotator.storage.columns import Base
from annotator.storage.database import Database
from annotator.storage.documents import chunks
from annotator.storage.judging import Judgement
from annotator.storage.runs import Run, RunFile
from annotator.storage.schema import newest_version, version_of
from annotator.storage.upkeep import UpkeepError

MOST_SHOWN = 100
IS_WHOLE = "ok"


@dataclass(frozen=True)
class Finding:
    """What was looked for, and how often it was found; a remark may have an innocent reason."""

    what: str
    count: int
    is_remark: bool = False

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.what}: {self.count}"


@dataclass(frozen=True)
class Examination:
    """What was looked for, found or not; of a database of another version only its file and its links."""

    version: str
    is_of_this_program: bool
    findings: tuple[Finding, ...]
    judgements: int

    @property
    def wrong(self) -> list[Finding]:
        """What was found that should not be, remarks aside."""
        return [one for one in self.findings if one.count and not one.is_remark]

    @property
    def remarks(self) -> list[Finding]:
        """What was found that may have an innocent reason."""
        return [one for one in self.findings if one.count and one.is_remark]

    @property
    def is_broken(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.wrong)


def examine(database: Database) -> Examination:
    """Look for everything, at one state; `UpkeepError` without tables, `ConflictError` when it does not open."""
    version = version_of(database)
    if version is None:
        raise UpkeepError("The database has no tables: nothing was ever stored in it.")
    is_ours = version == newest_version()
    with database.reading() as session:
        findings = list(_file_and_links(session, database.is_sqlite, is_ours=is_ours))
        if is_ours:
            findings += _counts(session, database.is_sqlite)
            findings.append(Finding("Runs whose file is not the one that was sent", _changed_files(session)))
        judgements = session.scalar(text("SELECT count(*) FROM judgement")) or 0
    return Examination(version, is_ours, tuple(findings), int(judgements))


def examine_collection(session: Session, collection_id: int) -> list[Finding]:
    """What is wrong with the counts of one collection, as the transaction leaves it."""
    findings = (
        Finding(
            what, session.scalar(text(within(statement, session.get_bind().dialect.name)), {"id": collection_id}) or 0
        )
        for what, statement in CHECKS.items()
    )
    return [finding for finding in findings if finding.count]


def missing_judgements(database: Database, client_ids: list[str]) -> list[str]:
    """Those of the ids under which no judgement is stored, or more than one."""
    stored: dict[str, int] = {}
    with database.reading() as session:
        for some in chunks(client_ids):
            statement = select(Judgement.client_id, func.count()).where(Judgement.client_id.in_(some))
            rows = session.execute(statement.group_by(Judgement.client_id))
            stored |= {client_id: count for client_id, count in rows}
    return [client_id for client_id in client_ids if stored.get(client_id) != 1]


def _file_and_links(session: Session, is_sqlite: bool, *, is_ours: bool) -> Iterator[Finding]:  # noqa: FBT001 - of one call
    if is_sqlite:
        told = session.scalars(text(f"PRAGMA integrity_check({MOST_SHOWN})")).all()
        yield Finding("Faults of the file", sum(line != IS_WHOLE for line in told))
        links = session.execute(text("PRAGMA foreign_key_check")).all()
        yield Finding("Rows that refer to rows that are not there", len(links))
    elif is_ours:
        lost = sum(_lost_links(session, table) for table in Base.metadata.sorted_tables)
        yield Finding("Rows that refer to rows that are not there", lost)


def _lost_links(session: Session, table: Table) -> int:
    """Of a table of PostgreSQL, which keeps links by itself, unless it was told not to while rows were loaded."""
    lost = 0
    for link in sorted(table.foreign_key_constraints, key=lambda one: str(one.name)):
        parent = link.referred_table.alias("parent")
        pairs = [(element.parent, parent.c[element.column.name]) for element in link.elements]
        is_there = select(1).where(*(own == other for own, other in pairs)).exists()
        refers = and_(*(own.is_not(None) for own, _ in pairs))
        lost += session.scalars(select(func.count()).select_from(table).where(refers, ~is_there)).one()
    return lost


def _counts(session: Session, is_sqlite: bool) -> Iterator[Finding]:  # noqa: FBT001 - likewise
    for what, statement in (CHECKS | OF_SQLITE if is_sqlite else CHECKS).items():
        yield Finding(what, int(session.scalar(text(statement)) or 0))
    for what, statement in REMARKS.items():
        yield Finding(what, int(session.scalar(text(statement)) or 0), is_remark=True)


def _changed_files(session: Session) -> int:
    """How many runs' files do not have their checksum any more; one file after the other, for they may be large."""
    runs = session.execute(select(Run.id, Run.checksum).order_by(Run.id)).all()
    return sum(_checksum(session, run_id) not in {None, checksum} for run_id, checksum in runs)


def _checksum(session: Session, run_id: int) -> str | None:
    """The checksum of a run's file as it was sent; None when none was kept, "" when it cannot be unpacked."""
    row = session.execute(select(RunFile.packed_here, RunFile.content).where(RunFile.run_id == run_id)).one_or_none()
    if row is None:
        return None
    try:
        return hashlib.sha256(gzip.decompress(row.content) if row.packed_here else row.content).hexdigest()
    except (OSError, EOFError, zlib.error):
        return ""
