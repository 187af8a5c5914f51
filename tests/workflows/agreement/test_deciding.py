"""Decisions of an organiser on one disagreement, where it is shown."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, member
from queues import grow, queue
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, CollectionState, Document, Role, Topic
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import LEASE
from annotator.workflows.agreement.deciding import decide_disagreement
from annotator.workflows.agreement.disagreements import DisagreementFilter, page_of_disagreements
from annotator.workflows.collections.waiting import waiting
from annotator.workflows.judging import judging
from annotator.workflows.qrels import qrels


def differing(session: Session) -> tuple[str, str]:
    """Two documents of topic 1: on the first ann and bob differ, on the second they agree."""
    topic: Topic = queue(session, 0, judgements_wanted=2)[0]
    grow(session, topic, [None, None])
    first, second = session.scalars(select(Document.docno).order_by(Document.docno)).all()
    labels(session, "ann", f"1 0 {first} 0\n1 0 {second} 1\n", name="ann")
    labels(session, "bob", f"1 0 {first} 2\n1 0 {second} 1\n", name="bob")
    return first, second


def decide(session: Session, docno: str, user_id: int, grade: int = 1, *, id_: str = "one", days: int = 0) -> None:
    decision = Decision(grade, None, "See the guidelines.")
    at = NOW + timedelta(days=days)
    decide_disagreement(session, SLUG, "1", docno, user_id, decision, client_id=id_, decided_at=at)


def test_a_decision_settles_the_document_and_is_shown_with_its_author(session: Session) -> None:
    docno, _ = differing(session)
    ola = member(session, "ola", Role.ORGANISER)
    [card] = page_of_disagreements(session, SLUG, DisagreementFilter()).cards
    assert (card.decided_by, card.topic_title) == (None, "topic 1")
    assert card.text is not None
    assert card.text.body == docno
    decide(session, docno, ola)
    [card] = page_of_disagreements(session, SLUG, DisagreementFilter()).cards
    assert card.decided_by == "ola"
    assert card.row.words[-1].decision.note == "See the guidelines."
    assert waiting(session, SLUG).disputes == 0
    assert f"1 0 {docno} 1\n" in qrels.export_qrels(session, SLUG, made_at=NOW).qrels.decode()


def test_the_same_form_sent_twice_decides_once_and_another_one_changes_it(session: Session) -> None:
    docno, _ = differing(session)
    ola = member(session, "ola", Role.ORGANISER)
    decide(session, docno, ola)
    decide(session, docno, ola)
    decide(session, docno, ola, grade=2, id_="two", days=1)
    [card] = page_of_disagreements(session, SLUG, DisagreementFilter()).cards
    assert [word.decision.grade for word in card.row.words] == [0, 2, 2]


def test_nobody_decides_on_their_own_judgement(session: Session) -> None:
    docno, _ = differing(session)
    ann = member(session, "ann", Role.ORGANISER)
    with pytest.raises(ConflictError):
        decide(session, docno, ann)


def test_a_document_on_which_judges_agree_is_not_decided(session: Session) -> None:
    _, agreed = differing(session)
    with pytest.raises(ConflictError):
        decide(session, agreed, member(session, "ola", Role.ORGANISER))


def test_an_adjudicator_who_holds_it_comes_first_until_the_lease_expires(session: Session) -> None:
    docno, _ = differing(session)
    ada, ola = member(session, "ada", Role.ADJUDICATOR), member(session, "ola", Role.ORGANISER)
    assert judging.next_task(session, SLUG, "1", ada, now=NOW, queue=Queue.ADJUDICATION) is not None
    with pytest.raises(ConflictError):
        decide(session, docno, ola)
    decide(session, docno, ola, days=LEASE.days + 1)
    [card] = page_of_disagreements(session, SLUG, DisagreementFilter()).cards
    assert card.decided_by == "ola"


def test_what_cannot_be_stored_is_refused(session: Session) -> None:
    docno, _ = differing(session)
    ola = member(session, "ola", Role.ORGANISER)
    with pytest.raises(NotFoundError):
        decide(session, "other", ola)
    with pytest.raises(InvalidValueError):
        decide(session, docno, ola, grade=9)
    session.execute(update(Collection).values(state=CollectionState.CLOSED))
    with pytest.raises(ConflictError):
        decide(session, docno, ola)
