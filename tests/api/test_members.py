"""Members by the API: roles are listed and given; a judge becomes a participant only with `force`."""

import pytest
from calling import NEWS, Caller
from sqlalchemy import select

from annotator.storage import AuditEvent, Database

pytestmark = pytest.mark.usefixtures("news")


def test_a_judge_becomes_a_participant_only_with_force(program: Caller, database: Database) -> None:
    ola = program("ola")
    asked = {"name": "jo", "role": "participant", "team": "red"}
    refused = ola.post(f"{NEWS}/members", asked)
    assert refused.status_code == 409
    assert "which excludes the role participant" in refused.json["detail"]
    given = ola.post(f"{NEWS}/members", {**asked, "force": True})
    assert (given.status_code, given.json) == (201, {**asked, "forced": True})
    with database.reading() as session:
        [event] = session.scalars(select(AuditEvent).where(AuditEvent.action == "members.add"))
    assert event.details == {"role": "participant", "team": "red", "forced": True}
    held = [(one["role"], one["team"]) for one in ola.get(f"{NEWS}/members").json if one["name"] == "jo"]
    assert held == [("judge", None), ("participant", "red")]
