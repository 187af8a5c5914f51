"""Whatever is out of order in a database is found, and counted under its own words."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from build import NOW, labels, member, news, pooled_news
from sqlalchemy import func, select, text

from annotator.storage import Collection, Database, Question, QuestionnaireVersion, Run, Task, TaskTopic, Topic
from annotator.storage.collections.checking import Examination, examine, examine_copy, missing_judgements

FAULTS = {
    "UPDATE pool_item SET taken = 5 WHERE id IN (1, 2)": ("Documents whose count of judges is wrong", 2),
    "DELETE FROM judgement WHERE id = 1": ("Assignments that are done without a judgement", 1),
    "UPDATE assignment SET state = 'later' WHERE id = 1": (
        "Assignments that are judged and still in somebody's hands",
        1,
    ),
    "UPDATE judgement SET assignment_id = 2 WHERE id = 1": ("Judgements that are not of their assignment", 1),
    "UPDATE assignment SET state = 'returned' WHERE id = 1": (
        "Judgements that count although their document was given back",
        1,
    ),
    "UPDATE judgement SET replaces_id = 2 WHERE id = 1": (
        "Judgements that count although a later one took their place",
        1,
    ),
    "UPDATE judgement SET carried_from_id = 2 WHERE id = 1": (
        "Judgements that are carried over to documents that repeat no other",
        1,
    ),
    "UPDATE judgement SET grade = NULL": ("Judgements with neither a grade nor a reason, or with both", 3),
    "UPDATE judgement SET cannot_judge = 'other' WHERE id = 2": (
        "Judgements with neither a grade nor a reason, or with both",
        1,
    ),
    "UPDATE judgement SET grade = 7 WHERE id = 1": ("Judgements with a grade that is none of the scale", 1),
    "INSERT INTO topic_revision VALUES (1, 1, 99)": ("Revisions of topics that no judgement explains", 1),
    "UPDATE topic_revision SET revision = 0 WHERE topic_id = 1": ("Revisions of topics that no judgement explains", 1),
    "UPDATE collection SET scores_qrels_version = 1": (
        "Collections whose scores are released by a version of the qrels that is not there",
        1,
    ),
    "UPDATE ranked_list SET scores = documents": ("Ranked lists with another number of scores than of documents", 4),
    "UPDATE run_file SET content = documents FROM ranked_list WHERE ranked_list.run_id = run_file.run_id": (
        "Runs whose file is not the one that was sent",
        2,
    ),
    "UPDATE run SET checksum = 'other' WHERE tag = 'alpha'": ("Runs whose file is not the one that was sent", 1),
}


def filled(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        labels(session, "strict", "1 0 a 1\n1 0 b 0\n2 0 a 2\n")


def test_nothing_is_found_where_all_is_in_order(database: Database) -> None:
    filled(database)
    examination = examine(database)
    assert (examination.wrong, examination.remarks, examination.judgements) == ([], [], 3)
    assert len({one.what for one in examination.findings}) == len(examination.findings) >= 15


@pytest.mark.parametrize("statement", FAULTS)
def test_what_is_wrong_is_found(database: Database, statement: str) -> None:
    filled(database)
    with database.transaction() as session:
        session.execute(text(statement))
    assert FAULTS[statement] in [(one.what, one.count) for one in examine(database).wrong]


def test_what_refers_to_another_collection_is_found(database: Database) -> None:
    filled(database)
    with database.transaction() as session:
        news(session, "other")
        own, other = session.scalars(select(Collection.id).order_by(Collection.id)).all()
        task = Task(collection_id=other, key="passages", title="Passages", added_at=NOW)
        run = session.scalars(select(Run).where(Run.collection_id == own)).all()[0]
        jo = member(session, "jo")
        asked = QuestionnaireVersion(collection_id=own, number=1, questions=[], made_at=NOW)
        session.add_all([task, asked])
        session.flush()
        run.task_id = asked.task_id = task.id
        session.add(TaskTopic(task_id=task.id, topic_id=session.scalars(select(func.min(Topic.id))).one()))
        session.add(
            Question(collection_id=other, run_id=run.id, asked_by_id=jo, client_id="q1", text="?", asked_at=NOW)
        )
    found = {one.what: one.count for one in examine(database).wrong}
    assert found == {
        "Runs, topics or questionnaires of a task of another collection": 3,
        "Questions of another collection than their team, their run or their announcement": 1,
    }


def test_rows_without_the_rows_they_refer_to_are_found(database: Database) -> None:
    filled(database)
    # As when rows are loaded by hand, with the links unchecked.
    off = "PRAGMA foreign_keys=OFF" if database.is_sqlite else "SET session_replication_role = replica"
    on = "PRAGMA foreign_keys=ON" if database.is_sqlite else "SET session_replication_role = origin"
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in (off, "DELETE FROM run_file", "DELETE FROM run WHERE tag = 'alpha'", on):
            connection.execute(text(statement))
    found = {one.what: one.count for one in examine(database).wrong}
    # Two lists and their tops, three contributions to topic 1 and one to topic 2, and the version of the pool.
    assert found["Rows that refer to rows that are not there"] == 8
    with database.transaction() as session:
        session.execute(text("DELETE FROM contribution"))
        session.execute(text("DELETE FROM ranked_list"))
        session.execute(text("DELETE FROM run_tops"))
        session.execute(text("DELETE FROM pool_run"))


def test_documents_that_the_search_does_not_know_are_found(sqlite_database: Database) -> None:
    filled(sqlite_database)
    with sqlite_database.transaction() as session:
        session.execute(text("DELETE FROM document_words_index_docsize WHERE id = 1"))
    (found,) = examine(sqlite_database).wrong
    assert str(found) == "Documents that the search does not find, or that are not there: 1"


def test_acknowledged_judgements_that_are_not_there_are_named(database: Database) -> None:
    filled(database)
    with database.reading() as session:
        stored = list(session.scalars(text("SELECT client_id FROM judgement")))
    assert missing_judgements(database, stored) == []
    assert missing_judgements(database, [*stored, "gone"]) == ["gone"]


def test_of_an_older_version_the_file_and_the_links_are_looked_at(sqlite_database: Database) -> None:
    filled(sqlite_database)
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    examination = examine(sqlite_database)
    assert (examination.version, examination.is_of_this_program, len(examination.findings)) == ("0001", False, 2)


@pytest.mark.parametrize("look", [examine, examine_copy])
def test_an_index_that_lacks_an_entry_is_a_fault_of_the_file(
    sqlite_database: Database, look: Callable[[Database], Examination]
) -> None:
    filled(sqlite_database)
    assert look(sqlite_database).wrong == []
    with closing(sqlite3.connect(str(sqlite_database.engine.url.database), isolation_level=None)) as connection:
        own = "FROM sqlite_master WHERE name = 'ix_judgement_item'"
        connection.execute("PRAGMA writable_schema=ON")
        kept = connection.execute(f"SELECT * {own}").fetchone()
        connection.execute(f"DELETE {own}")
    with closing(sqlite3.connect(str(sqlite_database.engine.url.database), isolation_level=None)) as connection:
        connection.execute("DELETE FROM judgement WHERE id = 3")
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", kept)
    sqlite_database.close()
    assert [str(one) for one in look(sqlite_database).wrong if one.what.startswith("Faults")] == [
        "Faults of the file: 1"
    ]
