"""Rounds: further sets of runs on the same topics, after the previous round was judged and its qrels kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.spreadsheets import csv_text
from annotator.storage import IN_FORCE, KEPT, Collection, QrelsVersion, Round, Run
from annotator.storage.collections.collection import (
    find_collection,
    find_open_collection,
    judged_before,
    lock_open_collection,
    rounds_of,
)
from annotator.storage.qrels.qrels_versions import kept_version

LONGEST_NAME = 100


@dataclass(frozen=True)
class RoundView:
    """A round for lists; `version` is that of the qrels kept when it was closed."""

    number: int
    name: str
    opened_at: datetime
    closed_at: datetime | None
    version: int | None
    runs: int  # active ones
    judged_before: int  # documents of topics with a grade in the kept qrels of earlier rounds

    @property
    def is_open(self) -> bool:
        """Whether newly uploaded runs belong to it."""
        return self.closed_at is None


def list_rounds(session: Session, slug: str) -> list[RoundView]:
    """Every round, oldest first; empty if none was ever opened or closed."""
    collection = find_collection(session, slug)
    runs: dict[int | None, int] = {
        id_: count
        for id_, count in session.execute(
            select(Run.round_id, func.count())
            .where(Run.collection_id == collection.id, IN_FORCE)
            .group_by(Run.round_id)
        )
    }
    versions: dict[int | None, int] = {
        id_: number
        for id_, number in session.execute(
            select(QrelsVersion.id, QrelsVersion.number).where(QrelsVersion.collection_id == collection.id, KEPT)
        )
    }
    return [
        RoundView(
            number=one.number,
            name=one.name,
            opened_at=one.opened_at,
            closed_at=one.closed_at,
            version=versions.get(one.qrels_version_id),
            runs=runs.get(one.id, 0),
            judged_before=sum(map(len, judged_before(session, collection.id, one.number).values())),
        )
        for one in rounds_of(session, collection.id)
    ]


def rounds_csv(rounds: Sequence[RoundView]) -> str:
    """CSV with one line per round."""
    headings = ["round", "name", "opened_at", "closed_at", "qrels_version", "runs", "judged_before"]
    rows = [
        [
            *(one.number, one.name, one.opened_at.isoformat(), one.closed_at.isoformat() if one.closed_at else None),
            *(one.version, one.runs, one.judged_before),
        ]
        for one in rounds
    ]
    return csv_text([headings, *rows])


def open_round(session: Session, slug: str, *, name: str = "", at: datetime) -> int:
    """Open the next round and return its number; runs uploaded from now on belong to it.

    The first round includes all earlier runs. Raises `ConflictError` while another round is open.
    """
    check_free_text(name, LONGEST_NAME)
    collection = lock_open_collection(session, slug)
    rounds = rounds_of(session, collection.id)
    if rounds and rounds[-1].closed_at is None:
        raise ConflictError("Round %(number)d is open. Close it first.", number=rounds[-1].number)
    return _begun(session, collection, len(rounds) + 1, name.strip(), at).number


@dataclass(frozen=True)
class RoundToClose:
    """The open round, with its active runs."""

    number: int
    runs: int


def round_to_close(session: Session, slug: str) -> RoundToClose:
    """The round that would be closed; a collection without rounds is in its first one.

    Raises `ConflictError` when no round is open or the collection is closed.
    """
    collection = find_open_collection(session, slug)
    rounds = rounds_of(session, collection.id)
    runs = select(func.count()).where(Run.collection_id == collection.id, IN_FORCE)
    if rounds:
        _refuse_closed(rounds[-1])
        runs = runs.where(Run.round_id == rounds[-1].id)
    return RoundToClose(rounds[-1].number if rounds else 1, session.scalars(runs).one())


def close_round(session: Session, slug: str, *, version: int, at: datetime) -> int:
    """Close the open round with this kept version of the qrels as its record, and return its number.

    A collection without rounds is in its first one, with all its runs. Raises `ConflictError` when no round is open,
    and `NotFoundError` for an unknown version.
    """
    collection = lock_open_collection(session, slug)
    rounds = rounds_of(session, collection.id)
    current = rounds[-1] if rounds else _begun(session, collection, 1, "", collection.added_at)
    _refuse_closed(current)
    current.qrels_version_id = kept_version(session, collection.id, str(version)).id
    current.closed_at = at
    return current.number


def _refuse_closed(latest: Round) -> None:
    if latest.closed_at is not None:
        raise ConflictError("Round %(number)d is closed already, and no other is open.", number=latest.number)


def _begun(session: Session, collection: Collection, number: int, name: str, at: datetime) -> Round:
    begun = Round(collection_id=collection.id, number=number, name=name, opened_at=at)
    session.add(begun)
    session.flush()
    if number == 1:
        session.execute(update(Run).where(Run.collection_id == collection.id).values(round_id=begun.id))
    return begun
