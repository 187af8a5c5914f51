"""Background jobs: list those of a collection, cancel one of it or of the site."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ADMINISTER, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs import ANYBODY, closed_to_token, resource
from annotator.api.site.values import Moment, counted
from annotator.web.site.context import database, now, the_place
from annotator.workflows.site import jobs


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
    job = database().read(jobs.show_job, call.slug, id_, by_id=_seen_by())
    if (closed := closed_to_token(job)) is not None:
        return closed
    with database().transaction() as session:
        jobs.cancel_job(session, call.slug, id_, at=now(), by_id=_seen_by())
        note(session, "jobs.cancel", call.slug, subject=id_)
    return database().read(jobs.show_job, call.slug, id_, by_id=_seen_by())


@operation(resource, "DELETE", "/jobs/<row:id_>", ADMINISTER, Gives(JobRow))
def cancel_site_job(call: Call) -> object:
    """Cancel a job of no collection that has not finished, such as an import of an archive; for administrators."""
    id_ = int(call.path["id_"])
    with database().transaction() as session:
        jobs.cancel_job(session, None, id_, at=now())
        note(session, "jobs.cancel", None, subject=id_)
    return database().read(jobs.show_job, None, id_)


def _seen_by() -> int | None:
    """The person whose jobs are visible; None for an organiser, who sees all."""
    return None if the_place().organises else caller().id
