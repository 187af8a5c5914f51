"""Decides what to store for a judge's acts, what to refuse, and why; without a database."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judgement_writing import Changes, NewJudgement, Passage
from annotator.storage.judging.judging_state import JudgingState, LatestJudgement, OwnAssignment, StoredJudgement
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import HELD, AssignmentState, CannotJudge, takes_place

LONGEST_SECONDS = 3600.0
LONGEST_NOTE = 10_000
LONGEST_PASSAGE = 10_000
MOST_PASSAGES = 100
# The browser keeps no act for longer than this.
LONGEST_WAIT = 30 * 24 * 3600.0
CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Act:
    """A judge's action on a document: a decision, or None to put it off or to withdraw a judgement.

    `withdraws` is the id of the judgement to withdraw. `topic` and `docno` name the document that the judge saw; the
    assignment must be of it. None where a page does not say. `again`: the judge sends it once more after a refusal or a
    restore, so that the document is looked up by its name.
    `sequence` orders the acts of one tab; `ago` is the seconds the act waited in the browser. `guidelines` is the
    number of the version shown to the judge, 0 before the first; None means the newest.
    """

    id: str
    assignment_id: int
    decision: Decision | None
    tab: str = ""
    sequence: int | None = None
    guidelines: int | None = None
    evidence: tuple[Passage, ...] = ()
    ago: float = 0.0
    withdraws: str | None = None
    topic: str | None = None
    docno: str | None = None
    again: bool = False


@dataclass(frozen=True)
class Refusal:
    """Why an act was not stored."""

    id: str
    error: AnnotatorError


@dataclass(frozen=True)
class Outcome:
    """Result of acts: the ids stored (now or earlier), the refused acts, and the changes to store.

    `duplicated` are judgements to copy to documents with the same text; the copies of those in `unrepeated` no longer
    count.
    """

    acknowledged: tuple[str, ...]
    refused: tuple[Refusal, ...]
    changes: Changes = field(default_factory=Changes)
    duplicated: tuple[str, ...] = ()
    unrepeated: tuple[int, ...] = ()


def decide(
    state: JudgingState, acts: Sequence[Act], received_at: datetime, queue: Queue, *, page_id: str | None = None
) -> Outcome:
    """Process the acts in order, each on the state its predecessors leave; a refused act changes nothing.

    `page_id` is the id that was submitted with a form; that of its act may differ.
    """
    deciding = _Deciding(state, received_at, queue)
    acknowledged: list[str] = []
    refused: list[Refusal] = []
    for act in acts:
        try:
            check_id(page_id or act.id)
            deciding.take(act)
        except AnnotatorError as error:
            refused.append(Refusal(act.id, error))
        else:
            acknowledged.append(act.id)
    return deciding.outcome(acknowledged, refused)


def decide_closed(
    stored: Mapping[str, StoredJudgement], judge_id: int, acts: Sequence[Act], closed: AnnotatorError
) -> Outcome:
    """After judging has ended, acknowledge acts that are stored already and refuse the rest."""
    known = {one.client_id for one in stored.values() if one.judge_id == judge_id}
    known -= {act.id for act in acts if act.id in known and not _is_same(act.decision, stored[act.id])}
    return Outcome(
        tuple(act.id for act in acts if act.id in known),
        tuple(Refusal(act.id, closed) for act in acts if act.id not in known),
    )


def id_of_page_again(act: Act, history: Sequence[StoredJudgement]) -> str:
    """The id for a judgement whose own id is stored: that of its page's latest one, or a new id if it differs.

    `history` is all judgements of the document by this judge, earliest first.
    """
    last = [one for one in history if one.client_id.partition(":")[0] == act.id][-1]
    return last.client_id if _is_same(act.decision, last) else f"{act.id}:{len(history)}"


def own_assignment(assignments: Mapping[int, OwnAssignment], assignment_id: int, queue: Queue) -> OwnAssignment | None:
    """The judge's assignment in one of their queues, None for an assignment of another judge.

    For a returned assignment it is the judge's newer hold of the same kind on the same item, if any.
    """
    assignment = assignments.get(assignment_id)
    if assignment is None or assignment.decides != (queue == Queue.ADJUDICATION):
        return None
    if assignment.state != AssignmentState.RETURNED:
        return assignment
    held = (other for other in _holds_besides(assignments, assignment) if other.decides == assignment.decides)
    return next(held, assignment)


def check_id(client_id: str) -> None:
    """Raise `InvalidValueError` for an id that our pages cannot have created, without a query."""
    if not CLIENT_ID.fullmatch(client_id):
        raise InvalidValueError("A judgement's id has 1 to 64 letters, digits, “-” and “_”.")


class _Deciding:
    """The state after the acts processed so far, and the changes they require."""

    def __init__(self, state: JudgingState, received_at: datetime, queue: Queue) -> None:
        self.state, self.received_at, self.queue = state, received_at, queue
        self.assignments = dict(state.assignments)
        self.current, self.shown_again, self.stored = dict(state.current), dict(state.shown_again), dict(state.stored)
        # By client id, in storage order.
        self.new: dict[str, NewJudgement] = {}
        self.unrepeated: list[int] = []
        self.changes = Changes()

    def take(self, act: Act) -> None:
        """Apply one act; all checks come first, so that a refused act changes nothing."""
        assignment = own_assignment(self.assignments, act.assignment_id, self.queue)
        if assignment is None and act.again:
            raise ConflictError(
                "The document %(docno)s of topic %(topic)s is no longer open to you: another judge has it, or it has "
                "enough judgements.",
                docno=act.docno or "",
                topic=act.topic or "",
            )
        if assignment is None:
            raise NotFoundError("You have no such assignment.")
        if (act.topic, act.docno) not in {(None, None), (assignment.topic_number, assignment.docno)}:
            raise ConflictError(
                "This assignment is of another document now, because the database was restored. Nothing was stored; "
                "the judgement is kept in this browser. Open the topic again."
            )
        if act.withdraws is not None:
            self._withdraw(assignment, act, act.withdraws)
            return
        if act.decision is None:
            self._put_off(assignment)
            return
        _check(self.state, act, act.decision)
        known = self.stored.get(act.id)
        if known is None:
            guidelines = _guideline_version(self.state, act.guidelines)
            is_held = assignment.id == act.assignment_id and assignment.state in HELD
            self._judge(assignment, act, act.decision, guidelines, is_held=is_held)
        elif not known.is_of(assignment.pool_item_id, self.state.judge_id):
            raise InvalidValueError("This judgement's id belongs to another judgement.")
        elif not _is_same(act.decision, known):
            raise InvalidValueError(
                "This id was stored with another grade, reason or note. What was stored stays: send a new id."
            )

    def outcome(self, acknowledged: Sequence[str], refused: Sequence[Refusal]) -> Outcome:
        """The result of all acts."""
        self.changes.judgements.extend(self.new.values())
        self.changes.states.update(
            (one.id, AssignmentState(one.state))
            for one in self.assignments.values()
            if one.state not in {self.state.assignments[one.id].state, AssignmentState.LATER}
        )
        duplicated = [one for one in self.new.values() if one.current]
        return Outcome(
            tuple(acknowledged),
            tuple(refused),
            self.changes,
            tuple(one.client_id for one in duplicated if self.assignments[one.assignment_id].has_duplicates),
            tuple(self.unrepeated),
        )

    def _put_off(self, assignment: OwnAssignment) -> None:
        """Move the assignment to the end of the judge's queue; one judged or returned meanwhile is left unchanged."""
        if assignment.state == AssignmentState.LIVE:
            self.changes.put_off.append(assignment.id)
            self._set_state(assignment, AssignmentState.LATER)

    def _withdraw(self, assignment: OwnAssignment, act: Act, judgement: str) -> None:
        """Append a withdrawal of the judge's judgement, and let them hold the document again.

        A judgement that no longer counts, as after a requeue, is left unchanged.
        """
        item = assignment.pool_item_id
        known = self.stored.get(act.id)
        if known is not None and not known.is_of(item, self.state.judge_id):
            raise InvalidValueError("This judgement's id belongs to another judgement.")
        before = self.shown_again.get(assignment.id) if assignment.is_shown_again else self.current.get(item)
        if known is not None or before is None:
            return
        if before.client_id != judgement:
            raise ConflictError("You have judged this document again since. Open it to change that judgement.")
        withdrawal = Decision(None, CannotJudge.WITHDRAWN)
        guidelines = _guideline_version(self.state, act.guidelines)
        self._append(assignment, act, withdrawal, guidelines, before, is_current=False)
        if assignment.is_shown_again:
            del self.shown_again[assignment.id]
        else:
            del self.current[item]
        if before.id is not None:
            self.unrepeated.append(before.id)
        if assignment.state == AssignmentState.DONE:
            self.changes.reopened.add(assignment.id)
            self._set_state(assignment, AssignmentState.LIVE)

    def _judge(
        self, assignment: OwnAssignment, act: Act, decision: Decision, guidelines: int | None, *, is_held: bool
    ) -> None:
        """Append a judgement, as the judge's current one unless a later one of the same tab arrived before.

        A judgement of a document that was shown again is never current.
        """
        item = assignment.pool_item_id
        before = self.shown_again.get(assignment.id) if assignment.is_shown_again else self.current.get(item)
        is_overtaken = before is not None and _is_before(act, before)
        replaced = None if is_overtaken else before
        becomes_current = not assignment.is_shown_again and not is_overtaken
        # The text arrived while the judge held the item: its lease ends, so that they get it again with its text.
        is_reopened = (
            becomes_current
            and not is_held
            and decision.cannot_judge == CannotJudge.NO_TEXT
            and item in self.state.with_text
        )
        is_current = becomes_current and not is_reopened
        self._append(assignment, act, decision, guidelines, replaced, is_current=is_current)
        latest = LatestJudgement(None, act.tab, act.sequence, act.id)
        if assignment.is_shown_again:
            self.shown_again[assignment.id] = latest
        elif becomes_current:
            self.current[item] = latest
        self._finish(assignment)
        if is_reopened:
            self._reopen(assignment, replaced)

    def _append(
        self,
        assignment: OwnAssignment,
        act: Act,
        decision: Decision,
        guidelines: int | None,
        replaced: LatestJudgement | None,
        *,
        is_current: bool,
    ) -> None:
        """Append a judgement with its evidence, after the one that it replaces."""
        self.new[act.id] = self._judgement(
            assignment,
            act,
            decision,
            guidelines,
            is_current=is_current,
            replaces_id=replaced.id if replaced else None,
        )
        if replaced is not None and replaced.id is None:
            self.changes.follows[act.id] = replaced.client_id
            self.new[replaced.client_id] = self.new[replaced.client_id]._replace(current=False)
        judge_id = self.state.judge_id
        self.stored[act.id] = StoredJudgement(act.id, assignment.pool_item_id, judge_id, *_content(decision))
        self.changes.topics.add(assignment.topic_id)
        self.changes.evidence.extend((act.id, passage) for passage in act.evidence)

    def _judgement(
        self,
        assignment: OwnAssignment,
        act: Act,
        decision: Decision,
        guidelines: int | None,
        *,
        is_current: bool,
        replaces_id: int | None,
    ) -> NewJudgement:
        seconds = decision.seconds
        return NewJudgement(
            client_id=act.id,
            assignment_id=assignment.id,
            pool_item_id=assignment.pool_item_id,
            judge_id=self.state.judge_id,
            grade=decision.grade,
            cannot_judge=decision.cannot_judge and decision.cannot_judge.value,
            judged_at=self.received_at - timedelta(seconds=min(max(act.ago, 0.0), LONGEST_WAIT)),
            received_at=self.received_at,
            guideline_version_id=guidelines,
            late=assignment.state == AssignmentState.RETURNED,
            note=decision.note,
            seconds=None if seconds is None else min(max(seconds, 0.0), LONGEST_SECONDS),
            tab=act.tab,
            sequence=act.sequence,
            current=is_current,
            replaces_id=replaces_id,
        )

    def _finish(self, assignment: OwnAssignment) -> None:
        is_returned = assignment.state == AssignmentState.RETURNED
        if is_returned and _holds_besides(self.assignments, assignment):
            return  # held again, as judge or as adjudicator: a user holds an item only once
        if is_returned and takes_place(assignment.purpose):
            # The lease had expired: the item has one more judgement than its assignments counted.
            self._take_places(assignment, 1)
        self._set_state(assignment, AssignmentState.DONE)

    def _reopen(self, assignment: OwnAssignment, replaced: LatestJudgement | None) -> None:
        """Requeue an item not judged for lack of a text it now has; the replaced judgement is no longer copied."""
        self._set_state(assignment, AssignmentState.RETURNED)
        if takes_place(assignment.purpose):
            self._take_places(assignment, -1)
        if replaced is not None and replaced.id is not None:
            self.unrepeated.append(replaced.id)

    def _set_state(self, assignment: OwnAssignment, state: AssignmentState) -> None:
        self.assignments[assignment.id] = assignment._replace(state=state)

    def _take_places(self, assignment: OwnAssignment, count: int) -> None:
        places = self.changes.places
        places[assignment.pool_item_id] = places.get(assignment.pool_item_id, 0) + count


