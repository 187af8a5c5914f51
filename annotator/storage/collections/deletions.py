"""What was deleted, when and how much it was: the tables. `removal` takes rows out and puts them back.

Nothing that lists, counts, draws or scores has to look past what was deleted, for it is not in its tables any more.
Only a collection stays where it is, without being found by its short name.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage.tables.collections import DeletedKind, Deletion


def deleted_subjects(session: Session, collection_id: int, kind: DeletedKind) -> list[str]:
    """What was ever deleted of a kind and was not restored."""
    return list(
        session.scalars(
            select(Deletion.subject).where(
                Deletion.collection_id == collection_id, Deletion.kind == kind, Deletion.restored_at.is_(None)
            )
        )
    )
