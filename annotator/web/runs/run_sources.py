"""Sources of runs: save, change and remove one, have a worker fetch its run, see what came of it."""

from flask import Blueprint, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from annotator.evaluation.runs.search_engines import PATHS
from annotator.storage import Role
from annotator.web.runs.run_fetching import FetchForm, fetch_page
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import actor, note
from annotator.web.site.background import JOB_KIND, arrived_at, leave_form, work
from annotator.web.site.context import database, engine_access, now, settings, the_person
from annotator.web.site.forms import Form, confirmation, done, is_confirmed
from annotator.web.site.language import format_number, gettext
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.due_sources import KIND
from annotator.workflows.runs.run_sources import SourceSettings, SourceView

blueprint = Blueprint("run_sources", __name__)


@blueprint.post("/collections/<slug>/runs/sources")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Save the form of a search engine as a source."""
    form = FetchForm()
    name = (form.name.data or "").strip()
    if form.validate():
        with form.guard():
            _save(slug, name, form.settings(), is_new=True)
    if form.refused:
        return fetch_page(slug, form), form.status
    return done(gettext("The source is saved."), ".show", slug=slug, name=name)


@blueprint.get("/collections/<slug>/runs/sources/<name>")
@collection_page(Role.ORGANISER)
def show(slug: str, name: str) -> ResponseReturnValue:
    """A source, its runs, and the form to change it."""
    return _page(slug, name)


@blueprint.post("/collections/<slug>/runs/sources/<name>")
@collection_page(Role.ORGANISER)
def change(slug: str, name: str) -> ResponseReturnValue:
    """Change a source; its runs stay with it."""
    database().read(run_sources.show_source, slug, name)
    form = FetchForm()
    if form.validate():
        with form.guard():
            _save(slug, name, form.settings())
    if form.refused:
        return _page(slug, name, form), form.status
    return done(gettext("The source is saved."), ".show", slug=slug, name=name)


@blueprint.post("/collections/<slug>/runs/sources/<name>/fetch")
@collection_page(Role.ORGANISER)
def fetch(slug: str, name: str) -> ResponseReturnValue:
    """Fetch a run from the source, and show its receipt; a worker asks the engine."""
    form = Form()
    answer: ResponseReturnValue = ""
    with form.guard():
        answer = _fetched(slug, name)
    return (_page(slug, name, refused=form), form.status) if form.refused else answer


def _fetched(slug: str, name: str) -> ResponseReturnValue:
    """Leave the form to the worker after a check; in the worker, the receipt of the run."""
    if (at_work := work()) is None:
        database().read(run_sources.check_source, slug, name, engine_access(), at=now())
        return leave_form(slug)
    sent_at = arrived_at()
    run_sources.fetch_from_source(
        database(),
        slug,
        name,
        engine_access(),
        actor=actor(),
        at=sent_at,
        noted_at=now(),
        unpacked_limit=settings().unpacked_limit,
        progress=at_work.tell,
    )
    return redirect(url_for("run.receipt", slug=slug, at=sent_at.isoformat()), 303)


@blueprint.post("/collections/<slug>/runs/sources/<name>/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str, name: str) -> ResponseReturnValue:
    """Remove a source, after a confirmation."""
    found = database().read(run_sources.show_source, slug, name)
    if not is_confirmed():
        return confirmation(
            gettext("Remove the source of runs"),
            figures={gettext("Runs from it"): format_number(found.fetched)},
            notes=[gettext("Its runs stay, but belong to no source any more.")],
            button=gettext("Remove the source"),
            back=url_for(".show", slug=slug, name=name),
            destroys=True,
        )
    form = Form()
    with form.guard(), database().transaction() as session:
        run_sources.remove_source(session, slug, name)
        note(session, "run-sources.remove", slug, subject=name)
    if form.refused:
        return _page(slug, name, refused=form), form.status
    return done(gettext("Removed the source of runs."), "run_fetching.show", slug=slug)


def _save(slug: str, name: str, chosen: SourceSettings, *, is_new: bool = False) -> None:
    with database().transaction() as session:
        run_sources.set_source(
            session, slug, name, chosen, engine_access(), by_id=the_person().id, at=now(), is_new=is_new
        )
        note(session, "run-sources.set", slug, subject=name, details=chosen.noted)


def _page(slug: str, name: str, form: FetchForm | None = None, refused: Form | None = None) -> str:
    source = database().read(run_sources.show_source, slug, name)
    return render_template(
        "runs/source.html",
        source=source,
        form=form or _form(source),
        refused=refused.refusal if refused else None,
        allowed=settings().outgoing_hosts,
    )


def _form(source: SourceView) -> FetchForm:
    """The form with what is saved."""
    saved, details = source.settings, source.settings.details
    engine = saved.engine
    paths = [f"{name}={path}" for name in PATHS if (path := getattr(engine.paths, name))]
    return FetchForm(
        formdata=None,
        endpoint=engine.endpoint,
        dialect=engine.dialect.value,
        query=engine.query,
        depth=engine.depth,
        paths="\n".join(paths),
        texts=engine.with_texts,
        tag=saved.tag,
        team=details.team,
        priority=details.priority,
        run_type=details.run_type or "",
        description=details.description,
        task=details.task or "",
        hour="" if saved.hour is None else str(saved.hour),
    )


setattr(fetch, JOB_KIND, KIND)
