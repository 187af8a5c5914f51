"""What acts come to, without a database: which judgements are stored, current, refused, and what else changes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judgement_writing import Changes, NewJudgement, Passage
from annotator.storage.judging.judging_state import JudgingState, LatestJudgement, OwnAssignment, StoredJudgement
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import AssignmentState, CannotJudge, Purpose
from annotator.workflows.judging.act_decisions import (
    LONGEST_NOTE,
    LONGEST_SECONDS,
    LONGEST_WAIT,
    MOST_PASSAGES,
    Act,
    Outcome,
    decide,
    decide_closed,
    id_of_page_again,
    own_assignment,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
JO, KIM = 7, 8
TOPIC = 1
LIVE, LATER, DONE, RETURNED = AssignmentState
NO_TEXT = Decision(None, CannotJudge.NO_TEXT)


def assignment(
    id_: int, item: int, state: str = LIVE, purpose: str = Purpose.FIRST, *, has_duplicates: bool = False
) -> OwnAssignment:
    return OwnAssignment(id_, item, TOPIC, state, NOW, purpose, has_duplicates, "T1", f"d{item}")


def state_of(
    *assignments: OwnAssignment,
    current: dict[int, LatestJudgement] | None = None,
    shown_again: dict[int, LatestJudgement] | None = None,
    stored: Sequence[StoredJudgement] = (),
    with_text: Sequence[int] = (),
) -> JudgingState:
    """Jo's assignments, with grades 0 to 2 and versions 1 and 2 of the guidelines."""
    return JudgingState(
        JO,
        {one.id: one for one in assignments},
        current or {},
        shown_again or {},
        frozenset({0, 1, 2}),
        {1: 101, 2: 102},
        {one.client_id: one for one in stored},
        frozenset(with_text),
    )


def decided(state: JudgingState, *acts: Act, queue: Queue = Queue.JUDGING) -> Outcome:
    return decide(state, acts, NOW, queue)


def judged(state: JudgingState, *acts: Act) -> list[NewJudgement]:
    """The judgements that are stored of acts of which none is refused."""
    outcome = decided(state, *acts)
    assert outcome.refused == ()
    return outcome.changes.judgements


def grade(id_: str, assignment_id: int, value: int = 1, *, tab: str = "t", sequence: int | None = None) -> Act:
    return Act(id_, assignment_id, Decision(value), tab=tab, sequence=sequence)


def test_a_judgement_is_stored_with_what_came_with_it_and_finishes_its_assignment() -> None:
    act = Act("a", 1, Decision(2, None, "note", 3.5), "t", 4, 1, (Passage(0, 4, "Text"),), 60.0)
    outcome = decided(state_of(assignment(1, 11)), act)
    assert (outcome.acknowledged, outcome.refused, outcome.duplicated, outcome.unrepeated) == (("a",), (), (), ())
    minute_ago = NOW - timedelta(minutes=1)
    stored = NewJudgement("a", 1, 11, JO, 2, None, minute_ago, NOW, 101, False, "note", 3.5, "t", 4)  # noqa: FBT003
    assert outcome.changes == Changes([stored], {}, [("a", Passage(0, 4, "Text"))], [], {1: DONE}, {}, {TOPIC})


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (grade("a b", 1), InvalidValueError, "id has 1 to 64"),
        (grade("a", 9), NotFoundError, "no such assignment"),
        (grade("a", 2), NotFoundError, "no such assignment"),
        (grade("a", 1, 3), InvalidValueError, "3 is not a grade"),
        (Act("a", 1, Decision(None)), InvalidValueError, "either a grade or a reason"),
        (Act("a", 1, Decision(1, CannotJudge.OTHER)), InvalidValueError, "either a grade or a reason"),
        (Act("a", 1, Decision(1), tab="t t"), InvalidValueError, "tab's name"),
        (Act("a", 1, Decision(1, note="x" * (LONGEST_NOTE + 1))), InvalidValueError, ""),
        (Act("a", 1, Decision(1), guidelines=3), InvalidValueError, "no version 3"),
        (
            Act("a", 1, Decision(1), evidence=(Passage(0, 1, "x"),) * (MOST_PASSAGES + 1)),
            InvalidValueError,
            "at most 100 passages",
        ),
        (
            Act("a", 1, Decision(1), evidence=(Passage(4, 3, "x"),)),
            InvalidValueError,
            "A passage ends after it begins, not at 3 before 4.",
        ),
        (grade("mine", 1, 2), InvalidValueError, "send a new id"),
        (grade("other", 1), InvalidValueError, "belongs to another"),
        (grade("theirs", 1), InvalidValueError, "belongs to another"),
    ],
)
def test_what_is_refused_changes_nothing(act: Act, error: type[AnnotatorError], message: str) -> None:
    stored = [
        StoredJudgement("mine", 11, JO, 1, None, ""),
        StoredJudgement("other", 12, JO, 1, None, ""),
        StoredJudgement("theirs", 11, KIM, 1, None, ""),
    ]
    state = state_of(assignment(1, 11), assignment(2, 12, LIVE, Purpose.ADJUDICATION), stored=stored)
    outcome = decided(state, act)
    assert (outcome.acknowledged, outcome.changes) == ((), Changes())
    [refusal] = outcome.refused
    assert (refusal.id, type(refusal.error)) == (act.id, error)
    assert message in str(refusal.error)


