"""Recording what a browser sends: each act by itself, once however often it comes, in its tab's order."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Assignment, CannotJudge, Evidence, Judgement, PoolItem
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.workflows.collections import collection
from annotator.workflows.judging import judging
from annotator.workflows.judging.act_decisions import LONGEST_WAIT, Act
from annotator.workflows.judging.recording import MOST_ACTS, Recorded, record_acts, record_judgement


def drawn(session: Session, judge: int, topic: str = "1") -> list[int]:
    """The judge's assignments of a topic in the order of showing, drawn if need be."""
    task = judging.next_task(session, SLUG, topic, judge, now=NOW)
    assert task is not None
    return [one.assignment_id for one in task.documents]


def send(session: Session, judge: int, *acts: Act, minutes: float = 0) -> Recorded:
    return record_acts(session, SLUG, judge, acts, received_at=NOW + timedelta(minutes=minutes))


def act(id_: str, assignment: int, grade: int = 1, *, sequence: int | None = None, tab: str = "t") -> Act:
    return Act(id_, assignment, Decision(grade), tab=tab, sequence=sequence)


def stored(session: Session) -> list[tuple[str, int | None, bool]]:
    """Id, grade and whether it counts, of every judgement in the order in which they were stored."""
    rows = session.execute(select(Judgement.client_id, Judgement.grade, Judgement.current).order_by(Judgement.id))
    return [(id_, grade, current) for id_, grade, current in rows]


def refusals(recorded: Recorded) -> list[tuple[str, type[Exception]]]:
    return [(refusal.id, type(refusal.error)) for refusal in recorded.refused]


