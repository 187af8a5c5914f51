"""Tables of PostgreSQL that many migrations have gone through, up and down."""

from sqlalchemy import text

from annotator.storage import Database

MOST_COLUMNS = 1_000  # a table may have 1,600, and those that were dropped count
_GREATEST = (
    "SELECT max(attnum) FROM pg_attribute JOIN pg_class ON oid = attrelid WHERE relnamespace = 'public'::regnamespace"
)


def drop_worn_tables(database: Database) -> None:
    """Drop all tables of the shared PostgreSQL database once one has had many columns; the caller makes them again."""
    with database.migrating() as connection:
        if (connection.scalar(text(_GREATEST)) or 0) > MOST_COLUMNS:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
