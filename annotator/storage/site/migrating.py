"""Creation and migration of tables; separate from `schema`, since importing Alembic is slower than most commands."""

from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from annotator.installed import asset_folder
from annotator.storage.site.database import Database
from annotator.storage.site.schema import NewerDatabaseError, version_of


def upgrade_schema(database: Database) -> None:
    """Migrate the tables to this program's version; an empty database gets all of them.

    Raises `ConflictError` when the database does not open or belongs to a newer program.
    """
    present = version_of(database)
    try:
        command.upgrade(migration_config(database), "head")
    except CommandError as error:
        raise NewerDatabaseError(str(present)) from error


def migration_config(database: Database) -> Config:
    """Alembic's configuration, the same in a checkout and in an installed wheel."""
    config = Config()
    config.set_main_option("script_location", str(asset_folder("migrations")))
    config.attributes["database"] = database
    return config
