"""Background jobs: their progress and their results."""

from dataclasses import replace

from flask import Blueprint, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import JobState
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.background import JSON, KINDS, ask_for_page, is_under_way, kept_answer, page_endpoint
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import done
from annotator.web.site.language import gettext
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JobView

blueprint = Blueprint("jobs", __name__)

# Workers poll twice a second: if the first job in the queue waits longer than this, no worker may be running.
SECONDS_UNTIL_STRANGE = 15


@blueprint.get("/collections/<slug>/jobs")
@collection_page()
def show_all(slug: str) -> ResponseReturnValue:
    """The jobs of the collection for organisers, one's own for others; `?before=` leads to older ones."""
    before = request.args.get("before", type=int)
    page = database().read(jobs.page_of_jobs, slug, by_id=_seen_by(), before=before)
    return render_template("site/jobs/list.html", page=page, kinds=KINDS)


@blueprint.post("/collections/<slug>/jobs")
@collection_page()
def ask(slug: str) -> ResponseReturnValue:
    """Start a job for a long page."""
    id_ = ask_for_page(slug, request.form.get("page", ""))
    return redirect(url_for(".show", slug=slug, id_=id_), 303)


@blueprint.get("/collections/<slug>/jobs/<row:id_>")
@collection_page()
def show(slug: str, id_: int) -> ResponseReturnValue:
    """The progress of a job, or its result."""
    job = _job(slug, id_)
    is_own = job.asked_by == the_person().name
    onward = _onward(slug, job) if is_own else None
    if onward is not None:
        return redirect(onward, 303)
    if endpoint := page_endpoint(job):
        g.menu_endpoint = endpoint  # the menu marks the page that is being computed
    return render_template(
        "site/jobs/show.html",
        job=job,
        kinds=KINDS,
        is_own=is_own,
        is_strange=_is_strange(job),
        answer=_answer(slug, job),
    )


@blueprint.get("/collections/<slug>/jobs/<row:id_>.json")
@collection_page()
def progress(slug: str, id_: int) -> ResponseReturnValue:
    """The status of a job as JSON, for the script of its page."""
    job = _job(slug, id_)
    return {"state": job.state, "done": job.steps_done, "steps": job.steps, "before": job.before}


@blueprint.get("/collections/<slug>/jobs/<row:id_>/answer")
@collection_page()
def answer(slug: str, id_: int) -> ResponseReturnValue:
    """The page or file produced by the worker, for the person who requested it."""
    return kept_answer(slug, id_)


@blueprint.post("/collections/<slug>/jobs/<row:id_>/cancel")
@collection_page()
def cancel(slug: str, id_: int) -> ResponseReturnValue:
    """Cancel a job."""
    with database().transaction() as session:
        jobs.cancel_job(session, slug, id_, at=now(), by_id=_seen_by())
        note(session, "jobs.cancel", slug, subject=id_)
    return done(gettext("Cancelled. Nothing was stored."), ".show", slug=slug, id_=id_)


def _job(slug: str, id_: int) -> JobView:
    job = database().read(jobs.show_job, slug, id_, by_id=_seen_by())
    if job.finished and is_under_way(job):
        return replace(job, state=JobState.RUNNING, finished_at=None)
    return job


def _seen_by() -> int | None:
    """The person whose jobs are visible; None for an organiser, who sees all."""
    return None if the_place().organises else the_person().id


def _onward(slug: str, job: JobView) -> str | None:
    """Where to redirect the person who requested the job; None when its own page has a message or a file."""
    found = job.result
    if not found.get("status") or found["file"] or found["said"]:
        return None
    kind = KINDS.get(job.kind)
    if kind is not None and kind.shown_by and str(found["type"]).startswith(JSON):
        return url_for(kind.shown_by, slug=slug, id_=job.id)
    return str(found["location"] or _answer(slug, job))


def _answer(slug: str, job: JobView) -> str:
    """The address of the response: a page's is its own, where the newest response is; that of others is at the job."""
    target = str(job.parameters["target"])
    if job.parameters["method"] == "POST" or job.result.get("file"):
        return url_for(".answer", slug=slug, id_=job.id)
    return target


def _is_strange(job: JobView) -> bool:
    waited = (now() - job.asked_at).total_seconds()
    return job.state is JobState.WAITING and not job.before and waited > SECONDS_UNTIL_STRANGE
