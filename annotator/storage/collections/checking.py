"""Integrity checks of a database: whether the file is intact, and one SQL statement per invariant."""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Table, and_, func, select, text
from sqlalchemy.orm import Session

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

CHECKS = {
    # Only people's places count: second showings, adjudications, carried judgements and machines do not.
    "Documents whose count of judges is wrong": """
        WITH given AS (SELECT assignment.pool_item_id, count(*) AS places
        FROM assignment JOIN "user" ON "user".id = assignment.judge_id
        WHERE assignment.state <> 'returned' AND assignment.purpose NOT IN ('re-shown', 'adjudication', 'carried')
            AND "user".kind = 'person'
        GROUP BY assignment.pool_item_id)
        SELECT count(*) FROM pool_item LEFT JOIN given ON given.pool_item_id = pool_item.id
        WHERE pool_item.taken <> coalesce(given.places, 0)
    """,
    "Assignments that are done without a judgement": """
        SELECT count(*) FROM assignment
        WHERE state = 'done' AND NOT EXISTS (SELECT 1 FROM judgement WHERE judgement.assignment_id = assignment.id)
    """,
    "Assignments that are judged and still in somebody's hands": """
        SELECT count(*) FROM assignment
        WHERE state IN ('live', 'later')
            AND EXISTS (SELECT 1 FROM judgement WHERE judgement.assignment_id = assignment.id AND judgement.current)
    """,
    "Judgements that are not of their assignment": """
        SELECT count(*) FROM judgement JOIN assignment ON assignment.id = judgement.assignment_id
        WHERE assignment.pool_item_id <> judgement.pool_item_id OR assignment.judge_id <> judgement.judge_id
    """,
    # Only one judgement per item and judge counts. Set difference, since looking up the other assignments of each
    # judgement took minutes for judges with thousands of them.
    "Judgements that count although their document was given back": """
        SELECT count(*) FROM (
            SELECT judgement.pool_item_id, judgement.judge_id
            FROM judgement JOIN assignment ON assignment.id = judgement.assignment_id
            WHERE judgement.current AND assignment.state = 'returned'
            EXCEPT
            SELECT pool_item_id, judge_id FROM assignment WHERE state <> 'returned'
        ) AS given_back
    """,
    "Judgements that count although a later one took their place": """
        SELECT count(*) FROM judgement
        WHERE current AND id IN (SELECT replaces_id FROM judgement WHERE replaces_id IS NOT NULL)
    """,
    "Judgements that are carried over to documents that repeat no other": """
        SELECT count(*) FROM judgement JOIN pool_item ON pool_item.id = judgement.pool_item_id
        WHERE judgement.current AND judgement.carried_from_id IS NOT NULL AND pool_item.duplicate_of_id IS NULL
    """,
    "Judgements with the id of another": "SELECT count(*) - count(DISTINCT client_id) FROM judgement",
    "Judgements with neither a grade nor a reason, or with both": """
        SELECT count(*) FROM judgement WHERE (grade IS NULL) = (cannot_judge IS NULL)
    """,
    "Judgements with a grade that is none of the scale": """
        SELECT count(*) FROM judgement
        JOIN pool_item ON pool_item.id = judgement.pool_item_id
        WHERE judgement.grade IS NOT NULL AND (pool_item.topic_id, judgement.grade) NOT IN (
            SELECT topic.id, grade.value FROM topic JOIN grade ON grade.collection_id = topic.collection_id
        )
    """,
    # Each judgement raises it at most once, and only judging raises it.
    "Revisions of topics that no judgement explains": """
        SELECT count(*) FROM topic_revision LEFT JOIN (
            SELECT pool_item.topic_id, judgement.judge_id, count(*) AS said
            FROM judgement JOIN pool_item ON pool_item.id = judgement.pool_item_id
            GROUP BY pool_item.topic_id, judgement.judge_id
        ) AS given ON given.topic_id = topic_revision.topic_id AND given.judge_id = topic_revision.judge_id
        WHERE topic_revision.revision < 1
            OR (topic_revision.judge_id <> 0 AND topic_revision.revision > coalesce(given.said, 0))
    """,
    # Counted by the worker; a row of another revision is not used.
    "Topics whose counted progress is not that of their judgements": """
        WITH given AS (
            SELECT pool_item_id, count(*) AS given FROM judgement
            WHERE current AND judge_id NOT IN (SELECT id FROM "user" WHERE kind = 'machine')
                AND assignment_id NOT IN (SELECT id FROM assignment WHERE purpose = 'adjudication')
            GROUP BY pool_item_id
        ), missing AS (
            SELECT pool_item.id, pool_item.topic_id, pool_item.duplicate_of_id, given.given AS given,
                pool_item.judgements_wanted - coalesce(given.given, 0) AS missing
            FROM pool_item LEFT JOIN given ON given.pool_item_id = pool_item.id
        ), counted AS (
            SELECT item.topic_id, count(*) AS items, count(item.given) AS judged,
                sum(CASE WHEN item.missing <= 0 AND coalesce(standing.missing, 0) <= 0 THEN 1 ELSE 0 END) AS complete,
                sum(CASE WHEN item.missing > 0 THEN item.missing ELSE 0 END) AS remaining
            FROM missing AS item LEFT JOIN missing AS standing ON standing.id = item.duplicate_of_id
            GROUP BY item.topic_id
        ), revised AS (SELECT topic_id, sum(revision) AS revision FROM topic_revision GROUP BY topic_id)
        SELECT count(*) FROM topic_counts
        LEFT JOIN counted ON counted.topic_id = topic_counts.topic_id
        LEFT JOIN revised ON revised.topic_id = topic_counts.topic_id
        WHERE topic_counts.revision = coalesce(revised.revision, 0) AND (
            topic_counts.items <> coalesce(counted.items, 0) OR topic_counts.judged <> coalesce(counted.judged, 0)
            OR topic_counts.complete <> coalesce(counted.complete, 0)
            OR topic_counts.remaining <> coalesce(counted.remaining, 0)
        )
    """,
    "Pooled documents of another collection than their topic": """
        SELECT count(*) FROM pool_item
        JOIN topic ON topic.id = pool_item.topic_id JOIN document ON document.id = pool_item.document_id
        WHERE topic.collection_id <> document.collection_id
    """,
    "Collections whose scores are released by a version of the qrels that is not there": """
        SELECT count(*) FROM collection
        WHERE scores_qrels_version IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM qrels_version
            WHERE qrels_version.collection_id = collection.id AND qrels_version.number = collection.scores_qrels_version
        )
    """,
    "Collections with public scores that are not released by a version of the qrels": """
        SELECT count(*) FROM collection
        WHERE public_scores NOT IN ('nothing', 'task') AND (scores_released_at IS NULL OR scores_qrels_version IS NULL)
    """,
    "Answers to the questionnaire of another collection than their run": """
        SELECT count(*) FROM run_answer JOIN run ON run.id = run_answer.run_id
        JOIN questionnaire_version ON questionnaire_version.id = run_answer.questionnaire_version_id
        WHERE run.collection_id <> questionnaire_version.collection_id
    """,
    "Runs, topics or questionnaires of a task of another collection": """
        SELECT count(*) FROM (
            SELECT task_id, collection_id FROM run UNION ALL
            SELECT task_id, collection_id FROM questionnaire_version UNION ALL
            SELECT task_topic.task_id, topic.collection_id FROM task_topic JOIN topic ON topic.id = task_topic.topic_id
        ) AS of_task JOIN task ON task.id = of_task.task_id
        WHERE task.collection_id <> of_task.collection_id
    """,
    "Questions of another collection than their team, their run or their announcement": """
        SELECT count(*) FROM question
        LEFT JOIN team ON team.id = question.team_id LEFT JOIN run ON run.id = question.run_id
        LEFT JOIN announcement ON announcement.question_id = question.id
        WHERE question.collection_id <> coalesce(team.collection_id, question.collection_id)
            OR question.collection_id <> coalesce(run.collection_id, question.collection_id)
            OR question.collection_id <> coalesce(announcement.collection_id, question.collection_id)
    """,
    "Runs that came from a source of another collection": """
        SELECT count(*) FROM fetched_run JOIN run ON run.id = fetched_run.run_id
        JOIN run_source ON run_source.id = fetched_run.source_id
        WHERE run.collection_id <> run_source.collection_id
    """,
    # Four bytes per document, eight per score.
    "Ranked lists with another number of scores than of documents": """
        SELECT count(*) FROM ranked_list WHERE length(documents) * 2 <> length(scores)
    """,
}