def _check(state: JudgingState, act: Act, decision: Decision) -> None:
    if act.tab and not CLIENT_ID.fullmatch(act.tab):
        raise InvalidValueError("A tab's name has 1 to 64 letters, digits, “-” and “_”.")
    if (decision.grade is None) == (decision.cannot_judge is None):
        raise InvalidValueError("A judgement is either a grade or a reason why the document cannot be judged.")
    if decision.grade is not None and decision.grade not in state.grades:
        raise InvalidValueError("%(grade)d is not a grade of this collection's scale.", grade=decision.grade)
    check_free_text(decision.note, LONGEST_NOTE)
    if len(act.evidence) > MOST_PASSAGES:
        raise InvalidValueError("A judgement keeps at most %(most)d passages as evidence.", most=MOST_PASSAGES)
    for passage in act.evidence:
        check_free_text(passage.text, LONGEST_PASSAGE)
        if passage.start > passage.end:
            raise InvalidValueError(
                "A passage ends after it begins, not at %(end)d before %(start)d.",
                start=passage.start,
                end=passage.end,
            )


def _guideline_version(state: JudgingState, number: int | None) -> int | None:
    """The row id of the guidelines with this number, None before the first version."""
    versions = state.guidelines
    if number is None:
        return versions[max(versions)] if versions else None
    if number and number not in versions:
        raise InvalidValueError("There is no version %(number)d of the guidelines.", number=number)
    return versions.get(number)


def _content(decision: Decision) -> tuple[int | None, str | None, str]:
    return decision.grade, decision.cannot_judge, decision.note


def _is_same(decision: Decision | None, stored: StoredJudgement) -> bool:
    """Whether the decision stored under an act's id is the same; putting off stores nothing.

    Only the decision is compared: other fields, such as evidence, keep their first value.
    """
    return decision is None or _content(decision) == (stored.grade, stored.cannot_judge, stored.note)


def _is_before(act: Act, latest: LatestJudgement) -> bool:
    """Whether a judgement precedes the latest one, by sequence in the same tab: clocks are not compared."""
    if not act.tab or act.tab != latest.tab or act.sequence is None or latest.sequence is None:
        return False
    return act.sequence < latest.sequence


def _holds_besides(assignments: Mapping[int, OwnAssignment], returned: OwnAssignment) -> list[OwnAssignment]:
    """The judge's other assignments of the same item after this one was returned, without second showings."""
    return [
        other
        for other in assignments.values()
        if other.pool_item_id == returned.pool_item_id
        and other.is_shown_again == returned.is_shown_again
        and other.state != AssignmentState.RETURNED
    ]
