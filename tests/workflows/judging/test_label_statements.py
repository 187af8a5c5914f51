"""A file of labels takes as many statements whatever its length, and the pool is read once."""

from build import labels, pooled_news
from sqlalchemy import event

from annotator.storage import Database

FEW, MANY = 3, 1_300  # documents of each topic: more than two chunks of bound values


def statements_of(database: Database, judge: str, documents: int) -> list[str]:
    """What storing labels of documents of both topics asks of the database; half of them are outside the pool."""
    text = "".join(f"{topic} 0 {judge}{number} 1\n" for topic in (1, 2) for number in range(documents))
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    with database.transaction() as session:
        labels(session, judge, text[: text.index("2 0")], add_to_pool=True, name="before.txt")
        session.flush()
        event.listen(database.engine, "before_cursor_execute", note)
        try:
            stored = labels(session, judge, text, add_to_pool=True)
        finally:
            event.remove(database.engine, "before_cursor_execute", note)
    assert (stored.added, stored.known, stored.pooled) == (documents, documents, documents)
    return asked


def test_statements_do_not_grow_with_the_labels(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        pooled_news(session)
    few = statements_of(sqlite_database, "few", FEW)
    many = statements_of(sqlite_database, "many", MANY)
    assert len(many) == len(few)


def test_the_pool_is_read_once(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        pooled_news(session)
    whole = "SELECT pool_item.topic_id, pool_item.document_id, pool_item.id \nFROM pool_item JOIN topic"
    assert sum(statement.startswith(whole) for statement in statements_of(sqlite_database, "few", FEW)) == 1
