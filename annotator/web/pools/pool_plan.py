"""The plan of a pool: its cost and size before it is built."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
from annotator.workflows.runs import runs

WIDTH, HEIGHT = 560, 310

LEFT, RIGHT, TOP, BOTTOM = 90, 20, 14, 58

STEPS = 5  # approximate number of ticks per axis


blueprint = Blueprint("pool_plan", __name__)


@blueprint.get("/collections/<slug>/pool/plan")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The plan of the pool described in the query string (`?strategy=depth&depth=10&hours=40`).

    The page contains the whole curve, so that a browser can move along it without further requests.
    """
    form = PoolForm.of_query()
    plan = None
    if form.validate():
        with form.guard():
            plan = _plan(slug, form)
    rows = database().read(runs.list_runs, slug)
    page = render_template(
        "pools/plan.html",
        form=form,
        strategies=list_strategies(),
        plan=plan,
        chart=draw(plan) if plan is not None else None,
        runs=rows,
    )
    # Missing runs are not an error of the request.
    return page if not form.refused or isinstance(form.refusal, ConflictError) else (page, form.status)


def _plan(slug: str, form: PoolForm) -> PoolPlan:
    return database().read(
        plan_pool, slug, form.described, seed=form.seed.data, hours=form.hours.data, memory=plan_memory()
    )


@dataclass(frozen=True)
class Mark:
    """A tick of an axis: its position and number."""

    at: float
    number: int


@dataclass(frozen=True)
class PoolChart:
    """The size of the pool and its unjudged part, against depth or budget."""

    size: str  # the points of a polyline
    to_judge: str
    asked: tuple[float, float]  # the requested point on the size curve
    budget: float | None  # the height of the judging hours, if within the chart
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def draw(plan: PoolPlan) -> PoolChart | None:
    """Draw the chart of a plan; None without a curve."""
    if len(plan.amounts) == 1:
        return None
    size = plan.total.size
    # In documents without any judgement, as the hours are.
    to_judge = [plan.judgements_at(at) / plan.effort.judgements_wanted for at in range(len(size))]
    xs = _Axis(plan.amounts[0], plan.amounts[-1], LEFT, WIDTH - RIGHT)
    ys = _Axis(0, max(*size, math.ceil(max(to_judge)), 1), HEIGHT - BOTTOM, TOP)
    budget = _documents_within_hours(plan)
    return PoolChart(
        size=_line(xs, ys, plan.amounts, size),
        to_judge=_line(xs, ys, plan.amounts, to_judge),
        asked=(xs.at(plan.amounts[plan.asked]), ys.at(size[plan.asked])),
        budget=ys.at(budget) if budget is not None and budget <= ys.last else None,
        across=xs.marks(),
        up=ys.marks(),
    )


@dataclass(frozen=True)
class _Axis:
    """A linear scale that maps numbers to positions."""

    first: int
    last: int
    begin: int
    end: int

    def at(self, number: float) -> float:
        return round(self.begin + (number - self.first) / (self.last - self.first) * (self.end - self.begin), 1)

    def marks(self) -> tuple[Mark, ...]:
        """Ticks at round numbers, evenly spaced after the first number."""
        step = _round_step((self.last - self.first) / STEPS)
        numbers = range(-(-self.first // step) * step, self.last + 1, step)
        return tuple(Mark(self.at(number), number) for number in numbers)


def _round_step(length: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 25, 50, 100, 200, 250 ... that is at least `length`."""
    power: int = 10 ** max(math.floor(math.log10(max(length, 1))), 0)
    steps = (power, 2 * power, 5 * power // 2, 5 * power, 10 * power)
    return next(step for step in steps if step >= length)


def _line(xs: _Axis, ys: _Axis, amounts: Sequence[int], counts: Sequence[float]) -> str:
    return " ".join(f"{xs.at(amount)},{ys.at(count)}" for amount, count in zip(amounts, counts, strict=True))


def _documents_within_hours(plan: PoolPlan) -> float | None:
    if plan.hours is None or plan.effort.seconds == 0:
        return None
    return plan.hours * SECONDS_AN_HOUR / (plan.effort.seconds * plan.effort.judgements_wanted)