# FTS5 keeps the indexed documents in a table of its own.
OF_SQLITE = {
    "Documents that the search does not find, or that are not there": """
        SELECT abs((SELECT count(*) FROM document_words) - (SELECT count(*) FROM document_words_index_docsize))
    """,
}

# More judgements than wanted: legitimate when fewer are wanted than before or labels were imported in addition. Late
# judgements and items for everyone are left out. `CHECKS` verifies `taken`.
REMARKS = {
    "Documents judged by more than are wanted now": """
        SELECT count(*) FROM pool_item
        WHERE NOT for_everyone AND taken > judgements_wanted AND judgements_wanted < taken - (
            SELECT count(DISTINCT judgement.assignment_id) FROM judgement
            WHERE judgement.pool_item_id = pool_item.id AND judgement.late
        )
    """,
}

# The tables that the checks read, restricted to chosen collections. Without the schema prefix SQLite takes a CTE's own
# name inside it as a circular reference; in PostgreSQL it is the table.
_OF_COLLECTION = """
    WITH collection AS NOT MATERIALIZED (SELECT * FROM {schema}collection WHERE id {chosen}),
    topic AS NOT MATERIALIZED (SELECT * FROM {schema}topic WHERE collection_id {chosen}),
    pool_item AS NOT MATERIALIZED (
        SELECT * FROM {schema}pool_item WHERE topic_id IN (SELECT id FROM {schema}topic WHERE collection_id {chosen})
    ),
    assignment AS NOT MATERIALIZED (
        SELECT * FROM {schema}assignment WHERE pool_item_id IN (SELECT id FROM pool_item)
    ),
    judgement AS NOT MATERIALIZED (
        SELECT * FROM {schema}judgement WHERE pool_item_id IN (SELECT id FROM pool_item)
    ),
    topic_revision AS NOT MATERIALIZED (
        SELECT * FROM {schema}topic_revision WHERE topic_id IN (SELECT id FROM topic)
    ),
    topic_counts AS NOT MATERIALIZED (
        SELECT * FROM {schema}topic_counts WHERE topic_id IN (SELECT id FROM topic)
    ),
    ranked_list AS NOT MATERIALIZED (
        SELECT * FROM {schema}ranked_list WHERE run_id IN (SELECT id FROM run WHERE collection_id {chosen})
    )
"""


