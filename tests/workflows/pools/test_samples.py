"""A sample with a budget: what is stored of the draw, that it can be drawn again, and what a second draw keeps."""

import hashlib

import pytest
from build import NOW, SLUG, document_file, run, user
from sampled_news import DOCNOS, LISTS, MACHINE, draw, grade_of_machine, machine_labels_of, sampled_news
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import Document, Pool, PoolItem, Stratum, Topic
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.agreement.machine_judges import mark_machine
from annotator.workflows.documents.search_adding import add_found
from annotator.workflows.pools.pool_building import build_pool
from annotator.workflows.pools.pool_planning import plan_pool
from annotator.workflows.pools.pool_replay import Difference, replay_choices
from annotator.workflows.pools.pools import with_usual
from annotator.workflows.pools.sample_drawing import machine_names


def newest(session: Session) -> Pool:
    return session.scalars(select(Pool).order_by(Pool.version.desc())).first() or pytest.fail("no pool")


def strata(session: Session, topic: str = "1") -> dict[int, tuple[list[str], int]]:
    """Of the newest version: number → docnos in the order of the draw, and how many were drawn."""
    docnos = {id_: docno for id_, docno in session.execute(select(Document.id, Document.docno))}
    rows = session.scalars(
        select(Stratum)
        .join(Topic, Topic.id == Stratum.topic_id)
        .where(Stratum.pool_id == newest(session).id, Topic.number == topic)
        .order_by(Stratum.number)
    )
    return {row.number: ([docnos[one] for one in decode_documents(row.documents).tolist()], row.drawn) for row in rows}


