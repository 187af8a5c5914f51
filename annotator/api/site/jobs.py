"""Background jobs: list them, their progress and results, cancel one."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.jobs_asked import JobStatus, status_of_job
from annotator.api.site.values import Moment, counted
from annotator.errors import NotFoundError
from annotator.web.site.context import database, now, the_place
from annotator.workflows.people.tokens import Scope
from annotator.workflows.site import jobs

resource = resource_of("jobs", "Background jobs for large files, each visible to its sender.")

ANYBODY = gate_of([Scope.READ, Scope.RUNS, Scope.ORGANISE], ())


class JobsQuery(Schema):
    """The page: jobs older than `before`, newest first."""

    before = counted(0, load_default=None, metadata={"description": "Only jobs with smaller numbers."})


class JobRow(Schema):
    """A job as lists show it."""

    id = fields.Integer(required=True, metadata={"description": "The number of the job."})
    kind = fields.String(required=True, metadata={"description": "The operation that was called, or the page."})
    state = fields.String(required=True, metadata={"description": "waiting, running, done, failed or cancelled."})
    asked_by = fields.String(required=True, allow_none=True, metadata={"description": "The account that requested it."})
    asked_at = Moment(required=True)
    finished_at = Moment(required=True, allow_none=True)
    steps_done = fields.Integer(required=True)
    steps = fields.Integer(
        required=True, metadata={"description": "The number of steps in all; 0 while it is unknown."}
    )


class JobRows(Schema):
    """Jobs, newest first."""

    jobs = fields.List(fields.Nested(JobRow), required=True, metadata={"description": "The jobs, newest first."})
    total = fields.Integer(required=True, metadata={"description": "The number of jobs on all pages."})
    older = fields.Integer(required=True, allow_none=True)


@operation(resource, "GET", "/collections/<slug>/jobs", ANYBODY, Gives(JobRows), Takes(query=JobsQuery))
def list_jobs(call: Call) -> object:
    """List the jobs of the collection, newest first; for others than organisers their own."""
    return database().read(jobs.page_of_jobs, call.slug, by_id=_seen_by(), before=call.query["before"])


@operation(resource, "DELETE", "/collections/<slug>/jobs/<row:id_>", ANYBODY, Gives(JobRow))
def cancel_job(call: Call) -> object:
    """Cancel a job that has not finished: nothing is stored for it. Organisers cancel any."""
    id_ = int(call.path["id_"])
    with database().transaction() as session:
        jobs.cancel_job(session, call.slug, id_, at=now(), by_id=_seen_by())
        note(session, "jobs.cancel", call.slug, subject=id_)
    return database().read(jobs.show_job, call.slug, id_, by_id=_seen_by())


@operation(
    resource,
    "GET",
    "/collections/<slug>/jobs/<row:id_>",
    ANYBODY,
    Gives(JobStatus),
)
def show_job(call: Call) -> object:
    """Show the progress and the result of a job of yours. Results are kept for a week."""
    id_, by_id = int(call.path["id_"]), caller().id
    with database().reading() as session:
        job = jobs.show_job(session, call.slug, id_, by_id=by_id)
        if not the_place().roles.issuperset(job.parameters["roles"]):
            raise NotFoundError("There is no such job.")
        content = jobs.job_answer(session, call.slug, id_, by_id=by_id) if job.result.get("status") else None
    return status_of_job(job, content)


def _seen_by() -> int | None:
    """The person whose jobs are visible; None for an organiser, who sees all."""
    return None if the_place().organises else caller().id