# Invariants need not hold for a collection whose import is unfinished or was interrupted.
_WHOLE = "IN (SELECT id FROM {schema}collection WHERE NOT being_imported)"


def within(check: str, dialect: str) -> str:
    """Restrict one of `CHECKS` to the collection with the id `:id`."""
    return _restricted(check, dialect, "= :id")


def among_whole(check: str, dialect: str) -> str:
    """Restrict one of `CHECKS` to collections that are not being imported."""
    return _restricted(check, dialect, _WHOLE)


def _restricted(check: str, dialect: str, chosen: str) -> str:
    schema = "main." if dialect == "sqlite" else ""
    parts = _OF_COLLECTION.format(schema=schema, chosen=chosen.format(schema=schema))
    own = check.strip()
    return f"{parts}, {own.removeprefix('WITH')}" if own.startswith("WITH") else f"{parts} {own}"


# File, foreign keys, the counts, and run files.
MOST_FINDINGS = 3 + len(CHECKS | OF_SQLITE | REMARKS)
# Memory-map the copy, which no other process has open, up to this size.
MAPPED_BYTES = 1 << 31


@dataclass(frozen=True)
class Finding:
    """A check and how often it failed; a remark may have a legitimate reason."""

    what: str
    count: int
    is_remark: bool = False

    def __str__(self) -> str:
        """One line: the check and its count."""
        return f"{self.what}: {self.count}"


