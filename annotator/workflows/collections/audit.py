"""Reading the audit log: who did what, when and by which way, of a collection or of the whole site."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from annotator.spreadsheets import csv_text
from annotator.storage import AuditEvent, Collection
from annotator.storage.collections.collection import find_collection
from annotator.storage.tables.collections import Door

DEEDS_A_PAGE = 100
# Others are answered between two pieces.
DEEDS_AT_ONCE = 200
HEADINGS = ("id", "at", "name", "door", "collection", "action", "subject", "details")


@dataclass(frozen=True)
class DeedsWanted:
    """Which deeds: of a person, of an action or all actions on one thing (“pool”), from a moment on and before one."""

    by: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Deed:
    """A line of the log; no name where the system had none, no collection where the whole site is meant."""

    id: int
    at: datetime
    name: str
    door: Door
    collection: str | None
    action: str
    subject: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class DeedsPage:
    """The newest lines that are wanted; `older` is where the next page begins, None on the last."""

    deeds: tuple[Deed, ...]
    older: int | None
    actions: tuple[str, ...]  # all there are in this log, by name


def page_of_deeds(
    session: Session, slug: str | None, wanted: DeedsWanted, *, before: int | None = None, most: int = DEEDS_A_PAGE
) -> DeedsPage:
    """The newest deeds, from the one before the line of that id; without a collection, of the whole site.

    Raises `NotFoundError` when there is no such collection.
    """
    place = _place(session, slug)
    asked = [*place, *_conditions(wanted)]
    if before is not None:
        asked.append(AuditEvent.id < before)
    deeds = tuple(_deeds(session, asked, limit=most + 1))
    actions = session.scalars(select(AuditEvent.action).where(*place).distinct().order_by(AuditEvent.action))
    older = deeds[most - 1].id if len(deeds) > most else None
    return DeedsPage(deeds[:most], older, tuple(actions))


def list_deeds(session: Session, slug: str | None, wanted: DeedsWanted) -> list[Deed]:
    """Every deed that is wanted, newest first; raises what `page_of_deeds` does."""
    return list(_deeds(session, [*_place(session, slug), *_conditions(wanted)]))


def deeds_before(
    session: Session, slug: str | None, wanted: DeedsWanted, before: int | None, *, most: int = DEEDS_AT_ONCE
) -> list[Deed]:
    """The next deeds that are wanted below a line, newest first; none after the last. Raises as `page_of_deeds`."""
    below = [] if before is None else [AuditEvent.id < before]
    return list(_deeds(session, [*_place(session, slug), *_conditions(wanted), *below], limit=most))


def deeds_csv(deeds: Sequence[Deed]) -> str:
    """A line a deed; the details are JSON."""
    return csv_text([HEADINGS, *map(_cells, deeds)])


def csv_pieces(deeds_below: Callable[[int | None], Sequence[Deed]]) -> Iterator[str]:
    """The same in pieces: `deeds_below` gives some deeds below a line, None for the newest, and none after the last.

    Lines are only ever added, above all others, so that what is written meanwhile changes nothing of what follows.
    """
    deeds = deeds_below(None)
    yield deeds_csv(deeds)
    while deeds and (deeds := deeds_below(deeds[-1].id)):
        yield csv_text(map(_cells, deeds))


def deeds_json(deeds: Sequence[Deed]) -> list[dict[str, Any]]:
    """An object a deed."""
    return [
        {**dict(zip(HEADINGS, _cells(deed), strict=True)), "door": deed.door.value, "details": dict(deed.details)}
        for deed in deeds
    ]


def _cells(deed: Deed) -> list[object]:
    at = deed.at.astimezone(UTC).isoformat(timespec="seconds")
    details = json.dumps(deed.details, ensure_ascii=False) if deed.details else ""
    return [deed.id, at, deed.name, deed.door.value, deed.collection, deed.action, deed.subject, details]


def _place(session: Session, slug: str | None) -> list[ColumnElement[bool]]:
    return [] if slug is None else [AuditEvent.collection_id == find_collection(session, slug).id]


def _conditions(wanted: DeedsWanted) -> Iterator[ColumnElement[bool]]:
    if wanted.by is not None:
        yield AuditEvent.name == wanted.by
    if wanted.action is not None:
        yield or_(
            AuditEvent.action == wanted.action, AuditEvent.action.startswith(f"{wanted.action}.", autoescape=True)
        )
    if wanted.since is not None:
        yield AuditEvent.at >= wanted.since
    if wanted.until is not None:
        yield AuditEvent.at < wanted.until


def _deeds(session: Session, asked: Sequence[ColumnElement[bool]], limit: int | None = None) -> Iterator[Deed]:
    rows = session.execute(
        select(AuditEvent, Collection.slug)
        .outerjoin(Collection, Collection.id == AuditEvent.collection_id)
        .where(*asked)
        .order_by(AuditEvent.id.desc())
        .limit(limit)
    )
    for line, slug in rows:
        door = Door(line.door)
        yield Deed(line.id, line.at, line.name, door, slug, line.action, line.subject, line.details)
