"""`annotator runs fetch`: a run from a search engine; what `runs sources` has in common with it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from annotator.cli.runs.check_options import run_task_option
from annotator.cli.site.installation import Installation, actor, on_installation
from annotator.cli.site.options import dry_run_option, show_outcome
from annotator.cli.site.progress import progress_shown
from annotator.evaluation.runs.search_engines import (
    GREATEST_DEPTH,
    USUAL_DEPTH,
    Dialect,
    HitPaths,
    SearchEngine,
)
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.runs import run_fetching
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_fetching import FetchedRun, RunOrder

NAMED_TOPICS = 10
Command = TypeVar("Command", bound=Callable[..., Any])


ENGINE_OPTIONS = (
    click.option(
        "--endpoint",
        required=True,
        metavar="ADDRESS",
        help="The address that is asked, such as https://HOST/INDEX/_search.",
    ),
    click.option(
        "--query",
        "template",
        default="",
        metavar="TEMPLATE",
        help="A JSON body or parameters, with {query} in place of a topic's title.",
    ),
    click.option(
        "--tag", required=True, metavar="TAG", help="The tag of the run; {date} and {number} in that of a source."
    ),
    click.option(
        "--dialect",
        type=click.Choice([one.value for one in Dialect]),
        default=Dialect.OPENSEARCH.value,
        show_default=True,
        help="How the engine is asked, and how it answers.",
    ),
    click.option(
        "--depth",
        metavar="K",
        default=USUAL_DEPTH,
        show_default=True,
        type=click.IntRange(1, GREATEST_DEPTH),
        help="The most hits for a topic.",
    ),
    click.option(
        "--path",
        "paths",
        multiple=True,
        metavar="OURS=PATH",
        help="A path into the answer, such as docno=_source.id; repeatable.",
    ),
    click.option("--texts", is_flag=True, help="Store the texts of the hits, too, as documents import does."),
    click.option("--team", metavar="TEAM", help="The team of the run; created if it is new."),
    click.option("--description", metavar="TEXT", help="A description of the system."),
    click.option(
        "--type",
        "run_type",
        type=click.Choice([RunType.AUTOMATIC, RunType.MANUAL], case_sensitive=False),
        help="Whether the run is automatic or manual.",
    ),
    click.option(
        "--priority",
        type=int,
        metavar="N",
        help="The pooling priority among the runs of the team: 1 = pooled first. [1]",
    ),
)


def engine_options(command: Command) -> Command:
    """Add the options of a search engine and of the run that its hits become."""
    for option in reversed(ENGINE_OPTIONS):
        command = option(command)
    return command


@click.command("fetch")
@click.argument("slug")
@engine_options
@click.option("--round", "round_number", type=int, metavar="N", help="The round of the run. [the open one]")
@run_task_option
@click.option("--replace", is_flag=True, help="Replace the run with the same tag; the older file is kept.")
@dry_run_option
@on_installation
def fetch(
    installation: Installation,
    slug: str,
    endpoint: str,
    template: str,
    tag: str,
    dialect: str,
    depth: int,
    paths: Sequence[str],
    *,
    texts: bool,
    team: str | None,
    description: str | None,
    run_type: RunType | None,
    priority: int | None,
    round_number: int | None,
    task: str | None,
    replace: bool,
    dry_run: bool,
) -> None:
    """Ask a search engine for the title of every accepted topic, and store its hits as a run, or nothing.

    The host must be one of ANNOTATOR_OUTGOING_HOSTS; ANNOTATOR_SEARCH_KEYS says where its key is. TEMPLATE is a JSON
    body if it begins with a brace, otherwise parameters such as q={query}; {depth} is the number of hits. OURS is hits,
    docno, score, title or body; PATH has keys with dots between them, [0] and [*]. Without scores the order counts.
    """
    engine = SearchEngine(endpoint, template, Dialect(dialect), HitPaths.parse(paths), depth, with_texts=texts)
    order = RunOrder(
        engine, tag, RunDetails(team, description, run_type, priority, round_number, task), replaces=replace
    )
    settings, now = installation.settings, datetime.now(UTC)
    with progress_shown("Asking") as show:
        done = run_fetching.fetch_run(
            installation.database,
            slug,
            order,
            EngineAccess(settings.outgoing_hosts, settings.search_keys),
            actor=actor(),
            at=now,
            noted_at=now,
            unpacked_limit=settings.unpacked_limit,
            keep=not dry_run,
            progress=show,
        )
    show_fetched(done, depth)
    show_outcome(f"Run fetched: {done.receipt.tag}.", dry_run=dry_run)


def show_fetched(done: FetchedRun, depth: int) -> None:
    """What came, and the warnings of the run, on standard error."""
    for warning in done.run.warnings:
        click.echo(f"{done.receipt.tag}: warning: {warning}", err=True)
    click.echo(f"Topics: {done.topics}, hits: {done.hits}; topics with fewer than {depth}: {done.fewer}.", err=True)
    if done.without:
        named = ", ".join(done.without[:NAMED_TOPICS]) + (" …" if len(done.without) > NAMED_TOPICS else "")
        click.echo(f"Topics without any: {named}.", err=True)
    if done.texts is not None:
        numbers = (f"{name} {count}" for name, count in vars(done.texts).items())
        click.echo(f"Texts: {', '.join(numbers)}.", err=True)
