"""No page of a collection reads a whole table: other people's collections make nothing slower."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from browser.pages import ADJUDICATORS_PAGES, JUDGES_PAGES, ORGANISERS_PAGES, PARTICIPANTS_PAGES, cat_collection
from build import SLUG
from sqlalchemy import event
from visiting import Visitor, with_database
from visiting import shared_application as application

from annotator.storage import Database
from annotator.storage.documents.search import ARE_ALL_INDEXED
from annotator.storage.tables.columns import Base

# As many rows as a site has people, teams, collections or their settings; every other table grows with the work.
SMALL = {"alembic_version", "collection", "database_epoch", "grade", "membership", "team", "user"}
SCAN = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
# Once in a process after an import of texts: whether all documents of the site are indexed.
KNOWN = ARE_ALL_INDEXED
ALIAS = re.compile(r'\b(?:FROM|JOIN|,)\s+"?(\w+)"?\s+AS\s+"?(\w+)"?', re.IGNORECASE)
PAGES = [
    *[("ola", path) for path in ORGANISERS_PAGES],
    *[("pat", path) for path in PARTICIPANTS_PAGES],
    *[("jo", path) for path in JUDGES_PAGES],
    *[("eve", path) for path in ADJUDICATORS_PAGES],
]


@contextmanager
def statements(database: Database) -> Iterator[dict[str, tuple[object, ...]]]:
    """What is asked of the database meanwhile: statements, each with values that it had."""
    asked: dict[str, tuple[object, ...]] = {}

    def note(_connection: object, _cursor: object, statement: str, values: tuple[object, ...], *_: object) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH", "UPDATE", "DELETE")):
            asked.setdefault(statement, values)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def whole_tables(database: Database, statement: str, values: tuple[object, ...]) -> list[str]:
    """The growing tables that SQLite would read from end to end for a statement."""
    tables = set(Base.metadata.tables) - SMALL
    # An index of a part of a table is read whole where that part is wanted.
    partial = {
        index.name
        for table in Base.metadata.tables.values()
        for index in table.indexes
        if index.dialect_options["sqlite"]["where"] is not None
    }
    names = {alias: table for table, alias in ALIAS.findall(statement)}
    with database.engine.connect() as connection:
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
    scanned = [names.get(match[1], match[1]) for match in map(SCAN.match, plan) if match and match[2] not in partial]
    return [table for table in scanned if table in tables]


@pytest.fixture
def cats(sqlite_database: Database) -> Database:
    """The collection of all pages."""
    cat_collection(sqlite_database)
    return sqlite_database


def test_no_page_reads_a_whole_table(cats: Database) -> None:
    found: dict[str, tuple[str, list[str]]] = {}
    app = with_database(application(), cats)
    visitors = {name: Visitor(app, cats, name) for name in dict(PAGES)}
    for name, path in PAGES:
        with statements(cats) as asked:
            assert visitors[name].get(f"/collections/{SLUG}{path}", follow_redirects=True).status_code == 200, path
        for statement, values in asked.items():
            if statement != KNOWN and (tables := whole_tables(cats, statement, values)):
                found.setdefault(statement, (path, tables))
    assert found == {}
