"""Adding what a search found: items like any other, who found them kept, nobody told more than they may know."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.pooling.ordering import judging_order
from annotator.storage import Assignment, Contribution, Document, Judgement, PoolItem, Role
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.documents import search, search_adding
from annotator.workflows.documents.search_adding import SESSION, AddedItems
from annotator.workflows.judging import judging, recording
from annotator.workflows.pools import pools
from annotator.workflows.topics import topic_editing

HOUR = timedelta(hours=1)


def add(
    session: Session, docnos: list[str], actor: int | None, *, query: str = "text", topic: str = "2", hours: float = 0
) -> AddedItems:
    return search_adding.add_found(
        session, SLUG, topic=topic, docnos=docnos, query=query, actor_id=actor, at=NOW + hours * HOUR
    )


def take(session: Session, docno: str, judge: int, *, topic: str = "2", query: str = "text", hours: float = 0) -> int:
    return search_adding.take_for_judging(
        session, SLUG, topic=topic, docno=docno, query=query, judge_id=judge, now=NOW + hours * HOUR
    )


def contributions(session: Session, docno: str, topic: str = "2") -> list[tuple[int | None, str | None, int | None]]:
    """Who found a document by which query, and which run has it."""
    topic_id = {"1": 1, "2": 2}[topic]
    rows = session.execute(
        select(Contribution.searched_by_id, Contribution.query, Contribution.run_id)
        .join(PoolItem, PoolItem.id == Contribution.pool_item_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Document.docno == docno, PoolItem.topic_id == topic_id)
        .order_by(Contribution.id)
    )
    return [(person, query, run_id) for person, query, run_id in rows]


def versions(session: Session) -> list[tuple[str, int]]:
    return [(version.strategy, version.added) for version in pools.pool_versions(session, SLUG)]


@pytest.fixture
def ola(session: Session) -> int:
    """The organiser of a pooled collection of topics 1 → a b c d and 2 → a e."""
    pooled_news(session)
    return member(session, "ola", Role.ORGANISER)


@pytest.fixture
def jo(session: Session, ola: int) -> int:
    """A judge of it who may search."""
    assert ola
    change_collection(session, SLUG, CollectionChange(judges_search=True))
    return member(session, "jo")


def test_what_was_found_is_pooled_with_who_found_it_and_how(session: Session, ola: int) -> None:
    assert add(session, ["b", "c"], ola, query="  text  OR title ") == AddedItems(version=2, added=2, already_pooled=0)
    assert pools.pooled_docnos(session, SLUG) >= {("2", "b"), ("2", "c")}
    assert contributions(session, "b") == [(ola, "text OR title", None)]


def test_what_is_pooled_already_keeps_that_it_was_found_once_a_person_and_query(session: Session, ola: int) -> None:
    kim = member(session, "kim", Role.ORGANISER)
    for actor, query in ((ola, "text"), (ola, "text"), (ola, "title"), (kim, "text"), (None, "text"), (None, "text")):
        assert add(session, ["e"], actor, query=query) == AddedItems(1, 0, 1)
    [by_run, *by_search] = contributions(session, "e")
    assert by_run[:2] == (None, None)
    assert by_search == [(ola, "text", None), (ola, "title", None), (kim, "text", None), (None, "text", None)]
    assert versions(session) == [("depth", 6)]


def test_a_session_of_searching_is_one_version(session: Session, ola: int) -> None:
    kim = member(session, "kim", Role.ORGANISER)
    assert add(session, ["b"], ola).version == 2
    assert add(session, ["c"], kim, query="title", hours=7).version == 2
    assert versions(session) == [("depth", 6), ("search", 2)]
    assert pools.pool_versions(session, SLUG)[1].parameters == {"queries": ["text", "title"]}


def test_another_day_or_another_building_of_the_pool_ends_it(session: Session, ola: int) -> None:
    add(session, ["b"], ola)
    assert add(session, ["c"], ola, hours=SESSION / HOUR).version == 3
    run(session, "gamma", {"1": ["e"]})
    assert pool(session).version == 4
    assert add(session, ["d"], ola, hours=9).version == 5
    assert versions(session) == [("depth", 6), ("search", 1), ("search", 1), ("depth", 1), ("search", 1)]


def test_a_pool_may_begin_with_a_search(session: Session) -> None:
    news(session)
    topic_file(session)
    document_file(session, ["b"])
    assert add(session, ["b"], None) == AddedItems(1, 1, 0)


def test_a_found_document_looks_like_any_other(session: Session, ola: int) -> None:
    change_collection(session, SLUG, CollectionChange(judgements_wanted=2))
    add(session, ["b"], ola)
    item = session.scalars(select(PoolItem).order_by(PoolItem.id.desc()).limit(1)).one()
    assert item.priority == judging_order(["b"], pools.pool_versions(session, SLUG)[0].seed, "2")[0]
    assert (item.judgements_wanted, item.taken, item.stratum, item.rate) == (2, 0, None, None)


@pytest.mark.parametrize(
    ("docnos", "query", "topic", "sentence"),
    [
        ([], "text", "2", "Choose 1 to 1000 documents"),
        (["b"], "text AND", "2", "AND at character 6 has nothing behind it"),
        (["b"], "text", "9", "There is no topic “9”"),
        (["b", "zz"], "text", "2", "There is no document “zz” with a text"),
        (["bodiless"], "text", "2", "There is no document “bodiless” with a text"),
    ],
)
def test_what_cannot_be_added_is_refused(
    session: Session, ola: int, docnos: list[str], query: str, topic: str, sentence: str
) -> None:
    run(session, "gamma", {"1": ["bodiless"]})
    with pytest.raises((InvalidValueError, NotFoundError), match=sentence):
        add(session, docnos, ola, query=query, topic=topic)
    assert versions(session) == [("depth", 6)]


def test_nothing_is_added_for_a_dropped_topic_or_in_a_closed_collection(session: Session, ola: int, jo: int) -> None:
    topic_editing.drop_topics(session, SLUG, ["2"], reason="nothing relevant")
    for refused in (lambda: add(session, ["b"], ola), lambda: take(session, "b", jo)):
        with pytest.raises(NotFoundError, match="There is no topic “2”"):
            refused()
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        add(session, ["b"], ola, topic="1")
    with pytest.raises(ConflictError, match="Judging has ended"):
        take(session, "b", jo, topic="1")


def test_a_judge_takes_what_they_found_and_judges_it(session: Session, jo: int) -> None:
    assignment = take(session, "b", jo)
    task = judging.open_task(session, SLUG, assignment, jo, now=NOW)
    assert (task.topic_number, task.docno, task.decision) == ("2", "b", None)
    recording.record_judgement(session, SLUG, assignment, jo, Decision(2), client_id="c", judged_at=NOW)
    assert contributions(session, "b") == [(jo, "text", None)]
    # The topic goes on with the rest of its queue, and the document is done.
    assert {row.number: row.judged for row in judging.topics_to_judge(session, SLUG, jo, now=NOW)}["2"] == 1
    item = session.get_one(PoolItem, session.scalars(select(Judgement.pool_item_id)).one())
    assert item.taken == item.judgements_wanted == 1


def test_a_judge_never_has_a_document_twice(session: Session, jo: int) -> None:
    first = take(session, "b", jo)
    assert take(session, "b", jo, query="title") == first
    recording.record_judgement(session, SLUG, first, jo, Decision(1), client_id="c", judged_at=NOW)
    assert take(session, "b", jo) == first
    assert len(session.scalars(select(Assignment)).all()) == 1
    assert contributions(session, "b") == [(jo, "text", None), (jo, "title", None)]


def test_a_pooled_document_is_taken_like_one_that_is_not(session: Session, jo: int) -> None:
    pooled, fresh = take(session, "e", jo), take(session, "b", jo)
    assert None not in {pooled, fresh}
    assert versions(session) == [("depth", 6), ("search", 1)]


def test_what_others_have_is_handed_out_once_more_so_that_no_refusal_tells_of_them(session: Session, jo: int) -> None:
    kim, lee = member(session, "kim"), member(session, "lee")
    theirs, own = take(session, "b", kim), take(session, "b", jo)
    assert own != theirs
    recording.record_judgement(session, SLUG, own, jo, Decision(1), client_id="c", judged_at=NOW)
    recording.record_judgement(session, SLUG, theirs, kim, Decision(0), client_id="d", judged_at=NOW)
    assert {row.number: row.waiting for row in judging.topics_to_judge(session, SLUG, lee, now=NOW)}["2"] == 2  # a e
    take(session, "b", lee)
    assert {row.number: row.waiting for row in judging.topics_to_judge(session, SLUG, lee, now=NOW)}["2"] == 3
    # Given back, it is nobody else's work.
    return_assignments(session, lee)
    assert {row.number: row.waiting for row in judging.topics_to_judge(session, SLUG, lee, now=NOW)}["2"] == 2


def test_only_what_the_query_finds_is_added_or_judged(session: Session, ola: int, jo: int) -> None:
    document_file(session, ["f"])
    for refused in (
        lambda: add(session, ["b", "c"], ola, query="b OR title NOT c"),
        lambda: take(session, "c", jo, query="text NOT c"),
        lambda: take(session, "e", jo, query="nowhere"),
    ):
        with pytest.raises(InvalidValueError, match=r"does not find document “[ce]”: search again"):
            refused()
    assert versions(session) == [("depth", 6)]
    assert contributions(session, "e")[1:] == contributions(session, "c") == []
    assert add(session, ["b", "f"], ola, query='"text of" NOT c').added == 2


def test_what_was_taken_goes_back_to_the_queue_like_any_other(session: Session, jo: int) -> None:
    take(session, "b", jo)
    assert return_assignments(session, jo) == 1
    kim = member(session, "kim")
    work = {row.number: row.waiting for row in judging.topics_to_judge(session, SLUG, kim, now=NOW)}
    assert work["2"] == 3
    assert take(session, "b", jo) > 0


def test_judges_take_only_where_the_organiser_lets_them_search(session: Session, ola: int) -> None:
    judge = member(session, "kim")
    assert ola
    with pytest.raises(NotAllowedError, match="has not let them search"):
        take(session, "b", judge)
    assert versions(session) == [("depth", 6)]


def test_what_a_judge_found_is_seen_as_pooled_by_organisers(session: Session, jo: int) -> None:
    take(session, "b", jo)
    pooled = {hit.docno for hit in search.find_documents(session, SLUG, "text", topic="2").hits if hit.pooled}
    assert pooled == {"a", "b", "e"}
