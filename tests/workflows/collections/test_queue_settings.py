"""How the work is shared out: what a change of settings does to items that are free, drawn and judged."""

import json

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.storage import Assignment, AssignmentState, Collection, JudgingMode, PoolItem, Purpose
from annotator.workflows.collections import collection, queue_settings
from annotator.workflows.collections.collection import CollectionChange, change_collection, foresee_change
from annotator.workflows.collections.queue_settings import QueueChange, QueueCost, change_queue, queue_cost, read_mode
from annotator.workflows.judging import gold_questions, topic_owners
from annotator.workflows.judging.judging import next_task
from annotator.workflows.qrels import qrels

OWNED = QueueChange(judging_mode=JudgingMode.OWNED)


def twenty(session: Session, *, judgements_wanted: int = 1) -> None:
    """One topic with twenty pooled documents."""
    news(session, judgements_wanted=judgements_wanted)
    topic_file(session, "1\tfirst topic\n")
    docnos = [f"d{index:02}" for index in range(20)]
    document_file(session, docnos)
    run(session, "alpha", {"1": docnos})
    pool(session, depth=20)


def wanted(session: Session) -> dict[int, int]:
    """How many items want how many judgements."""
    rows = session.execute(select(PoolItem.judgements_wanted, func.count()).group_by(PoolItem.judgements_wanted))
    return {number: count for number, count in rows}


def held(session: Session) -> list[int]:
    """The judges who hold something, once for each document."""
    live = Assignment.state == AssignmentState.LIVE
    return list(session.scalars(select(Assignment.judge_id).where(live).order_by(Assignment.id)))


def test_settings_are_kept_and_shown(session: Session) -> None:
    news(session)
    shown = collection.show_collection(session, SLUG)
    assert (shown.judging_mode, shown.overlap_share, shown.reshow_share, shown.common_items) == ("shared", 0, 0, 0)
    change_queue(session, SLUG, QueueChange(read_mode("owned"), 20, 10, 3))
    change_queue(session, SLUG, QueueChange(reshow_share=15))
    shown = collection.show_collection(session, SLUG)
    assert (shown.judging_mode, shown.overlap_share, shown.reshow_share, shown.common_items) == ("owned", 20, 15, 3)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (QueueChange(overlap_share=101), "from 0 to 100 percent, not 101"),
        (QueueChange(reshow_share=-1), "from 0 to 100 percent, not -1"),
        (QueueChange(common_items=1_001), "can have 0 to 1000 common documents, not 1001"),
    ],
)
def test_a_share_that_cannot_be_is_refused(session: Session, change: QueueChange, sentence: str) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match=sentence):
        change_queue(session, SLUG, change)


def test_a_mode_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InvalidValueError, match="“mine” is not a way of sharing out the work; there are shared, owned"):
        read_mode("mine")


def test_a_closed_collection_keeps_its_settings(session: Session) -> None:
    news(session)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        change_queue(session, SLUG, QueueChange(overlap_share=10))


def test_overlap_and_common_documents_are_marked_and_counted(session: Session) -> None:
    twenty(session)
    member(session, "jo")
    member(session, "kim")
    change_queue(session, SLUG, QueueChange(overlap_share=30, common_items=2))
    # Of 20, two are for everyone, and 30 % of 20 are overlap: 20 + 6 judgements.
    assert queue_cost(session, SLUG) == QueueCost(20, 26, 6, 2, 0, 0, judges=2, reshow_share=0)
    assert wanted(session) == {1: 14, 2: 6}
    change_queue(session, SLUG, QueueChange(overlap_share=0, common_items=0))
    assert queue_cost(session, SLUG) == QueueCost(20, 20, 0, 0, 0, 0, judges=2, reshow_share=0)


