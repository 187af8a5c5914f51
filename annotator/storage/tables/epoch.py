"""The table that tells a restored database from the one before it."""

from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base


class DatabaseEpoch(Base):
    """One row with a random value, which a restore changes: row ids of another epoch may be of other rows."""

    __tablename__ = "database_epoch"

    value: Mapped[str] = mapped_column(primary_key=True)
