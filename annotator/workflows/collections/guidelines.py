"""Guidelines for judges, in Markdown; every version is kept, and each judgement knows which it was made under."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.storage import GuidelineVersion, Membership, Role, User
from annotator.storage.collections.collection import find_collection, latest_guidelines, lock_open_collection

LONGEST_GUIDELINES = 200_000


@dataclass(frozen=True)
class Guidelines:
    """The guidelines in force; number 0 and no text before the first version."""

    number: int
    text: str


@dataclass(frozen=True)
class Acceptance:
    """The number of the guidelines that a judge has accepted last, None when they have accepted none."""

    judge: str
    number: int | None


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


def accept_guidelines(session: Session, slug: str, judge_id: int, number: int) -> None:
    """Note that a judge has read this version and goes by it; doing so again changes nothing.

    Raises `ConflictError` when another version is in force by now, and `NotAllowedError` for who is no judge here.
    """
    collection = find_collection(session, slug)
    membership = session.scalar(_judges(collection.id).where(Membership.user_id == judge_id))
    if membership is None:
        raise NotAllowedError("Only judges of this collection accept its guidelines.")
    present = latest_guidelines(session, collection.id)
    if present is None or present.number != number:
        raise ConflictError("The guidelines have changed since you opened them: read them again.")
    membership.guidelines_accepted = number


def accepted_guidelines(session: Session, slug: str, judge_id: int) -> int | None:
    """The number of the version that this judge has accepted last."""
    membership = session.scalar(_judges(find_collection(session, slug).id).where(Membership.user_id == judge_id))
    return membership.guidelines_accepted if membership else None


def list_acceptances(session: Session, slug: str) -> list[Acceptance]:
    """Which version each judge has accepted, by name."""
    statement = _judges(find_collection(session, slug).id).join(User, User.id == Membership.user_id)
    rows = session.execute(statement.with_only_columns(User.name, Membership.guidelines_accepted).order_by(User.name))
    return [Acceptance(name, number) for name, number in rows]


def _judges(collection_id: int) -> Select[Membership]:
    return select(Membership).where(Membership.collection_id == collection_id, Membership.role == Role.JUDGE)
