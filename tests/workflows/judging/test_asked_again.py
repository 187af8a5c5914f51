"""A document that comes back because its text changed says so to the judge who had judged it, and to nobody else."""

from datetime import timedelta

from build import LIMIT, NOW, SLUG, member, pooled_news
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage import CannotJudge, Collection, Document
from annotator.storage.judging.judge_history import AskedAgain, ShownDocument
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.workflows.documents import documents
from annotator.workflows.judging import judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.recording import record_acts

DAY = timedelta(days=1)


def shown(session: Session, judge: int, days: int = 0) -> dict[str, ShownDocument]:
    """Docno → the document as the judge sees it."""
    found = judging.more_documents(session, SLUG, "1", judge, holds=frozenset(), now=NOW + days * DAY)
    return {one.docno: one for one in found}


def act(
    session: Session,
    judge: int,
    assignment: int,
    decision: Decision | None,
    *,
    days: int = 0,
    withdraws: str | None = None,
) -> str:
    id_ = f"{judge}-{assignment}-{days}-{withdraws}"
    one = Act(id_, assignment, decision, tab="t", withdraws=withdraws)
    assert record_acts(session, SLUG, judge, [one], received_at=NOW + days * DAY).refused == ()
    return id_


def rewrite(session: Session, docno: str) -> None:
    read = documents.read_documents(
        [InputFile("new.tsv", f"{docno}\tTitle of {docno}\tQuite another text.\n".encode())],
        fields={},
        unpacked_limit=LIMIT,
    )
    documents.import_documents(session, SLUG, read, at=NOW + DAY)


def reasons(found: dict[str, ShownDocument]) -> dict[str, AskedAgain]:
    return {docno: one.asked_again for docno, one in found.items() if one.asked_again}


def test_a_requeued_document_says_that_its_text_changed_until_it_is_judged(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    assert reasons(shown(session, jo)) == {}
    for one in shown(session, jo).values():
        act(session, jo, one.assignment_id, Decision(1))
    rewrite(session, "b")
    assert documents.requeue_changed(session, SLUG, at=NOW + DAY) == 1
    again = shown(session, jo, 1)
    assert reasons(again) == {"b": AskedAgain.TEXT_CHANGED}
    judged = act(session, jo, again["b"].assignment_id, Decision(2), days=1)
    assert judging.open_document(session, SLUG, again["b"].assignment_id, jo)[0].asked_again is None
    # Who takes a judgement back knows why the document is there again.
    act(session, jo, again["b"].assignment_id, None, days=1, withdraws=judged)
    assert reasons(shown(session, jo, 1)) == {}


def test_another_judge_does_not_learn_that_it_was_judged_before(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    for one in shown(session, jo).values():
        act(session, jo, one.assignment_id, Decision(1))
    rewrite(session, "b")
    documents.requeue_changed(session, SLUG, at=NOW + DAY)
    found = shown(session, kim, 1)
    assert (set(found), reasons(found)) == ({"b"}, {})


def test_a_document_that_has_a_text_now_says_so(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    session.execute(update(Document).where(Document.docno == "b").values(body=None, text_hash=None))
    act(session, jo, shown(session, jo)["b"].assignment_id, Decision(None, CannotJudge.NO_TEXT))
    rewrite(session, "b")
    assert reasons(shown(session, jo, 1)) == {"b": AskedAgain.TEXT_CAME}


def test_a_second_showing_differs_in_nothing_but_its_number(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = shown(session, jo)
    for one in first.values():
        act(session, jo, one.assignment_id, Decision(1, note="sure"))
    session.scalars(select(Collection)).one().reshow_share = 100
    again = shown(session, jo, 2)
    assert set(again) == set(first)
    for docno, one in again.items():
        assert one.assignment_id != first[docno].assignment_id
        assert vars(one) | {"assignment_id": 0} == vars(first[docno]) | {"assignment_id": 0}
    # Nor after the text has changed, as that would tell it from other second showings.
    rewrite(session, "b")
    documents.requeue_changed(session, SLUG, at=NOW + 2 * DAY)
    return_assignments(session, jo)
    assert AskedAgain.TEXT_CHANGED in reasons(shown(session, jo, 3)).values()
    second = judging.open_document(session, SLUG, again["b"].assignment_id, jo)[0]
    assert second.asked_again is None