@dataclass(frozen=True)
class Examination:
    """Results of all checks; for a database of another schema version only of the file and the foreign keys."""

    version: str
    is_of_this_program: bool
    findings: tuple[Finding, ...]
    judgements: int

    @property
    def wrong(self) -> list[Finding]:
        """The checks that failed, without remarks."""
        return [one for one in self.findings if one.count and not one.is_remark]

    @property
    def remarks(self) -> list[Finding]:
        """The remarks with a count above 0."""
        return [one for one in self.findings if one.count and one.is_remark]

    @property
    def is_broken(self) -> bool:
        """Whether any check failed."""
        return bool(self.wrong)


def examine(
    database: Database,
    *,
    progress: Progress | None = None,
    further: Sequence[Callable[[Session], Finding]] = (),
) -> Examination:
    """Run all checks in one snapshot; raises `UpkeepError` without tables, `ConflictError` when it does not open.

    `further` are checks that SQL cannot make, for a database of this program's version.
    """
    version = _version(database)
    is_ours = version == newest_version()
    findings: list[Finding] = []

    def show() -> None:
        if progress is not None:
            progress(len(findings), max(len(findings), MOST_FINDINGS + len(further)))

    with file_checked_beside(database) as told, database.reading() as session, interruptible(session):
        for finding in _findings(session, database.is_sqlite, is_ours=is_ours):
            findings.append(finding)
            show()
        for check in further if is_ours else ():
            findings.append(check(session))
            show()
        judgements = count_judgements(session)
        if told is not None:
            findings.insert(0, _faults(told()))
            show()
    return Examination(version, is_ours, tuple(findings), judgements)


def examine_copy(copy: Database) -> Examination:
    """Check that all tables and indexes of a copy are readable and complete; raises what `examine` does.

    It takes a fraction of the time of copying. Other checks are left out: the copy equals its source page by page.
    """
    version = _version(copy)
    with copy.reading() as session, interruptible(session):
        for pragma in (f"mmap_size={MAPPED_BYTES}", "cell_size_check=ON"):
            session.execute(text(f"PRAGMA {pragma}"))
        told = indexes_checked(session.connection())
        return Examination(version, version == newest_version(), (_faults(told),), count_judgements(session))


def count_judgements(session: Session) -> int:
    """Number of stored judgements; works for every schema version."""
    return int(session.scalar(text("SELECT count(*) FROM judgement")) or 0)


def examine_collection(session: Session, collection_id: int) -> list[Finding]:
    """Failed checks of one collection, as of the current state of the transaction."""
    findings = (
        Finding(
            what, session.scalar(text(within(statement, session.get_bind().dialect.name)), {"id": collection_id}) or 0
        )
        for what, statement in CHECKS.items()
    )
    return [finding for finding in findings if finding.count]


def missing_judgements(database: Database, client_ids: list[str]) -> list[str]:
    """The client ids under which no judgement or more than one is stored."""
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
    """Broken references in a PostgreSQL table, possible when constraints were disabled while rows were loaded."""
    lost = 0
    for link in sorted(table.foreign_key_constraints, key=lambda one: str(one.name)):
        parent = link.referred_table.alias("parent")
        pairs = [(element.parent, parent.c[element.column.name]) for element in link.elements]
        is_there = select(1).where(*(own == other for own, other in pairs)).exists()
        refers = and_(*(own.is_not(None) for own, _ in pairs))
        lost += session.scalars(select(func.count()).select_from(table).where(refers, ~is_there)).one()
    return lost


def _counts(session: Session, is_sqlite: bool) -> Iterator[Finding]:  # noqa: FBT001 - of one call
    def count(statement: str) -> int:
        return int(session.scalar(text(statement)) or 0)

    # The restricted statements are slower.
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
    """Number of runs whose stored file no longer matches its checksum; files are read one at a time to save memory."""
    runs = session.execute(select(Run.id, Run.checksum).order_by(Run.id)).all()
    return sum(_checksum(session, run_id) not in {None, checksum} for run_id, checksum in runs)


def _checksum(session: Session, run_id: int) -> str | None:
    """SHA-256 of a run's file as uploaded; None when no file is kept, "" when it cannot be decompressed."""
    row = session.execute(select(RunFile.packed_here, RunFile.content).where(RunFile.run_id == run_id)).one_or_none()
    if row is None:
        return None
    try:
        return hashlib.sha256(gzip.decompress(row.content) if row.packed_here else row.content).hexdigest()
    except (OSError, EOFError, zlib.error):
        return ""