def test_strata_follow_ranks_and_grades_and_the_labels_are_hashed(session: Session) -> None:
    sampled_news(session)
    summary = draw(session, 30)
    assert (summary.is_new, summary.notices) == (True, ())
    pool = newest(session)
    lines = sorted(f"{topic} {docno} {grade_of_machine(docno)}\n" for topic in ("1", "2") for docno in DOCNOS)
    assert pool.parameters["machine_sha256"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert (pool.parameters["frame"], pool.parameters["unlabelled"]) == (64, 0)
    layout = {one["number"]: one for one in pool.parameters["layout"]}
    for topic in ("1", "2"):
        found = strata(session, topic)
        best = {
            docno: min(one[topic].index(docno) + 1 for one in LISTS.values() if docno in one[topic]) for docno in DOCNOS
        }
        assert sorted(docno for docnos, _ in found.values() for docno in docnos) == DOCNOS
        for number, (docnos, drawn) in found.items():
            about = layout[number]
            assert all(about["first"] <= best[docno] <= about["last"] for docno in docnos)
            assert "grade" not in about or all(grade_of_machine(docno) == about["grade"] for docno in docnos)
            assert 1 <= drawn <= len(docnos)
            assert number != 1 or drawn == len(docnos)
    assert sum(drawn for topic in ("1", "2") for _, drawn in strata(session, topic).values()) == 30
    rows = session.execute(select(PoolItem.stratum, PoolItem.rate).where(PoolItem.first_pool_id == pool.id)).all()
    assert rows == []  # all were pooled with the labels


def test_the_same_request_draws_nothing_again_and_a_larger_budget_draws_more(session: Session) -> None:
    sampled_news(session)
    draw(session, 30)
    before = strata(session)
    again = draw(session, 30)
    assert (again.is_new, again.version) == (False, 2)
    assert draw(session, 40).is_new
    after = strata(session)
    assert {number: docnos for number, (docnos, _) in after.items()} == {
        number: docnos for number, (docnos, _) in before.items()
    }
    assert all(after[number][1] >= drawn for number, (_, drawn) in before.items())
    assert replay_choices(session, SLUG).differences == ()
    assert replay_choices(session, SLUG, version=2).choices == 30


def test_documents_without_a_label_are_strata_of_their_own(session: Session) -> None:
    sampled_news(session, labelled=DOCNOS[:20])
    [notice] = draw(session, 30).notices
    assert str(notice) == (
        "The machine “llm” has no grade for 24 of the 64 documents that could be drawn. They are strata of their own, "
        "estimated from people's judgements alone."
    )
    without = [one["number"] for one in newest(session).parameters["layout"] if one.get("grade", 0) is None]
    docnos = [docno for number, (docnos, _) in strata(session).items() if number in without for docno in docnos]
    assert docnos
    assert not set(docnos) & set(DOCNOS[:20])


def test_a_late_run_brings_strata_of_its_own(session: Session) -> None:
    sampled_news(session)
    draw(session, 30)
    before = strata(session)
    run(session, "late", {"1": ["n1", "n2", "n3", *DOCNOS[:5]], "2": DOCNOS[:3]})
    summary = draw(session, 33)
    assert (
        "The sample of version 2 is kept and extended. Documents that it did not have, in strata of their own: 3."
        in (list(map(str, summary.notices)))
    )
    after = strata(session)
    assert all(after[number][0] == docnos for number, (docnos, _) in before.items())
    # Ranks 1 and 2 are certain, rank 3 has no label.
    new = {number: sorted(docnos) for number, (docnos, _) in after.items() if number not in before}
    assert list(new.values()) == [["n1", "n2"], ["n3"]]
    assert min(new) > max(before)
    assert replay_choices(session, SLUG).differences == ()
    assert replay_choices(session, SLUG, version=2).differences == ()


def test_what_a_search_found_is_certain(session: Session) -> None:
    sampled_news(session)
    document_file(session, ["s1", "d20"])
    for docno in ("s1", "d20"):
        add_found(session, SLUG, topic="1", docnos=[docno], query=docno, actor_id=user(session, docno), at=NOW)
    [found, *_] = draw(session, 30).notices
    assert str(found) == "Documents that adaptive choices or searches have found, judged in any case: 2."
    certain, drawn = strata(session)[1]
    assert {"s1", "d20"} <= set(certain)
    assert drawn == len(certain)


def test_a_topic_whose_runs_are_gone_keeps_its_sample(session: Session) -> None:
    sampled_news(session)
    run(session, "third", {"1": DOCNOS})
    draw(session, 30)
    before = strata(session, "2")
    draw_of_third = PoolRequest(
        "sample", {"budget": 40, "certainty_depth": 2, "bands": "10", "depth": 30, "machine": MACHINE}, tags=["third"]
    )
    build_pool(session, SLUG, draw_of_third, built_by_id=None, built_at=NOW)
    assert {number: docnos for number, (docnos, _) in strata(session, "2").items()} == {
        number: docnos for number, (docnos, _) in before.items()
    }


def test_a_sample_drawn_by_other_labels_is_not_repeated(session: Session) -> None:
    sampled_news(session)
    draw(session, 30)
    machine_labels_of(session, DOCNOS[:9], more=1)
    with pytest.raises(ConflictError, match="The labels of the machine “llm” were changed after version 2"):
        replay_choices(session, SLUG)


def test_a_replay_names_what_differs(session: Session) -> None:
    sampled_news(session)
    draw(session, 30)
    stratum = session.scalars(select(Stratum).where(Stratum.drawn > 1, Stratum.number > 1)).first()
    assert stratum is not None
    stratum.drawn -= 1
    session.flush()
    [difference] = replay_choices(session, SLUG).differences
    assert isinstance(difference, Difference)
    assert (difference.step, difference.docno, difference.run_replayed) == (stratum.number, "", None)
    assert difference.docno_replayed in DOCNOS


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ({"machine": "who"}, NotFoundError, "There is no user “who”."),
        ({"machine": "jo"}, InvalidValueError, "“jo” is a person, not a machine judge."),
        ({"machine": "idle"}, ConflictError, "The machine “idle” has graded no document of this collection yet."),
        ({"budget": 3}, InvalidValueError, "At least 1[0-9] documents must be judged: one of each of"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    session: Session, said: dict[str, str | int], error: type[Exception], message: str
) -> None:
    sampled_news(session)
    user(session, "jo")
    user(session, "idle")
    mark_machine(session, "idle", MachineFacts())
    with pytest.raises(error, match=message):
        draw(session, **{"budget": 30, **said})  # type: ignore[arg-type]  # numbers and names
    assert newest(session).version == 1


def test_the_plan_grows_with_the_budget_from_the_smallest(session: Session) -> None:
    sampled_news(session)
    request = PoolRequest("sample", {"budget": 30, "certainty_depth": 2, "bands": "10", "depth": 30})
    run(session, "late", {"1": ["n1", "n2", "n3"]})
    plan = plan_pool(session, SLUG, request)
    assert (plan.grows, plan.amounts[plan.asked]) == ("budget", 30)
    assert plan.total.size[plan.asked] == plan.total.size[0] == 64 + plan.total.added[plan.asked]
    assert plan.amounts[-1] == 60
    assert [one.only[plan.asked] for one in plan.runs if one.name == "late"] == [plan.total.added[plan.asked]]
    with pytest.raises(InvalidValueError, match="documents must be judged"):
        plan_pool(session, SLUG, PoolRequest("sample", {"budget": 2}))
    assert with_usual("sample", {}) == {"budget": 1000}


def test_machines_with_labels_are_offered(session: Session) -> None:
    sampled_news(session)
    assert machine_names(session, SLUG) == [MACHINE]
