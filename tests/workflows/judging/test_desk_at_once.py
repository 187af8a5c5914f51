"""What a judge sends from two tabs at the same moment is stored once, and neither is refused."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from build import LIMIT, NOW, SLUG, document_file, member, news, pooled_news, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage import (
    Assignment,
    Database,
    Document,
    PoolItem,
    QualifyingAnswer,
    Question,
    Topic,
    TopicMark,
    TopicNote,
)
from annotator.storage.collections.collection import refuse_closed_judging
from annotator.storage.judging.leases import give_back, lend
from annotator.workflows.judging import (
    gold_questions,
    judge_desk,
    questions,
    training,
    training_attempts,
)

TABS = 4


def test_organiser_and_judge_do_not_wait_for_each_other_over_test_questions(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")
        place = session.scalars(select(Topic).where(Topic.number == "1")).one()
        topic, collection = place.id, place.collection_id
        documents = {row.docno: row for row in session.scalars(select(Document))}
        item = session.scalars(
            select(PoolItem.id).where(PoolItem.topic_id == topic, PoolItem.document_id == documents["c"].id)
        ).one()
        lend(session, [item], jo, NOW)
        # Two of the topic turn out to be identical, so that whoever settles it locks it against those who judge.
        documents["a"].text_hash = documents["b"].text_hash
        checked = gold_questions.one_question(session, SLUG, "1", "c", 2)
    errors: list[BaseException] = []

    def organise(change: Callable[[Session], object]) -> None:
        try:
            with postgres_database.transaction() as session:
                change(session)
        except BaseException as error:  # noqa: BLE001 - returned to the test, in the thread it would be lost
            errors.append(error)

    def add(session: Session) -> object:
        return gold_questions.store_questions(session, SLUG, checked, added_by_id=None, added_at=NOW)

    organiser = threading.Thread(target=organise, args=(add,))
    with postgres_database.transaction() as session:
        refuse_closed_judging(session, collection)
        session.execute(select(Topic.id).where(Topic.id == topic).with_for_update(read=True, key_share=True))
        organiser.start()
        organiser.join(timeout=0.5)
        assert organiser.is_alive()
        # The judge has the topic, and wants the document that becomes a gold question.
        assert give_back(session, Assignment.judge_id == jo) == 1
    organiser.join(timeout=30)
    assert errors == []


def prepared(database: Database) -> int:
    """A collection with a training; the judge."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, ["a"])
        file = InputFile("t.tsv", b"1\ta\t1\n")
        training.store_training(session, SLUG, training.check_training(session, SLUG, file, unpacked_limit=LIMIT))
        return member(session, "jo")


def at_once(database: Database, work: Callable[[Session], object]) -> None:
    """Do it in several transactions that begin together."""
    barrier = threading.Barrier(TABS)

    def send() -> None:
        barrier.wait(timeout=30)
        database.attempt(work)

    with ThreadPoolExecutor(TABS) as tabs:
        for sent in [tabs.submit(send) for _ in range(TABS)]:
            sent.result(timeout=60)


def count(database: Database, table: type) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(table)).one()


def test_notes_words_questions_and_answers_from_several_tabs_are_stored_once(database: Database) -> None:
    jo = prepared(database)
    with database.reading() as session:
        task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert task is not None
    at_once(database, lambda session: judge_desk.save_note(session, SLUG, "1", jo, "Cats.", changed_at=NOW))
    at_once(database, lambda session: judge_desk.save_marks(session, SLUG, "1", jo, ["cat", "lion"]))
    at_once(database, lambda session: questions.ask(session, SLUG, jo, "How?", client_id="q", asked_at=NOW))
    at_once(
        database,
        lambda session: training_attempts.answer_item(session, SLUG, jo, 1, task.item_id, 1, answered_at=NOW),
    )
    counts = [count(database, table) for table in (TopicNote, TopicMark, Question, QualifyingAnswer)]
    assert counts == [1, 2, 1, 1]
