"""The audit log: added to in the entry's own transaction, read by person, action and time, and changed by nobody."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import pytest
from build import NOW, SLUG, news, user
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import Executable, delete, func, select, text, update
from sqlalchemy.exc import DBAPIError

from annotator.evaluation.qrels.scale import parse_scale
from annotator.storage import AuditEvent, Database, JudgingMode
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.tables.collections import Door
from annotator.workflows.collections.audit import (
    AuditEntry,
    AuditFilter,
    audit_page,
    csv_pieces,
    entries_before,
    entries_csv,
    list_audit_entries,
)
from annotator.workflows.runs.submissions import Deadline

OLA = Actor(Door.PAGE, "ola", None)
ROOT = Actor(Door.COMMAND, "root")


@pytest.fixture
def logged(database: Database, kept: Kept) -> Database:
    """Four entries, a day apart: of the site, of news twice, of another collection."""
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        news(session, "other")
        for day, (actor, action, slug, subject) in enumerate(
            [
                (ROOT, "users.add", None, "ola"),
                (OLA, "pool.build", SLUG, "1"),
                (ROOT, "pool.add", SLUG, "1"),
                (OLA, "pool.build", "other", "1"),
            ]
        ):
            record_in(session, actor, action, slug, at=NOW + timedelta(days=day), subject=subject)


@pytest.mark.parametrize(
    ("slug", "wanted", "found"),
    [
        (None, AuditFilter(), [4, 3, 2, 1]),
        (SLUG, AuditFilter(), [3, 2]),
        (None, AuditFilter(by="ola"), [4, 2]),
        (None, AuditFilter(action="pool.build"), [4, 2]),
        (None, AuditFilter(action="pool"), [4, 3, 2]),
        (None, AuditFilter(action="poo"), []),
        (None, AuditFilter(since=NOW + timedelta(days=1)), [4, 3, 2]),
        (None, AuditFilter(until=NOW + timedelta(days=1)), [1]),
        (SLUG, AuditFilter(by="ola", action="pool", since=NOW), [2]),
    ],
)
def test_deeds_are_found_by_place_person_action_and_time(
    logged: Database, slug: str | None, wanted: AuditFilter, found: Sequence[int]
) -> None:
    with logged.reading() as session:
        assert [entry.id for entry in list_audit_entries(session, slug, wanted)] == found


def test_pages_of_deeds_follow_each_other_without_a_gap(logged: Database) -> None:
    with logged.reading() as session:
        first = audit_page(session, None, AuditFilter(), most=3)
        second = audit_page(session, None, AuditFilter(), before=first.older, most=3)
    assert [entry.id for entry in (*first.entries, *second.entries)] == [4, 3, 2, 1]
    assert second.older is None
    assert first.actions == ("pool.add", "pool.build", "users.add")


def test_what_is_rolled_back_was_not_done(database: Database) -> None:
    with suppress(ZeroDivisionError), database.transaction() as session:
        record_in(session, OLA, "users.add", None, at=NOW)
        raise ZeroDivisionError
    with database.reading() as session:
        assert list_audit_entries(session, None, AuditFilter()) == []


def test_details_are_kept_as_json_long_text_cut_and_nothing_said_of_what_was_not_given(database: Database) -> None:
    given = {
        "title": "News",
        "scale": parse_scale("0=No,1=Yes"),
        "relevant_from": 1,
        "consensus_policy": "judge:joana",
        "judges_search": False,
        "judging_mode": JudgingMode.OWNED,
        "deadline": NOW,
        "terms": "",
        "most_documents": None,
    }
    with database.transaction() as session:
        record_in(session, OLA, "collections.set", None, at=NOW, details=given)
        record_in(session, OLA, "runs.edit", None, at=NOW, details={"team": "x" * 300})
    with database.reading() as session:
        edited, changed = list_audit_entries(session, None, AuditFilter())
    assert edited.details == {"team": "x" * 200 + "…"}
    assert changed.details == {
        "title": "…",
        "scale": [{"value": 0, "name": "No"}, {"value": 1, "name": "Yes"}],
        "relevant_from": 1,
        "consensus_policy": "judge:…",
        "judges_search": False,
        "judging_mode": "owned",
        "deadline": "2026-03-01T09:00:00+00:00",
        "terms": "",
    }


@pytest.mark.parametrize(
    ("action", "details", "told"),
    [
        ("pool.burn", {}, "pool.burn is not declared"),
        ("tokens.add", {"of": "joana"}, "no detail of"),
        ("pool.build", {"added": "3"}, "in place of a number"),
        ("pool.build", {"added": True}, "in place of a number"),
        ("collections.set", {"deadline": Deadline(NOW)}, "Deadline in place of a text"),
        ("collections.set", {"scale": ["0=No"]}, "not of its kind"),
        ("topics.assign", {"topics": [1]}, "in place of a text"),
        ("costs.set", {"facts": 5}, "not of its kind"),
    ],
)
def test_what_is_not_declared_gets_into_no_line(
    database: Database, action: str, details: dict[str, object], told: str
) -> None:
    with pytest.raises(TypeError, match=told), database.transaction() as session:
        record_in(session, OLA, action, None, at=NOW, details=details)


def test_the_csv_in_pieces_is_the_csv_though_something_is_done_meanwhile(logged: Database) -> None:
    asked = []

    def below(before: int | None) -> Sequence[AuditEntry]:
        asked.append(before)
        with logged.transaction() as session:
            found = entries_before(session, None, AuditFilter(), before, most=3)
            record_in(session, OLA, "users.add", None, at=NOW)
        return found

    with logged.reading() as session:
        whole = entries_csv(list_audit_entries(session, None, AuditFilter()))
    assert "".join(csv_pieces(below)) == whole
    assert asked == [None, 2, 1]
    assert "".join(csv_pieces(lambda _: [])).count("\n") == 1


def test_the_csv_has_a_line_a_deed_and_no_formula(logged: Database) -> None:
    with logged.transaction() as session:
        record_in(session, Actor(Door.API, "=cmd"), "runs.import", SLUG, at=NOW, details={"sha256": "ab"})
    with logged.reading() as session:
        lines = unquoted(entries_csv(list_audit_entries(session, SLUG, AuditFilter(by="=cmd")))).splitlines()
    assert lines == [
        "number,at,name,door,collection,action,subject,details",
        '5,2026-03-01T09:00:00+00:00,\'=cmd,api,news,runs.import,,"{""sha256"": ""ab""}"',
    ]


@pytest.mark.parametrize(
    "statement",
    [
        delete(AuditEvent),
        delete(AuditEvent).where(AuditEvent.id == 2),
        update(AuditEvent).values(action="nothing"),
        update(AuditEvent).values(name="somebody else"),
        update(AuditEvent).values(at=NOW),
        text("UPDATE audit_event SET details = '{}'"),
        update(AuditEvent).values(name="forgotten-1", door="page"),
    ],
)
def test_the_database_itself_refuses_to_take_a_line_out_or_change_it(logged: Database, statement: Executable) -> None:
    with logged.transaction() as session:
        record_in(session, ROOT, "pool.build", None, at=NOW, details={"added": 1})
    with pytest.raises(DBAPIError, match="only ever added to"), logged.transaction() as session:
        session.execute(statement)
    with logged.reading() as session:
        assert session.scalar(select(func.count()).select_from(AuditEvent)) == 5


def test_the_name_of_somebody_who_was_forgotten_gives_way(logged: Database) -> None:
    with logged.transaction() as session:
        user(session, "ola")
        session.execute(update(AuditEvent).where(AuditEvent.name == "ola").values(name="forgotten-7"))
    with logged.reading() as session:
        assert {entry.name for entry in list_audit_entries(session, None, AuditFilter())} == {"forgotten-7", "root"}
