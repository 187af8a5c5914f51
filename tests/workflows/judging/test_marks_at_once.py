"""A judge is marked as a machine, or as a person again, while they work: no place is lost, none is counted twice."""

import pytest
from build import NOW, SLUG, labels, member, pooled_news
from meeting import Step, one_after_the_other
from queues import queue
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage import Database, PoolItem, User
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.checking import examine
from annotator.storage.judging.changed_texts import reopen_for_text
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.tables.judging import CannotJudge
from annotator.workflows.agreement import machine_judges
from annotator.workflows.judging import judging, recording


def to_machine(session: Session) -> None:
    machine_judges.mark_machine(session, "jo", MachineFacts())


def to_person(session: Session) -> None:
    machine_judges.mark_person(session, "jo")


def jo(session: Session) -> int:
    return session.scalars(select(User.id).where(User.name == "jo")).one()


def draws(session: Session) -> judging.JudgingTask:
    task = judging.next_task(session, SLUG, "1", jo(session), now=NOW)
    assert task is not None
    return task


def signs_out(session: Session) -> None:
    assert return_assignments(session, jo(session)) > 0


def says(session: Session) -> None:
    judge = jo(session)
    assignment = draws(session).assignment_id
    recording.record_judgement(session, SLUG, assignment, judge, Decision(1), client_id="a", judged_at=NOW)


def says_late(session: Session) -> None:
    judge = jo(session)
    recording.record_judgement(session, SLUG, 1, judge, Decision(1), client_id="late", judged_at=NOW)


def nothing(_session: Session) -> None:
    """As the judge has drawn nothing before."""


def gives_back(session: Session) -> None:
    draws(session)
    signs_out(session)


def says_without_text(session: Session) -> None:
    judge, assignment = jo(session), draws(session).assignment_id
    decision = Decision(None, CannotJudge.NO_TEXT)
    recording.record_judgement(session, SLUG, assignment, judge, decision, client_id="none", judged_at=NOW)


def texts_come(session: Session) -> None:
    reopen_for_text(session, session.scalars(select(PoolItem.document_id)).all())


WORK: dict[str, tuple[Step, Step]] = {
    "draws": (nothing, draws),
    "signs-out": (draws, signs_out),
    "says": (draws, says),
    "says-late": (gives_back, says_late),
    "texts-come": (says_without_text, texts_come),
}


@pytest.mark.parametrize("mark", [to_machine, to_person])
@pytest.mark.parametrize(("before", "works"), WORK.values(), ids=WORK)
@pytest.mark.parametrize("is_first", [True, False], ids=["mark-first", "mark-second"])
def test_a_judge_is_marked_while_at_work(
    postgres_database: Database, before: Step, works: Step, mark: Step, *, is_first: bool
) -> None:
    with postgres_database.transaction() as session:
        queue(session, 3, judgements_wanted=2)
        member(session, "jo")
        if mark is to_person:
            to_machine(session)
        before(session)
    one_after_the_other(postgres_database, *((mark, works) if is_first else (works, mark)))
    assert examine(postgres_database).wrong == []


@pytest.mark.parametrize("mark", [to_machine, to_person])
@pytest.mark.parametrize("is_first", [True, False], ids=["mark-first", "mark-second"])
def test_a_judge_is_marked_while_their_labels_come_in(
    postgres_database: Database, mark: Step, *, is_first: bool
) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        member(session, "jo")
        if mark is to_person:
            to_machine(session)

    def come_in(session: Session) -> None:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")

    one_after_the_other(postgres_database, *((mark, come_in) if is_first else (come_in, mark)))
    assert examine(postgres_database).wrong == []


def test_a_judge_who_is_marked_twice_at_once_gives_their_places_back_once(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        queue(session, 3, judgements_wanted=2)
        member(session, "jo")
        draws(session)
    one_after_the_other(postgres_database, to_machine, to_machine)
    assert examine(postgres_database).wrong == []
    with postgres_database.reading() as session:
        assert set(session.scalars(select(PoolItem.taken))) == {0}
