"""How Alembic reaches the database: the one it is handed, or the one of the settings."""

from collections.abc import Mapping
from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from annotator.settings import Settings
from annotator.storage import Base, Database
from annotator.storage.tables.columns import UtcDateTime


def render_item(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Write our moments as plain ones, so that a migration does not change when our code does."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


def include_name(name: str | None, kind: str, parents: Mapping[Any, str | None]) -> bool:
    """Leave out what each database has for searching alone; storage/documents/search.py makes it beside the models."""
    if kind == "column":
        return (parents["table_name"], name) != ("document_words", "vector")
    return not (name or "").startswith("document_words_index")


database = context.config.attributes.get("database") or Database(Settings.from_environment().database_url)

with database.migrating() as connection:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,  # SQLite cannot change a column in place: batch mode copies the table
        render_item=render_item,
        include_name=include_name,
    )
    context.run_migrations()
