"""`annotator pool replay` and `annotator pool simulate`: replay adaptive choices, and simulate pooling strategies."""

import sys
from collections.abc import Sequence

import click

from annotator.cli.pools.stopping import takes_target
from annotator.cli.site.files import FILE, read_file, write_together
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.line_chart import Chart, Line, svg_of
from annotator.cli.site.tables import TABLE, format_option, show_csv, show_json, show_rows, show_table
from annotator.evaluation.stopping.stopping_rules import StoppingSettings
from annotator.evaluation.stopping.stopping_simulation import USUAL_SAMPLE_SHARE, StoppingTrial
from annotator.workflows.pools.pool_replay import replay_choices
from annotator.workflows.pools.pool_simulation import (
    USUAL_START_DEPTHS,
    SimulatedStrategy,
    Simulation,
    SimulationPart,
    simulate_strategies,
)

DIFFERENT = 1


@click.command("replay")
@click.argument("slug")
@click.option("--version", type=int, metavar="N", help="The version of the pool. [the newest that can be replayed]")
@format_option()
@on_installation
def replay(installation: Installation, slug: str, version: int | None, format_: str) -> None:
    """Check that the choices of an adaptive pool follow from the labels known at the time, and print those that do not.

    A sample with a budget is drawn again from the runs, the labels of its machine and the sample before; STEP is then
    the number of a stratum. When the machine's labels have been changed since the draw, that is an error.

    The exit code is 1 if there are any.
    """
    replayed = installation.database.read(replay_choices, slug, version=version)
    if replayed.differences or format_ != TABLE:
        show_rows(
            format_,
            ["TOPIC", "STEP", "CHOSEN", "FROM RUN", "REPLAYED", "REPLAYED FROM RUN"],
            [
                [one.topic, one.step, one.docno, one.run, one.docno_replayed, one.run_replayed]
                for one in replayed.differences
            ],
        )
    click.echo(
        f"Version {replayed.version}, {replayed.strategy}: {replayed.choices} choices of {replayed.topics} topics "
        f"replayed; different: {len(replayed.differences)}.",
        err=True,
    )
    if replayed.differences:
        sys.exit(DIFFERENT)


@click.command("simulate")
@click.argument("slug")
@click.argument("qrels", type=FILE)
@click.option("--strategy", "names", multiple=True, metavar="NAME", help="Only this strategy; repeatable.")
@click.option(
    "--start-depth",
    "start_depths",
    multiple=True,
    type=int,
    metavar="K",
    help="Adaptive strategies start with the first K documents of every run; repeatable.  [default: 10 and 0]",
)
@click.option("--strata", metavar="BANDS", help="Strata of the strategy stratified, such as 1-10:1, 11-50:0.2.")
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="The seed of samples and of random tie-breaking.",
)
@click.option(
    "--by",
    type=click.Choice([part.value for part in SimulationPart]),
    default=SimulationPart.POINTS.value,
    show_default=True,
    help="One table of the report: what each share of the judgements finds, or the stopping rules, tried in the order "
    "of each strategy.",
)
@takes_target
@click.option(
    "--sample-share",
    type=float,
    default=USUAL_SAMPLE_SHARE,
    show_default=True,
    metavar="SHARE",
    help="The share of a topic's documents in the random sample of the stopping rules that need one.",
)
@click.option("--chart", type=FILE, metavar="FILE", help="Write a chart to this SVG file.")
@format_option()
@on_installation
def simulate(
    installation: Installation,
    slug: str,
    qrels: str,
    names: Sequence[str],
    start_depths: Sequence[int],
    strata: str | None,
    seed: int,
    by: str,
    target: float,
    sample_share: float,
    chart: str | None,
    format_: str,
) -> None:
    """Simulate strategies on existing TREC qrels, such as last year's, to choose one for this year's pool.

    For 5, 10, 20, 30 and 50 % of the judgements, divided evenly over the topics: the share of the relevant documents
    that is found, and Kendall's tau between the rankings of the runs by AP with these and with all judgements. Unjudged
    documents are skipped. Nothing is stored.

    With --by stopping, for each stopping rule: RECALL, the mean over topics; JUDGED, the share of the judgements that
    it takes, with its sample; RELIABILITY, how often the target was reached; STOPPED, how often it stopped at all.
    Rules that need a random sample draw one five times.
    """
    given = read_file(qrels)
    trial = StoppingTrial(StoppingSettings(target=target), sample_share) if by == SimulationPart.STOPPING else None
    simulation = installation.database.read(
        simulate_strategies,
        slug,
        given,
        names=names,
        start_depths=start_depths or USUAL_START_DEPTHS,
        strata=strata,
        stopping=trial,
        seed=seed,
        unpacked_limit=installation.settings.unpacked_limit,
    )
    match format_:
        case "json":
            show_json(_as_json(simulation))
        case "csv":
            show_csv(*(simulation.table() if trial is None else simulation.rules_table()))
        case _:
            _show_tables(simulation)
    if chart is not None:
        write_together({chart: _drawn(simulation).encode()})


