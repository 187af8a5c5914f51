"""Tables of the effect of judges and of machines beside people: every row has what its heading says."""

from datetime import UTC, datetime

import pytest
from build import LIMIT, NOW, SLUG, labels, pooled_news
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage.agreement.machines import MachineFacts
from annotator.workflows.agreement.judge_effect import EffectRequest, judge_effect
from annotator.workflows.agreement.judge_tables import EFFECT_TABLES, MACHINE_TABLES, SETTLED
from annotator.workflows.agreement.machine_judges import machine_reports
from annotator.workflows.judging import judgement_import


@pytest.fixture
def judged(session: Session) -> Session:
    """Jo and Kim differ on a and d of topic 1; a machine labels three documents, and one off the scale."""
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n")
    labels(session, "kim", "1 0 a 0\n1 0 d 1\n2 0 a 0\n2 0 e 1\n", name="kim.txt")
    file = InputFile("bot.txt", b"1 0 a 1\n2 0 a 0\n2 0 e 1\n1 0 d 9\n")
    checked = judgement_import.check_judgements(session, SLUG, file, by_machine=True, unpacked_limit=LIMIT)
    judgement_import.store_judgements(session, SLUG, checked, judge="bot", machine=MachineFacts("m"), added_at=NOW)
    return session


def effect_rows(session: Session, table: str) -> list[dict[str, object]]:
    headings, rows = EFFECT_TABLES[table]
    found = judge_effect(session, SLUG, EffectRequest("P@1", draws=50))
    return [dict(zip(headings, row, strict=True)) for row in rows(found)]


def machine_rows(session: Session, table: str) -> list[dict[str, object]]:
    headings, rows = MACHINE_TABLES[table]
    found = machine_reports(session, SLUG, "P@1")
    return [dict(zip(headings, row, strict=True)) for row in rows(found)]


def test_runs_are_listed_with_their_range_under_mixtures(judged: Session) -> None:
    assert {one["run"]: (one["low"], one["high"]) for one in effect_rows(judged, "run")} == {
        "alpha": (0, 0.5),
        "beta": (0.5, 1),
    }
    assert {(one["upper"], one["lower"]) for one in effect_rows(judged, "neighbours")} == {("beta", "alpha")}


def test_judges_and_policies_are_listed_in_pairs(judged: Session) -> None:
    [pair] = effect_rows(judged, "pair")
    assert (pair["first"], pair["second"], pair["documents"], pair["topics"]) == ("jo", "kim", 4, 2)
    by_policy = {one["other"]: one["grades_changed"] for one in effect_rows(judged, "policy")}
    assert (by_policy["lowest"], by_policy["highest"]) == (0, 2)


def test_a_machine_is_listed_beside_the_people(judged: Session) -> None:
    [machine] = machine_rows(judged, "machine")
    assert (machine["machine"], machine["model"], machine["labels"], machine["outside"]) == ("bot", "m", 3, 1)
    by_judge = {one["judge"]: one for one in machine_rows(judged, "judge")}
    assert {name: one["n"] for name, one in by_judge.items()} == {"jo": 3, "kim": 3}
    assert by_judge["jo"]["same"] == 1
    assert by_judge["kim"]["same"] == pytest.approx(2 / 3)


def test_the_labels_of_a_machine_are_counted_by_grade(judged: Session) -> None:
    counted = {
        (one["machine_grade"], one["judge_grade"]): one["documents"]
        for one in machine_rows(judged, "grade")
        if one["judge"] == "jo" and one["documents"]
    }
    assert counted == {(0, 0): 1, (1, 1): 2}
    assert SETTLED in {one["judge"] for one in machine_rows(judged, "grade")}
    assert machine_rows(judged, "outside") == [{"machine": "bot", "topic": "1", "docno": "d", "label": "9"}]


def test_without_people_the_coefficients_are_missing_with_their_reasons(session: Session) -> None:
    pooled_news(session)
    file = InputFile("bot.txt", b"1 0 a 1\n")
    checked = judgement_import.check_judgements(session, SLUG, file, by_machine=True, unpacked_limit=LIMIT)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    judgement_import.store_judgements(session, SLUG, checked, judge="bot", machine=MachineFacts("m"), added_at=at)
    [machine] = machine_rows(session, "machine")
    assert (machine["n"], machine["kappa"], machine["tau"]) == (0, None, None)
    assert "tau" in str(machine["reasons"])
