"""The facts that organisers get of each judgement: words of evidence, order, purpose, what was carried over."""

import copy
import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import timedelta

import pandas as pd
import pytest
from build import NOW, SLUG, labels, pooled_news
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.outputs.judgement_outputs import Passage, judgements_jsonl
from annotator.storage import Assignment, Database, Document, Evidence, Judgement, Purpose, User, UserKind
from annotator.workflows.judging import judgement_export
from annotator.workflows.judging.judgement_export import judgements_csv
from annotator.workflows.judging.judgement_files import judgement_file


def with_two_judgements(session: Session) -> None:
    """On a, with two passages, as a gold question; on b, carried over from a."""
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 2\n")
    of_a, of_b = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    of_a.tab, of_a.sequence, of_a.received_at = "tab-1", 17, NOW + timedelta(minutes=2)
    of_b.carried_from_id = of_a.id
    for judgement, purpose in ((of_a, Purpose.TEST), (of_b, Purpose.CARRIED)):
        session.get_one(Assignment, judgement.assignment_id).purpose = purpose
    session.add(Evidence(judgement_id=of_a.id, start=0, end=4, text="Text"))
    session.add(Evidence(judgement_id=of_a.id, start=8, end=10, text='a "b"'))
    session.flush()


def test_each_judgement_goes_out_with_what_it_was_made_by(session: Session) -> None:
    with_two_judgements(session)
    lines = list(judgements_jsonl(judgement_export.export_judgements(session, SLUG)))
    of_a, of_b = map(json.loads, lines)
    assert of_a["evidence"] == [{"start": 0, "end": 4, "text": "Text"}, {"start": 8, "end": 10, "text": 'a "b"'}]
    assert (of_a["tab"], of_a["sequence"], of_a["purpose"], of_a["carried_from"]) == ("tab-1", 17, "test", None)
    assert (of_a["judged_at"], of_a["received_at"]) == ("2026-03-01T09:00:00+00:00", "2026-03-01T09:02:00+00:00")
    assert (of_b["evidence"], of_b["tab"], of_b["sequence"]) == ([], "", None)
    assert (of_b["purpose"], of_b["carried_from"]) == ("carried", "a")


def test_the_evidence_is_a_json_list_in_a_column_of_the_csv(session: Session) -> None:
    with_two_judgements(session)
    text = b"".join(judgements_csv(judgement_export.export_judgements(session, SLUG)))
    of_a, of_b = csv.DictReader(io.StringIO(text.decode()))
    assert json.loads(of_a["evidence"]) == [
        {"start": 0, "end": 4, "text": "Text"},
        {"start": 8, "end": 10, "text": 'a "b"'},
    ]
    assert json.loads(of_b["evidence"]) == []
    assert (of_b["carried_from"], of_b["sequence"], of_b["late"]) == ("a", "", "False")


def test_an_export_makes_no_object_of_a_judgement(session: Session) -> None:
    with_two_judgements(session)
    session.expunge_all()
    made = list[object]()

    def note(judgement: object, _context: object) -> None:
        made.append(judgement)

    event.listen(Judgement, "load", note)
    try:
        rows = list(judgement_export.export_judgements(session, SLUG))
    finally:
        event.remove(Judgement, "load", note)
    assert (len(rows), made) == (2, [])


