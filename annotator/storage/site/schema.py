"""Schema version of a database: tables are created in an empty one, and other versions are refused."""

from importlib import import_module

from sqlalchemy import column, inspect, select, table, update
from sqlalchemy.exc import DBAPIError

from annotator.errors import BusyError, ConflictError
from annotator.installed import asset_folder
from annotator.storage.site.database import Database, HeldUpError, file_behind, patience

SECONDS_TO_WRITE = 2.0
VERSIONS = table("alembic_version", column("version_num"))


class NewerDatabaseError(ConflictError):
    """The schema version is newer than this program."""

    def __init__(self, present: str) -> None:
        """The error for a database at version `present`."""
        super().__init__(
            "The database is at version %(present)s, which this program does not know: it is from a newer one. "
            "Install that one; this one can neither use nor change it.",
            present=present,
        )


def prepare_schema(database: Database) -> None:
    """Create the tables of an empty database; raises `ConflictError` if it does not open or has another version."""
    present, newest = version_of(database), newest_version()
    if present is None:
        import_module("annotator.storage.site.migrating").upgrade_schema(database)
    elif present > newest:
        raise NewerDatabaseError(present)
    elif present != newest:
        raise ConflictError(
            "The database is at version %(present)s and this program at %(newest)s: run “annotator database upgrade”.",
            present=present,
            newest=newest,
        )


def has_tables(database: Database) -> bool:
    """Whether the database exists and has tables of any version; raises `ConflictError` when it does not open.

    Does not create the file.
    """
    file = file_behind(database.engine.url)
    try:
        is_there = file is None or file.exists()
    except OSError as error:  # the folder cannot be entered
        raise ConflictError("The database cannot be opened: %(reason)s", reason=error) from error
    return is_there and version_of(database) is not None


def version_of(database: Database) -> str | None:
    """The schema version, None without tables; raises `ConflictError` when the database does not open."""
    try:
        with database.reading() as session:
            has_tables = inspect(session.connection()).has_table(VERSIONS.name)
            return session.scalar(select(VERSIONS.c.version_num)) if has_tables else None
    except (DBAPIError, BusyError) as error:
        failed = error if isinstance(error, DBAPIError) else error.__cause__
        reason = getattr(failed, "orig", failed)
        raise ConflictError("The database cannot be opened: %(reason)s", reason=reason) from error


def try_to_write(database: Database) -> None:
    """Test a write transaction; raises `BusyError` when writing is impossible or another writer takes too long."""
    token = patience.set(SECONDS_TO_WRITE)
    try:
        with database.transaction() as session:
            session.execute(update(VERSIONS).values(version_num=VERSIONS.c.version_num))
    except HeldUpError as error:
        raise BusyError("The database is busy with a large import. Nothing was stored: try again.") from error
    finally:
        patience.reset(token)


def newest_version() -> str:
    """The schema version of this program: migration files begin with their version, as in `0001_first_tables.py`."""
    return max(path.name.partition("_")[0] for path in (asset_folder("migrations") / "versions").glob("[0-9]*.py"))
