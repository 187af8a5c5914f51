"""The audit log of a collection or of the whole site: who did what, when, and by page, command or API."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from annotator.spreadsheets import csv_text
from annotator.storage import AuditEvent, Collection
from annotator.storage.collections.collection import find_collection
from annotator.storage.tables.collections import Door

ENTRIES_PER_PAGE = 100
# Lets other requests be served between two chunks of a download.
ENTRIES_AT_ONCE = 200
HEADINGS = ("number", "at", "name", "door", "collection", "action", "subject", "details")


@dataclass(frozen=True)
class AuditFilter:
    """Filter: a person, an action or all actions on a subject (“pool”), a start (inclusive) and an end (exclusive)."""

    by: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class AuditEntry:
    """An entry of the log; the name is empty for the system, the collection None for the whole site."""

    id: int
    at: datetime
    name: str
    door: Door
    collection: str | None
    action: str
    subject: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class AuditPage:
    """One page, newest first; `older` is the id before which the next page begins, None on the last page."""

    entries: tuple[AuditEntry, ...]
    older: int | None
    actions: tuple[str, ...]  # every action in this log, by name


def audit_page(
    session: Session, slug: str | None, wanted: AuditFilter, *, before: int | None = None, most: int = ENTRIES_PER_PAGE
) -> AuditPage:
    """The newest matching entries older than the entry of id `before`; without a collection, of the whole site.

    Raises `NotFoundError` for an unknown collection.
    """
    place = _place(session, slug)
    asked = [*place, *_conditions(wanted)]
    if before is not None:
        asked.append(AuditEvent.id < before)
    entries = tuple(_entries(session, asked, limit=most + 1))
    actions = session.scalars(select(AuditEvent.action).where(*place).distinct().order_by(AuditEvent.action))
    older = entries[most - 1].id if len(entries) > most else None
    return AuditPage(entries[:most], older, tuple(actions))


def count_audit_entries(session: Session, slug: str | None, wanted: AuditFilter) -> int:
    """Count the matching entries; raises as `audit_page`."""
    asked = [*_place(session, slug), *_conditions(wanted)]
    return session.scalar(select(func.count(AuditEvent.id)).where(*asked)) or 0


def entries_from(session: Session, slug: str | None, wanted: AuditFilter, first: int, most: int) -> list[AuditEntry]:
    """The matching entries, newest first, without the `first` ones; raises as `audit_page`."""
    return list(_entries(session, [*_place(session, slug), *_conditions(wanted)], first=first, limit=most))


def list_audit_entries(session: Session, slug: str | None, wanted: AuditFilter) -> list[AuditEntry]:
    """All matching entries, newest first; raises as `audit_page`."""
    return list(_entries(session, [*_place(session, slug), *_conditions(wanted)]))


def entries_before(
    session: Session, slug: str | None, wanted: AuditFilter, before: int | None, *, most: int = ENTRIES_AT_ONCE
) -> list[AuditEntry]:
    """The next matching entries older than `before`, newest first; raises as `audit_page`."""
    below = [] if before is None else [AuditEvent.id < before]
    return list(_entries(session, [*_place(session, slug), *_conditions(wanted), *below], limit=most))


def entries_csv(entries: Sequence[AuditEntry]) -> str:
    """CSV with one line per entry; the details are JSON."""
    return csv_text([HEADINGS, *map(_cells, entries)])


def csv_pieces(entries_below: Callable[[int | None], Sequence[AuditEntry]]) -> Iterator[str]:
    """The CSV in chunks: `entries_below` returns the next entries older than an id, None for the newest.

    Entries added meanwhile are newer than all of these and do not change later chunks.
    """
    entries = entries_below(None)
    yield entries_csv(entries)
    while entries and (entries := entries_below(entries[-1].id)):
        yield csv_text(map(_cells, entries))


def entries_json(entries: Sequence[AuditEntry]) -> list[dict[str, Any]]:
    """One JSON object per entry."""
    return [
        {**dict(zip(HEADINGS, _cells(entry), strict=True)), "door": entry.door.value, "details": dict(entry.details)}
        for entry in entries
    ]


def _cells(entry: AuditEntry) -> list[object]:
    at = entry.at.astimezone(UTC).isoformat(timespec="seconds")
    details = json.dumps(entry.details, ensure_ascii=False) if entry.details else ""
    return [entry.id, at, entry.name, entry.door.value, entry.collection, entry.action, entry.subject, details]


def _place(session: Session, slug: str | None) -> list[ColumnElement[bool]]:
    return [] if slug is None else [AuditEvent.collection_id == find_collection(session, slug).id]


def _conditions(wanted: AuditFilter) -> Iterator[ColumnElement[bool]]:
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


def _entries(
    session: Session, asked: Sequence[ColumnElement[bool]], *, first: int = 0, limit: int | None = None
) -> Iterator[AuditEntry]:
    rows = session.execute(
        select(AuditEvent, Collection.slug)
        .outerjoin(Collection, Collection.id == AuditEvent.collection_id)
        .where(*asked)
        .order_by(AuditEvent.id.desc())
        .offset(first)
        .limit(limit)
    )
    for line, slug in rows:
        door = Door(line.door)
        yield AuditEntry(line.id, line.at, line.name, door, slug, line.action, line.subject, line.details)
