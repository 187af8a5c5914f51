"""`annotator pool`: plan, build, show and export the pool."""

from datetime import UTC, datetime

import click

from annotator.cli.collections import deletions
from annotator.cli.pools.pool_options import Described, describes_plan, describes_pool
from annotator.cli.pools.pool_plan import confirm_growth, show_plan
from annotator.cli.pools.pool_reports import holes, leave_out, near_duplicates_group, overlap
from annotator.cli.pools.pool_selection import replay, simulate
from annotator.cli.pools.stopping import stopping
from annotator.cli.site.files import FILE, write_or_print
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.options import yes_at_terminal
from annotator.cli.site.tables import JSON, Table, format_option, show_json, show_rows, show_table, show_tables
from annotator.storage import Showing
from annotator.workflows.pools import pool_building, pool_selection, pools
from annotator.workflows.pools.pool_planning import plan_pool
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.pools.sample_drawing import LAYOUT
from annotator.workflows.pools.sample_planning import USUAL_DIFFERENCE, USUAL_HALF_WIDTH, PrecisionWanted


@click.group
def command() -> None:
    """The pool: build it from the runs, show how much is judged. A pool only grows."""


for each in (replay, simulate, near_duplicates_group, holes, overlap, leave_out, stopping):
    command.add_command(each)


@command.group("strategies")
def strategies() -> None:
    """The pooling strategies."""


@strategies.command("list")
@format_option()
def show_strategies(format_: str) -> None:
    """List the pooling strategies and their parameters."""
    show_rows(
        format_,
        ["STRATEGY", "WHAT IT DOES", "IT TAKES"],
        [
            [one.name, one.sentence, " ".join(f"--{parameter.name.replace('_', '-')}" for parameter in one.parameters)]
            for one in list_strategies().values()
        ],
    )


@command.command("build")
@click.argument("slug")
@describes_pool
@click.option(
    "--seed", type=int, metavar="N", help="The seed of samples and of the order in which judges see the documents."
)
@click.option(
    "--showing",
    type=click.Choice([one.value for one in Showing]),
    default=Showing.RANDOM.value,
    show_default=True,
    help="The order in which judges see the added documents; `selection` reveals something about the runs.",
)
@yes_at_terminal
@on_installation
def build(
    installation: Installation, slug: str, described: Described, seed: int | None, showing: str, *, yes: bool
) -> None:
    """Add the documents that a strategy chooses from the active runs to the pool, for every accepted topic.

    With `--depth K` these are the first K documents of each ranked list, by trec_eval's order within a run. At a
    terminal it first shows the numbers of documents and hours of judging, and asks whether to go on.
    """
    request = described.request(installation, slug)
    confirm_growth(installation, slug, request, seed=seed, yes=yes)
    choice = installation.database.read(pool_building.choose_pool, slug, request, seed=seed, showing=Showing(showing))
    with installation.database.transaction() as session:
        summary = pool_building.store_pool(session, slug, choice, built_by_id=None, built_at=datetime.now(UTC))
        details = {"strategy": request.strategy, "added": summary.added}
        note(session, "pool.build", slug, subject=summary.version, details=details)
    show_table(
        ["TOPIC", "ADDED", "ALREADY POOLED"],
        [[topic.number, topic.added, topic.already_pooled] for topic in summary.topics],
    )
    with installation.database.reading() as session:
        further = sum(pool_selection.choices_left(session, slug, memory=pool_selection.Memory()).values())
    _tell(summary, showing, further, described.said.get("until"))


@command.command("plan")
@click.argument("slug")
@describes_plan
@click.option("--seed", type=int, metavar="N", help="The seed of a sample. [that of the pool]")
@click.option("--hours", type=float, metavar="H", help="The hours available for judging, of all judges together.")
@click.option(
    "--half-width",
    type=float,
    default=USUAL_HALF_WIDTH,
    show_default=True,
    metavar="W",
    help="How many documents a sample takes for 95 % intervals of plus or minus W.",
)
@click.option(
    "--difference",
    type=float,
    default=USUAL_DIFFERENCE,
    show_default=True,
    metavar="D",
    help="How many documents a sample takes to find a difference D of two runs with a power of 0.8.",
)
@format_option()
@on_installation
def plan(
    installation: Installation,
    slug: str,
    described: Described,
    seed: int | None,
    hours: float | None,
    half_width: float,
    difference: float,
    format_: str,
) -> None:
    """Show what a pool would cost and find, and store nothing.

    It shows the growth of the pool by depth or by budget; then, for the pool that the options describe, each topic, and
    the documents that only one run or team contributes. DOCUMENTS counts all pooled documents, ADDED the new ones.
    Hours are those of all judges for the missing judgements, at the median seconds of the judgements so far. By default
    the depth is 10, and a strategy that needs a budget gets 100 documents per topic. For a sample with a machine it
    foresees the intervals of estimates, with the machine and without it. csv has the growth only; json has everything.
    """
    request = described.request(installation, slug)
    planned = installation.database.read(
        plan_pool,
        slug,
        request,
        seed=seed,
        hours=hours,
        precision=PrecisionWanted(half_width, difference),
    )
    if format_ == JSON:
        show_json(planned.as_json)
    else:
        show_plan(format_, planned)


