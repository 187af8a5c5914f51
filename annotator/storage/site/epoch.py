"""The epoch of the database, which browsers compare with that of the page they loaded."""

import secrets

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from annotator.storage.tables.epoch import DatabaseEpoch

BYTES = 8


def current_epoch(session: Session) -> str:
    """The random value of this database, empty for one without."""
    return session.scalar(select(DatabaseEpoch.value)) or ""


def begin_epoch(session: Session) -> None:
    """Give the database a new random value, as after a restore."""
    session.execute(delete(DatabaseEpoch))
    session.execute(insert(DatabaseEpoch).values(value=secrets.token_hex(BYTES)))
