"""What questions of judges and of participants share: the checks before one is stored, once."""

import re

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text, is_blank
from annotator.storage import Question, User

LONGEST_TEXT = 10_000
CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_question(text: str) -> None:
    """Raise `InvalidValueError` for a question that is empty or too long."""
    if is_blank(text):
        raise InvalidValueError("A question cannot be empty.")
    check_free_text(text, LONGEST_TEXT)


def is_stored(
    session: Session, client_id: str, asked_by_id: int, collection_id: int, *, team_id: int | None = None
) -> bool:
    """Whether a question was sent before, by a judge or for this team.

    Until the transaction ends, no other request of this person stores one. Raises `InvalidValueError` for an invalid
    id, and `ConflictError` for that of another question.
    """
    # Serialises a resubmission, so that the second request finds the first.
    session.execute(select(User.id).where(User.id == asked_by_id).with_for_update(key_share=True))
    if not CLIENT_ID.fullmatch(client_id):
        raise InvalidValueError("A question's id has 1 to 64 letters, digits, “-” and “_”.")
    stored = session.scalar(select(Question).where(Question.client_id == client_id))
    asked = (asked_by_id, collection_id, team_id)
    if stored is not None and (stored.asked_by_id, stored.collection_id, stored.team_id) != asked:
        raise ConflictError("This question's id belongs to another question.")
    return stored is not None
