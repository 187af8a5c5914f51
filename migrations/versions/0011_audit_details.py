"""The details of the audit log are plain values and name nobody.

The log is only ever added to, by triggers. These few lines are the exception: before, a command that made a token for
somebody wrote their name, which could never be forgotten, and some values were written as Python shows them.
"""

import ast
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

HIDDEN = "…"
# What is free text now, which may name anybody: that there was some is kept.
FREE = ("title", "terms", "description", "reason", "query", "log")
LINES = sa.table(
    "audit_event",
    sa.column("id", sa.Integer()),
    sa.column("action", sa.String()),
    sa.column("details", sa.JSON()),
)
USERS = sa.table("user", sa.column("id", sa.Integer()), sa.column("name", sa.String()))
TRIGGER = "audit_event_unchanged"


def upgrade() -> None:
    connection = op.get_bind()
    numbers = {name.casefold(): id_ for name, id_ in connection.execute(sa.select(USERS.c.name, USERS.c.id))}
    lines = connection.execute(sa.select(LINES.c.id, LINES.c.action, LINES.c.details)).all()
    changed = [
        {"line": id_, "plain": plain}
        for id_, action, details in lines
        if (plain := _plain_details(action, details, numbers)) != details
    ]
    if changed:
        guard = _drop_guard()
        connection.execute(
            sa.update(LINES).where(LINES.c.id == sa.bindparam("line")).values(details=sa.bindparam("plain")), changed
        )
        connection.exec_driver_sql(guard)


def downgrade() -> None:
    """Leave the lines as they are: the older tables hold them too, and the names are not known any more."""


def _drop_guard() -> str:
    """Take the trigger away that refuses changes, and return the statement that makes it again."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        statement = connection.scalar(sa.text("SELECT sql FROM sqlite_master WHERE name = :name"), {"name": TRIGGER})
        op.execute(f"DROP TRIGGER {TRIGGER}")
    else:
        statement = connection.scalar(
            sa.text("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = :name"), {"name": TRIGGER}
        )
        op.execute(f"DROP TRIGGER {TRIGGER} ON audit_event")
    return str(statement)


def _plain_details(action: str, details: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, Any]:
    plain = {name: _plain(value) for name, value in details.items()}
    if action == "tokens.add" and "of" in plain:
        number = numbers.get(str(plain.pop("of")).casefold())
        return plain if number is None else {**plain, "account": number}
    if action == "clicks.link" and not isinstance(plain.get("runs"), dict):
        return {"runs": {variant: tag or "" for variant, tag in plain.items()}}
    if action == "costs.set" and not isinstance(plain.get("facts"), list):
        return {"facts": sorted(plain)}
    if action == "costs.add-column":
        return plain | ({"name": HIDDEN} if plain.get("name") else {})
    if action == "scores.release" and plain.get("from"):
        return plain | {"from": _moment(str(plain["from"]))}
    return {name: HIDDEN if name in FREE and value else value for name, value in plain.items()}


def _plain(value: object) -> object:
    """A value that was written as Python shows it, as JSON; others stay."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, str) or not value.startswith(("Deadline(", "GradeMeaning(")):
        return value
    try:
        call = ast.parse(value, mode="eval").body
    except SyntaxError:
        return value
    given = {one.arg: one.value for one in call.keywords} if isinstance(call, ast.Call) else {}
    if "at" in given:
        return _deadline(given["at"])
    if {"value", "name"} <= given.keys():
        return {name: ast.literal_eval(given[name]) for name in ("value", "name")}
    return value


def _deadline(shown: ast.expr) -> str:
    if not isinstance(shown, ast.Call):
        return "none"
    year, month, day, hour, minute, *_ = [int(ast.literal_eval(one)) for one in shown.args]
    return datetime(year, month, day, hour, minute, tzinfo=UTC).isoformat(timespec="seconds")


def _moment(text: str) -> str:
    """A moment as it was written, or as Python shows it; what was typed in another way stays."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
