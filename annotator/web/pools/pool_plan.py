"""The plan of a pool: its cost and size before it is built."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.errors import ConflictError
from annotator.storage import Role
from annotator.storage.judging.progress import SECONDS_AN_HOUR
from annotator.web.pools.pool_form import PoolForm
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.web.site.memories import plan_memory
from annotator.workflows.pools.pool_planning import PoolPlan, plan_pool
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.pools.sample_drawing import machine_names
from annotator.workflows.runs import runs

blueprint = Blueprint("pool_plan", __name__)


@blueprint.get("/collections/<slug>/pool/plan")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The plan of the pool described in the query string (`?strategy=depth&depth=10&hours=40`).

    The page contains the whole curve, so that a browser can move along it without further requests.
    """
    form = PoolForm.of_query()
    plan = None
    is_complete = bool(form.machine.data) or not form.requires_machine
    if is_complete and form.validate():
        with form.guard():
            plan = _plan(slug, form)
    with database().reading() as session:
        rows = runs.list_runs(session, slug)
        form.offer_machines(machine_names(session, slug))
    page = render_template(
        "pools/plan.html",
        form=form,
        strategies=list_strategies(),
        plan=plan,
        within_hours=_documents_within_hours(plan) if plan is not None else None,
        runs=rows,
    )
    # Missing runs are not an error of the request.
    return page if not form.refused or isinstance(form.refusal, ConflictError) else (page, form.status)


def _plan(slug: str, form: PoolForm) -> PoolPlan:
    return database().read(
        plan_pool,
        slug,
        form.described,
        seed=form.seed.data,
        hours=form.hours.data,
        memory=plan_memory(),
        precision=form.precision,
    )


def _documents_within_hours(plan: PoolPlan) -> float | None:
    """The documents without any judgement that the hours of the plan are enough for."""
    if plan.hours is None or plan.effort.seconds == 0:
        return None
    return plan.hours * SECONDS_AN_HOUR / (plan.effort.seconds * plan.effort.judgements_wanted)
