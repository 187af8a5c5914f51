"""What judges say, read from the database: now, at an earlier moment, with who they are to it."""

from datetime import datetime, timedelta

import pytest
from build import NOW, SLUG, labels, member, pooled_news
from queues import add_topic, grow, items_of, judge, queue, take
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.storage import Assignment, Collection, Judgement, Purpose, Topic, User, UserKind
from annotator.storage.qrels.current_grades import OpinionRow, opinions, pooled_items, refused_items
from annotator.storage.qrels.qrels_versions import named_opinions, named_unjudged

LATER = NOW + timedelta(hours=1)


def said(session: Session, *, machines: bool = False, at: datetime | None = None) -> list[OpinionRow]:
    """Every opinion, after checking that the reading by names says the same."""
    collection_id = session.scalars(select(Collection.id)).one()
    rows = opinions(session, collection_id, machines=machines, at=at)
    numbers = session.scalars(select(Topic.number)).all()
    by_name = [
        (one.judge, one.grade, one.by_owner, one.adjudicates, one.is_machine)
        for one in named_opinions(session, collection_id, numbers, machines=machines, at=at)
    ]
    assert sorted(by_name) == sorted(
        (row.judge, row.grade, row.by_owner, row.adjudicates, row.is_machine) for row in rows
    )
    return rows


def brief(rows: list[OpinionRow]) -> list[tuple[str, int, int]]:
    return [(row.judge, row.grade, row.place) for row in rows]


def test_an_opinion_is_a_judges_present_grade_and_its_place_that_of_their_first(session: Session) -> None:
    pooled_news(session, judgements_wanted=3)
    labels(session, "jo", "1 0 a 2\n")
    labels(session, "kim", "1 0 a 0\n1 0 b 1\n")
    labels(session, "jo", "1 0 a 1\n", name="again.txt")
    # Jo was first to say something of a, although the present grade came last.
    assert sorted(brief(said(session))) == [("jo", 1, 1), ("kim", 0, 2), ("kim", 1, 1)]


def test_what_could_not_be_judged_is_no_opinion_and_is_told_apart(session: Session) -> None:
    [topic] = queue(session, 3, judgements_wanted=2)
    jo, kim = member(session, "jo"), member(session, "kim")
    first, second, third = take(session, jo, topic)
    judge(session, jo, [first], None)
    judge(session, jo, [second], 2)
    assert take(session, kim, topic, 3)
    collection_id = topic.collection_id
    assert [row.pool_item_id for row in said(session)] == [second]
    assert refused_items(session, collection_id, machines=False) == {first}
    assert refused_items(session, collection_id, machines=False, judge="kim") == set()
    assert refused_items(session, collection_id, machines=False, at=NOW - timedelta(days=1)) == set()
    assert set(pooled_items(session, collection_id)) == {first, second, third}
    assert pooled_items(session, collection_id, NOW - timedelta(days=1)) == {}
    assert len(list(named_unjudged(session, collection_id, [topic.number], machines=False))) == 1
    assert len(list(named_unjudged(session, collection_id, [topic.number], machines=False, judge="kim"))) == 3


def test_the_history_tells_what_counted_at_a_moment(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 1\n")
    labels(session, "jo", "1 0 a 0\n", name="again.txt")
    changed = select(Judgement.id).where(Judgement.replaces_id.is_not(None))
    session.execute(update(Judgement).where(Judgement.id.in_(changed.scalar_subquery())).values(received_at=LATER))
    assert sorted(brief(said(session, at=NOW - timedelta(minutes=1)))) == []
    assert sorted(brief(said(session, at=NOW))) == [("jo", 1, 1), ("jo", 2, 1)]
    assert sorted(brief(said(session, at=LATER))) == [("jo", 0, 1), ("jo", 1, 1)]
    assert said(session, at=LATER) == said(session)


@pytest.mark.parametrize("at", [None, LATER])
def test_what_is_said_of_a_document_shown_again_is_no_opinion(session: Session, at: datetime | None) -> None:
    [topic] = queue(session, 1)
    jo = member(session, "jo")
    [item] = take(session, jo, topic)
    judge(session, jo, [item], 2)
    again = Assignment(
        pool_item_id=item, judge_id=jo, state="done", purpose=Purpose.RE_SHOWN, drawn_at=NOW, lease_until=NOW
    )
    session.add(again)
    session.flush()
    session.add(
        Judgement(
            client_id="again",
            assignment_id=again.id,
            pool_item_id=item,
            judge_id=jo,
            grade=0,
            judged_at=NOW,
            received_at=NOW,
            current=False,
        )
    )
    session.flush()
    assert brief(said(session, at=at)) == [("jo", 2, 1)]


def test_machines_are_left_out_unless_wanted_and_then_have_their_place(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "gpt", "1 0 a 0\n")
    labels(session, "jo", "1 0 a 2\n")
    session.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE))
    assert brief(said(session)) == [("jo", 2, 1)]
    assert brief(said(session, machines=True)) == [("gpt", 0, 1), ("jo", 2, 2)]
    assert [row.is_machine for row in said(session, machines=True)] == [True, False]


def test_owners_adjudicators_and_what_repeats_their_words_are_known(session: Session) -> None:
    [topic] = queue(session, 0)
    [standing, duplicate] = grow(session, topic, ["same", "same"])
    ada = member(session, "ada")
    topic.owner_id = ada
    [item] = take(session, ada, topic)
    session.execute(update(Assignment).where(Assignment.judge_id == ada).values(purpose=Purpose.ADJUDICATION))
    judge(session, ada, [item], 2)
    rows = {row.pool_item_id: row for row in said(session)}
    assert {item: (row.by_owner, row.adjudicates) for item, row in rows.items()} == {
        standing: (True, True),
        duplicate: (True, True),
    }
    assert sorted(row.is_carried for row in rows.values()) == [False, True]


def test_only_accepted_topics_and_those_asked_for(session: Session) -> None:
    one, two = queue(session, 1, 1)
    jo = member(session, "jo")
    for topic in (one, two):
        judge(session, jo, take(session, jo, topic), 1)
    other = add_topic(session, session.scalars(select(Collection).where(Collection.slug == SLUG)).one(), "3")
    assert items_of(session, other) == []
    rows = opinions(session, one.collection_id, machines=False, topics=[two.id, other.id])
    assert [row.topic_id for row in rows] == [two.id]
    assert opinions(session, one.collection_id, machines=False, topics=[]) == []
    session.execute(update(Topic).where(Topic.id == two.id).values(state="dropped"))
    assert [row.topic_id for row in said(session)] == [one.id]
