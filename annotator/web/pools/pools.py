"""The pool: build it, follow its judging progress, export it; its holes, unjudged documents at the top of runs."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError, ConflictError
from annotator.spreadsheets import csv_text
from annotator.storage import Role, Showing
from annotator.web.collections.judging_hours import growth_confirmation
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.pools.pool_form import PoolForm
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, PLAIN, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import Form, WholeNumberField, done, is_confirmed
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.memories import kept_report, plan_memory
from annotator.web.site.query_string import number_given
from annotator.web.site.translate import say
from annotator.workflows.pools import pool_building, pools
from annotator.workflows.pools.pool_building import PoolChoice, PoolSummary
from annotator.workflows.pools.pool_holes import HolesReport, holes_report
from annotator.workflows.pools.pool_planning import PoolGrowth, foresee_growth
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.pools.run_overlap import MOST_RUNS_SHOWN, USUAL_DEPTH, overlap_report
from annotator.workflows.pools.sample_drawing import machine_names
from annotator.workflows.runs import runs
from annotator.workflows.runs.scoring_scope import scope_choices

blueprint = Blueprint("pools", __name__)


class HolesForm(Form):
    """The depth to which holes are filled."""

    depth = WholeNumberField(lazy_gettext("Depth"), [InputRequired()])


@blueprint.get("/collections/<slug>/pool")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The versions of the pool and the judging progress of each topic."""
    return _page(slug, PoolForm.of_query())


@blueprint.post("/collections/<slug>/pool")
@collection_page(Role.ORGANISER)
def build(slug: str) -> ResponseReturnValue:
    """Build or extend the pool, after confirmation of the cost; without a choice of runs, from all of them."""
    form = PoolForm()
    if form.validate():
        with form.guard():
            if not is_confirmed() and (growth := _growth(slug, form)).documents:
                return growth_confirmation(growth, back=f"{url_for('.show', slug=slug)}?{form.query}")
            summary = _build(slug, form)
    if form.refused:
        return _page(slug, form), form.status
    flash(_outcome(summary))
    for notice in summary.notices:
        flash(say(notice))
    further = sum(choices_to_come(slug).values())
    if further:
        flash(gettext("Documents still to be chosen adaptively: %(further)d.", further=further))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.get("/collections/<slug>/pool.txt")
@collection_page(Role.ORGANISER)
def export(slug: str) -> ResponseReturnValue:
    """The pool as lines of topic and docno."""
    content = database().read(pools.export_pool, slug)
    note_export("pool.export", slug)
    return download(content, f"{slug}-pool.txt", PLAIN)


def _growth(slug: str, form: PoolForm) -> PoolGrowth:
    return database().read(foresee_growth, slug, form.described, seed=form.seed.data, memory=plan_memory())


def _build(slug: str, form: PoolForm) -> PoolSummary:
    choice = database().read(
        pool_building.choose_pool, slug, form.described, seed=form.seed.data, showing=Showing(form.showing.data)
    )
    return _store(slug, choice, {"strategy": form.described.strategy})


def _store(slug: str, choice: PoolChoice, details: dict[str, object]) -> PoolSummary:
    with database().transaction() as session:
        summary = pool_building.store_pool(session, slug, choice, built_by_id=the_person().id, built_at=now())
        note(session, "pool.build", slug, subject=summary.version, details={**details, "added": summary.added})
    return summary


def _page(slug: str, form: PoolForm) -> str:
    with database().reading() as session:
        progress = pools.pool_progress(session, slug)
        versions = pools.pool_versions(session, slug)
        pooled = pools.runs_in_pool(session, slug)
        selection = pools.selection_progress(session, slug)
        rows = runs.list_runs(session, slug)
        form.offer_machines(machine_names(session, slug))
    return render_template(
        "pools/show.html",
        form=form,
        strategies=list_strategies(),
        progress=progress,
        versions=versions,
        pooled=pooled,
        selection=selection,
        runs=rows,
    )


