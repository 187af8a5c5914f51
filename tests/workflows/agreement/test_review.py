"""Lists of documents that are reviewed one after the other: what is in them, in which order, and for whom."""

import pytest
from build import NOW, SLUG, labels, member, pooled_news
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage import Assignment, Collection, Document, Judgement, PoolItem, Role, Topic
from annotator.storage.agreement.review_lists import ItemKey
from annotator.storage.judging.leases import Decision
from annotator.workflows.agreement import review
from annotator.workflows.agreement.deciding import decide_disagreement
from annotator.workflows.agreement.disagreements import DisagreementFilter, disagreement_items, list_disagreements
from annotator.workflows.agreement.review import Reviewed

A = ItemKey("1", "a")


@pytest.fixture
def judged(session: Session) -> Session:
    """Topic 1: a is 0 and 2, b 1 and 2, c 1 and 1; topic 2: e by jo alone."""
    pooled_news(session, judgements_wanted=3)
    labels(session, "jo", "1 0 a 0\n1 0 b 1\n1 0 c 1\n2 0 e 2\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 2\n1 0 c 1\n", name="k.txt")
    return session


def keys(session: Session, items: tuple[int, ...]) -> list[str]:
    rows = session.execute(
        select(PoolItem.id, Topic.number, Document.docno)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
    )
    names = {id_: f"{topic}/{docno}" for id_, topic, docno in rows}
    return [names[item] for item in items]


def decide(session: Session, judge: int, docno: str, grade: int = 1) -> None:
    decide_disagreement(
        session, SLUG, "1", docno, judge, Decision(grade), client_id=f"{judge}-{docno}-{grade}", decided_at=NOW
    )


def test_disagreements_are_stepped_through_in_the_order_of_their_list_with_its_filter(judged: Session) -> None:
    for wanted in (DisagreementFilter(), DisagreementFilter(only_across=True), DisagreementFilter(judges=("jo",))):
        rows = [f"{row.topic}/{row.docno}" for row in list_disagreements(judged, SLUG, wanted)]
        assert keys(judged, disagreement_items(judged, SLUG, wanted)) == rows


def test_the_documents_of_one_judge_the_last_first_of_one_grade_or_topic(judged: Session) -> None:
    assert keys(judged, review.list_judged_items(judged, SLUG, "jo")) == ["2/e", "1/c", "1/b", "1/a"]
    assert keys(judged, review.list_judged_items(judged, SLUG, "jo", grade=1)) == ["1/c", "1/b"]
    assert keys(judged, review.list_judged_items(judged, SLUG, "jo", topic="2")) == ["2/e"]
    judged.execute(update(Judgement).where(Judgement.grade == 0).values(grade=None, cannot_judge="broken"))
    assert keys(judged, review.list_judged_items(judged, SLUG, "jo", grade="cannot")) == ["1/a"]
    with pytest.raises(NotFoundError, match="has judged nothing"):
        review.list_judged_items(judged, SLUG, "lee")


def test_gold_questions_missed_by_anybody_or_by_one_judge(judged: Session) -> None:
    judged.execute(update(PoolItem).values(known_grade=1))
    assert keys(judged, review.list_missed_gold(judged, SLUG)) == ["1/a", "1/b", "2/e"]
    assert keys(judged, review.list_missed_gold(judged, SLUG, "kim")) == ["1/a", "1/b"]
    judged.execute(update(PoolItem).values(known_grade=None))
    assert review.list_missed_gold(judged, SLUG) == ()


def test_an_organiser_sees_who_judged_what_and_the_neighbours(judged: Session) -> None:
    items = review.list_judged_items(judged, SLUG, "jo")
    one = review.open_reviewed(judged, SLUG, items, None, 2)
    assert (one.key, one.position, one.total) == (ItemKey("1", "c"), 2, 4)
    assert (one.previous, one.following) == (ItemKey("2", "e"), ItemKey("1", "b"))
    assert [(word.judge, word.decision.grade) for word in one.judgements] == [("jo", 1), ("kim", 1)]
    assert (one.topic.title, one.document.body) == ("first topic", "Text of c.")
    last = review.open_reviewed(judged, SLUG, items, A, 1)
    assert (last.position, last.previous, last.following) == (4, ItemKey("1", "b"), None)


