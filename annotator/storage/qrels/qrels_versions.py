"""The versions of a collection's qrels that are kept, whole, to be cited and compared."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.qrels import QrelsVersion

MOST_DIGITS = 9  # every database holds numbers of so many; one of more digits is of no version
LONGEST_SHOWN = 40  # of its digits, in the sentence that says so


def kept_version(session: Session, collection_id: int, number: str) -> QrelsVersion:
    """A version that is kept, by its number as it was written; `NotFoundError` when there is none of that number."""
    version = None
    if _is_number(number) and len(number) <= MOST_DIGITS:
        version = session.scalar(
            select(QrelsVersion).where(QrelsVersion.collection_id == collection_id, QrelsVersion.number == int(number))
        )
    if version is None:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(number))
    return version


class ReleasedVersion(NamedTuple):
    """The kept version of the qrels that released scores are computed from."""

    number: int
    kept_at: datetime


def released_version(session: Session, collection_id: int, number: int | None) -> ReleasedVersion | None:
    """The version of that number, as released scores name it; None for none, where they follow the live grades."""
    if number is None:
        return None
    version = kept_version(session, collection_id, str(number))
    return ReleasedVersion(version.number, version.made_at)


def released_otherwise(
    session: Session, collection: Collection, fingerprint: str, relevant_from: int
) -> ReleasedVersion | None:
    """The version that released scores are computed from, if its grades, or which of them are relevant, are others.

    The fingerprint may be the beginning of one.
    """
    if collection.scores_qrels_version is None:
        return None
    version = kept_version(session, collection.id, str(collection.scores_qrels_version))
    is_same = version.fingerprint.startswith(fingerprint) and version.relevant_from == relevant_from
    return None if is_same else ReleasedVersion(version.number, version.made_at)


def versions_with(session: Session, collection_id: int, fingerprint: str) -> Sequence[QrelsVersion]:
    """The versions with exactly these lines, newest first."""
    found = select(QrelsVersion).where(
        QrelsVersion.collection_id == collection_id, QrelsVersion.fingerprint == fingerprint
    )
    return session.scalars(found.order_by(QrelsVersion.number.desc())).all()


def version_number(written: str) -> int:
    """The number of a version as it was written.

    Raises `InvalidValueError` for what is no number, and `NotFoundError` for one that no version can have.
    """
    if not _is_number(written):
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=_shown(written))
    if len(written) > MOST_DIGITS:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(written))
    return int(written)


def _is_number(written: str) -> bool:
    return written.isascii() and written.isdecimal()


def _shown(written: str) -> str:
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"
