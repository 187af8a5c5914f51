"""Pages that take the same number of statements however many topics there are, and settle nothing a second time."""

import pytest
from build import SLUG, labels, member, news, pool, run, topic_file
from sqlalchemy import event
from visiting import Visitor, with_database
from visiting import shared_application as application

from annotator.storage import Database, Role

FEW, MANY = 2, 40  # topics


def collection_of(database: Database, topics: int) -> str:
    """A collection of so many topics with two runs, a pool and labels."""
    slug = f"{SLUG}-{topics}"
    numbers = [str(number) for number in range(1, topics + 1)]
    with database.transaction() as session:
        news(session, slug)
        member(session, f"ola{topics}", Role.ORGANISER, slug=slug)
        topic_file(session, "".join(f"{number}\ttopic {number}\n" for number in numbers), slug=slug)
        run(session, "alpha", {number: ["a", "b"] for number in numbers}, slug=slug)
        run(session, "beta", {number: ["b", "c"] for number in numbers}, slug=slug)
        pool(session, slug=slug)
        labels(session, "nist", "".join(f"{number} 0 a 1\n{number} 0 b 0\n" for number in numbers), slug=slug)
    return slug


def statements_of(database: Database, path: str, *, topics: int) -> list[str]:
    """What a page asks of the database when it is shown for the second time."""
    slug = collection_of(database, topics)
    visitor = Visitor(with_database(application(), database), database, f"ola{topics}")
    assert visitor.get(f"/collections/{slug}{path}").status_code == 200
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        assert visitor.get(f"/collections/{slug}{path}").status_code == 200
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
    return asked


@pytest.mark.parametrize("path", ["/pool/plan", "/pool/plan?strategy=rrf&budget=2", "/topic-flags", "/quality"])
def test_the_number_of_topics_changes_nothing(database: Database, path: str) -> None:
    few = statements_of(database, path, topics=FEW)
    assert len(statements_of(database, path, topics=MANY)) == len(few)


def test_the_leaderboard_without_flagged_topics_comes_from_memory(database: Database) -> None:
    asked = statements_of(database, "/topic-flags?m=AP&numbers=1", topics=FEW)
    assert not [statement for statement in asked if "ranked_list.documents" in statement]


def test_what_runs_decide_of_a_plan_comes_from_memory(database: Database) -> None:
    asked = statements_of(database, "/pool/plan?strategy=rrf&amount=2", topics=FEW)
    assert not [statement for statement in asked if "ranked_list.documents" in statement]
