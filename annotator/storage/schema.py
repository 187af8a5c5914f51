"""The tables of a database: made when it is empty, and never used when they are of another version."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from annotator.assets import asset_folder
from annotator.errors import ConflictError
from annotator.storage.database import Database


def upgrade_schema(database: Database) -> None:
    """Bring the tables to this version of the program; a fresh database gets them all.

    Raises `ConflictError` when it does not open or is of a newer program.
    """
    present = _version_of(database)
    try:
        command.upgrade(migration_config(database), "head")
    except CommandError as error:
        raise ConflictError(
            "The database is at version %(present)s, which this program does not know: it is from a newer one.",
            present=present,
        ) from error


def prepare_schema(database: Database) -> None:
    """Make the tables of an empty database; `ConflictError` when it does not open or is of another version."""
    present = _version_of(database)
    newest = ScriptDirectory.from_config(migration_config(database)).get_current_head()
    if present is None:
        upgrade_schema(database)
    elif present != newest:
        raise ConflictError(
            "The database is at version %(present)s and this program at %(newest)s: run “annotator database upgrade”.",
            present=present,
            newest=newest,
        )


def _version_of(database: Database) -> str | None:
    """The version of the tables, None when there are none; `ConflictError` when the database does not open."""
    try:
        with database.reading() as session:
            return MigrationContext.configure(session.connection()).get_current_revision()
    except DBAPIError as error:
        raise ConflictError("The database cannot be opened: %(reason)s", reason=error.orig) from error


def migration_config(database: Database) -> Config:
    """Alembic's settings, the same in a checkout and in an installed wheel."""
    config = Config()
    config.set_main_option("script_location", str(asset_folder("migrations")))
    config.attributes["database"] = database
    return config
