"""Column types and the base class of all tables."""

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


# For tables with deletable rows: SQLite never reuses an id, like PostgreSQL. A deleted row is restored under its own
# id, and stored ids never point to another row.
NEVER_REUSED = {"sqlite_autoincrement": True}


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index restricted by a condition, the same on both databases."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


class UtcDateTime(TypeDecorator[datetime]):
    """A timezone-aware datetime, stored in UTC; SQLite would silently drop the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; raises `TypeError` for naive datetimes, whose time zone could not be recovered."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise TypeError("a stored moment needs a time zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        """Attach UTC to the naive values of SQLite."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


# Docnos and topic numbers sort by bytes, as with trec_eval's strcmp, whatever the database's locale.
ByteOrdered = String().with_variant(String(collation="C"), "postgresql")


class Base(DeclarativeBase):
    """Base class of all tables; constraints have conventional names, so that migrations can refer to them."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON}  # noqa: RUF012 - SQLAlchemy reads it from the class