@command.command("show")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """Show the versions of the pool, the progress of each topic, and what each run contributed."""
    with installation.database.reading() as session:
        versions = pools.pool_versions(session, slug)
        progress = pools.pool_progress(session, slug)
        runs = pools.runs_in_pool(session, slug)
        selection = pools.selection_progress(session, slug)
    tables = [
        Table(
            "versions",
            ["VERSION", "STRATEGY", "SHOWING", "SEED", "ADDED", "BUILT", "BY", "PARAMETERS"],
            [
                [
                    *(one.version, one.strategy, one.showing, one.seed, one.added, one.built_at, one.built_by),
                    " ".join(
                        f"{name}={value}" for name, value in one.parameters.items() if name not in {"runs", LAYOUT}
                    ),
                ]
                for one in versions
            ],
        ),
        Table(
            "topics",
            ["TOPIC", "ITEMS", "JUDGED", "COMPLETE", "TITLE"],
            [[topic.number, topic.items, topic.judged, topic.complete, topic.title] for topic in progress],
        ),
        Table(
            "runs",
            ["RUN", "TEAM", "STATE", "ITEMS", "ONLY"],
            [[run.tag, run.team, run.state, run.items, run.only] for run in runs],
        ),
    ]
    if selection is not None:
        tables.append(_choices(selection))
    show_tables(format_, *tables)
    if selection is not None:
        _tell_progress(selection)


@command.command("export")
@click.argument("slug")
@click.option(
    "--version",
    type=int,
    metavar="N",
    help="The pool as of version N; while an adaptive strategy chooses in it or an earlier one, it grows.",
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_installation
def export(installation: Installation, slug: str, version: int | None, output: str | None) -> None:
    """Export the pool as lines of topic and docno, sorted by both."""
    with installation.database.reading() as session:
        content = pools.export_pool(session, slug, version=version)
        is_open = version is not None and pools.may_still_grow(session, slug, version=version)
    note_export(installation, "pool.export", slug)
    write_or_print(output, content)
    if is_open:
        click.echo(f"Version {version} may still grow: an adaptive strategy goes on choosing documents.", err=True)


def _choices(selection: pools.SelectionProgress) -> Table:
    return Table(
        "choices",
        ["TOPIC", "DOCNO", "CHOSEN", "WHY"],
        [[choice.topic, choice.docno, choice.chosen_at, str(choice.reason)] for choice in selection.last],
    )


def _tell_progress(selection: pools.SelectionProgress) -> None:
    of = "" if selection.budget is None else f" of {selection.budget}"
    rule = "" if selection.until is None else f" until {selection.until}"
    click.echo(f"Version {selection.version}, {selection.strategy}{rule}: {selection.made}{of} choices made.", err=True)
    if selection.until is not None or selection.stopped:
        click.echo(f"Topics stopped: {selection.stopped} of {selection.topics}.", err=True)


def _tell(summary: pool_building.PoolSummary, showing: str, further: int, until: str | int | None) -> None:
    _tell_version(summary, showing)
    for notice in summary.notices:
        click.echo(str(notice), err=True)
    if further and until is not None:
        click.echo(
            f"Further documents are chosen as judgements come, of each topic until the rule {until} says stop: at most "
            f"{further}. A worker asks the rule.",
            err=True,
        )
    elif further:
        click.echo(f"Further documents to be chosen as judgements come: {further}.", err=True)


def _tell_version(summary: pool_building.PoolSummary, showing: str) -> None:
    if not summary.is_new:
        click.echo(
            f"Nothing is new: version {summary.version} of the pool stays in force, with its seed and its order. "
            f"Already pooled: {summary.already_pooled}.",
            err=True,
        )
        return
    click.echo(
        f"Version {summary.version} of the pool: {summary.added} added, {summary.already_pooled} already pooled.",
        err=True,
    )
    if showing == Showing.SELECTION:
        click.echo(
            "Judges see what was added in the order of selection, which tells them something of the runs; the manifest "
            "of the qrels says so.",
            err=True,
        )


command.add_command(deletions.remove_pool, "remove")
