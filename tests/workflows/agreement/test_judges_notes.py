"""What the judges wrote of a disputed document: for its adjudicators, without names, and in an order by lot."""

from build import NOW, SLUG, member, pooled_news
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.storage import Collection, Judgement, PoolItem, Role
from annotator.storage.agreement.judges_notes import judges_notes
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision
from annotator.workflows.judging import judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import JudgingTask
from annotator.workflows.judging.recording import record_acts

PASSAGE = Passage(0, 4, "Text")


def task_of(session: Session, judge: int, queue: Queue = Queue.JUDGING) -> JudgingTask:
    task = judging.next_task(session, SLUG, "1", judge, now=NOW, queue=queue)
    assert task is not None
    return task


def judge_all(session: Session, name: str, grade: int, *, evidence: tuple[Passage, ...] = ()) -> None:
    """Judge every document of topic 1, with a note that names the judge."""
    judge = member(session, name)
    acts = [
        Act(
            f"{name}-{one.docno}",
            one.assignment_id,
            Decision(grade, note=f"{name} on {one.docno}"),
            evidence=evidence,
            tab="t",
        )
        for one in task_of(session, judge).documents
    ]
    record_acts(session, SLUG, judge, acts, received_at=NOW)


def disputed(session: Session) -> int:
    """Documents of topic 1 that jo and kim graded differently, with notes; the adjudicator."""
    pooled_news(session, judgements_wanted=2)
    judge_all(session, "jo", 0)
    judge_all(session, "kim", 2, evidence=(PASSAGE,))
    return member(session, "eve", Role.ADJUDICATOR)


def test_an_adjudicator_sees_notes_and_evidence_without_the_grades(session: Session) -> None:
    task = task_of(session, disputed(session), Queue.ADJUDICATION)
    assert len(task.documents) == 4
    for one in task.documents:
        assert {(note.note, note.evidence) for note in one.notes} == {
            (f"jo on {one.docno}", ()),
            (f"kim on {one.docno}", (PASSAGE,)),
        }
        assert {note.decision for note in one.notes} == {None}


def test_each_note_has_its_grade_where_the_collection_shows_grades(session: Session) -> None:
    eve = disputed(session)
    session.execute(update(Collection).values(shows_grades=True))
    [first, *_] = task_of(session, eve, Queue.ADJUDICATION).documents
    found = {note.note[:3].strip(): note.decision.grade for note in first.notes if note.decision}
    assert found == {"jo": 0, "kim": 2}


def test_no_judge_is_given_what_another_wrote(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    judge_all(session, "jo", 0)
    assert all(one.notes == () for one in task_of(session, member(session, "kim")).documents)


def test_a_judge_who_wrote_nothing_is_not_listed_nor_is_an_earlier_judgement(session: Session) -> None:
    eve = disputed(session)
    session.execute(update(Judgement).where(Judgement.client_id.like("jo-%")).values(note=""))
    session.execute(update(Judgement).where(Judgement.client_id == "kim-b").values(current=False))
    items = session.scalars(select(PoolItem.id))
    found = judges_notes(session, list(items), with_grades=False)
    assert sorted(note.note for notes in found.values() for note in notes) == ["kim on a", "kim on c", "kim on d"]
    assert eve


def test_the_order_of_the_notes_does_not_tell_who_judged_first(session: Session) -> None:
    disputed(session)
    items = list(session.scalars(select(PoolItem.id)))
    firsts = set()
    for lot in range(8):
        for one in session.scalars(select(Judgement)):
            one.client_id = f"{one.judge_id}-{one.pool_item_id}-{lot}"
        session.flush()
        found = judges_notes(session, items, with_grades=False)
        # The same each time that it is asked for.
        assert judges_notes(session, items, with_grades=False) == found
        firsts |= {notes[0].note.split()[0] for notes in found.values()}
    assert firsts == {"jo", "kim"}
