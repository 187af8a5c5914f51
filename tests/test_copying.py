"""A whole site goes from one database into another, of either kind, and nothing of it is different there."""

from pathlib import Path

import pytest
from build import NOW, SLUG, labels, member, pooled_news
from cli.command_line import CommandLine
from kept import FILLED_TABLES, Kept
from sqlalchemy import func, select, text

from annotator.errors import ConflictError
from annotator.settings import sqlite_url
from annotator.storage import Database, Judgement, Mail, MailKind
from annotator.storage.collections import copying
from annotator.storage.collections.checking import examine
from annotator.storage.collections.copying import copy_site
from annotator.storage.site.mail import Letter, Recipient, queue_mail
from annotator.storage.site.schema import newest_version, prepare_schema
from annotator.storage.site.upkeep import UpkeepError
from annotator.workflows.collections import collection
from annotator.workflows.documents import search


def fill(database: Database) -> None:
    """Everything that refers to something, also to a later row of its own table."""
    with database.transaction() as session:
        pooled_news(session)
        ola = member(session, "ola")
        collection.set_guidelines(session, SLUG, "둘째 — “quoted” \N{PILE OF POO}", made_by_id=ola, made_at=NOW)
        labels(session, "strict", "1 0 a 1\n1 0 b 0\n2 0 a 2\n")
        labels(session, "strict", "1 0 a 2\n")
        session.execute(text("UPDATE pool_item SET duplicate_of_id = 3 WHERE id = 1"))
        queue_mail(session, Recipient("ola@example.org", "en", ola), Letter(MailKind.JOB, {"job": 1}), at=NOW)
        session.execute(text("UPDATE judgement SET seconds = 0.1, carried_from_id = id"))


@pytest.fixture(params=["sqlite", "postgres"])
def source(request: pytest.FixtureRequest) -> Database:
    """A database of either kind with its tables made."""
    fixture: Database = request.getfixturevalue(f"{request.param}_database")
    return fixture


@pytest.fixture
def target(source: Database, request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of the other kind."""
    if not source.is_sqlite:
        return Database(sqlite_url(tmp_path / "target.sqlite"))
    postgres: Database = request.getfixturevalue("postgres_database")
    return postgres


@pytest.fixture
def site(source: Database, kept: Kept) -> Database:
    """The same with something in many of them."""
    kept.fill(source, fill)
    return source


def rows_of(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.reading() as session:
        return {
            table.name: [tuple(row) for row in session.execute(select(table).order_by(*table.primary_key))]
            for table in FILLED_TABLES
            if table.name != Mail.__tablename__  # the site that wrote it sends it
        }


def test_everything_arrives(site: Database, target: Database) -> None:
    told: list[tuple[int, int]] = []
    tables = copy_site(site, target, progress=lambda done, of: told.append((done, of)))
    assert rows_of(target) == rows_of(site)
    assert {one.name: one.rows for one in tables} == {name: len(rows) for name, rows in rows_of(site).items()}
    with target.reading() as session:
        assert session.scalars(select(Mail)).all() == []
    assert told[-1] == (sum(one.rows for one in tables), sum(one.rows for one in tables))
    assert examine(target).version == examine(site).version
    with target.reading() as session:
        assert search.find_documents(session, SLUG, "text").total == 5
    site.close()
    target.close()


def test_the_next_rows_get_ids_of_their_own(site: Database, target: Database) -> None:
    copy_site(site, target)
    with target.transaction() as session:
        labels(session, "other", "1 0 a 1\n2 0 e 0\n")
    with target.reading() as session:
        assert session.scalars(select(func.count(Judgement.id))).one() == 6
    site.close()
    target.close()


def test_nothing_goes_where_something_is(site: Database, target: Database) -> None:
    copy_site(site, target)
    before = rows_of(target)
    with pytest.raises(UpkeepError, match="not empty: there are rows in “collection”"):
        copy_site(site, target)
    with pytest.raises(UpkeepError, match="not empty"):
        copy_site(site, site)
    assert rows_of(target) == before
    site.close()
    target.close()


def test_what_does_not_arrive_as_it_was_sent_is_not_kept(
    site: Database, target: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = copying._link  # noqa: SLF001 - the part that goes wrong here

    def loses_one(*arguments: object) -> None:
        plain(*arguments)  # type: ignore[arg-type] # what it takes
        new, table = arguments[1], arguments[2]
        if getattr(table, "name", "") == "pool_item":
            new.execute(text("UPDATE pool_item SET duplicate_of_id = NULL"))  # type: ignore[attr-defined] # a session

    monkeypatch.setattr(copying, "_link", loses_one)
    with pytest.raises(UpkeepError, match="Of “pool_item” 6 rows were sent, and 6 rows arrived, or others"):
        copy_site(site, target)
    assert sum(map(len, rows_of(target).values())) == 0
    site.close()
    target.close()


def test_a_database_of_another_version_is_not_copied(site: Database, target: Database) -> None:
    with site.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    try:
        with pytest.raises(UpkeepError, match="is not of this version"):
            copy_site(site, target)
        prepare_schema(target)
        with pytest.raises(ConflictError, match="at version 0001"):
            copy_site(target, site)
    finally:
        with site.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest_version()})
    site.close()
    target.close()


def test_the_command_says_what_went_over(site: Database, target: Database, tmp_path: Path) -> None:
    site.close()
    target.close()
    urls = [database.engine.url.render_as_string(hide_password=False) for database in (site, target)]
    annotator = CommandLine(sqlite_url(tmp_path / "unused.sqlite"))
    result = annotator("database", "copy", *urls)
    assert result.exit_code == 0, result.stderr
    lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()}
    assert lines["judgement"][0] == "4"
    assert len(lines["judgement"][1]) == 16
    assert result.stderr.endswith("rows; the checksums agree.\n")
    assert not (tmp_path / "unused.sqlite").exists()
    lines_of = [CommandLine(url).done("audit", "list", "--action", "database") for url in urls]
    assert ["database.copy" in line for line in lines_of] == [False, True]
