"""Background jobs: their progress and their results."""

from annotator.api.site.access import caller, gate_of
from annotator.api.site.door import Call, Gives, operation, resource_of
from annotator.api.site.jobs_asked import JobStatus, status_of_job
from annotator.errors import NotFoundError
from annotator.web.site.context import database, the_place
from annotator.workflows.people.tokens import Scope
from annotator.workflows.site import jobs

resource = resource_of("jobs", "Background jobs for large files, each visible to its sender.")

ANYBODY = gate_of([Scope.READ, Scope.RUNS, Scope.ORGANISE], ())


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