def test_each_act_is_refused_by_itself() -> None:
    outcome = decided(state_of(assignment(1, 11), assignment(2, 12)), grade("a", 1), grade("b", 9), grade("c", 2))
    assert (outcome.acknowledged, [one.id for one in outcome.refused]) == (("a", "c"), ["b"])


@pytest.mark.parametrize(("number", "row"), [(None, 102), (0, None), (1, 101), (2, 102)])
def test_the_version_of_the_guidelines_is_the_one_named_or_the_newest(number: int | None, row: int | None) -> None:
    [one] = judged(state_of(assignment(1, 11)), Act("a", 1, Decision(1), guidelines=number))
    assert one.guideline_version_id == row


def test_times_are_kept_within_bounds() -> None:
    acts = [
        Act("a", 1, Decision(1, seconds=-1.0), ago=-5.0),
        Act("b", 1, Decision(1, seconds=2 * LONGEST_SECONDS), ago=2 * LONGEST_WAIT),
    ]
    first, second = judged(state_of(assignment(1, 11)), *acts)
    assert (first.seconds, first.judged_at) == (0.0, NOW)
    assert (second.seconds, second.judged_at) == (LONGEST_SECONDS, NOW - timedelta(seconds=LONGEST_WAIT))


@pytest.mark.parametrize(
    ("sequence", "tab", "is_current"),
    [(5, "t", True), (2, "t", False), (3, "t", True), (2, "u", True), (None, "t", True), (2, "", True)],
)
def test_an_earlier_judgement_of_the_same_tab_is_stored_and_replaces_nothing(
    *, sequence: int | None, tab: str, is_current: bool
) -> None:
    state = state_of(assignment(1, 11, DONE), current={11: LatestJudgement(50, "t", 3, "old")})
    [one] = judged(state, grade("a", 1, tab=tab, sequence=sequence))
    assert (one.current, one.replaces_id) == (is_current, 50 if is_current else None)


def test_of_several_judgements_of_a_document_in_one_request_the_last_is_current() -> None:
    state = state_of(assignment(1, 11), current={11: LatestJudgement(50, "", None, "old")})
    outcome = decided(state, grade("a", 1, 0), grade("b", 1, 1), grade("c", 1, 2))
    assert [(one.client_id, one.current, one.replaces_id) for one in outcome.changes.judgements] == [
        ("a", False, 50),
        ("b", False, None),
        ("c", True, None),
    ]
    assert outcome.changes.follows == {"b": "a", "c": "b"}


def test_a_document_that_is_shown_again_replaces_what_was_judged_at_that_showing_and_is_never_current() -> None:
    state = state_of(
        assignment(1, 11, LIVE, Purpose.RE_SHOWN),
        current={11: LatestJudgement(50, "t", 1, "old")},
        shown_again={1: LatestJudgement(60, "t", 2, "old")},
    )
    [one] = judged(state, grade("a", 1, sequence=3))
    assert (one.current, one.replaces_id) == (False, 60)


