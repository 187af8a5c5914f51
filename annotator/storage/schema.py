"""The tables of a database: made when it is empty, and never used when they are of another version."""

from importlib import import_module

from sqlalchemy import column, inspect, select, table
from sqlalchemy.exc import DBAPIError

from annotator.assets import asset_folder
from annotator.errors import ConflictError
from annotator.storage.database import Database

VERSIONS = table("alembic_version", column("version_num"))


def prepare_schema(database: Database) -> None:
    """Make the tables of an empty database; `ConflictError` when it does not open or is of another version."""
    present, newest = version_of(database), newest_version()
    if present is None:
        import_module("annotator.storage.migrating").upgrade_schema(database)
    elif present != newest:
        raise ConflictError(
            "The database is at version %(present)s and this program at %(newest)s: run “annotator database upgrade”.",
            present=present,
            newest=newest,
        )


def version_of(database: Database) -> str | None:
    """The version of the tables, None when there are none; `ConflictError` when the database does not open."""
    try:
        with database.reading() as session:
            has_tables = inspect(session.connection()).has_table(VERSIONS.name)
            return session.scalar(select(VERSIONS.c.version_num)) if has_tables else None
    except DBAPIError as error:
        raise ConflictError("The database cannot be opened: %(reason)s", reason=error.orig) from error


def newest_version() -> str:
    """The version that this program needs: files of migrations begin with theirs, `0001_first_tables.py`."""
    return max(path.name.partition("_")[0] for path in (asset_folder("migrations") / "versions").glob("[0-9]*.py"))
