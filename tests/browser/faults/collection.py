"""What the tests of faults judge: two topics, each document of which wants one judgement, by jo or kim."""

from browser.faults.length import LENGTH
from build import NOW, SLUG, document_file, member, news, pool, run, topic_file

from annotator.storage import Database, Role
from annotator.workflows.people import members

DOCNOS = [f"d{number:02}" for number in range(LENGTH.times(14, 40))]
OTHER_DOCNOS = [f"e{number:02}" for number in range(10)]
TOPIC = f"/collections/{SLUG}/judge/topics/1"
OTHER_TOPIC = f"/collections/{SLUG}/judge/topics/2"
OVERVIEW = f"/collections/{SLUG}/judge"


def two_topics(database: Database) -> None:
    """Make the collection in an empty database."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, DOCNOS + OTHER_DOCNOS)
        run(session, "alpha", {"1": DOCNOS, "2": OTHER_DOCNOS})
        pool(session, depth=len(DOCNOS))
        member(session, "jo")
        member(session, "kim")


def let_judge(database: Database, name: str, *, may: bool) -> None:
    """Give the role of a judge, or take it away."""
    with database.transaction() as session:
        if may:
            members.add_member(session, SLUG, name, Role.JUDGE, added_at=NOW)
        else:
            members.remove_member(session, SLUG, name, Role.JUDGE, at=NOW)
