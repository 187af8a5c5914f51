"""`annotator database`: create, upgrade, back up, restore and check the database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import note, refuse_without_tables
from annotator.cli.site.progress import ended_like_ctrl_c, progress_shown
from annotator.cli.site.tables import format_option, show_rows, show_table
from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.collections.checking import Examination, examine, missing_judgements
from annotator.storage.collections.copying import copy_site
from annotator.storage.runs.run_tops import add_missing_tops, check_tops, different_tops, store_tops_again
from annotator.storage.site.backups import back_up, left_copies
from annotator.storage.site.backups import restore as restore_backup
from annotator.storage.site.database import file_behind
from annotator.storage.site.migrating import upgrade_schema
from annotator.storage.site.schema import newest_version, version_of
from annotator.storage.site.upkeep import UpkeepError
from annotator.workflows.judging.machine_labels import check_labels
from annotator.workflows.judging.topic_judgements import check_packed

MOST_NAMED = 10


@click.group
def command() -> None:
    """The database: upgrade, back up, restore, check, copy.

    `upgrade` and `users add` create a new database; only `upgrade` changes an older one.
    """


@command.command("upgrade")
@click.pass_obj
def upgrade(settings: Settings) -> None:
    """Upgrade the tables to this version of the program. Stop server and worker, and copy the database first.

    Runs that were stored by an older program that still ran get what this version stores with each run.
    """
    with _opened(settings) as database:
        before = version_of(database)
        upgrade_schema(database)
        if before != newest_version():
            _note(database, "database.upgrade", details={"from": before, "to": newest_version()})
        with database.transaction() as session:
            completed = add_missing_tops(session)
    if completed:
        click.echo(f"Runs of an older program that are complete now: {completed}.", err=True)
    click.echo("The tables are of this version.", err=True)


@command.command("backup")
@click.argument("file", type=FILE)
@click.option("--check", "in_full", is_flag=True, help="Check everything in the copy, as `database check` does.")
@click.pass_obj
def backup(settings: Settings, file: str, *, in_full: bool) -> None:
    """Copy the database to a new FILE, while judging continues; for PostgreSQL use pg_dump.

    The file is checked before it is kept; after an error or Ctrl-C there is no FILE. `restore` checks everything in it
    first.
    """
    with ended_like_ctrl_c(), _opened(settings) as database, progress_shown("Copying") as progress:
        if database.is_sqlite:
            refuse_without_tables(database)
        examination = back_up(database, Path(file), in_full=in_full, progress=progress)
    found = "checked, and is in order" if in_full else "and its file is whole"
    click.echo(f"{file} has {examination.judgements} judgements; it was opened, {found}.", err=True)


@command.command("restore")
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Replace an existing database; the old one is kept beside it.")
@click.pass_obj
def restore(settings: Settings, file: str, *, replace: bool) -> None:
    """Replace the database by the backup FILE, after checking it. Stop the server first."""
    with _opened(settings) as database:
        kept = restore_backup(database, Path(file), replace=replace, now=datetime.now(UTC))
        # A backup of an earlier version may lack the audit log: its upgrade comes next and adds an entry.
        if version_of(database) == newest_version():
            _note(database, "database.restore", subject=Path(file).name)
    click.echo(f"The database is that of {file}.", err=True)
    if kept is not None:
        click.echo(f"The one before it is kept as {kept}.", err=True)


@command.command("check")
@click.option(
    "--acknowledged",
    type=FILE,
    metavar="FILE",
    help="Ids of judgements that were acknowledged as stored, one per line; - is standard input.",
)
@click.option(
    "--rebuild-tops",
    is_flag=True,
    help="First store the tops of ranked lists, from which pools are planned, again where they differ from the lists.",
)
@click.option("--strict", is_flag=True, help="Also fail on findings that may have a harmless reason.")
@format_option()
@click.pass_obj
def check(settings: Settings, acknowledged: str | None, format_: str, *, rebuild_tops: bool, strict: bool) -> None:
    """Check the integrity of the database: the file, references between rows, all counts, the run files.

    Judging may go on meanwhile. The exit code is 1 if anything is wrong.
    """
    told = [] if acknowledged is None else read_text(acknowledged).split()
    with ended_like_ctrl_c(), _opened(settings) as database:
        refuse_without_tables(database)
        if rebuild_tops:
            _rebuild_tops(database)
        with progress_shown("Checking") as progress:
            examination = examine(database, progress=progress, further=[check_packed, check_labels, check_tops])
        lost = missing_judgements(database, told)
        file = file_behind(database.engine.url)
    for copy in left_copies(file.parent) if file is not None else ():
        click.echo(f"“{copy}” was left by a backup that was killed: the next one of that name removes it.", err=True)
    show_rows(format_, ["LOOKED FOR", "FOUND"], [[one.what, one.count] for one in examination.findings])
    _refuse(examination, lost, strict=strict)
    click.echo(f"In order: {examination.judgements} judgements, tables of version {examination.version}.", err=True)
    if told:
        click.echo(f"Each of {len(told)} acknowledged judgements is there once.", err=True)


def _rebuild_tops(database: Database) -> None:
    """Store tops again where they differ from the ranked lists, one run in a transaction, as judging may go on."""
    for run_id, named in database.read(different_tops):
        with database.transaction() as session:
            store_tops_again(session, run_id)
            note(session, "database.rebuild-tops", details={"run": run_id})
        click.echo(f"Stored the tops of the ranked lists again: {named}.", err=True)


@command.command("copy")
@click.argument("from_url", metavar="FROM_URL")
@click.argument("to_url", metavar="TO_URL")
def copy(from_url: str, to_url: str) -> None:
    """Copy a whole site into an empty database of either kind, such as sqlite:///a.sqlite postgresql+psycopg://host/a.

    The copy is read again and compared by counts and checksums before it is kept. Stop the server first: changes in the
    old database meanwhile are not copied.
    """
    source, target = Database(from_url), Database(to_url)
    try:
        refuse_without_tables(source)
        with progress_shown("Copying") as progress:
            tables = copy_site(source, target, progress=progress)
        _note(target, "database.copy", details={"rows": sum(one.rows for one in tables)})
    finally:
        source.close()
        target.close()
    show_table(["TABLE", "ROWS", "CHECKSUM"], [[one.name, one.rows, one.checksum[:16]] for one in tables])
    click.echo(f"Copied {sum(one.rows for one in tables)} rows; the checksums agree.", err=True)


def _note(database: Database, action: str, *, subject: str = "", details: Mapping[str, object] | None = None) -> None:
    """Add an entry to the audit log of the site."""
    with database.transaction() as session:
        note(session, action, subject=subject, details=details)


def _refuse(examination: Examination, lost: list[str], *, strict: bool) -> None:
    if lost:
        raise UpkeepError(
            "Acknowledged judgements that are not stored exactly once: %(count)d (%(ids)s).",
            count=len(lost),
            ids=", ".join(lost[:MOST_NAMED]),
        )
    wrong = examination.wrong + (examination.remarks if strict else [])
    if wrong:
        raise UpkeepError("The database is not in order. %(found)s.", found="; ".join(map(str, wrong)))


@contextmanager
def _opened(settings: Settings) -> Iterator[Database]:
    """Open the database without creating tables."""
    database = Database(settings.database_url)
    try:
        yield database
    finally:
        database.close()
