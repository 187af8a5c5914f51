"""Background jobs: their progress and their results."""

from dataclasses import replace

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.storage import JobState
from annotator.web.site.access import administrator_page, collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.background import JSON, KINDS, TOKEN, ask_for_page, is_under_way, kept_answer, page_endpoint
from annotator.web.site.context import Place, database, now, the_person
from annotator.web.site.language import gettext
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JobView

blueprint = Blueprint("jobs", __name__)
of_site = Blueprint("site_jobs", __name__)

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
    return _page(slug, id_)


def _page(slug: str | None, id_: int) -> ResponseReturnValue:
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
        addresses=_addresses(slug, id_),
    )


@blueprint.get("/collections/<slug>/jobs/<row:id_>.json")
@collection_page()
def progress(slug: str, id_: int) -> ResponseReturnValue:
    """The status of a job as JSON, for the script of its page."""
    return _progress(slug, id_)


def _progress(slug: str | None, id_: int) -> ResponseReturnValue:
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
    return _cancel(slug, id_)


def _cancel(slug: str | None, id_: int) -> ResponseReturnValue:
    with database().transaction() as session:
        jobs.cancel_job(session, slug, id_, at=now(), by_id=_seen_by())
        note(session, "jobs.cancel", slug, subject=id_)
    flash(gettext("Cancelled. Nothing was stored."))
    return redirect(_addresses(slug, id_)["show"], 303)


@of_site.get("/jobs/<row:id_>", endpoint="show")
@administrator_page
def show_of_site(id_: int) -> ResponseReturnValue:
    """The progress of a job of the site, such as the import of an archive, or its result."""
    return _page(None, id_)


@of_site.get("/jobs/<row:id_>.json", endpoint="progress")
@administrator_page
def progress_of_site(id_: int) -> ResponseReturnValue:
    """The status of a job of the site as JSON, for the script of its page."""
    return _progress(None, id_)


@of_site.get("/jobs/<row:id_>/answer", endpoint="answer")
@administrator_page
def answer_of_site(id_: int) -> ResponseReturnValue:
    """The page produced by the worker, for the person who requested it."""
    return kept_answer(None, id_)


@of_site.post("/jobs/<row:id_>/cancel", endpoint="cancel")
@administrator_page
def cancel_of_site(id_: int) -> ResponseReturnValue:
    """Cancel a job of the site."""
    return _cancel(None, id_)


def _addresses(slug: str | None, id_: int) -> dict[str, str]:
    """The addresses of a job's pages, of a collection or of the site."""
    names = ("show", "progress", "answer", "cancel")
    if slug is None:
        return {name: url_for(f"site_jobs.{name}", id_=id_) for name in names}
    return {name: url_for(f"jobs.{name}", slug=slug, id_=id_) for name in names}


def _job(slug: str | None, id_: int) -> JobView:
    job = database().read(jobs.show_job, slug, id_, by_id=_seen_by())
    if job.finished and is_under_way(job):
        return replace(job, state=JobState.RUNNING, finished_at=None)
    return job


def _seen_by() -> int | None:
    """The person whose jobs are visible; None for an organiser, who sees all."""
    place: Place | None = g.get("place")
    # Administrators see all jobs of the site.
    return None if place is None or place.organises else the_person().id


def _onward(slug: str | None, job: JobView) -> str | None:
    """Where to redirect the person who requested the job; None when its own page has a message or a file."""
    found = job.result
    if not found.get("status") or found["file"] or found["said"]:
        return None
    kind = KINDS.get(job.kind)
    if kind is not None and kind.shown_by and str(found["type"]).startswith(JSON):
        return url_for(kind.shown_by, slug=slug, id_=job.id)
    return str(found["location"] or _answer(slug, job))


def _answer(slug: str | None, job: JobView) -> str:
    """The address of the response: a page's is its own, where the newest response is; that of others is at the job."""
    target = str(job.parameters["target"])
    if job.parameters["method"] == "POST" or TOKEN in job.parameters or job.result.get("file"):
        return _addresses(slug, job.id)["answer"]
    return target


def _is_strange(job: JobView) -> bool:
    waited = (now() - job.asked_at).total_seconds()
    return job.state is JobState.WAITING and not job.before and waited > SECONDS_UNTIL_STRANGE
