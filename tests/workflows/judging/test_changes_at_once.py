"""What organisers change at the very moment at which somebody works by it: neither goes by what was before."""

import pytest
from adaptive import adaptive_news
from build import NOW, SLUG, labels, member, pooled_news, user
from meeting import Step, one_after_the_other
from queues import grades, grow, queue, retext
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage import Assignment, AssignmentState, Collection, Database, JudgingMode, PoolItem, Role, Topic
from annotator.storage.collections.checking import examine
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.leases import Decision, give_back
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.judging import judge_history
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import next_task
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.people import erasure, members
from annotator.workflows.pools import pool_selection
from annotator.workflows.pools.pool_selection import ChosenDocuments, Memory
from annotator.workflows.qrels import qrels, qrels_versions


def urgently_chosen(database: Database) -> ChosenDocuments:
    """What is chosen for a judge who has judged the one document with which an adaptive pool began."""
    lists = {"r": {"1": [f"{letter}{number}" for letter in "abcdef" for number in range(9)]}}
    jo, _ = adaptive_news(database, "mtf", {"budget": 40, "start_depth": 1}, lists)
    with database.transaction() as session:
        task = next_task(session, SLUG, "1", jo, now=NOW)
        assert task is not None
        record_acts(session, SLUG, jo, [Act("a", task.assignment_id, Decision(1))], received_at=NOW)
    with database.reading() as session:
        chosen = pool_selection.choose_next(session, SLUG, "1", jo, memory=Memory())
    assert chosen is not None
    # So it waits for organisers.
    assert chosen.is_urgent
    return chosen


def test_documents_chosen_while_more_judgements_are_asked_for_want_as_many(postgres_database: Database) -> None:
    chosen = urgently_chosen(postgres_database)
    one_after_the_other(
        postgres_database,
        lambda session: collection.change_collection(session, SLUG, CollectionChange(judgements_wanted=2)),
        lambda session: pool_selection.add_choices(session, SLUG, chosen, at=NOW),
    )
    with postgres_database.reading() as session:
        assert set(session.scalars(select(PoolItem.judgements_wanted))) == {2}


def test_who_was_late_for_a_change_of_the_scale_chooses_again(postgres_database: Database) -> None:
    chosen = urgently_chosen(postgres_database)
    added: list[int] = []
    one_after_the_other(
        postgres_database,
        lambda session: collection.change_collection(session, SLUG, CollectionChange(relevant_from=2)),
        lambda session: added.append(pool_selection.add_choices(session, SLUG, chosen, at=NOW)),
    )
    assert added == [0]


def test_a_collection_is_closed_when_those_who_judge_have_been_heard(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        queue(session, 1)
        jo = member(session, "jo")
        task = next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    one_after_the_other(
        postgres_database,
        lambda session: record_acts(session, SLUG, jo, [Act("a", task.assignment_id, Decision(1))], received_at=NOW),
        lambda session: collection.close_collection(session, SLUG),
    )


def puts_off(session: Session, judge: int) -> int:
    """The assignment of a document that a judge has drawn and put off."""
    task = next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    record_acts(session, SLUG, judge, [Act("a", task.assignment_id, None)], received_at=NOW)
    return task.assignment_id


def test_what_was_put_off_is_not_taken_up_while_its_topic_becomes_anothers(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        [topic] = queue(session, 1)
        jo, topic.owner_id = member(session, "jo"), user(session, "ann")
        assignment = puts_off(session, jo)
        give_back(session, Assignment.judge_id == jo)
    with pytest.raises(ConflictError, match="no longer waiting for you"):
        one_after_the_other(
            postgres_database,
            lambda session: change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED)),
            lambda session: judge_history.take_up(session, SLUG, assignment, jo, now=NOW),
        )


def in_hand(database: Database) -> int:
    with database.reading() as session:
        is_live = Assignment.state == AssignmentState.LIVE
        return session.scalars(select(func.count()).select_from(Assignment).where(is_live)).one()


def removed(session: Session) -> None:
    members.remove_member(session, SLUG, "jo", Role.JUDGE, at=NOW)


def forgotten(session: Session) -> None:
    erasure.forget_user(session, "jo")


@pytest.mark.parametrize("sent_away", [removed, forgotten])
@pytest.mark.parametrize("is_first", [True, False], ids=["draws-first", "draws-second"])
def test_who_is_sent_away_while_they_draw_keeps_nothing(
    postgres_database: Database, sent_away: Step, *, is_first: bool
) -> None:
    with postgres_database.transaction() as session:
        queue(session, 3)
        jo = member(session, "jo")

    def draws(session: Session) -> None:
        next_task(session, SLUG, "1", jo, now=NOW)

    one_after_the_other(postgres_database, *((draws, sent_away) if is_first else (sent_away, draws)))
    assert in_hand(postgres_database) == 0


def test_who_was_removed_takes_nothing_up_again(database: Database) -> None:
    with database.transaction() as session:
        queue(session, 1)
        jo = member(session, "jo")
        put_off_by_jo = puts_off(session, jo)
        members.remove_member(session, SLUG, "jo", Role.JUDGE, at=NOW)
        with pytest.raises(ConflictError, match="no longer waiting for you"):
            judge_history.take_up(session, SLUG, put_off_by_jo, jo, now=NOW)


def same_texts(session: Session) -> tuple[Topic, int]:
    """A topic with two documents of one text, and the item of the one that is not judged itself."""
    [topic] = queue(session, 0)
    items = grow(session, topic, ["same", "same"])
    return topic, next(item for item in items if session.get_one(PoolItem, item).duplicate_of_id is not None)


def test_a_grade_is_not_carried_to_a_document_that_gets_another_text_meanwhile(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        topic, duplicate = same_texts(session)
        jo, place, collection_id = member(session, "jo"), topic.id, topic.collection_id
        task = next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None

    def another_text(session: Session) -> None:
        retext(session, duplicate, "another")
        settle_needs(session, collection_id, [place])

    one_after_the_other(
        postgres_database,
        another_text,
        lambda session: record_acts(session, SLUG, jo, [Act("a", task.assignment_id, Decision(2))], received_at=NOW),
    )
    with postgres_database.reading() as session:
        assert grades(session, duplicate) == {}
    assert examine(postgres_database).wrong == []


def test_qrels_that_name_somebody_who_was_forgotten_since_are_not_kept(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        labels(session, "jo", "1 0 a 2\n")
        session.scalars(select(Collection)).one().consensus_policy = "judge:jo"
    with database.reading() as session:
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
    with database.transaction() as session:
        erasure.forget_user(session, "jo")
    with database.transaction() as session, pytest.raises(ConflictError, match="export them again"):
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def test_who_is_forgotten_while_qrels_are_kept_has_no_name_in_them(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        labels(session, "jo", "1 0 a 2\n")
    with postgres_database.reading() as session:
        made = qrels.export_qrels(session, SLUG, judge="jo", made_at=NOW)
    one_after_the_other(
        postgres_database,
        lambda session: qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW),
        lambda session: erasure.forget_user(session, "jo"),
    )
    with postgres_database.reading() as session:
        [kept] = qrels_versions.list_versions(session, SLUG)
        assert kept.policy.startswith("judge:forgotten-")
