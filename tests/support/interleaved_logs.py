"""Click logs of interleaved lists, put together event by event."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.clicks.evaluation.interleaving.interleaving import InterleavedLists
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Event


@dataclass(frozen=True)
class Happened:
    """One line of a log; fields that are None are absent."""

    event: Event
    query: str | None = None
    docno: str | None = None
    variant: str | None = None
    user: str | None = None
    session: str | None = None
    position: int = NOT_SAID


def click(
    user: str | None, docno: str | None, variant: str | None, query: str = "1", session: str | None = None
) -> Happened:
    return Happened(Event.CLICK, query, docno, variant, user, session)


def shown(user: str | None, query: str = "1", session: str | None = None, variant: str | None = None) -> Happened:
    """A whole page, of which the log says no more."""
    return Happened(Event.IMPRESSION, query, None, variant, user, session)


def log_of(events: Iterable[Happened]) -> ClickLog:
    """The log of these events in this order."""
    lines = list(events)
    user, users = _coded(one.user for one in lines)
    session, sessions = _coded(None if one.session is None else (one.user, one.session) for one in lines)
    query, queries = _coded(one.query for one in lines)
    variant, variants = _coded(one.variant for one in lines)
    docno, docnos = _coded(one.docno for one in lines)
    return ClickLog(
        variants=tuple(map(str, variants)),
        queries=tuple(map(str, queries)),
        docnos=tuple(map(str, docnos)),
        users=len(users),
        sessions=len(sessions),
        times=np.empty(0, np.int64),
        user=user,
        session=session,
        query=query,
        variant=variant,
        page=np.full(len(lines), NOT_SAID, np.int32),
        position=np.array([one.position for one in lines], np.int32),
        docno=docno,
        event=np.array([one.event for one in lines], np.int8),
        value=np.full(len(lines), np.nan),
        dropped={},
        lines=len(lines),
    )


def clicked_by_users(
    lists: InterleavedLists, chances: Mapping[str, float], users: int, seed: int, *, by_list: bool
) -> Iterator[Happened]:
    """Let users see one list each, and click each of its documents with the chance it has, whoever picked it.

    The variant of a click is the number of the list, or else the tag of the run whose pick the document was.
    """
    random = np.random.default_rng(seed)
    numbers = random.integers(len(lists.lists), size=users).tolist()
    keys = list(lists.lists)
    for user, place in enumerate(numbers):
        topic, number = keys[place]
        yield shown(f"u{user}", topic, variant=str(number) if by_list else None)
        placed = lists.lists[topic, number]
        for one, toss in zip(placed, random.random(len(placed)).tolist(), strict=True):
            if toss < chances.get(one.docno, 0):
                yield click(f"u{user}", one.docno, str(number) if by_list else lists.runs[one.team], topic)


def _coded(names: Iterable[Hashable]) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], Sequence[Hashable]]:
    codes: dict[Hashable, int] = {}
    found = [NOT_SAID if name is None else codes.setdefault(name, len(codes)) for name in names]
    return np.array(found, np.int32), list(codes)