def _outcome(summary: PoolSummary) -> str:
    if not summary.is_new:
        return gettext(
            "No new documents: version %(version)d stays active, with its seed and order. Already in the "
            "pool: %(already)d.",
            version=summary.version,
            already=summary.already_pooled,
        )
    return gettext(
        "Added to the pool: %(added)d. Already in the pool: %(already)d. Version %(version)d is now active.",
        added=summary.added,
        already=summary.already_pooled,
        version=summary.version,
    )


@blueprint.get("/collections/<slug>/pool/teams")
@collection_page(Role.ORGANISER)
def teams(slug: str) -> ResponseReturnValue:
    """Relevant documents by team, and the overlap of the runs.

    `?depth=20&all=1` compares the top 20 of all runs, `?task=KEY` those of a task.
    """
    found, refused, scope = None, None, ScopeWanted.of_task()
    with_all = "all" in request.args
    try:
        depth = number_given("depth") or USUAL_DEPTH
        found = kept_report(
            slug,
            (overlap_report, depth, with_all, scope.task),
            lambda session: overlap_report(session, slug, depth, with_all=with_all, task=scope.task),
        )
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "pools/teams.html",
        found=found,
        refused=refused,
        with_all=with_all,
        most=MOST_RUNS_SHOWN,
        scopes=database().read(scope_choices, slug),
        scope=scope,
    )
    # Missing runs are not an error of the request.
    return page if refused is None or isinstance(refused, ConflictError) else (page, status_of(refused))


@blueprint.get("/collections/<slug>/pool/holes")
@collection_page(Role.ORGANISER)
def holes(slug: str) -> ResponseReturnValue:
    """The holes of every run in the top 10, 20 and 100; `?depth=10&task=KEY` fills in the form."""
    return _holes_page(slug, HolesForm(depth=request.args.get("depth", type=int)))


@blueprint.post("/collections/<slug>/pool/holes")
@collection_page(Role.ORGANISER)
def fill_holes(slug: str) -> ResponseReturnValue:
    """Add the holes to a depth as the next version of the pool, after confirmation of the cost."""
    form, task = HolesForm(), ScopeWanted.of_task().task
    if form.validate():
        with form.guard():
            if not is_confirmed() and (growth := _growth_of_filling(slug, form.depth.data, task)).documents:
                return growth_confirmation(growth, back=url_for(".holes", slug=slug, task=task))
            summary = _fill(slug, form.depth.data, task)
    if form.refused:
        return _holes_page(slug, form), form.status
    return done(_filled(summary), ".holes", slug=slug, task=task)


@blueprint.get("/collections/<slug>/pool/holes.csv")
@collection_page(Role.ORGANISER)
def holes_csv(slug: str) -> ResponseReturnValue:
    """The holes as CSV, one line per run and depth."""
    with database().reading() as session:
        headings, rows = holes_report(session, slug, task=ScopeWanted.of_task().task).file()
    return download(csv_text([headings, *rows]), f"{slug}-holes.csv", CSV)


def _holes_page(slug: str, form: HolesForm) -> str:
    found: HolesReport | None = None
    scope = ScopeWanted.of_task()
    refused: AnnotatorError | None = form.refusal
    try:
        found = database().read(holes_report, slug, task=scope.task)
    except ConflictError as refusal:  # missing runs are not an error of the request
        refused = refused or refusal
    scopes = database().read(scope_choices, slug)
    return render_template("pools/pool_holes.html", found=found, refused=refused, form=form, scopes=scopes, scope=scope)


def _growth_of_filling(slug: str, depth: int, task: str | None) -> PoolGrowth:
    return database().read(foresee_growth, slug, pool_building.filling_request(depth, task), memory=plan_memory())


def _fill(slug: str, depth: int, task: str | None) -> PoolSummary:
    # Choosing takes a while and must not block other writers.
    choice = database().read(pool_building.choose_filling, slug, depth, task)
    return _store(slug, choice, {"depth": depth, **({} if task is None else {"task": task})})


def _filled(summary: PoolSummary) -> str:
    if not summary.is_new:
        return gettext(
            "All of these documents are in the pool already: version %(version)d stays active.",
            version=summary.version,
        )
    return gettext(
        "Added to the pool: %(added)d. Version %(version)d is now active.", added=summary.added, version=summary.version
    )
