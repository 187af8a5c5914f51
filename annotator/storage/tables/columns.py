"""Column types and the base class every table shares."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Index, MetaData, String, text
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


# Of tables whose rows can be deleted: SQLite gives no id out twice, as PostgreSQL does not. What was deleted comes back
# under its own, and nothing that is kept by an id is taken for another row's.
NEVER_REUSED = {"sqlite_autoincrement": True}


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of the rows for which a condition holds, the same on both databases."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment, kept in UTC; SQLite would silently drop the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive moments: nobody could say later which clock they came from."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise TypeError("a stored moment needs a time zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Give the zone back."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


# Docnos and topic numbers sort by their bytes everywhere, as trec_eval's strcmp does, whatever the database's language.
ByteOrdered = String().with_variant(String(collation="C"), "postgresql")


class Base(DeclarativeBase):
    """The base of every table; constraints are named by convention so that migrations can change them."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON}  # noqa: RUF012 - SQLAlchemy reads it from the class
