"""Guidelines for judges, in Markdown; every version is kept, and each judgement knows which it was made under."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.evaluation.free_text import check_free_text
from annotator.storage import GuidelineVersion
from annotator.storage.collection import find_collection, latest_guidelines, lock_open_collection

LONGEST_GUIDELINES = 200_000


@dataclass(frozen=True)
class Guidelines:
    """The guidelines in force; number 0 and no text before the first version."""

    number: int
    text: str


def set_guidelines(session: Session, slug: str, text: str, *, made_by_id: int | None, made_at: datetime) -> int:
    """Put a new version in force and return its number; the same text again makes no new version."""
    collection = lock_open_collection(session, slug)
    if not text.strip():
        raise InvalidValueError("Guidelines cannot be empty.")
    check_free_text(text, LONGEST_GUIDELINES)
    present = latest_guidelines(session, collection.id)
    if present is not None and present.text == text:
        return present.number
    number = present.number + 1 if present else 1
    session.add(
        GuidelineVersion(collection_id=collection.id, number=number, text=text, made_by_id=made_by_id, made_at=made_at)
    )
    return number


def show_guidelines(session: Session, slug: str) -> Guidelines:
    """The version in force."""
    present = latest_guidelines(session, find_collection(session, slug).id)
    return Guidelines(present.number, present.text) if present else Guidelines(0, "")