def test_only_what_is_in_hand_can_be_put_off() -> None:
    state = state_of(*(assignment(number, number, each) for number, each in enumerate(AssignmentState, start=1)))
    outcome = decided(state, *(Act(f"a{number}", number, None) for number in (1, 2, 3, 4)))
    assert len(outcome.acknowledged) == 4
    assert outcome.changes == Changes(put_off=[1])


@pytest.mark.parametrize(
    ("purpose", "others", "places", "states"),
    [
        (Purpose.FIRST, [], {11: 1}, {1: DONE}),
        (Purpose.OVERLAP, [], {11: 1}, {1: DONE}),
        (Purpose.RE_SHOWN, [], {}, {1: DONE}),
        (Purpose.CARRIED, [], {}, {1: DONE}),
        # As an adjudicator the judge has it in hand, and nobody has an item twice.
        (Purpose.FIRST, [assignment(2, 11, LIVE, Purpose.ADJUDICATION)], {}, {}),
        # The newer hold of the same kind is judged instead.
        (Purpose.FIRST, [assignment(2, 11)], {}, {2: DONE}),
    ],
)
def test_a_late_judgement_takes_a_place_again(
    purpose: str, others: list[OwnAssignment], places: dict[int, int], states: dict[int, AssignmentState]
) -> None:
    outcome = decided(state_of(assignment(1, 11, RETURNED, purpose), *others), grade("a", 1))
    assert (outcome.changes.places, outcome.changes.states) == (places, states)
    assert outcome.changes.judgements[0].late == (2 not in states)


@pytest.mark.parametrize(
    ("held", "with_text", "is_reopened"),
    [(RETURNED, [11], True), (DONE, [11], True), (LIVE, [11], False), (LATER, [11], False), (RETURNED, [], False)],
)
def test_a_document_that_got_its_text_meanwhile_is_to_be_judged_again(
    *, held: str, with_text: list[int], is_reopened: bool
) -> None:
    state = state_of(assignment(1, 11, held), current={11: LatestJudgement(50, "", None, "old")}, with_text=with_text)
    outcome = decided(state, Act("a", 1, NO_TEXT))
    [one] = outcome.changes.judgements
    assert (one.current, one.replaces_id) == (not is_reopened, 50)
    assert outcome.unrepeated == ((50,) if is_reopened else ())
    taken = (held == RETURNED) - is_reopened
    assert outcome.changes.places.get(11, 0) == taken
    left = RETURNED if is_reopened else DONE
    assert outcome.changes.states == ({} if left == held else {1: left})


def test_what_others_repeat_is_carried_over_as_far_as_it_is_current() -> None:
    state = state_of(assignment(1, 11, has_duplicates=True), assignment(2, 12))
    assert decided(state, grade("a", 1), grade("b", 1), grade("c", 2)).duplicated == ("b",)


@pytest.mark.parametrize(("held", "soonest"), [(LIVE, NOW), (LATER, NOW), (DONE, None), (RETURNED, None)])
def test_only_what_is_held_has_a_lease_to_renew(held: str, soonest: datetime | None) -> None:
    assert state_of(assignment(1, 11, held)).earliest_lease() == soonest


def test_an_adjudicator_has_their_own_assignments_and_a_judge_all_others() -> None:
    own = {one.id: one for one in (assignment(1, 11), assignment(2, 12, DONE, Purpose.ADJUDICATION))}
    found = {queue: [own_assignment(own, id_, queue) for id_ in own] for queue in Queue}
    assert found == {Queue.JUDGING: [own[1], None], Queue.ADJUDICATION: [None, own[2]]}


