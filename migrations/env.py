"""How Alembic reaches the database: the one it is handed, or the one of the settings."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from annotator.settings import Settings
from annotator.storage import Base, Database
from annotator.storage.columns import UtcDateTime


def render_item(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Write our moments as plain ones, so that a migration does not change when our code does."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


database = context.config.attributes.get("database") or Database(Settings.from_environment().database_url)

with database.migrating() as connection:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,  # SQLite cannot change a column in place: batch mode copies the table
        render_item=render_item,
    )
    context.run_migrations()
