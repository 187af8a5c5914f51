"""Background jobs: their progress, their results and the files that they make."""

from flask import Response

from annotator.api.site.access import caller, gate_of, token_in_use, without_scope
from annotator.api.site.door import OPERATIONS, Call, Gives, operation, resource_of, text
from annotator.api.site.jobs_asked import JobStatus, status_of_job
from annotator.errors import NotFoundError
from annotator.web.site.context import database, roles_here
from annotator.web.site.downloads import BYTES
from annotator.workflows.people.tokens import Scope
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JobView

resource = resource_of("jobs", "Background jobs for large files, each visible to its sender.")

SCOPES = (Scope.READ, Scope.RUNS, Scope.ORGANISE)
# Jobs that were begun by a page are of any kind.
OF_PAGES = frozenset([Scope.ORGANISE])
ANYBODY = gate_of(SCOPES, ())
OF_SITE = gate_of(SCOPES)


@operation(
    resource,
    "GET",
    "/collections/<slug>/jobs/<row:number>",
    ANYBODY,
    Gives(JobStatus),
)
def show_job(call: Call) -> object:
    """Show the progress and the result of a job of yours. Results are kept for a week."""
    job, content = _job_with_answer(call.slug, call)
    return closed_to_token(job) or status_of_job(job, content)


@operation(resource, "GET", "/jobs/<row:number>", OF_SITE, Gives(JobStatus))
def show_site_job(call: Call) -> object:
    """Show the progress and the result of a job of yours that is of no collection, such as an import of an archive."""
    job, content = _job_with_answer(None, call)
    return closed_to_token(job) or status_of_job(job, content)


@operation(resource, "GET", "/collections/<slug>/jobs/<row:number>/file", ANYBODY, Gives(media=[BYTES]))
def job_file(call: Call) -> Response:
    """The file that a job of yours made, such as an archive. Files are kept for a week."""
    job, content = _job_with_answer(call.slug, call)
    if (closed := closed_to_token(job)) is not None:
        return closed
    if content is None or not job.result.get("file"):
        raise NotFoundError("This job has made no file, or it is no longer stored.")
    response = text(content, BYTES)
    response.headers["Content-Disposition"] = job.result["file"]
    return response


def closed_to_token(job: JobView) -> Response | None:
    """The problem of a token without the scopes of the operation that a job carries out; None when it has one.

    The answer of an operation is for those who may call it, also when a worker gives it later.
    """
    called = OPERATIONS.get(job.kind)
    return without_scope(OF_PAGES if called is None else called.gate.scopes)


def _job_with_answer(slug: str | None, call: Call) -> tuple[JobView, bytes | None]:
    """A job of the caller and its answer, if there is one.

    Raises `NotFoundError` without the roles it was asked in, and for a job of the site where the token is valid for one
    collection.
    """
    if slug is None and token_in_use().collection_id is not None:
        raise NotFoundError("There is no such job.")
    number, by_id = int(call.path["number"]), caller().id
    with database().reading() as session:
        job = jobs.show_job(session, slug, number, by_id=by_id)
        if not roles_here().issuperset(job.parameters["roles"]):
            raise NotFoundError("There is no such job.")
        return job, jobs.job_answer(session, slug, number, by_id=by_id) if job.result.get("status") else None
