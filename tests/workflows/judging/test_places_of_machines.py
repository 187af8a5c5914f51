"""A machine takes none of the places that a document has for its judges, whatever it holds, says or gives back."""

from datetime import datetime, timedelta

import pytest
from build import NOW, SLUG, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage import Database, PoolItem
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.checking import examine
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import CannotJudge
from annotator.workflows.agreement import machine_judges
from annotator.workflows.documents import documents
from annotator.workflows.judging import judging, recording

LATER = NOW + timedelta(hours=2)


def taken(session: Session) -> list[int]:
    return [item.taken for item in session.query(PoolItem).order_by(PoolItem.id)]


def draws(session: Session, judge: int, at: datetime = NOW) -> int:
    task = judging.next_task(session, SLUG, "1", judge, now=at)
    assert task is not None
    return task.documents[0].assignment_id


def says(session: Session, judge: int, assignment: int, at: datetime = NOW) -> None:
    id_ = f"{judge}-{assignment}"
    recording.record_judgement(session, SLUG, assignment, judge, Decision(1), client_id=id_, judged_at=at)


@pytest.mark.parametrize("is_first", [True, False])
def test_what_it_holds_takes_no_place_when_it_is_given_back(database: Database, *, is_first: bool) -> None:
    with database.transaction() as session:
        pooled_news(session)
        jo, kim = member(session, "jo"), member(session, "kim")
        if is_first:
            machine_judges.mark_machine(session, "jo", MachineFacts())
        draws(session, jo)
        machine_judges.mark_machine(session, "jo", MachineFacts())
        assert set(taken(session)) == {0}
        draws(session, kim, LATER)
        assert taken(session) == [1, 1, 1, 1, 0, 0]
    assert examine(database).wrong == []


def test_what_it_says_late_takes_no_place_either(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        jo, kim = member(session, "jo"), member(session, "kim")
        machine_judges.mark_machine(session, "jo", MachineFacts())
        late = draws(session, jo)
        says(session, kim, draws(session, kim, LATER), LATER)
        says(session, jo, late, LATER)
        assert taken(session) == [1, 1, 1, 1, 0, 0]
        machine_judges.mark_person(session, "jo")
        assert sorted(taken(session)) == [0, 0, 1, 1, 1, 2]
    assert examine(database).wrong == []


def test_a_text_that_comes_gives_no_place_back_that_was_not_taken(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": ["a"]})
        pool(session)
        jo = member(session, "jo")
        machine_judges.mark_machine(session, "jo", MachineFacts())
        assignment = draws(session, jo)
        decision = Decision(None, CannotJudge.NO_TEXT)
        recording.record_judgement(session, SLUG, assignment, jo, decision, client_id="no-text", judged_at=NOW)
        sent = [InputFile("d.tsv", b"a\tTitle\tText.\n")]
        documents.import_documents(session, SLUG, documents.read_documents(sent, fields={}, unpacked_limit=1 << 20))
        assert taken(session) == [0]
        labels(session, "nist", "1 0 a 1\n")
    assert examine(database).wrong == []