def test_a_document_that_left_the_list_is_shown_between_those_at_its_place(judged: Session) -> None:
    wanted = DisagreementFilter(only_undecided=True)
    assert keys(judged, disagreement_items(judged, SLUG, wanted)) == ["1/a", "1/b"]
    decide(judged, member(judged, "eve", Role.ADJUDICATOR), "a")
    one = review.open_reviewed(judged, SLUG, disagreement_items(judged, SLUG, wanted), A, 1)
    assert (one.position, one.total, one.previous, one.following) == (None, 1, None, ItemKey("1", "b"))
    assert [(word.judge, word.adjudicates) for word in one.judgements][-1] == ("eve", True)


def test_an_empty_list_and_a_document_outside_the_pool_are_not_found(judged: Session) -> None:
    with pytest.raises(NotFoundError, match="No matching documents"):
        review.open_reviewed(judged, SLUG, (), None, 1)
    with pytest.raises(NotFoundError, match="in the pool of this topic"):
        review.open_reviewed(judged, SLUG, (), ItemKey("1", "zz"), 1)


def opened(session: Session, judge: int, key: ItemKey | None = None) -> Reviewed:
    return review.open_disputed(session, SLUG, review.list_disputed(session, SLUG, judge), key, 1, judge)


def test_an_adjudicator_steps_through_disputes_blind_and_keeps_their_place_after_deciding(judged: Session) -> None:
    eve = member(judged, "eve", Role.ADJUDICATOR)
    judged.execute(update(Judgement).values(note="Why not."))
    judged.execute(update(PoolItem).values(known_grade=1))
    one = opened(judged, eve, A)
    assert (one.judgements, one.known_grade, one.document.given, one.document.judgement) == ((), None, (), None)
    assert [(note.note, note.decision) for note in one.document.notes] == [("Why not.", None)] * 2
    before = one.position
    decide(judged, eve, "a", 2)
    again = opened(judged, eve, A)
    assert (again.position, again.total) == (before, 2)
    assert again.document.judgement is not None
    assert again.document.judgement.decision.grade == 2


def test_the_grades_do_not_order_the_disputes_unless_they_are_shown(judged: Session) -> None:
    eve = member(judged, "eve", Role.ADJUDICATOR)
    judged.execute(update(PoolItem).values(priority=1))
    worst = select(PoolItem.id).join(Document, Document.id == PoolItem.document_id).where(Document.docno == "a")
    judged.execute(update(PoolItem).where(PoolItem.id.in_(worst)).values(priority=2))
    assert keys(judged, review.list_disputed(judged, SLUG, eve)) == ["1/b", "1/a"]
    judged.execute(update(Collection).values(shows_grades=True))
    assert keys(judged, review.list_disputed(judged, SLUG, eve)) == ["1/a", "1/b"]
    assert review.list_disputed(judged, SLUG, eve, "2") == ()
    assert opened(judged, eve, A).document.given == (0, 2)


def test_who_judged_a_document_and_other_adjudicators_do_not_find_it(judged: Session) -> None:
    jo = member(judged, "jo", Role.ADJUDICATOR)
    assert review.list_disputed(judged, SLUG, jo) == ()
    eve, ann = member(judged, "eve", Role.ADJUDICATOR), member(judged, "ann", Role.ADJUDICATOR)
    decide(judged, eve, "a")
    assert keys(judged, review.list_disputed(judged, SLUG, ann)) == ["1/b"]
    with pytest.raises(NotFoundError, match="not in dispute"):
        opened(judged, ann, A)
    with pytest.raises(NotFoundError, match="not in dispute"):
        opened(judged, ann, ItemKey("1", "c"))


def test_reviewing_stores_nothing(judged: Session) -> None:
    eve = member(judged, "eve", Role.ADJUDICATOR)
    counts = [select(func.count()).select_from(table) for table in (Assignment, Judgement)]
    before = [judged.scalar(count) for count in counts]
    opened(judged, eve, A)
    review.open_reviewed(judged, SLUG, review.list_judged_items(judged, SLUG, "jo"), None, 1)
    assert [judged.scalar(count) for count in counts] == before