@pytest.mark.parametrize(
    "change",
    [
        QueueChange(overlap_share=0),
        QueueChange(overlap_share=75, reshow_share=20),
        QueueChange(common_items=5),
        QueueChange(judging_mode=JudgingMode.OWNED, overlap_share=50),
        QueueChange(reshow_share=50),
        QueueChange(),
        CollectionChange(judgements_wanted=3),
        CollectionChange(judgements_wanted=1),
        CollectionChange(title="Another"),
    ],
)
def test_what_a_change_adds_is_foreseen_without_storing_it(
    session: Session, change: QueueChange | CollectionChange
) -> None:
    twenty(session, judgements_wanted=2)
    for name in ("jo", "kim"):
        member(session, name)
    topic_owners.assign_topics(session, SLUG, {"1": "jo"})
    change_queue(session, SLUG, QueueChange(overlap_share=30, common_items=2))
    question = gold_questions.one_question(session, SLUG, "1", "d03", 1)
    gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)
    labels(session, "kim", "1 0 d05 1\n1 0 d06 0\n")
    before, present = queue_cost(session, SLUG), collection.show_collection(session, SLUG)
    foreseen = foresee_change(session, SLUG, change).judgements
    assert queue_cost(session, SLUG) == before
    assert collection.show_collection(session, SLUG) == present
    change_queue(session, SLUG, change) if isinstance(change, QueueChange) else change_collection(session, SLUG, change)
    assert foreseen == queue_cost(session, SLUG).all_judgements - before.all_judgements


def test_a_change_that_is_refused_is_refused_when_it_is_foreseen(session: Session) -> None:
    twenty(session)
    labels(session, "kim", "1 0 d05 2\n")
    for change, sentence in (
        (QueueChange(overlap_share=101), "from 0 to 100"),
        (CollectionChange(judgements_wanted=0), "between 1 and"),
        (CollectionChange(scale=collection.read_scale("0=No,1=Yes")), "already given"),
        (CollectionChange(consensus_policy="by lot"), "by lot"),
    ):
        with pytest.raises((InvalidValueError, ConflictError), match=sentence):
            foresee_change(session, SLUG, change)


def test_a_pool_is_settled_anew_only_when_what_its_items_are_for_changes(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    twenty(session)
    settled: list[int] = []
    monkeypatch.setattr(queue_settings, "settle_needs", lambda *_: settled.append(1))
    # A form sends all of them, whatever was changed.
    change_queue(session, SLUG, QueueChange(read_mode("shared"), overlap_share=0, reshow_share=10, common_items=0))
    assert settled == []
    for change in (QueueChange(overlap_share=10), QueueChange(common_items=1), OWNED):
        change_queue(session, SLUG, change)
    assert len(settled) == 3


def test_wanting_more_judgements_keeps_one_more_for_overlap(session: Session) -> None:
    twenty(session)
    change_queue(session, SLUG, QueueChange(overlap_share=30))
    change_collection(session, SLUG, CollectionChange(judgements_wanted=2))
    assert wanted(session) == {2: 14, 3: 6}
    change_collection(session, SLUG, CollectionChange(judgements_wanted=1))
    assert wanted(session) == {1: 14, 2: 6}


def test_an_item_wanted_once_where_topics_are_owned_however_many_are_wanted_else(session: Session) -> None:
    twenty(session, judgements_wanted=3)
    change_queue(session, SLUG, OWNED)
    assert wanted(session) == {1: 20}
    change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.SHARED))
    assert wanted(session) == {3: 20}


def test_wanting_fewer_gives_back_what_is_too_much_and_no_more(session: Session) -> None:
    pooled_news(session, judgements_wanted=3)
    jo, kim, lee = (member(session, name) for name in ("jo", "kim", "lee"))
    for judge in (jo, kim, lee):
        assert next_task(session, SLUG, "1", judge, now=NOW) is not None
    assert held(session) == [jo] * 4 + [kim] * 4 + [lee] * 4
    change_collection(session, SLUG, CollectionChange(judgements_wanted=2))
    # Who drew last gives back; four documents stay with each of the others.
    assert held(session) == [jo] * 4 + [kim] * 4
    assert set(session.scalars(select(PoolItem.taken).join(Assignment).distinct())) == {2}


