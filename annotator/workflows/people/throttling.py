"""Rate limits on sign-in; only failed attempts count, so that many users behind one address can sign in."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.storage.people.accounts import attempts_so_far, count_attempt


class Limit(NamedTuple):
    """The number of failures allowed in a window that begins with the first of them."""

    most: int
    window: timedelta


def blocked_until(session: Session, limits: Mapping[str, Limit], *, now: datetime) -> datetime | None:
    """When the first exceeded limit ends, by what it limits; None if no limit is exceeded."""
    keys = {_key(what): limit for what, limit in limits.items()}
    counted = attempts_so_far(session, keys, now=now)
    for key, limit in keys.items():
        count, ends_at = counted.get(key, (0, now))
        if count >= limit.most:
            return ends_at
    return None


def count_refusal(session: Session, limits: Mapping[str, Limit], *, now: datetime) -> None:
    """Count a failure towards each limit."""
    count_attempt(session, {_key(what): limit.window for what, limit in limits.items()}, now=now)


def _key(what: str) -> str:
    return hashlib.sha256(what.encode("utf-8", "surrogateescape")).hexdigest()
