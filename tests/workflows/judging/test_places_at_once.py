"""Two who change the same places of a pool item at the same moment: neither change is lost, none is counted twice."""

from build import NOW, SLUG, member
from meeting import one_after_the_other, places
from queues import queue
from sqlalchemy import select

from annotator.storage import Assignment, Collection, Database, PoolItem
from annotator.storage.judging.changed_texts import reopen_for_text
from annotator.storage.judging.imported_judgements import NewLabel, append_labels
from annotator.storage.judging.leases import Decision, give_back, lend
from annotator.storage.tables.judging import CannotJudge
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import next_task
from annotator.workflows.judging.recording import record_acts


def one_document(database: Database) -> tuple[int, int, int]:
    """A topic with one document that two are to judge, and two judges."""
    with database.transaction() as session:
        [topic] = queue(session, 1, judgements_wanted=2)
        item = session.scalars(select(PoolItem.id).where(PoolItem.topic_id == topic.id)).one()
        return item, member(session, "jo"), member(session, "ann")


def draws_and_says(database: Database, judge: int, decision: Decision | None) -> None:
    with database.transaction() as session:
        task = next_task(session, SLUG, "1", judge, now=NOW)
        assert task is not None
        recorded = record_acts(session, SLUG, judge, [Act("a", task.assignment_id, decision)], received_at=NOW)
        assert recorded.acknowledged == ("a",)


def test_what_was_put_off_is_not_taken_up_while_it_goes_back_to_the_queue(postgres_database: Database) -> None:
    item, jo, _ = one_document(postgres_database)
    draws_and_says(postgres_database, jo, None)
    one_after_the_other(
        postgres_database,
        lambda session: give_back(session, Assignment.judge_id == jo),
        lambda session: next_task(session, SLUG, "1", jo, now=NOW),
    )
    assert places(postgres_database, item) == (0, 0)
    with postgres_database.transaction() as session:
        assert next_task(session, SLUG, "1", jo, now=NOW) is not None
    assert places(postgres_database, item) == (1, 1)


def test_a_text_that_comes_while_another_draws_the_document_frees_one_place(postgres_database: Database) -> None:
    item, jo, ann = one_document(postgres_database)
    draws_and_says(postgres_database, jo, Decision(None, CannotJudge.NO_TEXT))
    with postgres_database.reading() as session:
        document = session.get_one(PoolItem, item).document_id
    one_after_the_other(
        postgres_database,
        lambda session: lend(session, [item], ann, NOW),
        lambda session: reopen_for_text(session, [document]),
    )
    assert places(postgres_database, item) == (1, 1)


def test_a_file_of_labels_takes_the_place_that_its_judge_gives_back(postgres_database: Database) -> None:
    item, jo, _ = one_document(postgres_database)
    with postgres_database.transaction() as session:
        lend(session, [item], jo, NOW)
        collection = session.scalars(select(Collection.id)).one()
        topics = session.scalars(select(PoolItem.topic_id).where(PoolItem.id == item)).all()
    one_after_the_other(
        postgres_database,
        lambda session: give_back(session, Assignment.judge_id == jo),
        lambda session: append_labels(session, collection, jo, {item: NewLabel("f-1", 1)}, {}, NOW, topics=topics),
    )
    assert places(postgres_database, item) == (1, 1)