def test_writing_an_export_copies_no_row_in_depth(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    with_two_judgements(session)
    rows = list(judgement_export.export_judgements(session, SLUG))

    def refuse(value: object, _memo: object = None) -> object:
        raise AssertionError(value)

    monkeypatch.setattr(copy, "deepcopy", refuse)
    assert b"".join(judgements_csv(rows)).count(b"\n") == 3
    assert b"".join(judgements_jsonl(rows)).count(b"\n") == 2


def test_an_export_has_a_bounded_number_of_judgements_in_memory(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_two_judgements(session)
    labels(session, "kim", "1 0 a 2\n1 0 c 1\n2 0 e 0\n", name="kim.txt")
    whole = list(judgement_export.export_judgements(session, SLUG))
    together = list[int]()
    evidence = judgement_export._evidence  # noqa: SLF001 - it is asked once for those that are in memory together

    def noted(session: Session, judgements: Sequence[int]) -> dict[int, list[Passage]]:
        together.append(len(judgements))
        return evidence(session, judgements)

    monkeypatch.setattr(judgement_export, "_evidence", noted)
    monkeypatch.setattr(judgement_export, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(judgement_export, "MOST_MOMENTS", 0)
    rows = judgement_export.export_judgements(session, SLUG)
    pieces = judgements_csv(rows)
    assert [next(pieces).count(b"\n"), next(pieces).count(b"\n"), together] == [1, 2, [2]]
    assert [piece.count(b"\n") for piece in pieces] == [2, 1]
    assert list(judgement_export.export_judgements(session, SLUG)) == whole
    assert together == [2, 2, 1] * 2


def test_what_is_stored_during_an_export_waits_for_nobody_and_is_not_in_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgement_export, "ROWS_AT_ONCE", 1)
    with database.transaction() as session:
        with_two_judgements(session)
    with database.reading() as reading:
        rows = judgement_export.export_judgements(reading, SLUG)
        first = next(rows)
        with database.transaction() as session:
            labels(session, "jo", "1 0 a 0\n1 0 c 1\n", name="more.txt")
        assert [(row.docno, row.grade, row.current) for row in (first, *rows)] == [("a", 2, True), ("b", 2, True)]
    with database.reading() as reading:
        assert len(list(judgement_export.export_judgements(reading, SLUG))) == 4


def test_pandas_reads_every_judgement_with_its_history(session: Session) -> None:
    with_two_judgements(session)
    labels(session, "jo", "1 0 a 0\n", name="later.txt")
    frame = pd.read_parquet(io.BytesIO(b"".join(judgement_file(session, SLUG, "parquet").pieces)))
    told = [tuple(row) for row in frame[["docno", "grade", "current"]].itertuples(index=False)]
    assert told == [("a", 2, False), ("b", 2, True), ("a", 0, True)]
    assert json.loads(frame["evidence"][0])[0] == {"start": 0, "end": 4, "text": "Text"}


def test_pseudonyms_hide_people_and_no_machines(session: Session) -> None:
    with_two_judgements(session)
    labels(session, "gpt", "1 0 a 1\n", name="gpt.txt")
    session.scalars(select(User).where(User.name == "gpt")).one().kind = UserKind.MACHINE
    session.scalars(select(Judgement).order_by(Judgement.id)).all()[0].note = "Jo asks gpt."
    session.flush()
    for name in ("csv", "jsonl"):
        text = b"".join(judgement_file(session, SLUG, name, secret="abc").pieces).decode()
        assert not re.search(r"\bjo\b", text, re.IGNORECASE)
        assert "person-1-abc asks gpt." in text
        assert text.count("gpt") == 2
    with pytest.raises(InvalidValueError, match="There is no format xml of judgements"):
        judgement_file(session, SLUG, "xml")


def test_label_studio_gets_the_judgements_that_count_of_documents_with_a_text(session: Session) -> None:
    with_two_judgements(session)
    labels(session, "jo", "1 0 b 0\n", name="later.txt")
    labels(session, "gpt", "1 0 b 1\n2 0 e 1\n", name="gpt.txt")
    session.scalars(select(User).where(User.name == "gpt")).one().kind = UserKind.MACHINE
    for document in session.scalars(select(Document).where(Document.docno.in_(["a", "e"]))):
        document.body = None
    session.scalars(select(Document).where(Document.docno == "b")).one().body = "Text of b"
    session.flush()
    made = judgement_file(session, SLUG, "label-studio", secret="abc")
    [task] = json.loads(b"".join(made.pieces))
    assert (task["data"]["docno"], task["data"]["topic"], task["data"]["text"]) == ("b", "1", "Text of b")
    [annotation] = task["annotations"]
    assert [one["value"] for one in annotation["result"]] == [{"choices": ["0"]}, {"text": ["person-1-abc"]}]
    assert [one["model_version"] for one in task["predictions"]] == ["gpt"]
    assert made.without_text == 2
    session.scalars(select(Document).where(Document.docno == "b")).one().body = None
    session.flush()
    with pytest.raises(ConflictError, match="No judged document has a text"):
        list(judgement_file(session, SLUG, "label-studio").pieces)
