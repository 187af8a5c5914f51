"""Requests with an Idempotency-Key: carried out once, and answered again as the first time."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.storage import KeptResponse
from annotator.storage.site.database import has_one_writer

KEPT = timedelta(days=1)


@dataclass(frozen=True)
class KeyedRequest:
    """A request by its account, the key that the client chose, and a digest of method, address and body."""

    user_id: int
    key: str
    digest: str

    @property
    def hashed_key(self) -> str:
        """The key as stored."""
        return hashlib.sha256(self.key.encode()).hexdigest()


@dataclass(frozen=True)
class StoredResponse:
    """What the request was answered the first time."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def earlier_response(session: Session, request: KeyedRequest) -> StoredResponse | None:
    """The response to the same request with this key; None when none was carried out.

    Raises `InvalidValueError` when the key came with another request, and `ConflictError` when the response is not
    known: the request is being carried out, its response has a secret, or was lost.
    """
    kept = session.scalar(select(KeptResponse).where(*_of(request)))
    if kept is None:
        return None
    if kept.request != request.digest:
        raise InvalidValueError(
            "This Idempotency-Key came with another request: each request has a key of its own, and keeps it when it "
            "is repeated."
        )
    if kept.status is None:
        raise ConflictError(
            "The request with this Idempotency-Key was carried out, and is not carried out again. Its response is not "
            "known yet, or was not kept: look at what it changed."
        )
    return StoredResponse(kept.status, kept.headers, kept.body or b"")


def claim_key(session: Session, request: KeyedRequest, *, at: datetime) -> None:
    """Store that the request is carried out, in the transaction that does so.

    Raises `ConflictError` when the same request, at once with this one, has come first.
    """
    insert = sqlite.insert if has_one_writer(session) else postgresql.insert
    row = {"user_id": request.user_id, "key": request.hashed_key, "request": request.digest, "stored_at": at}
    claim = insert(KeptResponse).values({**row, "headers": {}}).on_conflict_do_nothing().returning(KeptResponse.key)
    if session.scalar(claim) is None:
        raise ConflictError("Another request with this Idempotency-Key is being carried out. Repeat it in a moment.")


def keep_response(session: Session, request: KeyedRequest, response: StoredResponse) -> None:
    """Store the response to a request that was carried out."""
    values = {"status": response.status, "headers": dict(response.headers), "body": response.body}
    session.execute(update(KeptResponse).where(*_of(request)).values(values))


def forget_responses(session: Session, *, now: datetime) -> None:
    """Delete what was kept for longer than a day."""
    session.execute(delete(KeptResponse).where(KeptResponse.stored_at < now - KEPT))


def _of(request: KeyedRequest) -> tuple[ColumnElement[bool], ...]:
    return KeptResponse.user_id == request.user_id, KeptResponse.key == request.hashed_key
