"""Who owns which topic: by hand, balanced, and what goes back to the queue by it."""

import pytest
from beginning import beginning
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Assignment, AssignmentState, JudgingMode, Role
from annotator.storage.people.accounts import find_user
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.documents import search_adding
from annotator.workflows.judging import gold_questions
from annotator.workflows.judging.judging import next_task
from annotator.workflows.judging.topic_owners import (
    AssignedTopic,
    JudgeWork,
    Reassigned,
    assign_topics,
    plan_balance,
    plan_by_hand,
    show_assigning,
)
from annotator.workflows.people import members
from annotator.workflows.topics import topic_editing

SIZES = {"1": 7, "2": 5, "3": 4, "10": 3}


def owned(session: Session) -> None:
    change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))


@beginning
def four_topics(session: Session) -> None:
    """Topics of 7, 5, 4 and 3 documents, with the judges jo and kim."""
    news(session)
    topic_file(session, "".join(f"{number}\ttopic {number}\n" for number in SIZES))
    docnos = [f"d{index}" for index in range(7)]
    document_file(session, docnos)
    run(session, "alpha", {number: docnos[:size] for number, size in SIZES.items()})
    pool(session)
    member(session, "jo")
    member(session, "kim")


def owners(session: Session) -> dict[str, str | None]:
    return {topic.number: topic.owner for topic in show_assigning(session, SLUG).topics}


def test_topics_stand_in_their_order_with_what_is_judged_and_remains(session: Session) -> None:
    four_topics(session)
    assign_topics(session, SLUG, {"1": "jo", "10": "jo"})
    labels(session, "jo", "1 0 d0 1\n1 0 d1 0\n")
    labels(session, "nist", "10 0 d0 1\n")
    present = show_assigning(session, SLUG)
    assert present.topics == (
        AssignedTopic("1", "topic 1", items=7, judged=2, remaining=5, owner="jo"),
        AssignedTopic("2", "topic 2", items=5, judged=0, remaining=5, owner=None),
        AssignedTopic("3", "topic 3", items=4, judged=0, remaining=4, owner=None),
        AssignedTopic("10", "topic 10", items=3, judged=1, remaining=2, owner="jo"),
    )
    assert present.judges == (JudgeWork("jo", topics=2, remaining=7), JudgeWork("kim", topics=0, remaining=0))
    assert (present.mode, present.without_owner, present.gone) == ("shared", 2, ())


def test_what_is_for_everyone_remains_until_the_owner_has_judged_it(session: Session) -> None:
    pooled_news(session)
    member(session, "jo")
    question = gold_questions.one_question(session, SLUG, "2", "a", 1)
    gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)
    assign_topics(session, SLUG, {"2": "jo"})
    labels(session, "kim", "2 0 a 1\n2 0 e 1\n")
    assert show_assigning(session, SLUG).topics[1].remaining == 1
    labels(session, "jo", "2 0 a 1\n")
    assert show_assigning(session, SLUG).topics[1].remaining == 0


