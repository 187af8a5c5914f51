"""What tests begin with is the same whether it was written statement by statement or put there as rows."""

import pytest
from beginning import beginning
from build import SLUG, member, pooled_news, run, user
from kept import USED_SEQUENCES
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from annotator.storage import Base, Database, Grade
from annotator.workflows.documents.search import find_documents


def everything(session: Session) -> dict[str, list[str]]:
    """The rows of all tables, the numbers that were given out, and what the index of words finds."""
    rows = {table.name: sorted(map(repr, session.execute(select(table)))) for table in Base.metadata.sorted_tables}
    used = [] if session.get_bind().dialect.name == "sqlite" else session.execute(text(USED_SEQUENCES)).all()
    return {
        **rows,
        "used": sorted(map(repr, used)),
        "found": [hit.docno for hit in find_documents(session, SLUG, "text").hits],
    }


def test_rows_are_put_as_they_were_written_and_further_writing_is_checked(database: Database) -> None:
    written = []

    @beginning
    def fill(session: Session) -> None:
        written.append(1)
        pooled_news(session, judgements_wanted=2)
        member(session, "jo")

    seen = []
    for _ in range(2):
        with database.transaction() as session:
            fill(session)
            seen.append(everything(session))
            run(session, "gamma", {"1": ["a", "f"]})
            session.add(Grade(collection_id=99, value=0, name="none", description=""))
            with pytest.raises(IntegrityError):
                session.flush()
            session.rollback()
    assert written == [1]
    assert seen[0] == seen[1]
    assert len(seen[0]["found"]) == 5


def test_what_is_begun_with_numbers_used_up_is_not_kept(postgres_database: Database) -> None:
    written = []

    @beginning
    def fill(session: Session) -> None:
        written.append(1)
        pooled_news(session)

    # The next account will not be the first.
    with postgres_database.transaction() as session:
        undone = user(session, "kim")
        session.rollback()
    assert undone == 1
    for _ in range(2):
        with postgres_database.transaction() as session:
            fill(session)
            session.rollback()
    assert written == [1, 1]
