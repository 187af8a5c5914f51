"""`annotator jobs`: what waits for the worker, and what is cancelled."""

import json
from datetime import UTC, datetime

import pytest
from build import SLUG, member, pooled_news, user
from cli.command_line import CommandLine

from annotator.storage import Database, Role
from annotator.workflows.site import jobs


@pytest.fixture
def waiting(annotator: CommandLine, sqlite_database: Database) -> CommandLine:
    """Ola's report of the collection waits, and behind it Ada's import of an archive."""
    with sqlite_database.transaction() as session:
        pooled_news(session)
        ola, ada = member(session, "ola", Role.ORGANISER), user(session, "ada", administrator=True)
        for slug, kind, by_id in ((SLUG, "report.file", ola), (None, "archives.import", ada)):
            jobs.ask_job(session, slug, kind=kind, parameters={"roles": []}, by_id=by_id, at=datetime.now(UTC))
    sqlite_database.close()
    return annotator


def test_the_jobs_of_a_collection_and_of_the_site_are_listed_apart(waiting: CommandLine) -> None:
    [of_news] = json.loads(waiting.done("jobs", "list", "--collection", "news", "--format", "json"))
    assert (of_news["kind"], of_news["state"], of_news["asked_by"]) == ("report.file", "waiting", "ola")
    [of_site] = json.loads(waiting.done("jobs", "list", "--format", "json"))
    assert (of_site["kind"], of_site["asked_by"]) == ("archives.import", "ada")
    shown = json.loads(waiting.done("jobs", "show", str(of_site["number"]), "--format", "json"))
    assert (shown["state"], shown["jobs_before_it"], shown["status"]) == ("waiting", 1, None)
    assert waiting.refused("jobs", "show", str(of_site["number"]), "--collection", "news") == ["There is no such job."]


def test_a_job_is_cancelled_once(waiting: CommandLine) -> None:
    cancel = ("jobs", "cancel", "1", "--collection", "news")
    assert waiting.talk(*cancel) == "Cancelled job 1. Nothing was stored.\n"
    assert "finished already" in waiting.refused(*cancel)[0]
    assert waiting.table("jobs", "list", "--collection", "news")[0][2] == "cancelled"
    assert "jobs.cancel" in waiting.done("audit", "list", "news")
    waiting.done("jobs", "cancel", "2")
    assert waiting.table("jobs", "list")[0][2] == "cancelled"
