"""The plan of a pool at a terminal, and the confirmation of additional judging work."""

import click

from annotator.cli.site.installation import Installation
from annotator.cli.site.options import at_terminal, confirm
from annotator.cli.site.tables import CSV, Cell, Table, show_tables
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pool_planning import PoolGrowth, PoolPlan, foresee_growth
from annotator.workflows.pools.sample_planning import SamplePrecision

# How many points of a long curve are shown, besides the requested and the affordable one.
FINE, COARSE = 10, 10
# The label of an amount, by its unit.
REACH = {"depth": "depth {}", "budget": "{} documents in total", "per_topic": "{} documents for each topic"}


def show_plan(format_: str, plan: PoolPlan) -> None:
    """Show the curve, then the topics, runs and teams of the requested pool."""
    at = plan.asked
    tables = [
        _curve(plan, every=format_ == CSV),
        Table(
            "topics",
            ["TOPIC", "DOCUMENTS", "ADDED", "JUDGED"],
            [[topic.name, topic.size[at], topic.added[at], topic.complete] for topic in plan.topics],
        ),
        Table("runs", ["RUN", "TEAM", "ONLY"], [[run.name, run.team, run.only[at]] for run in plan.runs]),
    ]
    if plan.teams:
        tables.append(Table("teams", ["TEAM", "ONLY"], [[team.name, team.only[at]] for team in plan.teams]))
    if plan.precision is not None:
        tables.insert(1, _intervals(plan.precision))
    show_tables(format_, *tables)
    _tell(plan)


def _curve(plan: PoolPlan, *, every: bool) -> Table:
    """The growth of the pool; a long curve is abridged for people, complete for programs."""
    size, added, currency = plan.total.size, plan.total.added, plan.effort.currency
    grows = plan.grows or ("sample" if plan.until is None else "at most")

    def costs(at: int) -> list[Cell]:
        hours, price = plan.hours_at(at), plan.price_at(at)
        cells: list[Cell] = [hours if every else f"{hours:.1f}"]
        return cells if price is None else [*cells, price if every else round(price)]

    return Table(
        "growth",
        [
            *(grows.upper().replace("_", " "), "DOCUMENTS", "ADDED", "HOURS"),
            *([] if plan.effort.pay_per_hour is None else [f"PRICE {currency}"]),
        ],
        [
            [plan.amounts[at], size[at], added[at], *costs(at)]
            for at in range(len(plan.amounts))
            if every or at < FINE or (at + 1) % COARSE == 0 or at in {plan.asked, plan.affordable}
        ],
    )


def _intervals(precision: SamplePrecision) -> Table:
    """What the sample will give in each measure, with the machine and, as PEOPLE, without it."""
    wanted = precision.wanted
    return Table(
        "precision",
        [
            *("MEASURE", "HALF WIDTH", "PEOPLE", f"FOR ±{wanted.half_width:g}", "PEOPLE"),
            *(f"FOR DIFFERENCE {wanted.difference:g}", "PEOPLE"),
        ],
        [
            [
                *(one.measure, one.half_width, one.half_width_people, one.for_interval, one.for_interval_people),
                *(one.for_difference, one.for_difference_people),
            ]
            for one in precision.measures
        ],
    )


def _tell(plan: PoolPlan) -> None:
    effort = plan.effort
    source = "the measured median" if effort.is_measured else "nothing is measured yet"
    click.echo(
        f"Hours are of all judges: {effort.seconds:g} seconds a judgement ({source}), "
        f"{effort.judgements_wanted} a document.",
        err=True,
    )
    if plan.precision is not None:
        found = plan.precision
        source = f"of {found.judged} judged documents" if found.judged else "assumed, as too few are judged"
        click.echo(
            "HALF WIDTH is of the 95 % interval of the mean run with this budget; FOR: the fewest of "
            f"{found.documents} documents, for a difference with a power of 0.8; PEOPLE: without {found.machine}. "
            f"Correlation of its grades with people's: {found.correlation:.2f} ({source}).",
            err=True,
        )
    if plan.adaptive:
        click.echo(
            "What an adaptive strategy chooses depends on judgements: ONLY is of its beginning. Still to choose: "
            f"{plan.to_come[plan.asked]}; chosen before, which counts towards the number: {plan.made}.",
            err=True,
        )
    if plan.until is not None:
        click.echo(f"These are upper bounds: the rule {plan.until} ends the choices of a topic earlier.", err=True)
    if plan.hours is not None and plan.grows is not None:
        if plan.affordable is None:
            click.echo(f"Hours for judging: {plan.hours:g}. That is enough for none of these pools.", err=True)
        else:
            reach = REACH[plan.grows].format(plan.amounts[plan.affordable])
            click.echo(f"Hours for judging: {plan.hours:g}. That is enough up to {reach}.", err=True)


def confirm_growth(
    installation: Installation, slug: str, request: PoolRequest, *, seed: int | None = None, yes: bool
) -> None:
    """Ask for confirmation at a terminal, unless `yes` is given or no document would be added."""
    if yes or not at_terminal():
        return
    growth = installation.database.read(foresee_growth, slug, request, seed=seed)
    if growth.documents:
        confirm(_effect(growth), yes=False)


def _effect(growth: PoolGrowth) -> str:
    effort = growth.effort
    later = f", {growth.to_come} of them as judgements come" if growth.to_come else ""
    pace = "the median so far" if effort.is_measured else "assumed, for too few were measured"
    decimals = 1 if growth.hours >= 1 else 2
    price = effort.price(growth.judgements)
    pay = "" if price is None else f", about {price:,.0f} {effort.currency},"
    return (
        f"Documents that join the pool: {growth.documents}{later}, in {growth.topics} topics. Judgements wanted: "
        f"{growth.judgements}, about {growth.hours:,.{decimals}f} hours{pay} at {effort.seconds:.1f} seconds each "
        f"({pace})."
    )
