"""What waits for the organisers: questions, disputes and failed jobs, counted cheaply."""

from collections.abc import Iterable
from random import Random

import pytest
from build import NOW, SLUG, labels, member, news
from queues import grow, queue
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage import Document, Job, JobState, Question, Role, Topic, TopicState
from annotator.storage.agreement import adjudication_queue
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.leases import Decision
from annotator.workflows.collections.waiting import DisputeMemory, Waiting, waiting
from annotator.workflows.judging import judging, questions, recording
from annotator.workflows.judging.act_decisions import Act


def graded(session: Session, topic: Topic, *pairs: tuple[int, int], name: str = "labels") -> None:
    """Documents of a topic with these grades, the first by ann, the second by bob."""
    items = grow(session, topic, [None] * len(pairs))
    docnos = list(
        session.scalars(select(Document.docno).order_by(Document.id.desc()).limit(len(items)).order_by(Document.docno))
    )[::-1]
    for index, judge in enumerate(("ann", "bob")):
        lines = (f"{topic.number} 0 {docno} {pair[index]}\n" for docno, pair in zip(docnos, pairs, strict=True))
        labels(session, judge, "".join(lines), name=f"{name}-{judge}")


def job(
    session: Session, state: JobState, kind: str = "report", *, slug: str = SLUG, status: int | None = None
) -> None:
    collection_id, result = find_collection(session, slug).id, {} if status is None else {"status": status}
    session.add(Job(kind=kind, collection_id=collection_id, asked_at=NOW, parameters={}, result=result, state=state))
    session.flush()


def test_an_empty_collection_waits_for_nothing(session: Session) -> None:
    news(session)
    assert waiting(session, SLUG) == Waiting(questions=0, disputes=0, failed_jobs=0)
    with pytest.raises(NotFoundError):
        waiting(session, "other")


def test_questions_wait_until_they_are_answered(session: Session) -> None:
    news(session)
    ann = member(session, "ann", Role.JUDGE)
    for number in ("one", "two"):
        questions.ask(session, SLUG, ann, "Why?", client_id=number, asked_at=NOW)
    assert waiting(session, SLUG).questions == 2
    first = session.scalars(select(Question.id).where(Question.client_id == "one")).one()
    questions.answer(session, SLUG, first, "So.", answered_by_id=None, answered_at=NOW)
    assert waiting(session, SLUG).questions == 1


def test_failed_jobs_wait_until_one_of_their_kind_succeeds(session: Session) -> None:
    news(session)
    news(session, "other")
    for state in (JobState.DONE, JobState.FAILED, JobState.FAILED, JobState.WAITING, JobState.CANCELLED):
        job(session, state)
    job(session, JobState.FAILED, "runs")
    job(session, JobState.FAILED, slug="other")
    job(session, JobState.DONE, slug="other")
    assert waiting(session, SLUG).failed_jobs == 3
    assert waiting(session, "other").failed_jobs == 0
    job(session, JobState.DONE)
    assert waiting(session, SLUG).failed_jobs == 1


def test_a_refused_file_or_page_does_not_wait(session: Session) -> None:
    news(session)
    job(session, JobState.FAILED, "runs", status=422)
    assert waiting(session, SLUG).failed_jobs == 0


def test_disputes_wait_until_an_adjudicator_decides(session: Session) -> None:
    topic = queue(session, 0, judgements_wanted=2)[0]
    graded(session, topic, (0, 2), (1, 1), (2, 0))
    memory = DisputeMemory()
    assert waiting(session, SLUG, memory).disputes == 2
    ada = member(session, "ada", Role.ADJUDICATOR)
    task = judging.next_task(session, SLUG, "1", ada, now=NOW, queue=Queue.ADJUDICATION)
    assert task is not None
    acts = [Act("one", task.documents[0].assignment_id, Decision(1, None))]
    recording.record_acts(session, SLUG, ada, acts, received_at=NOW, queue=Queue.ADJUDICATION)
    assert waiting(session, SLUG, memory).disputes == 1
    assert waiting(session, SLUG, memory).total == 1


def test_only_changed_topics_are_counted_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = queue(session, 0, 0, judgements_wanted=2)
    graded(session, first, (0, 1), (0, 2))
    memory = DisputeMemory()
    assert waiting(session, SLUG, memory).disputes == 2
    counted: list[list[int]] = []

    def watched(session: Session, topic_ids: Iterable[int]) -> object:
        counted.append(list(topic_ids))
        return adjudication_queue.undecided_in_topics(session, topic_ids)

    monkeypatch.setattr("annotator.workflows.collections.waiting.undecided_in_topics", watched)
    assert waiting(session, SLUG, memory).disputes == 2
    assert counted == []
    graded(session, second, (0, 1), name="more")
    assert waiting(session, SLUG, memory).disputes == 3
    assert counted == [[second.id]]


def test_a_dropped_topic_has_no_disputes(session: Session) -> None:
    topic = queue(session, 0, judgements_wanted=2)[0]
    graded(session, topic, (0, 1))
    memory = DisputeMemory()
    assert waiting(session, SLUG, memory).disputes == 1
    session.execute(update(Topic).values(state=TopicState.DROPPED))
    assert waiting(session, SLUG, memory).disputes == 0


@pytest.mark.parametrize("seed", range(4))
def test_disputes_are_counted_on_as_if_they_were_counted_from_the_beginning(session: Session, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - what judges do
    topics = queue(session, 6, 6, judgements_wanted=2)
    judges = [member(session, name) for name in ("ann", "bob", "cy")]
    ada = member(session, "ada", Role.ADJUDICATOR)
    memory, held = DisputeMemory(), list[tuple[int, int, Queue]]()
    given, seen = dict[int, str](), set[int]()
    for step in range(40):
        judge, kind = (ada, Queue.ADJUDICATION) if step % 5 == 4 else (random.choice(judges), Queue.JUDGING)
        number = random.choice(topics).number
        task = judging.next_task(session, SLUG, number, judge, now=NOW, queue=kind)
        if task is not None:
            held += [(judge, document.assignment_id, kind) for document in task.documents]
        if held:
            judge, assignment, kind = random.choice(held)
            decision = Decision(random.choice((0, 0, 1)), None)
            # A judge may withdraw what they judged last; otherwise it is a first or a corrected judgement.
            withdrawn = given.pop(assignment, None) if step % 7 == 6 else None
            act = Act(f"act-{step}", assignment, None if withdrawn else decision, withdraws=withdrawn)
            recording.record_acts(session, SLUG, judge, [act], received_at=NOW, queue=kind)
            if withdrawn is None:
                given[assignment] = act.id
        if step == 20:
            labels(session, "dee", f"{topics[0].number} 0 d00001 1\n", name="dee")
        present = waiting(session, SLUG, memory).disputes
        assert present == waiting(session, SLUG).disputes
        seen.add(present)
    assert len(seen) > 2