def test_when_judging_has_ended_what_was_stored_is_acknowledged_again() -> None:
    stored = {
        "a": StoredJudgement("a", 11, JO, 1, None, ""),
        "b": StoredJudgement("b", 11, JO, 1, None, ""),
        "c": StoredJudgement("c", 11, KIM, 1, None, ""),
    }
    closed = ConflictError("closed")
    acts = [grade("a", 1), grade("b", 1, 2), grade("c", 1), grade("d", 1)]
    outcome = decide_closed(stored, JO, acts, closed)
    assert (outcome.acknowledged, [one.id for one in outcome.refused]) == (("a",), ["b", "c", "d"])
    assert outcome.changes == Changes()


@pytest.mark.parametrize(("value", "id_"), [(2, "page:1"), (1, "page:3"), (0, "page:3")])
def test_a_page_taken_back_is_stored_under_a_new_id_when_its_grade_differs(value: int, id_: str) -> None:
    history = [
        StoredJudgement(name, 11, JO, number, None, "") for name, number in [("page", 1), ("page:1", 2), ("else", 0)]
    ]
    assert id_of_page_again(grade("page", 1, value), history) == id_


# Of one item each: in hand, given back, given back and in hand again, as an adjudicator besides, and shown again.


def withdrawal(id_: str, assignment_id: int, judgement: str) -> Act:
    return Act(id_, assignment_id, None, tab="t", withdraws=judgement)


def test_a_withdrawal_is_appended_and_the_judge_holds_the_document_again() -> None:
    state = state_of(assignment(1, 11, DONE), current={11: LatestJudgement(50, "t", 3, "old")})
    outcome = decided(state, withdrawal("w", 1, "old"))
    [stored] = outcome.changes.judgements
    assert (stored.cannot_judge, stored.current, stored.replaces_id) == ("withdrawn", False, 50)
    assert (outcome.changes.states, outcome.changes.reopened) == ({1: LIVE}, {1})
    # What was carried over from it to duplicates no longer counts either.
    assert outcome.unrepeated == (50,)


def test_a_withdrawal_of_the_same_request_leaves_the_document_held() -> None:
    outcome = decided(state_of(assignment(1, 11, has_duplicates=True)), grade("a", 1), withdrawal("w", 1, "a"))
    assert [(one.client_id, one.current) for one in outcome.changes.judgements] == [("a", False), ("w", False)]
    assert outcome.changes.follows == {"w": "a"}
    assert (outcome.changes.states, outcome.duplicated) == ({}, ())


def test_a_document_is_judged_again_after_a_withdrawal() -> None:
    again = judged(state_of(assignment(1, 11)), grade("a", 1), withdrawal("w", 1, "a"), grade("b", 1, 2))[-1]
    assert (again.client_id, again.current, again.replaces_id) == ("b", True, None)


def test_a_judgement_that_was_replaced_is_not_withdrawn() -> None:
    state = state_of(assignment(1, 11, DONE), current={11: LatestJudgement(50, "t", 3, "newer")})
    [refusal] = decided(state, withdrawal("w", 1, "old")).refused
    assert isinstance(refusal.error, ConflictError)
    assert "judged this document again since" in str(refusal.error)


def test_a_judgement_that_no_longer_counts_has_nothing_to_withdraw() -> None:
    outcome = decided(state_of(assignment(1, 11, RETURNED)), withdrawal("w", 1, "old"))
    assert (outcome.acknowledged, outcome.changes) == (("w",), Changes())


def test_a_second_showing_is_withdrawn_alone() -> None:
    state = state_of(
        *(assignment(1, 11, DONE), assignment(2, 11, DONE, Purpose.RE_SHOWN)),
        current={11: LatestJudgement(50, "t", 1, "first")},
        shown_again={2: LatestJudgement(60, "t", 2, "second")},
    )
    outcome = decided(state, withdrawal("w", 2, "second"))
    assert (outcome.changes.judgements[0].replaces_id, outcome.changes.states) == (60, {2: LIVE})


@pytest.mark.parametrize("act", [grade("a", 1), withdrawal("w", 1, "old"), Act("l", 1, None)])
def test_an_act_on_another_document_than_the_judge_saw_is_refused(act: Act) -> None:
    state = state_of(assignment(1, 11), current={11: LatestJudgement(50, "t", 3, "old")})
    assert decided(state, replace(act, topic="T1", docno="d11")).refused == ()
    for topic, docno in (("T1", "d12"), ("T2", "d11")):
        outcome = decided(state, replace(act, topic=topic, docno=docno))
        assert [type(one.error) for one in outcome.refused] == [ConflictError]
        assert outcome.changes == Changes()


