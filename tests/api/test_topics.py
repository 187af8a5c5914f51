"""Topics by program: drafted, edited, accepted, dropped, restored, and those flagged for dropping."""

import pytest
from build import labels
from calling import NEWS, Caller
from sqlalchemy import select

from annotator.storage import AuditEvent, Database

pytestmark = pytest.mark.usefixtures("news")
TOPICS = f"{NEWS}/topics"


def test_a_topic_is_drafted_edited_accepted_dropped_and_restored(program: Caller, database: Database) -> None:
    ola = program("ola")
    made = ola.post(f"{NEWS}/topic-drafts", {"number": "9", "title": "solar power"})
    assert (made.status_code, made.json["state"], made.json["description"]) == (201, "draft", "")
    assert ola.post(f"{NEWS}/topic-drafts", {"number": "9", "title": "again"}).status_code == 409
    edited = ola.call("PATCH", f"{TOPICS}/9", json={"narrative": "Plans do not count."})
    assert (edited.json["title"], edited.json["narrative"]) == ("solar power", "Plans do not count.")
    assert ola.post(f"{TOPICS}/accept", {"numbers": ["9", "1"]}).json == {"numbers": ["9"]}
    assert ola.post(f"{TOPICS}/drop", {"numbers": ["9"], "reason": "Too broad."}).json == {"numbers": ["9"]}
    shown = ola.get(f"{TOPICS}/9").json
    assert (shown["state"], shown["reason"]) == ("dropped", "Too broad.")
    assert ola.post(f"{TOPICS}/restore", {"numbers": ["9"]}).json == {"numbers": ["9"]}
    assert ola.get(f"{TOPICS}/9").json == {**edited.json, "state": "accepted"}
    with database.reading() as session:
        actions = list(session.scalars(select(AuditEvent.action).where(AuditEvent.subject == "9")))
    assert actions == ["topics.add", "topics.edit", "topics.accept", "topics.drop", "topics.restore"]


def test_a_judged_topic_is_not_reworded_and_a_topic_with_few_relevant_documents_is_flagged(
    program: Caller, database: Database
) -> None:
    with database.transaction() as session:
        labels(session, "ann", "2 0 a 1\n2 0 e 0\n")
    ola = program("ola")
    assert ola.call("PATCH", f"{TOPICS}/2", json={"title": "another"}).status_code == 409
    assert ola.call("PATCH", f"{TOPICS}/2", json={}).status_code == 422
    [flag] = [one for one in ola.get(f"{NEWS}/topic-flags").json if one["number"] == "2"]
    assert (flag["fault"], flag["relevant"], flag["is_final"]) == ("few", 1, True)