def test_overlap_that_another_judge_still_owes_is_not_the_owners(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    owned(session)
    change_queue(session, SLUG, QueueChange(overlap_share=100))
    assign_topics(session, SLUG, {"1": "jo"})
    labels(session, "jo", "1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 1\n")
    assert show_assigning(session, SLUG).topics[0].remaining == 0
    assert next_task(session, SLUG, "1", jo, now=NOW) is None


def test_topics_are_given_and_taken_by_hand(session: Session) -> None:
    four_topics(session)
    plan = plan_by_hand(session, SLUG, ["2", "3"], "kim")
    assert plan.owners == {"2": "kim", "3": "kim"}
    assert plan.judges[1] == (JudgeWork("kim", 0, 0), JudgeWork("kim", 2, 9))
    assert owners(session) == {"1": None, "2": None, "3": None, "10": None}  # a plan stores nothing
    assert assign_topics(session, SLUG, plan.owners) == Reassigned(topics=2, given_back=0)
    assert assign_topics(session, SLUG, {"2": "kim", "3": None}).topics == 1  # the other is kim's already
    assert owners(session) == {"1": None, "2": "kim", "3": None, "10": None}


def test_balancing_deals_out_what_nobody_owns_the_largest_first(session: Session) -> None:
    four_topics(session)
    # 7 to jo, 5 to kim, 4 to kim, 3 to jo: 10 and 9.
    plan = plan_balance(session, SLUG)
    assert plan.owners == {"1": "jo", "2": "kim", "3": "kim", "10": "jo"}
    assert [after.remaining for _, after in plan.judges] == [10, 9]
    assign_topics(session, SLUG, {"10": "kim"})
    # kim has 3: 7 to jo, 5 to kim (8), 4 to jo (11).
    assert plan_balance(session, SLUG).owners == {"1": "jo", "2": "kim", "3": "jo"}


def test_balancing_anew_moves_what_is_owned_too_and_is_at_rest_afterwards(session: Session) -> None:
    four_topics(session)
    assign_topics(session, SLUG, dict.fromkeys(SIZES, "jo"))
    assert plan_balance(session, SLUG).moves == ()
    plan = plan_balance(session, SLUG, reassign=True)
    assert plan.owners == {"2": "kim", "3": "kim"}
    assign_topics(session, SLUG, plan.owners)
    assert plan_balance(session, SLUG, reassign=True).moves == ()


def test_balancing_among_some_leaves_others_their_topics_unless_anew(session: Session) -> None:
    four_topics(session)
    member(session, "lee")
    assign_topics(session, SLUG, {"1": "jo"})
    assert plan_balance(session, SLUG, ["kim", "lee"]).owners == {"2": "kim", "3": "lee", "10": "lee"}
    assert plan_balance(session, SLUG, ["kim"], reassign=True).owners == dict.fromkeys(SIZES, "kim")


def test_topics_of_somebody_who_judges_no_more_are_dealt_out(session: Session) -> None:
    four_topics(session)
    assign_topics(session, SLUG, dict.fromkeys(SIZES, "kim"))
    members.remove_member(session, SLUG, "kim", Role.JUDGE, at=NOW)
    present = show_assigning(session, SLUG)
    assert (present.gone, present.without_owner) == (("kim",), 4)
    assert plan_balance(session, SLUG).owners == dict.fromkeys(SIZES, "jo")


def test_what_others_hold_goes_back_when_an_owned_topic_changes_hands(session: Session) -> None:
    four_topics(session)
    owned(session)
    assign_topics(session, SLUG, {"1": "jo"})
    jo, kim = (find_user(session, name).id for name in ("jo", "kim"))
    assert next_task(session, SLUG, "1", jo, now=NOW) is not None
    assert next_task(session, SLUG, "1", kim, now=NOW) is None
    assert assign_topics(session, SLUG, {"1": "kim"}) == Reassigned(topics=1, given_back=7)
    assert next_task(session, SLUG, "1", jo, now=NOW) is None
    assert next_task(session, SLUG, "1", kim, now=NOW) is not None


def test_what_somebody_found_in_a_topic_that_does_not_change_hands_stays_with_them(session: Session) -> None:
    four_topics(session)
    owned(session)
    change_collection(session, SLUG, CollectionChange(judges_search=True))
    assign_topics(session, SLUG, dict.fromkeys(SIZES, "kim"))
    jo = find_user(session, "jo").id
    held = search_adding.take_for_judging(session, SLUG, topic="3", docno="d6", query="text", judge_id=jo, now=NOW)
    assert assign_topics(session, SLUG, {"1": "jo", "3": "kim"}) == Reassigned(topics=1, given_back=0)
    assert session.get_one(Assignment, held).state == AssignmentState.LIVE
    assert assign_topics(session, SLUG, {"3": None}) == Reassigned(topics=1, given_back=1)


def test_what_another_judge_has_taken_does_not_remain_for_the_owner_and_what_they_hold_does(session: Session) -> None:
    four_topics(session)
    assign_topics(session, SLUG, {"2": "jo", "3": "jo"})
    jo, kim = (find_user(session, name).id for name in ("jo", "kim"))
    assert next_task(session, SLUG, "2", kim, now=NOW) is not None
    assert next_task(session, SLUG, "3", jo, now=NOW) is not None
    assert next_task(session, SLUG, "2", jo, now=NOW) is None
    assert [topic.remaining for topic in show_assigning(session, SLUG).topics] == [7, 0, 4, 3]
    labels(session, "jo", "3 0 d0 1\n")
    assert show_assigning(session, SLUG).topics[2].remaining == 3


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"9": "jo"}, "no accepted topic “9”"),
        ({"2": "jo"}, "no accepted topic “2”"),  # it was dropped
        ({"1": "ola"}, "“ola” is no judge of this collection"),
    ],
)
def test_topics_and_people_that_are_not_there_are_refused(
    session: Session, asked: dict[str, str], sentence: str
) -> None:
    pooled_news(session)
    member(session, "jo")
    member(session, "ola", Role.ORGANISER)
    topic_editing.drop_topics(session, SLUG, ["2"], reason="Too broad.")
    with pytest.raises(NotFoundError, match=sentence):
        assign_topics(session, SLUG, asked)


def test_balancing_needs_judges_who_judge_here(session: Session) -> None:
    pooled_news(session)
    with pytest.raises(NotFoundError, match="has no judges yet"):
        plan_balance(session, SLUG)
    member(session, "jo")
    with pytest.raises(NotFoundError, match="“kim” is no judge"):
        plan_balance(session, SLUG, ["jo", "kim"])


def test_a_closed_collection_keeps_its_owners(session: Session) -> None:
    four_topics(session)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        assign_topics(session, SLUG, {"1": "jo"})
