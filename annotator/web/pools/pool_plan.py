"""What a pool would cost and bring, before it is built."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.errors import ConflictError
from annotator.storage import Role
from annotator.web.pools.plan_memory import plan_memory
from annotator.web.pools.pool_chart import draw
from annotator.web.pools.pool_form import PoolForm
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.workflows.pools.pool_planning import PoolPlan, plan_pool
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.runs import runs

blueprint = Blueprint("pool_plan", __name__)


@blueprint.get("/collections/<slug>/pool/plan")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The plan of a pool that the address describes (`?strategy=depth&depth=10&hours=40`).

    The page holds the whole curve, so that a browser moves along it without asking again.
    """
    form = PoolForm.of_query()
    plan = None
    if form.validate():
        with form.guard():
            plan = _plan(slug, form)
    with database().reading() as session:
        rows = runs.list_runs(session, slug)
    page = render_template(
        "pools/plan.html",
        form=form,
        strategies=list_strategies(),
        plan=plan,
        chart=draw(plan) if plan is not None else None,
        runs=rows,
    )
    # That there is no run yet is no fault of the request.
    return page if not form.refused or isinstance(form.refusal, ConflictError) else (page, form.status)


def _plan(slug: str, form: PoolForm) -> PoolPlan:
    with database().reading() as session:
        return plan_pool(
            session, slug, form.described, seed=form.seed.data, hours=form.hours.data, memory=plan_memory()
        )
