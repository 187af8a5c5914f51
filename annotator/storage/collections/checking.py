"""Examining a database: whether the file is whole, everything refers to what is there, and the counts agree."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Table, and_, func, select, text
from sqlalchemy.orm import Session

from annotator.storage.collections.checking_statements import CHECKS, OF_SQLITE, REMARKS, among_whole, within
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.site.database import Database
from annotator.storage.site.schema import newest_version, version_of
from annotator.storage.site.upkeep import (
    IS_WHOLE,
    Progress,
    UpkeepError,
    file_checked_beside,
    indexes_checked,
    interruptible,
)
from annotator.storage.tables.columns import Base
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.runs import Run, RunFile

# The file, the links, the counts, and the files of runs.
MOST_FINDINGS = 3 + len(CHECKS | OF_SQLITE | REMARKS)
# As much of a copy, which nobody else has open, is read without a copy in memory.
MAPPED_BYTES = 1 << 31


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


def examine(database: Database, *, progress: Progress | None = None) -> Examination:
    """Look for everything, at one state; `UpkeepError` without tables, `ConflictError` when it does not open."""
    version = _version(database)
    is_ours = version == newest_version()
    findings: list[Finding] = []

    def show() -> None:
        if progress is not None:
            progress(len(findings), max(len(findings), MOST_FINDINGS))

    with file_checked_beside(database) as told, database.reading() as session, interruptible(session):
        for finding in _findings(session, database.is_sqlite, is_ours=is_ours):
            findings.append(finding)
            show()
        judgements = count_judgements(session)
        if told is not None:
            findings.insert(0, _faults(told()))
            show()
    return Examination(version, is_ours, tuple(findings), judgements)


def examine_copy(copy: Database) -> Examination:
    """Whether all tables and indexes of a copy can be read and are complete; raises what `examine` does.

    It takes a fraction of the time of copying. What else is in order is no question of the copy: it is as it is in the
    database that it was made from, page by page.
    """
    version = _version(copy)
    with copy.reading() as session, interruptible(session):
        for pragma in (f"mmap_size={MAPPED_BYTES}", "cell_size_check=ON"):
            session.execute(text(f"PRAGMA {pragma}"))
        told = indexes_checked(session.connection())
        return Examination(version, version == newest_version(), (_faults(told),), count_judgements(session))


def count_judgements(session: Session) -> int:
    """How many judgements are stored, of a database of any version."""
    return int(session.scalar(text("SELECT count(*) FROM judgement")) or 0)


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


def _version(database: Database) -> str:
    version = version_of(database)
    if version is None:
        raise UpkeepError("The database has no tables: nothing was ever stored in it.")
    return version


def _findings(session: Session, is_sqlite: bool, *, is_ours: bool) -> Iterator[Finding]:  # noqa: FBT001 - of one call
    yield from _links(session, is_sqlite, is_ours=is_ours)
    if is_ours:
        yield from _counts(session, is_sqlite)
        yield Finding("Runs whose file is not the one that was sent", _changed_files(session))


def _faults(told: Sequence[str]) -> Finding:
    return Finding("Faults of the file", sum(line != IS_WHOLE for line in told))


def _links(session: Session, is_sqlite: bool, *, is_ours: bool) -> Iterator[Finding]:  # noqa: FBT001 - of one call
    if is_sqlite:
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
    def count(statement: str) -> int:
        return int(session.scalar(text(statement)) or 0)

    # Restricted, the statements take longer.
    has_unfinished = count("SELECT count(*) FROM collection WHERE being_imported") > 0
    dialect = session.get_bind().dialect.name

    def of_whole(statement: str) -> int:
        return count(among_whole(statement, dialect) if has_unfinished else statement)

    for what, statement in CHECKS.items():
        yield Finding(what, of_whole(statement))
    for what, statement in OF_SQLITE.items() if is_sqlite else ():
        yield Finding(what, count(statement))
    for what, statement in REMARKS.items():
        yield Finding(what, of_whole(statement), is_remark=True)


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
