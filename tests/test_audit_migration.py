"""Lines of the audit log from before details were plain: names become numbers of accounts, and values JSON."""

import json
from collections.abc import Iterator

import pytest
from alembic import command
from alembic.config import Config
from build import NOW, user
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from annotator.storage import AuditEvent, Database
from annotator.storage.site.migrating import migration_config, upgrade_schema

BEFORE = "0010"
DEADLINE = "Deadline(at=datetime.datetime(2026, 12, 1, 11, 59, tzinfo=datetime.timezone.utc))"
NAME = "Zaphod"


@pytest.fixture
def config(database: Database) -> Iterator[Config]:
    yield migration_config(database)
    upgrade_schema(database)


@pytest.mark.parametrize(
    ("action", "written", "plain"),
    [
        ("tokens.add", {"of": "zaphod", "scopes": ["read"]}, {"account": 1, "scopes": ["read"]}),
        ("tokens.add", {"of": "nobody any more", "days": 3}, {"days": 3}),
        ("tokens.add", {"scopes": ["read"]}, {"scopes": ["read"]}),
        ("collections.set", {"deadline": DEADLINE, "relevant_from": 2}, None),
        ("collections.set", {"deadline": "Deadline(at=None)"}, {"deadline": "none"}),
        ("collections.set", {"deadline": "Deadline(at"}, {"deadline": "Deadline(at"}),
        ("collections.set", {"terms": f"Ask {NAME}.", "title": f"Of {NAME}"}, {"terms": "…", "title": "…"}),
        (
            "collections.set",
            {"scale": ["GradeMeaning(value=0, name='No', description='')"]},
            {"scale": [{"value": 0, "name": "No"}]},
        ),
        ("clicks.link", {"alpha": "a", "beta": None}, {"runs": {"alpha": "a", "beta": ""}}),
        ("costs.set", {"latency_p95": "48", "hardware": f"that of {NAME}"}, {"facts": ["hardware", "latency_p95"]}),
        ("pool.add", {"query": NAME, "added": 2}, {"query": "…", "added": 2}),
        ("topics.drop", {"reason": f"{NAME} says so"}, {"reason": "…"}),
        ("scores.release", {"from": "2026-12-22 00:00:00+01:00"}, {"from": "2026-12-21T23:00:00+00:00"}),
        ("scores.release", {"shown": "own", "from": "2026-12-22 AoE"}, {"shown": "own", "from": "2026-12-22 AoE"}),
    ],
)
def test_a_line_of_before_has_plain_details_and_no_name(
    config: Config, database: Database, action: str, written: dict[str, object], plain: dict[str, object] | None
) -> None:
    with database.transaction() as session:
        number = user(session, NAME)
    command.downgrade(config, BEFORE)
    with database.transaction() as session:
        session.execute(
            text(
                "INSERT INTO audit_event (at, name, door, action, subject, details)"
                " VALUES (:at, 'root', 'command', :action, 'n', :details)"
            ),
            {"at": str(NOW.replace(tzinfo=None)), "action": action, "details": json.dumps(written)},
        )
    upgrade_schema(database)
    wanted = {"deadline": "2026-12-01T11:59:00+00:00", "relevant_from": 2} if plain is None else plain
    if "account" in wanted:
        wanted["account"] = number
    with database.reading() as session:
        assert session.scalars(select(AuditEvent.details)).one() == wanted
    with pytest.raises(DBAPIError, match="only ever added to"), database.transaction() as session:
        session.execute(text("UPDATE audit_event SET details = '{}'"))
    with pytest.raises(DBAPIError, match="only ever added to"), database.transaction() as session:
        session.execute(text("DELETE FROM audit_event"))