def _show_tables(simulation: Simulation) -> None:
    if simulation.stopping is not None:
        headings, rows = simulation.rules_table()
        show_table([heading.upper().replace("_", " ") for heading in headings], rows)
        click.echo(_counted(simulation), err=True)
        return
    shares = [f"{point.share:.0%}" for point in simulation.strategies[0].points]
    click.echo("Share of the relevant documents that is found:")
    show_table(
        ["STRATEGY", "START", *shares],
        [[one.name, one.start_depth, *(point.found for point in one.points)] for one in simulation.strategies],
    )
    click.echo()
    click.echo("Kendall's tau of the runs by AP with their order by all judgements:")
    show_table(
        ["STRATEGY", "START", *shares],
        [[one.name, one.start_depth, *(point.tau for point in one.points)] for one in simulation.strategies],
    )
    click.echo()
    click.echo(_counted(simulation))
    for one in simulation.strategies:
        most = one.points[-1].judged
        if most < round(one.points[-1].share * simulation.judged):
            click.echo(f"{_name(one)} has no more than {most} documents judged.")


def _counted(simulation: Simulation) -> str:
    return (
        f"{simulation.runs} runs, {simulation.topics} topics, {simulation.judged} judged documents, "
        f"{simulation.relevant} of them relevant; in no run, and left out: {simulation.in_no_run} judged, "
        f"{simulation.relevant_in_no_run} relevant. Seed: {simulation.seed}."
    )


def _as_json(simulation: Simulation) -> dict[str, object]:
    headings, rows = simulation.table()
    rule_headings, rule_rows = simulation.rules_table()
    return {
        "runs": simulation.runs,
        "topics": simulation.topics,
        "judged": simulation.judged,
        "relevant": simulation.relevant,
        "judged_in_no_run": simulation.in_no_run,
        "relevant_in_no_run": simulation.relevant_in_no_run,
        "seed": simulation.seed,
        "points": [dict(zip(headings, row, strict=True)) for row in rows],
        "stopping": [dict(zip(rule_headings, row, strict=True)) for row in rule_rows],
    }


def _drawn(simulation: Simulation) -> str:
    marks = [point.share for point in simulation.strategies[0].points]
    found = [Line(_name(one), [point.found for point in one.points]) for one in simulation.strategies]
    tau = [Line(_name(one), [point.tau for point in one.points]) for one in simulation.strategies]
    values = [value for line in tau for value in line.values if value is not None]
    # In whole tenths, so that the tick marks are round numbers.
    low = max(int(min(values, default=0.0) * 10) / 10, 0.0)
    return svg_of(
        [
            Chart("Share of the relevant documents found", "Share of the judgements", marks, found),
            Chart("Kendall's tau of the runs by AP", "Share of the judgements", marks, tau, min(low, 0.9)),
        ],
        _counted(simulation),
    )


def _name(one: SimulatedStrategy) -> str:
    return one.name if one.start_depth is None else f"{one.name}, start {one.start_depth}"
