"""Fetches the run of a source at its hour, in a job that nobody requested."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus

from annotator.errors import AnnotatorError, BusyError
from annotator.settings import Settings
from annotator.storage import Database, JobState
from annotator.storage.collections.audit import Actor
from annotator.storage.tables.collections import Door
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.due_sources import SLUG, SOURCE
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.site.jobs import Outcome, TakenJob

BY_NOBODY = Actor(Door.WORKER, "")


def fetch_nightly(database: Database, settings: Settings, taken: TakenJob, tell: Callable[[int, int], None]) -> Outcome:
    """Fetch the run of the job's source; what refuses it is kept with the source, and the job has failed.

    Raises `BusyError` for a transient failure, and `JobLostError`.
    """
    try:
        run_sources.fetch_from_source(
            database,
            taken.parameters[SLUG],
            taken.parameters[SOURCE],
            EngineAccess(settings.outgoing_hosts, settings.search_keys),
            actor=BY_NOBODY,
            at=taken.asked_at,
            noted_at=datetime.now(UTC),
            unpacked_limit=settings.unpacked_limit,
            by_itself=True,
            progress=tell,
        )
    except BusyError:
        raise
    except AnnotatorError:
        return Outcome(JobState.FAILED, {"status": HTTPStatus.CONFLICT})
    return Outcome(JobState.DONE, {"status": HTTPStatus.OK, "file": None, "type": ""})
