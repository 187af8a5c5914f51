"""The table of requests with an Idempotency-Key, and what they were answered."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base


class KeptResponse(Base):
    """A request that was carried out: stored by its own transaction, and its response a moment later.

    It has no foreign key, as it is for programs that repeat a request within a day, whatever became of the account.
    """

    __tablename__ = "kept_response"

    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    # SHA-256 of the key, which the client chose.
    key: Mapped[str] = mapped_column(primary_key=True)
    # SHA-256 of method, address and body.
    request: Mapped[str]
    stored_at: Mapped[datetime] = mapped_column(index=True)
    # None until the response is known, and when it has a secret.
    status: Mapped[int | None]
    headers: Mapped[dict[str, Any]]
    body: Mapped[bytes | None]