def test_documents_for_everyone_stay_in_any_number_of_hands(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    change_queue(session, SLUG, QueueChange(common_items=4))
    judges = [member(session, name) for name in ("jo", "kim", "lee")]
    for judge in judges:
        assert next_task(session, SLUG, "1", judge, now=NOW) is not None
    change_collection(session, SLUG, CollectionChange(judgements_wanted=1))
    assert sorted(held(session)) == sorted(judges * 4)


def test_what_judges_hold_goes_back_when_topics_become_owned(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    assert next_task(session, SLUG, "1", jo, now=NOW) is not None
    assert next_task(session, SLUG, "2", kim, now=NOW) is not None
    topic_owners.assign_topics(session, SLUG, {"1": "kim", "2": "kim"})
    assert held(session) == [jo] * 4 + [kim] * 2  # owners count nothing while the collection is shared
    change_queue(session, SLUG, OWNED)
    assert held(session) == [kim] * 2


def test_a_known_grade_cannot_leave_the_scale(session: Session) -> None:
    pooled_news(session)
    question = gold_questions.one_question(session, SLUG, "1", "a", 2)
    gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)
    with pytest.raises(ConflictError, match="already given and cannot leave the scale: 2"):
        change_collection(session, SLUG, CollectionChange(scale=collection.read_scale("0=No,1=Yes")))


def test_the_manifest_says_how_the_work_was_shared_out(session: Session) -> None:
    twenty(session)
    question = gold_questions.one_question(session, SLUG, "1", "d07", 2)
    gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)
    change_queue(session, SLUG, QueueChange(overlap_share=50, reshow_share=5, common_items=1))
    labels(session, "jo", "1 0 d00 1\n")
    manifest = json.loads(qrels.export_qrels(session, SLUG, made_at=NOW).manifest)
    # Lots are drawn among the nineteen that are no gold question: half of them are ten, rounded as in school.
    assert manifest["judging"] == {
        "mode": "shared",
        "adjudicators_see_grades": False,
        "judgements_wanted": 1,
        "overlap_share": 50,
        "reshow_share": 5,
        "common_items": 1,
        "seeds": [1],
        "overlap": 10,
        "for_everyone": 1,
        "test_questions": 1,
        "identical": 0,
    }


def test_a_test_question_is_drawn_as_one(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    question = gold_questions.one_question(session, SLUG, "1", "a", 2)
    gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)
    assert next_task(session, SLUG, "1", jo, now=NOW) is not None
    purposes = session.scalars(select(Assignment.purpose).order_by(Assignment.purpose)).all()
    assert purposes == [Purpose.FIRST] * 3 + [Purpose.TEST]


def test_the_default_policy_follows_the_mode_and_a_chosen_one_stays(session: Session) -> None:
    news(session)
    shown = session.scalars(select(Collection)).one()

    def owned() -> str | None:
        return change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))

    def shared() -> str | None:
        return change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.SHARED))

    shown.consensus_policy = "adjudicated-else-majority-first"
    assert owned() == shown.consensus_policy == "adjudicated-else-owner-else-majority"
    assert owned() is None
    assert change_queue(session, SLUG, QueueChange(overlap_share=10)) is None
    assert shared() == shown.consensus_policy == "adjudicated-else-majority-first"
    # What a collection had before defaults changed, and what an organiser chose.
    for policy in ("adjudicated-else-majority", "median"):
        shown.consensus_policy = policy
        assert owned() is None
        assert shared() is None
        assert shown.consensus_policy == policy


def test_the_earlier_default_of_owned_topics_stays_until_the_work_is_shared(session: Session) -> None:
    news(session)
    shown = session.scalars(select(Collection)).one()
    shown.judging_mode, shown.consensus_policy = JudgingMode.OWNED, "adjudicated-else-owner"
    assert change_queue(session, SLUG, QueueChange(overlap_share=10)) is None
    assert change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED)) is None
    assert shown.consensus_policy == "adjudicated-else-owner"
    policy = change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.SHARED))
    assert policy == shown.consensus_policy == "adjudicated-else-majority-first"
