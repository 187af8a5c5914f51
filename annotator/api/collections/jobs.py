"""Background jobs: list those of a collection, cancel one of it or of the site."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ADMINISTER, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs import ANYBODY, closed_to_token, resource
from annotator.api.site.pagination import LongList
from annotator.api.site.values import Moment
from annotator.web.site.context import database, now, the_place
from annotator.workflows.site import jobs


class JobRow(Schema):
    """A job as lists show it."""

    number = fields.Integer(required=True, attribute="id", metadata={"description": "The number of the job."})
    kind = fields.String(required=True, metadata={"description": "The operation that was called, or the page."})
    state = fields.String(required=True, metadata={"description": "waiting, running, done, failed or cancelled."})
    asked_by = fields.String(required=True, allow_none=True, metadata={"description": "The account that requested it."})
    asked_at = Moment(required=True)
    finished_at = Moment(required=True, allow_none=True)
    steps_done = fields.Integer(required=True)
    steps = fields.Integer(
        required=True, metadata={"description": "The number of steps in all; 0 while it is unknown."}
    )


@operation(resource, "GET", "/collections/<slug>/jobs", ANYBODY, Gives(JobRow, many=True), Takes(pages=True))
def list_jobs(call: Call) -> object:
    """List the jobs of the collection, newest first; for others than organisers their own."""
    by_id = _seen_by()
    return LongList(
        lambda: database().read(jobs.number_of_jobs, call.slug, by_id=by_id),
        lambda first, most: database().read(jobs.list_jobs, call.slug, by_id=by_id, first=first, most=most),
    )


@operation(resource, "DELETE", "/collections/<slug>/jobs/<row:number>", ANYBODY, Gives(JobRow))
def cancel_job(call: Call) -> object:
    """Cancel a job that has not finished: nothing is stored for it. Organisers cancel any."""
    number = int(call.path["number"])
    job = database().read(jobs.show_job, call.slug, number, by_id=_seen_by())
    if (closed := closed_to_token(job)) is not None:
        return closed
    with database().transaction() as session:
        jobs.cancel_job(session, call.slug, number, at=now(), by_id=_seen_by())
        note(session, "jobs.cancel", call.slug, subject=number)
    return database().read(jobs.show_job, call.slug, number, by_id=_seen_by())


@operation(resource, "DELETE", "/jobs/<row:number>", ADMINISTER, Gives(JobRow))
def cancel_site_job(call: Call) -> object:
    """Cancel a job of no collection that has not finished, such as an import of an archive; for administrators."""
    number = int(call.path["number"])
    with database().transaction() as session:
        jobs.cancel_job(session, None, number, at=now())
        note(session, "jobs.cancel", None, subject=number)
    return database().read(jobs.show_job, None, number)


def _seen_by() -> int | None:
    """The person whose jobs are visible; None for an organiser, who sees all."""
    return None if the_place().organises else caller().id
