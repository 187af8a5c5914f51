"""Documents of a topic with the same text: one is judged, the others carry its judgements and are never drawn."""

from datetime import timedelta

import pytest
from build import LIMIT, NOW, SLUG, document_file, labels, member, pooled_news, user
from queues import free, grades, grow, items_of, judge, queue, retext, take
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage import Assignment, Collection, Database, Document, Judgement, PoolItem, Purpose, Topic
from annotator.storage.judging.duplicates import carry_over, standing_item
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.leases import give_back
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.agreement import agreement
from annotator.workflows.documents import documents, search_adding
from annotator.workflows.pools import pool_planning, pools


def duplicates(session: Session, topic: Topic) -> dict[int, int]:
    """Duplicate → the item that stands for it."""
    return {item.id: item.duplicate_of_id for item in items_of(session, topic) if item.duplicate_of_id is not None}


def settle(session: Session, topic: Topic) -> None:
    settle_needs(session, topic.collection_id, [topic.id])


def purposes(session: Session, item: int) -> list[tuple[str, str]]:
    rows = session.execute(
        select(Assignment.purpose, Assignment.state).where(Assignment.pool_item_id == item).order_by(Assignment.id)
    )
    return [(purpose, state) for purpose, state in rows]


def test_one_of_three_with_the_same_text_is_drawn_and_the_others_carry_its_grade(session: Session) -> None:
    [topic] = queue(session, 1)
    first, second, other, third = grow(session, topic, ["same", "same", "another", "same"])
    jo = user(session)
    assert duplicates(session, topic) == {second: first, third: first}
    assert {first, other} <= set(take(session, jo, topic))
    assert free(session, user(session, "kim"), topic) == []
    judge(session, jo, [first, other], 2)
    assert [grades(session, item) for item in (first, second, third)] == [
        {jo: (2, False)},
        {jo: (2, True)},
        {jo: (2, True)},
    ]
    assert purposes(session, second) == [("carried", "done")]
    assert session.scalars(select(PoolItem.taken).where(PoolItem.id.in_([second, third]))).all() == [0, 0]


def test_a_carried_judgement_says_what_its_own_says_and_no_more(session: Session) -> None:
    [topic] = queue(session, 0)
    _, second = grow(session, topic, ["same", "same"])
    jo = user(session)
    judge(session, jo, take(session, jo, topic), None, at=NOW + timedelta(minutes=3))
    rows = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    assert [row.client_id for row in rows] == [f"said-{jo}-0", f"said-{jo}-0~{second}"]
    own, carried = rows
    assert (carried.pool_item_id, carried.judge_id, carried.carried_from_id) == (second, jo, own.id)
    assert (carried.grade, carried.cannot_judge, carried.judged_at) == (None, "broken", own.judged_at)
    assert (carried.note, carried.seconds, carried.sequence, carried.tab) == ("", None, None, "")


