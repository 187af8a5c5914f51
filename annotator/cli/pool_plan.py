"""The plan of a pool in a terminal."""

import click

from annotator.cli.tables import show_table
from annotator.workflows.pool_planning import PoolPlan

# Amounts that are shown of a longer curve, beside the one asked for and the one that can be paid.
FINE, COARSE = 10, 10
# An amount in words, by what it is of.
REACH = {"depth": "depth {}", "budget": "{} documents in total", "per_topic": "{} documents for each topic"}


def show_plan(plan: PoolPlan) -> None:
    """Show the curve, then topics, runs and teams of the pool that was asked for."""
    size, added = plan.total.size, plan.total.added
    show_table(
        [(plan.grows or "sample").upper().replace("_", " "), "DOCUMENTS", "ADDED", "HOURS"],
        [
            [plan.amounts[at], size[at], added[at], f"{plan.hours_at(at):.1f}"]
            for at in range(len(plan.amounts))
            if at < FINE or (at + 1) % COARSE == 0 or at in {plan.asked, plan.affordable}
        ],
    )
    click.echo()
    at = plan.asked
    show_table(
        ["TOPIC", "DOCUMENTS", "ADDED", "JUDGED"],
        [[topic.name, topic.size[at], topic.added[at], topic.complete] for topic in plan.topics],
    )
    click.echo()
    show_table(["RUN", "TEAM", "ONLY"], [[run.name, run.team, run.only[at]] for run in plan.runs])
    if plan.teams:
        click.echo()
        show_table(["TEAM", "ONLY"], [[team.name, team.only[at]] for team in plan.teams])
    _tell(plan)


def _tell(plan: PoolPlan) -> None:
    effort = plan.effort
    source = "the measured median" if effort.is_measured else "nothing is measured yet"
    click.echo(
        f"Hours are of all judges: {effort.seconds:g} seconds a judgement ({source}), "
        f"{effort.judgements_wanted} a document.",
        err=True,
    )
    if plan.adaptive:
        click.echo(
            "What an adaptive strategy chooses depends on judgements: ONLY is of its beginning. Still to choose: "
            f"{plan.to_come[plan.asked]}; chosen before, which counts towards the number: {plan.made}.",
            err=True,
        )
    if plan.hours is not None and plan.grows is not None:
        if plan.affordable is None:
            click.echo(f"Hours for judging: {plan.hours:g}. That is enough for none of these pools.", err=True)
        else:
            reach = REACH[plan.grows].format(plan.amounts[plan.affordable])
            click.echo(f"Hours for judging: {plan.hours:g}. That is enough up to {reach}.", err=True)
