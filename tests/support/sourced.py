"""Sources of documents in tests: set one, fetch, and see what came of it."""

from datetime import UTC, datetime

from build import SLUG, news, pool, run, topic_file
from local_server import HOST
from sqlalchemy import select, update

from annotator.storage import (
    Database,
    Document,
    DocumentFetch,
    DocumentSource,
)
from annotator.worker.fetching import Fetching
from annotator.workflows.documents import (
    sources,
)
from annotator.workflows.documents.source_places import Reach

REACH = Reach((HOST,))


def add_pool(database: Database) -> None:
    """Pool three documents without text, of topics 1 and 2."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": ["a", "b"], "2": ["a", "c#0/1"]})
        pool(session)


def set_source(database: Database, location: str, *, search: str = "", **options: str) -> None:
    with database.transaction() as session:
        sources.set_source(
            session,
            SLUG,
            location,
            sources.parse_options([f"{name}={path}" for name, path in options.items()], search),
            reach=REACH,
            by_id=None,
            by_command=True,
            at=datetime.now(UTC),
        )


def fetch(database: Database, reach: Reach = REACH) -> None:
    """Fetch until nothing is due."""
    fetching = Fetching(database, reach)
    while fetching.step():
        pass


def bodies(database: Database) -> dict[str, str | None]:
    with database.reading() as session:
        return {docno: body for docno, body in session.execute(select(Document.docno, Document.body))}


def problems(database: Database) -> dict[str, str]:
    return {one.docno: str(one.reason) for one in database.read(sources.list_failures, SLUG)}


def make_due(database: Database) -> None:
    """Let the pauses be over."""
    with database.transaction() as session:
        session.execute(
            update(DocumentFetch).where(DocumentFetch.next_at.is_not(None)).values(next_at=datetime.now(UTC))
        )
        session.execute(update(DocumentSource).values(paused_until=None))


def pool_unread(database: Database) -> None:
    """Topic 3, whose pool has the documents u and v, without text."""
    with database.transaction() as session:
        topic_file(session, "3\tthird topic\n")
        run(session, "gamma", {"3": ["u", "v"]})
        pool(session)