def test_a_changed_mind_is_carried_over_and_history_kept(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second = grow(session, topic, ["same", "same"])
    jo = user(session)
    take(session, jo, topic)
    for grade in (0, 2, None):
        judge(session, jo, [first], grade)
    rows = session.scalars(select(Judgement).where(Judgement.pool_item_id == second).order_by(Judgement.id)).all()
    assert [(row.grade, row.current) for row in rows] == [(0, False), (2, False), (None, True)]
    assert [row.replaces_id for row in rows] == [None, rows[0].id, rows[1].id]
    assert len({row.assignment_id for row in rows}) == 1


def test_carrying_over_twice_is_as_once(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second = grow(session, topic, ["same", "same"])
    jo = user(session)
    judge(session, jo, take(session, jo, topic))
    own = session.scalars(select(Judgement).where(Judgement.pool_item_id == first)).one()
    carry_over(session, [own.client_id])
    carry_over(session, session.scalars(select(Judgement.client_id)).all())
    settle(session, topic)
    assert session.scalar(select(func.count()).select_from(Judgement)) == 2
    own.current = False
    carry_over(session, [own.client_id])
    assert grades(session, second) == {jo: (1, True)}


def test_each_judge_of_the_one_is_carried_to_the_others(session: Session) -> None:
    [topic] = queue(session, 0, judgements_wanted=2)
    _, second = grow(session, topic, ["same", "same"])
    judges = [user(session, name) for name in ("jo", "kim")]
    for grade, who in enumerate(judges):
        judge(session, who, take(session, who, topic), grade)
    assert grades(session, second) == {judges[0]: (0, True), judges[1]: (1, True)}


def test_the_same_text_in_two_topics_is_judged_in_both(session: Session) -> None:
    first, second = queue(session, 0, 0)
    [one] = grow(session, first, ["same"])
    [other] = grow(session, second, ["same"])
    assert (standing_item(session, one), standing_item(session, other)) == (one, other)


@pytest.mark.parametrize("text", ["", None])
def test_documents_without_text_repeat_nothing(session: Session, text: str | None) -> None:
    [topic] = queue(session, 0)
    ids = grow(session, topic, ["", ""])
    session.execute(update(Document).values(body=text, **({} if text == "" else {"text_hash": None})))
    settle(session, topic)
    assert duplicates(session, topic) == {}
    assert len(take(session, user(session), topic)) == len(ids)


def test_what_joins_later_repeats_what_was_judged_and_carries_it_at_once(session: Session) -> None:
    [topic] = queue(session, 0, judgements_wanted=2)
    [first] = grow(session, topic, ["same"])
    jo, kim = user(session), user(session, "kim")
    for who, grade in ((jo, 0), (kim, 2)):
        judge(session, who, take(session, who, topic), grade)
    [second] = grow(session, topic, ["same"])
    assert duplicates(session, topic) == {second: first}
    assert grades(session, second) == {jo: (0, True), kim: (2, True)}


def test_the_one_that_was_drawn_first_stands_and_what_others_hold_stays_theirs(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second, third, fourth = grow(session, topic, ["1", "2", "3", "4"])
    jo, kim = user(session), user(session, "kim")
    drawn = [take(session, who, topic, 1)[0] for who in (jo, kim)]
    rest = sorted({first, second, third, fourth} - set(drawn))
    for item in (first, second, third, fourth):
        retext(session, item, "same")
    settle(session, topic)
    assert duplicates(session, topic) == dict.fromkeys(rest, drawn[0])
    judge(session, kim, [drawn[1]], 2)
    judge(session, jo, [drawn[0]], 1)
    assert grades(session, drawn[1]) == {kim: (2, False)}
    assert grades(session, rest[0]) == {jo: (1, True)}


def test_a_test_question_stands_for_others_and_is_never_a_duplicate(session: Session) -> None:
    [topic] = queue(session, 0)
    first, question = grow(session, topic, ["1", "2"])
    session.execute(update(PoolItem).where(PoolItem.id == question).values(known_grade=1, for_everyone=True))
    for item in (first, question):
        retext(session, item, "same")
    settle(session, topic)
    assert duplicates(session, topic) == {first: question}


def test_a_duplicate_wants_nobody_and_takes_no_place_of_the_share_or_of_those_for_everyone(session: Session) -> None:
    [topic] = queue(session, 0, overlap_share=50, common_items=1)
    grow(session, topic, ["same"] * 4 + [None] * 5)
    assert len(duplicates(session, topic)) == 3
    marks = [
        (item.for_everyone, item.is_overlap, item.judgements_wanted, item.duplicate_of_id is None)
        for item in items_of(session, topic)
    ]
    assert [mark for mark in marks if not mark[3]] == [(False, False, 0, False)] * 3
    assert [mark[:3] for mark in marks if mark[3]] == [(True, False, 1)] + [(False, True, 2)] * 3 + [
        (False, False, 1)
    ] * 2


def test_a_text_that_changes_lets_a_duplicate_go_and_what_it_carried_counts_no_more(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second = grow(session, topic, ["same", "same"])
    jo = user(session)
    judge(session, jo, take(session, jo, topic))
    retext(session, second, "another")
    settle(session, topic)
    assert duplicates(session, topic) == {}
    assert grades(session, second) == {}
    assert take(session, jo, topic) == [second]
    give_back(session, Assignment.judge_id == jo)
    retext(session, second, "same")
    settle(session, topic)
    assert duplicates(session, topic) == {second: first}
    assert grades(session, second) == {jo: (1, True)}


def test_when_what_stood_for_others_changes_they_find_one_among_themselves(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second, third = grow(session, topic, ["same"] * 3)
    retext(session, first, "another")
    settle(session, topic)
    assert duplicates(session, topic) == {third: second}


def test_two_groups_that_become_one_have_one_that_stands(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second, third, fourth = grow(session, topic, ["x", "x", "y", "y"])
    assert duplicates(session, topic) == {second: first, fourth: third}
    for item in (third, fourth):
        retext(session, item, "x")
    settle(session, topic)
    assert duplicates(session, topic) == dict.fromkeys((second, third, fourth), first)


def test_texts_that_are_imported_make_duplicates(session: Session) -> None:
    pooled_news(session)
    lines = b"a\tT\tThe same.\nb\tT\tThe same.\n"
    read = documents.read_documents([InputFile("d.tsv", lines)], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)
    topic = session.scalars(select(Topic).where(Topic.number == "1")).one()
    assert len(duplicates(session, topic)) == 1
    document_file(session, ["a"])
    assert duplicates(session, topic) == {}


def test_agreement_counts_what_was_said_and_not_what_was_carried_over(session: Session) -> None:
    [topic] = queue(session, 2, judgements_wanted=2)
    grow(session, topic, ["same"] * 5)
    for name in ("jo", "kim"):
        who = user(session, name)
        judge(session, who, take(session, who, topic))
    [pair] = agreement.agreement_report(session, SLUG).pairs
    assert sum(map(sum, pair.confusion)) == 3


def test_a_duplicate_is_complete_when_what_stands_for_it_is_and_misses_nothing(session: Session) -> None:
    [topic] = queue(session, 0, judgements_wanted=2)
    grow(session, topic, ["same"] * 3)
    seen = []
    for name in ("jo", "kim", "lee"):
        [row] = pools.pool_progress(session, SLUG)
        seen.append((row.items, row.judged, row.complete))
        who = user(session, name)
        judge(session, who, take(session, who, topic))
    assert seen == [(3, 0, 0), (3, 3, 0), (3, 3, 3)]


def test_planning_counts_the_overlap_and_no_judgement_of_a_duplicate(session: Session) -> None:
    pooled_news(session)
    collection = session.scalars(select(Collection)).one()
    collection.overlap_share = 50
    lines = b"a\tT\tThe same.\nb\tT\tThe same.\n"
    read = documents.read_documents([InputFile("d.tsv", lines)], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)
    settle_needs(session, collection.id, session.scalars(select(Topic.id)).all())
    plan = pool_planning.plan_pool(session, SLUG, PoolRequest("depth", {"depth": 10}))
    # Topic 1: c, d and one of a and b, of which round(1.5) have a second judge; topic 2: a and e, one of which has.
    assert (plan.missing, plan.total.complete) == (3 + 2 + 2 + 1, 0)
    assert plan.effort.judgements_wanted == 1.5


def test_labels_of_a_duplicate_stay_its_own_whatever_is_said_of_the_other(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second, third = grow(session, topic, ["same"] * 3)
    assert labels(session, "file", "1 0 d00002 2\n").added == 1
    file = session.scalars(select(Judgement.judge_id)).one()
    assert [grades(session, item) for item in (first, second, third)] == [{}, {file: (2, False)}, {}]
    assert labels(session, "file", "1 0 d00001 1\n", name="more").added == 1
    assert [grades(session, item) for item in (first, second, third)] == [
        {file: (1, False)},
        {file: (2, False)},
        {file: (1, True)},
    ]
    assert duplicates(session, topic) == {second: first, third: first}


def test_a_label_of_what_was_carried_is_the_judges_own_word_from_then_on(session: Session) -> None:
    [topic] = queue(session, 0)
    first, second = grow(session, topic, ["same"] * 2)
    labels(session, "file", "1 0 d00001 1\n")
    file = session.scalars(select(Judgement.judge_id).distinct()).one()
    come = labels(session, "file", "1 0 d00001 1\n1 0 d00002 1\n", name="more")
    assert (come.added, come.changed, come.known) == (1, 0, 1)
    assert purposes(session, second) == [(Purpose.FIRST, "done")]
    labels(session, "file", "1 0 d00001 0\n", name="changed")
    assert (grades(session, first), grades(session, second)) == ({file: (0, False)}, {file: (1, False)})
    assert session.scalars(select(PoolItem.taken).order_by(PoolItem.id)).all() == [1, 1]


def test_a_judge_who_finds_a_duplicate_judges_what_stands_for_it(session: Session) -> None:
    pooled_news(session)
    session.scalars(select(Collection)).one().judges_search = True
    lines = b"a\tT\tThe same.\nb\tT\tThe same.\n"
    read = documents.read_documents([InputFile("d.tsv", lines)], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)
    topic = session.scalars(select(Topic).where(Topic.number == "1")).one()
    [(duplicate, standing)] = duplicates(session, topic).items()
    docno = session.scalars(
        select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id).where(PoolItem.id == duplicate)
    ).one()
    taken = search_adding.take_for_judging(
        session, SLUG, topic="1", docno=docno, query="same", judge_id=member(session, "jo"), now=NOW
    )
    assert session.get_one(Assignment, taken).pool_item_id == standing


def test_judges_of_a_topic_do_not_wait_for_each_other_over_documents_with_duplicates(
    postgres_database: Database,
) -> None:
    with postgres_database.transaction() as session:
        [topic] = queue(session, 0)
        grow(session, topic, ["same", "same", "like", "like"])
        jo, kim = user(session), user(session, "kim")
        [one] = take(session, jo, topic, 1)
        [other] = take(session, kim, topic, 1)
    with postgres_database.transaction() as session:
        judge(session, jo, [one], 1)
        with postgres_database.transaction() as hers:
            hers.execute(text("SET LOCAL lock_timeout = '2s'"))
            judge(hers, kim, [other], 2)
    with postgres_database.reading() as session:
        assert [len(grades(session, item.id)) for item in items_of(session, topic)] == [1, 1, 1, 1]
