"""The page of members: nobody becomes judge and participant at once by mistake."""

import pytest
from build import NOW, SLUG
from sqlalchemy import select
from visiting import Visit, words

from annotator.storage import AuditEvent, Database, Role
from annotator.workflows.people import members


def roles(database: Database, name: str) -> set[Role]:
    with database.reading() as session:
        return {row.role for row in members.list_members(session, SLUG) if row.name == name}


@pytest.mark.parametrize(
    ("name", "asked", "held"),
    [
        ("jo", {"role": "participant", "team": "red"}, Role.JUDGE),
        ("pat", {"role": "judge"}, Role.PARTICIPANT),
        ("pat", {"role": "adjudicator"}, Role.PARTICIPANT),
    ],
)
def test_a_judge_becomes_a_participant_or_the_reverse_only_if_allowed(
    visit: Visit, news: str, database: Database, name: str, asked: dict[str, str], held: Role
) -> None:
    ola = visit("ola")
    refused = ola.post(f"{news}/members", name=name, **asked)
    assert refused.status_code == 409
    assert f"“{name}” has the role {held}, which excludes the role {asked['role']}" in words(refused)
    assert roles(database, name) == {held}
    assert ola.post(f"{news}/members", name=name, force="y", **asked).status_code == 303
    assert roles(database, name) == {held, Role(asked["role"])}
    with database.reading() as session:
        [event] = session.scalars(select(AuditEvent).where(AuditEvent.action == "members.add"))
    assert event.details == {"forced": True, **asked}


def test_a_role_that_excludes_no_other_is_not_noted_as_forced(visit: Visit, news: str, database: Database) -> None:
    assert visit("ola").post(f"{news}/members", name="jo", role="adjudicator", force="y").status_code == 303
    with database.reading() as session:
        [event] = session.scalars(select(AuditEvent).where(AuditEvent.action == "members.add"))
    assert event.details == {"role": "adjudicator"}


def test_an_organiser_who_participates_does_not_become_a_judge_by_beginning_a_topic(
    visit: Visit, news: str, database: Database
) -> None:
    with database.transaction() as session:
        members.add_member(session, SLUG, "pat", Role.ORGANISER, added_at=NOW)
    assert visit("pat").post(f"{news}/judge/topics/1").status_code == 409
    assert Role.JUDGE not in roles(database, "pat")
