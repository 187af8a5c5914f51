"""What the tests of the worker share: settings, a worker that does what waits, and what came of it."""

from collections.abc import Callable

from build import SLUG, run_text
from sqlalchemy import func, select
from visiting import Visitor, words
from werkzeug.test import TestResponse

from annotator.settings import Settings
from annotator.storage import Database, Job, JobState, Run
from annotator.worker.working import Worker

N = f"/collections/{SLUG}"
GOOD = run_text("gamma", {"1": ["a", "f"], "2": ["b"]})

Visit = Callable[[str], Visitor]


def settings_of(database: Database) -> Settings:
    url = database.engine.url.render_as_string(hide_password=False)
    return Settings(secret_key="of the tests", database_url=url)


def work(database: Database) -> None:
    Worker(settings_of(database)).work(only_what_waits=True)


def job_of(answer: TestResponse) -> str:
    """The address of the job that a form was left to."""
    assert answer.status_code == 303, words(answer)
    assert f"{N}/jobs/" in answer.location
    return answer.location


def state(database: Database) -> list[JobState]:
    with database.reading() as session:
        return [JobState(found) for found in session.scalars(select(Job.state).order_by(Job.id))]


def runs_called(database: Database, tag: str) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).where(Run.tag == tag)).one()
