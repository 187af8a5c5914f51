"""Judgements of hits: each document is assigned to the judge and stored once, or refused by itself."""

from dataclasses import replace

from build import NOW, SLUG, member, pooled_news
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage import Assignment, Contribution, Judgement
from annotator.storage.judging.leases import Decision
from annotator.workflows.collections.collection import CollectionChange, change_collection, close_collection
from annotator.workflows.documents import search
from annotator.workflows.judging import found_documents
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.found_documents import RecordedFound


def hit(id_: str, docno: str, grade: int = 1) -> Act:
    return Act(id_, 0, Decision(grade, None, "", None), topic="1", docno=docno)


def sent(session: Session, judge: int, *acts: Act, query: str = "text") -> RecordedFound:
    queries = {act.id: query for act in acts}
    return found_documents.record_found(session, SLUG, "1", judge, acts, queries, received_at=NOW)


def begun(session: Session) -> int:
    pooled_news(session)
    search.index_some(session, several=search.words_to_index(session))
    change_collection(session, SLUG, CollectionChange(judges_search=True))
    return member(session, "jo")


def test_a_hit_is_assigned_and_judged_once_however_often_it_arrives(session: Session) -> None:
    judge = begun(session)
    done = sent(session, judge, hit("g1", "e", 2))
    assert (done.recorded.acknowledged, done.recorded.refused, done.queries) == (("g1",), (), ("text",))
    again = sent(session, judge, hit("g1", "e", 2))
    assert (again.recorded.acknowledged, again.queries) == (("g1",), ())
    assert session.scalars(select(Judgement.grade)).all() == [2]
    found = select(func.count()).select_from(Contribution).where(Contribution.searched_by_id == judge)
    assert session.scalars(found).one() == 1


def test_a_judgement_of_a_hit_is_withdrawn(session: Session) -> None:
    judge = begun(session)
    sent(session, judge, hit("g1", "e"))
    withdrawal = replace(hit("w1", "e"), decision=None, withdraws="g1")
    assert sent(session, judge, withdrawal).recorded.acknowledged == ("w1",)
    assert session.scalars(select(Judgement.cannot_judge).order_by(Judgement.id)).all() == [None, "withdrawn"]


def test_each_hit_is_refused_by_itself_and_nothing_of_it_is_stored(session: Session) -> None:
    judge = begun(session)
    acts = (hit("g1", "nowhere"), hit("g2", "a"), replace(hit("g3", "b"), topic="2"))
    recorded = sent(session, judge, *acts).recorded
    assert (recorded.acknowledged, [one.id for one in recorded.refused]) == (("g2",), ["g1", "g3"])
    assert [one.id for one in sent(session, judge, hit("g4", "e"), query="zebra").recorded.refused] == ["g4"]
    assert session.scalars(select(func.count()).select_from(Assignment)).one() == 1


def test_what_was_stored_is_acknowledged_after_judging_has_ended(session: Session) -> None:
    judge = begun(session)
    sent(session, judge, hit("g1", "e"))
    close_collection(session, SLUG)
    recorded = sent(session, judge, hit("g1", "e"), hit("g2", "a")).recorded
    assert (recorded.acknowledged, [one.id for one in recorded.refused]) == (("g1",), ["g2"])