def test_acts_are_stored_in_their_order_and_acknowledged(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, third, _ = drawn(session, jo)
    recorded = send(
        session,
        jo,
        act("a", first, 2, sequence=1),
        Act("b", second, Decision(None, CannotJudge.BROKEN, "only markup", 3.5), tab="t", sequence=2),
        Act("c", third, None, tab="t", sequence=3),
    )
    assert recorded == Recorded(("a", "b", "c"), ())
    assert stored(session) == [("a", 2, True), ("b", None, True)]
    last = session.scalars(select(Judgement).where(Judgement.client_id == "b")).one()
    assert (last.cannot_judge, last.note, last.seconds, last.tab, last.sequence) == (
        "broken",
        "only markup",
        3.5,
        "t",
        2,
    )
    states = {id_: state for id_, state in session.execute(select(Assignment.id, Assignment.state))}
    assert (states[first], states[second], states[third]) == ("done", "done", "later")


def test_nothing_sent_is_nothing_stored(session: Session) -> None:
    pooled_news(session)
    assert send(session, member(session, "jo")) == Recorded((), ())


def test_what_arrives_again_is_acknowledged_again_and_stored_once(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, *_ = drawn(session, jo)
    for _ in range(3):
        assert send(session, jo, act("a", first, 2)).acknowledged == ("a",)
    assert send(session, jo, act("a", first, 2), act("b", second), act("b", second)).acknowledged == ("a", "b", "b")
    assert stored(session) == [("a", 2, True), ("b", 1, True)]


@pytest.mark.parametrize(
    "other", [Decision(0), Decision(2, note="on second thoughts"), Decision(None, CannotJudge.BROKEN)]
)
def test_an_id_that_is_stored_with_another_decision_is_refused_and_the_first_stays(
    session: Session, other: Decision
) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    send(session, jo, act("a", first, 2))
    recorded = send(session, jo, Act("a", first, other), Act("a", first, Decision(2, seconds=9)))
    assert (recorded.acknowledged, refusals(recorded)) == (("a",), [("a", InvalidValueError)])
    assert "send a new id" in str(recorded.refused[0].error)
    assert stored(session) == [("a", 2, True)]
    collection.close_collection(session, SLUG)
    assert refusals(send(session, jo, Act("a", first, other))) == [("a", ConflictError)]


def test_evidence_alone_makes_no_other_decision(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    send(session, jo, act("a", first, 2))
    again = Act("a", first, Decision(2), evidence=(Passage(0, 4, "Text"),))
    assert send(session, jo, again) == Recorded(("a",), ())


def test_a_page_taken_back_twice_says_the_same_again_without_being_refused(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    for grade in (1, 2, 2, 1, 1):
        record_judgement(session, SLUG, first, jo, Decision(grade), client_id="page", judged_at=NOW)
    assert [(grade, current) for _, grade, current in stored(session)] == [(1, False), (2, False), (1, True)]


def test_what_can_be_stored_is_stored_beside_what_is_refused(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    first, second, third, fourth = drawn(session, jo)
    recorded = send(
        session,
        jo,
        act("good", first),
        act("outside", second, 7),
        act("forged", 4711),
        Act("both", third, Decision(1, CannotJudge.OTHER)),
        Act("long", third, Decision(1, note="n" * 10_001)),
        act("bad id", third),
        Act("evidence", third, Decision(1), evidence=(Passage(0, 1, "\0"),)),
        Act("much", third, Decision(1), evidence=(Passage(0, 1, "x"),) * 101),
        Act("guidelines", third, Decision(1), guidelines=3),
        act("tab", third, tab="no tab"),
        act("also-good", fourth),
    )
    assert recorded.acknowledged == ("good", "also-good")
    assert refusals(recorded) == [
        ("outside", InvalidValueError),
        ("forged", NotFoundError),
        *[(id_, InvalidValueError) for id_ in ("both", "long", "bad id", "evidence", "much", "guidelines", "tab")],
    ]
    assert [id_ for id_, _, _ in stored(session)] == ["good", "also-good"]
    assert refusals(send(session, kim, act("theirs", second))) == [("theirs", NotFoundError)]
    # An id of another judge's judgement, which nobody can guess, is refused as well.
    own = drawn(session, kim, "2")[0]
    assert refusals(send(session, kim, act("good", own))) == [("good", InvalidValueError)]


def test_of_very_many_acts_the_last_wait(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    acts = [act(f"a{number}", first, sequence=number) for number in range(MOST_ACTS + 20)]
    recorded = send(session, jo, *acts)
    assert (len(recorded.acknowledged), recorded.refused) == (MOST_ACTS, ())


def test_a_closed_collection_refuses_every_act(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, *_ = drawn(session, jo)
    collection.close_collection(session, SLUG)
    recorded = send(session, jo, act("a", first), Act("b", second, None))
    assert (recorded.acknowledged, refusals(recorded)) == ((), [("a", ConflictError), ("b", ConflictError)])


def test_what_was_stored_before_the_end_is_acknowledged_again(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    first, second, *_ = drawn(session, jo)
    send(session, jo, act("a", first))
    collection.close_collection(session, SLUG)
    recorded = send(session, jo, act("a", first), act("b", second))
    assert (recorded.acknowledged, refusals(recorded)) == (("a",), [("b", ConflictError)])
    assert send(session, kim, act("a", first)).acknowledged == ()


def test_a_page_sent_again_after_the_end_changes_nothing_and_any_other_is_refused(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    first = drawn(session, jo)[0]

    def page(judge: int, grade: int, client_id: str = "page") -> str:
        return record_judgement(session, SLUG, first, judge, Decision(grade), client_id=client_id, judged_at=NOW)

    page(jo, 1)
    page(jo, 2)
    before = stored(session)
    collection.close_collection(session, SLUG)
    assert page(jo, 2) == "1"
    for judge, grade, client_id in ((jo, 1, "page"), (jo, 2, "new"), (kim, 2, "page")):
        with pytest.raises(ConflictError, match="Judging has ended"):
            page(judge, grade, client_id)
    assert stored(session) == before


def test_an_assignment_of_another_collection_is_refused(session: Session) -> None:
    pooled_news(session)
    news(session, "other")
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    recorded = record_acts(session, "other", jo, [act("a", first)], received_at=NOW)
    assert refusals(recorded) == [("a", NotFoundError)]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        # A change of mind in one tab.
        ([("a", 1, 0, "t"), ("b", 2, 2, "t")], [("a", 0, False), ("b", 2, True)]),
        # The same two, of which the later one came first.
        ([("b", 2, 2, "t"), ("a", 1, 0, "t")], [("b", 2, True), ("a", 0, False)]),
        # Of two tabs whatever comes last counts.
        ([("b", 2, 2, "t"), ("a", 1, 0, "u")], [("b", 2, False), ("a", 0, True)]),
        # Without a tab or a number there is no order but that of arrival.
        ([("b", 2, 2, ""), ("a", 1, 0, "")], [("b", 2, False), ("a", 0, True)]),
        ([("b", 2, 2, "t"), ("a", None, 0, "t")], [("b", 2, False), ("a", 0, True)]),
    ],
)
@pytest.mark.parametrize("is_at_once", [True, False])
def test_the_order_of_a_tab_is_its_own(
    session: Session,
    sent: Sequence[tuple[str, int | None, int, str]],
    kept: Sequence[tuple[str, int, bool]],
    is_at_once: bool,  # noqa: FBT001 - a case
) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    acts = [act(id_, first, grade, sequence=sequence, tab=tab) for id_, sequence, grade, tab in sent]
    for several in [acts] if is_at_once else [[one] for one in acts]:
        assert len(send(session, jo, *several).acknowledged) == len(several)
    assert stored(session) == list(kept)


def test_what_replaces_what_is_kept(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    send(session, jo, act("a", first, 0, sequence=1), act("b", first, 1, sequence=3))
    send(session, jo, act("overtaken", first, 2, sequence=2))
    by_id = {one.client_id: one for one in session.scalars(select(Judgement))}
    assert by_id["b"].replaces_id == by_id["a"].id
    assert by_id["overtaken"].replaces_id is None
    assert session.get_one(PoolItem, by_id["a"].pool_item_id).taken == 1


@pytest.mark.parametrize(
    ("ago", "earlier"), [(0.0, 0.0), (90.0, 90.0), (-5.0, 0.0), (1e12, LONGEST_WAIT), (LONGEST_WAIT, LONGEST_WAIT)]
)
def test_a_judgement_was_made_when_it_was_and_not_when_it_came(session: Session, ago: float, earlier: float) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    send(session, jo, Act("a", first, Decision(1), ago=ago), minutes=5)
    judgement = session.scalars(select(Judgement)).one()
    received = NOW + timedelta(minutes=5)
    assert (judgement.received_at, judgement.judged_at) == (received, received - timedelta(seconds=earlier))


def test_evidence_is_kept_with_its_judgement_and_shown_with_it(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = drawn(session, jo)[0]
    passages = (Passage(0, 4, "Text"), Passage(8, 9, "a"))
    send(session, jo, Act("a", first, Decision(1), evidence=passages))
    kept = session.execute(select(Evidence.start, Evidence.end, Evidence.text).order_by(Evidence.id))
    assert [Passage(*row) for row in kept] == list(passages)
    shown, previous = judging.open_document(session, SLUG, first, jo)
    assert shown.judgement is not None
    assert (shown.judgement.decision, shown.judgement.evidence, previous) == (Decision(1), passages, None)


def test_putting_off_what_is_judged_or_given_back_changes_nothing(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, *_ = drawn(session, jo)
    send(session, jo, act("a", first))
    return_assignments(session, jo)
    recorded = send(session, jo, Act("b", first, None), Act("c", second, None))
    assert recorded == Recorded(("b", "c"), ())
    session.expire_all()
    states = {id_: state for id_, state in session.execute(select(Assignment.id, Assignment.state))}
    assert (states[first], states[second]) == ("done", "returned")


def test_a_judge_who_was_removed_in_mid_work_has_what_they_sent_before(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, *_ = drawn(session, jo)
    send(session, jo, act("a", first))
    return_assignments(session, jo)
    # Recording itself stores what comes late; that they judge no longer is told before it is asked.
    assert send(session, jo, act("b", second)).acknowledged == ("b",)
    late = select(Judgement.client_id, Judgement.late).order_by(Judgement.id)
    assert session.execute(late).all() == [("a", False), ("b", True)]


def test_what_is_said_of_a_document_is_said_of_those_with_the_same_text(session: Session) -> None:
    news(session)
    topic_file(session, "1\tone\n")
    document_file(session, ["a"])
    session.flush()
    run(session, "r", {"1": ["a", "b"]})
    pool(session)
    original, copy = session.scalars(select(PoolItem).order_by(PoolItem.id))
    copy.duplicate_of_id, copy.judgements_wanted = original.id, 0
    session.flush()
    jo = member(session, "jo")
    [first] = drawn(session, jo)
    send(session, jo, act("a", first, 1))
    send(session, jo, act("b", first, 2))
    current = select(Judgement.pool_item_id, Judgement.grade, Judgement.carried_from_id.is_not(None))
    assert sorted(map(tuple, session.execute(current.where(Judgement.current)))) == [
        (original.id, 2, False),
        (copy.id, 2, True),
    ]


def test_labels_that_were_imported_are_replaced_by_what_is_judged(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    jo = member(session, "jo")
    labels(session, "jo", "1 0 a 2\n")
    own = select(Assignment.id).where(Assignment.judge_id == jo)
    send(session, jo, act("x", session.scalars(own).one(), 0))
    assert [(grade, current) for _, grade, current in stored(session)] == [(2, False), (0, True)]