OWN = [
    assignment(1, 1),
    assignment(2, 2, RETURNED),
    *(assignment(3, 3, RETURNED), assignment(4, 3)),
    *(assignment(5, 4, RETURNED), assignment(6, 4, LIVE, Purpose.ADJUDICATION)),
    *(assignment(7, 5, DONE), assignment(8, 5, LIVE, Purpose.RE_SHOWN)),
]
ACTS = st.builds(
    Act,
    st.sampled_from("abcdefgh"),
    st.integers(1, 9),
    st.sampled_from([None, Decision(0), Decision(1), Decision(5), NO_TEXT]),
    tab=st.sampled_from(["", "t"]),
    sequence=st.none() | st.integers(1, 4),
    withdraws=st.none() | st.sampled_from("abcd"),
)


def after(state: JudgingState, changes: Changes, ids: dict[str, int]) -> JudgingState:
    """The state as the database has it when the changes are stored; `ids` gets those of the judgements."""
    assignments = dict(state.assignments)
    for id_, new in [*((one, LATER) for one in changes.put_off), *changes.states.items()]:
        assignments[id_] = assignments[id_]._replace(state=new)
    current, shown_again, stored = dict(state.current), dict(state.shown_again), dict(state.stored)
    for one in changes.judgements:
        ids[one.client_id] = len(ids) + 1
        stored[one.client_id] = StoredJudgement(
            *(one.client_id, one.pool_item_id, JO, one.grade, one.cannot_judge, one.note)
        )
        latest = LatestJudgement(ids[one.client_id], one.tab, one.sequence, one.client_id)
        if one.cannot_judge == CannotJudge.WITHDRAWN:
            shown_again.pop(one.assignment_id, None)
            if not assignments[one.assignment_id].is_shown_again:
                current.pop(one.pool_item_id, None)
        elif assignments[one.assignment_id].is_shown_again:
            shown_again[one.assignment_id] = latest
        elif one.current:
            current[one.pool_item_id] = latest
    return replace(state, assignments=assignments, current=current, shown_again=shown_again, stored=stored)


@given(st.lists(ACTS, max_size=12))
def test_acts_in_one_request_come_to_the_same_as_one_after_the_other(acts: list[Act]) -> None:
    # But for documents that got a text meanwhile: in one request the next judgement replaces the one that is put back.
    at_once = state = state_of(*OWN)
    ids: dict[str, int] = {}
    acknowledged: list[str] = []
    replaced: dict[str, int | None] = {}
    places: dict[int, int] = {}
    for act in acts:
        outcome = decided(state, act)
        acknowledged += outcome.acknowledged
        state = after(state, outcome.changes, ids)
        replaced |= {one.client_id: one.replaces_id for one in outcome.changes.judgements}
        for item, count in outcome.changes.places.items():
            places[item] = places.get(item, 0) + count
    together = decided(at_once, *acts)
    assert list(together.acknowledged) == acknowledged
    assert len(together.acknowledged) + len(together.refused) == len(acts)
    ids_together: dict[str, int] = {}
    assert after(at_once, together.changes, ids_together) == state
    assert ids_together == ids
    assert together.changes.places == places
    follows = {later: ids[earlier] for later, earlier in together.changes.follows.items()}
    assert {
        one.client_id: follows.get(one.client_id, one.replaces_id) for one in together.changes.judgements
    } == replaced


@given(st.lists(ACTS, max_size=12))
def test_no_item_gets_two_current_judgements_and_no_id_is_stored_twice(acts: list[Act]) -> None:
    stored = decided(state_of(*OWN), *acts).changes.judgements
    current = [one.pool_item_id for one in stored if one.current]
    assert len(current) == len(set(current))
    assert len(stored) == len({one.client_id for one in stored})
