"""Click logs of a collection: what is kept of them and what never is, and which runs their variants stand for."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from build import NOW, SLUG, member, pooled_news, run
from clicking import interleaving_text, log_text, stored_log, studied
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from annotator.clicks.evaluation.comparison.measures import ClickMeasure
from annotator.clicks.workflows.click_logs import (
    ComparisonWanted,
    LogKind,
    LogRequest,
    foresee_log,
    link_variants,
    list_logs,
    remove_log,
    show_log,
    store_log,
    study_log,
)
from annotator.errors import AnnotatorError, ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.storage import ClickLog, ClickVariant, Collection, CollectionState
from annotator.workflows.runs.runs import withdraw_run


@pytest.fixture
def pooled(session: Session) -> Session:
    """A collection with the runs alpha and beta."""
    pooled_news(session)
    return session


def test_what_was_found_is_kept_and_read_back_as_it_was(pooled: Session) -> None:
    found = studied(pooled, log_text())
    ola = member(pooled, "ola")
    view = store_log(pooled, SLUG, found, by_id=ola, at=NOW)
    pooled.expire_all()
    report = show_log(pooled, SLUG, "March")
    assert (report.view, list_logs(pooled, SLUG)) == (view, [view])
    assert report.findings == found.findings
    assert (view.kind, view.files, view.lines, view.dropped) == (LogKind.COMPARISON, ("log.csv",), 320, 0)
    assert (view.added_by, view.added_at) == ("ola", NOW)
    # Half of alpha's users and a quarter of beta's click the top result.
    comparison = report.findings.comparison
    assert comparison is not None
    row = comparison.row(ClickMeasure.TOP_CTR)
    assert (row.first, row.second, row.difference) == (0.5, 0.25, -0.25)


def test_what_was_found_in_interleaved_lists_is_kept_and_read_back(pooled: Session) -> None:
    found = studied(pooled, interleaving_text(), kind=LogKind.INTERLEAVING)
    store_log(pooled, SLUG, found, by_id=None, at=NOW)
    pooled.expire_all()
    report = show_log(pooled, SLUG, "March")
    assert report.findings == found.findings
    assert report.view.kind is LogKind.INTERLEAVING
    # 30 wins and half of 4 ties of 44 lists are 32 of 44.
    assert report.findings.interleaving is not None
    assert report.findings.interleaving.pairs[0].delta == pytest.approx(32 / 44 - 0.5)


def test_lists_of_a_file_say_whose_the_clicks_are() -> None:
    lists = b"topic\tlist\tposition\tdocno\tteam\talpha\tbeta\n1\t1\t1\ta\talpha\t1\t3\n1\t1\t2\td\tbeta\t-\t1\n"
    lines = interleaving_text(3, 1, 0).replace(",alpha,", ",1,").replace(",beta,", ",1,")
    request = LogRequest("March", LogKind.INTERLEAVING, lists=("lists.tsv", lists))
    found = study_log([("log.csv", lines.encode())], request, {"1": ""})
    assert found.findings.interleaving is not None
    assert [(one.first, one.wins_first, one.wins_second) for one in found.findings.interleaving.pairs] == [
        ("alpha", 3, 1)
    ]
    assert found.options["lists"] == "lists.tsv"
    bad = LogRequest("March", LogKind.INTERLEAVING, lists=("lists.tsv", b"nothing\n"))
    with pytest.raises(FileRefusedError):
        study_log([("log.csv", lines.encode())], bad, {})


def everything(session: Session) -> str:
    """All that is stored of click logs."""
    tables: tuple[Any, ...] = (ClickLog.__table__, ClickVariant.__table__)
    rows = [dict(row) for table in tables for row in session.execute(select(table)).mappings()]
    return json.dumps(rows, default=str)


def test_neither_users_nor_what_they_typed_is_kept_unless_it_is_a_topic(pooled: Session) -> None:
    private = log_text(query="my own illness", who="some")
    stored_log(pooled, log_text(query="First  TOPIC") + private.split("\n", 1)[1])
    stored_log(pooled, interleaving_text(query="my own illness"), "April", LogKind.INTERLEAVING)
    kept = everything(pooled)
    assert "First  TOPIC" in kept
    assert "illness" not in kept
    assert "alpha7" not in kept
    report = show_log(pooled, SLUG, "March").findings.comparison
    assert report is not None
    assert report.queries_left_out == 1


def test_a_variant_called_as_a_run_stands_for_it_and_others_are_linked(pooled: Session) -> None:
    assert stored_log(pooled, log_text()).runs == {"alpha": "alpha", "beta": "beta"}
    run(pooled, "gamma", {"1": ["a"]})
    other = stored_log(pooled, log_text(variants={"alpha": "old", "beta": "new"}), "April")
    assert other.runs == {"new": None, "old": None}
    link_variants(pooled, SLUG, "April", {"old": "alpha", "new": "gamma"})
    assert list_logs(pooled, SLUG)[0].runs == {"new": "gamma", "old": "alpha"}
    link_variants(pooled, SLUG, "April", {"new": None})
    assert list_logs(pooled, SLUG)[0].runs == {"new": None, "old": "alpha"}
    withdraw_run(pooled, SLUG, "alpha", at=NOW)
    assert show_log(pooled, SLUG, "April").tags == ("beta", "gamma")
    assert stored_log(pooled, log_text(), "May").runs == {"alpha": None, "beta": "beta"}


@pytest.mark.parametrize(
    ("name", "runs", "said"),
    [
        ("April", {"alpha": "alpha"}, "There is no click log “April” in this collection."),
        ("March", {"delta": "alpha"}, "The log “March” has no variant “delta”."),
        ("March", {"alpha": "delta"}, "There is no run “delta” in this collection."),
    ],
)
def test_only_what_there_is_can_be_linked(pooled: Session, name: str, runs: dict[str, str | None], said: str) -> None:
    stored_log(pooled, log_text())
    with pytest.raises(NotFoundError) as refusal:
        link_variants(pooled, SLUG, name, runs)
    assert str(refusal.value) == said


@pytest.mark.parametrize("name", ["", " March", "a\nb", "m" * 101])
def test_a_log_needs_a_name_of_signs(pooled: Session, name: str) -> None:
    with pytest.raises(InvalidValueError, match="A log needs a name"):
        foresee_log(pooled, SLUG, name)


def test_a_name_is_taken_once_and_free_again_when_the_log_is_removed(pooled: Session) -> None:
    stored_log(pooled, log_text())
    with pytest.raises(ConflictError, match="There is a click log “March” already"):
        foresee_log(pooled, SLUG, "March")
    remove_log(pooled, SLUG, "March")
    assert list_logs(pooled, SLUG) == []
    assert pooled.scalars(text("SELECT 1 FROM click_variant")).all() == []
    stored_log(pooled, log_text())
    with pytest.raises(NotFoundError):
        remove_log(pooled, SLUG, "April")


def test_a_closed_collection_takes_no_log_and_keeps_those_it_has(pooled: Session) -> None:
    stored_log(pooled, log_text())
    found = studied(pooled, log_text(), "April")
    pooled.execute(update(Collection).values(state=CollectionState.CLOSED))
    for refused in (
        lambda: store_log(pooled, SLUG, found, by_id=None, at=NOW),
        lambda: foresee_log(pooled, SLUG, "April"),
        lambda: link_variants(pooled, SLUG, "March", {"alpha": None}),
        lambda: remove_log(pooled, SLUG, "March"),
    ):
        with pytest.raises(ConflictError, match="closed"):
            refused()
    assert show_log(pooled, SLUG, "March").view.lines == 320


@pytest.mark.parametrize(
    ("lines", "wanted", "said"),
    [
        ("", ComparisonWanted(), "The file is empty"),
        ("nonsense\nnonsense\n", ComparisonWanted(), "log.csv:1"),
        (log_text(), ComparisonWanted(("alpha", "gamma")), "The log has no variant “gamma”"),
        (log_text(variants={"beta": "alpha"}), ComparisonWanted(), "The log has one variant only"),
    ],
)
def test_what_is_wrong_with_a_log_is_said_in_a_sentence(lines: str, wanted: ComparisonWanted, said: str) -> None:
    with pytest.raises(AnnotatorError) as refusal:
        study_log([("log.csv", lines.encode())], LogRequest("March", wanted=wanted), {})
    problems = refusal.value.problems if isinstance(refusal.value, FileRefusedError) else ()
    assert said in " ".join(map(str, [refusal.value, *problems]))


def test_the_checksum_is_that_of_all_bytes_and_what_cannot_be_read_twice_is_refused(tmp_path: Path) -> None:
    first, more = log_text().encode(), log_text(who="other").encode()
    (tmp_path / "log.csv").write_bytes(first)
    found = study_log([("log.csv", tmp_path / "log.csv"), ("more.csv", more)], LogRequest("March"), {})
    assert (found.checksum, found.lines) == (hashlib.sha256(first + more).hexdigest(), 640)
    with pytest.raises(InvalidValueError, match="from files, not from “-”"):
        study_log([("-", io.BytesIO(first))], LogRequest("March"), {})
    with pytest.raises(FileRefusedError) as refusal:
        study_log([("none.csv", tmp_path / "none.csv")], LogRequest("March"), {})
    assert str(refusal.value.problems[0]) == "none.csv: The file cannot be read: No such file or directory."
