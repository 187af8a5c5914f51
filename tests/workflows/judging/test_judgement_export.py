"""The facts that organisers get of each judgement: words of evidence, order, purpose, what was carried over."""

import copy
import csv
import io
import json
from collections.abc import Sequence
from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, pooled_news
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from annotator.storage import Assignment, Database, Evidence, Judgement, Purpose
from annotator.workflows.judging import judgement_export
from annotator.workflows.judging.judgement_export import Passage


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
    lines = list(judgement_export.judgements_jsonl(judgement_export.export_judgements(session, SLUG)))
    of_a, of_b = map(json.loads, lines)
    assert of_a["evidence"] == [{"start": 0, "end": 4, "text": "Text"}, {"start": 8, "end": 10, "text": 'a "b"'}]
    assert (of_a["tab"], of_a["sequence"], of_a["purpose"], of_a["carried_from"]) == ("tab-1", 17, "test", None)
    assert (of_a["judged_at"], of_a["received_at"]) == ("2026-03-01T09:00:00+00:00", "2026-03-01T09:02:00+00:00")
    assert (of_b["evidence"], of_b["tab"], of_b["sequence"]) == ([], "", None)
    assert (of_b["purpose"], of_b["carried_from"]) == ("carried", "a")


def test_the_evidence_is_a_json_list_in_a_column_of_the_csv(session: Session) -> None:
    with_two_judgements(session)
    text = "".join(judgement_export.judgements_csv(judgement_export.export_judgements(session, SLUG)))
    of_a, of_b = csv.DictReader(io.StringIO(text))
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
    assert "".join(judgement_export.judgements_csv(rows)).count("\n") == 3
    assert "".join(judgement_export.judgements_jsonl(rows)).count("\n") == 2


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
    pieces = judgement_export.judgements_csv(rows)
    assert [next(pieces).count("\n"), next(pieces).count("\n"), together] == [1, 2, [2]]
    assert [piece.count("\n") for piece in pieces] == [2, 1]
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
