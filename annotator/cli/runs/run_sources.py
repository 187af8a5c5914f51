"""`annotator runs sources`: search engines from which runs are fetched again."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.runs.check_options import run_task_option
from annotator.cli.runs.run_fetching import engine_options, show_fetched
from annotator.cli.site.installation import Installation, actor, note, on_installation
from annotator.cli.site.options import confirm, is_asked, yes_at_terminal
from annotator.cli.site.progress import progress_shown
from annotator.cli.site.tables import Cell, format_option, show_rows, show_values
from annotator.evaluation.runs.search_engines import PATHS, Dialect, HitPaths, SearchEngine
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_sources import SourceSettings


@click.group("sources")
def sources_group() -> None:
    """Search engines whose runs are fetched again: by command, by a button, or every day."""


@sources_group.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_sources(installation: Installation, slug: str, format_: str) -> None:
    """List the sources of runs, with the last attempt, why it failed, and when a worker fetches the next run."""
    rows = installation.database.read(run_sources.list_sources, slug)
    show_rows(
        format_,
        ["NAME", "TAG", "RUNS", "TRIED", "PROBLEM", "NEXT"],
        [[one.name, one.settings.tag, one.fetched, one.tried_at, _problem(one.problem), one.next_at] for one in rows],
    )


@sources_group.command("show")
@click.argument("slug")
@click.argument("name")
@format_option()
@on_installation
def show(installation: Installation, slug: str, name: str, format_: str) -> None:
    """Show what a source asks, and what came of it."""
    source = installation.database.read(run_sources.show_source, slug, name)
    engine, details = source.settings.engine, source.settings.details
    values: dict[str, Cell | list[str]] = {
        "endpoint": engine.endpoint,
        "query": engine.query,
        "dialect": engine.dialect.value,
        "depth": engine.depth,
        "paths": " ".join(f"{ours}={path}" for ours in PATHS if (path := getattr(engine.paths, ours))),
        "texts": engine.with_texts,
        "tag": source.settings.tag,
        "team": details.team,
        "description": details.description,
        "type": details.run_type,
        "priority": details.priority,
        "task": details.task,
        "refusal": _problem(source.refusal),
        "hour": source.settings.hour,
        "next": source.next_at,
        "runs": source.fetched,
        "tried": source.tried_at,
        "problem": _problem(source.problem),
        "set by": source.set_by,
        "set": source.set_at,
    }
    show_values(format_, ("NAME", "VALUE"), values)


@sources_group.command("set")
@click.argument("slug")
@click.argument("name")
@engine_options
@run_task_option
@click.option(
    "--hour", type=click.IntRange(0, 23), metavar="H", help="Every day at this hour, in UTC. [only on request]"
)
@on_installation
def set_source(
    installation: Installation,
    slug: str,
    name: str,
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
    task: str | None,
    hour: int | None,
) -> None:
    """Save a source of runs, in place of an earlier one of that name.

    What is given is as for `runs fetch`. In TAG, {date} is the day in UTC and {number} counts the runs of the source; a
    run of the source with the same tag is replaced, and the older file is kept.
    """
    engine = SearchEngine(endpoint, template, Dialect(dialect), HitPaths.parse(paths), depth, with_texts=texts)
    chosen = SourceSettings(engine, tag, RunDetails(team, description, run_type, priority, task=task), hour)
    with installation.database.transaction() as session:
        run_sources.set_source(session, slug, name, chosen, _access(installation), by_id=None, at=datetime.now(UTC))
        note(session, "run-sources.set", slug, subject=name, details=chosen.noted)
    when = "by command or button" if hour is None else f"also by a worker, every day at {hour:02}:00 UTC"
    click.echo(f"The source {name} is saved. Its runs are fetched {when}.", err=True)


@sources_group.command("fetch")
@click.argument("slug")
@click.argument("name")
@on_installation
def fetch(installation: Installation, slug: str, name: str) -> None:
    """Fetch a run from a source now, or record with the source why nothing came."""
    now = datetime.now(UTC)
    depth = installation.database.read(run_sources.show_source, slug, name).settings.engine.depth
    with progress_shown("Asking") as show_progress:
        done = run_sources.fetch_from_source(
            installation.database,
            slug,
            name,
            _access(installation),
            actor=actor(),
            at=now,
            noted_at=now,
            unpacked_limit=installation.settings.unpacked_limit,
            progress=show_progress,
        )
    show_fetched(done, depth)
    click.echo(f"Run fetched: {done.receipt.tag}.", err=True)


@sources_group.command("remove")
@click.argument("slug")
@click.argument("name")
@yes_at_terminal
@on_installation
def remove(installation: Installation, slug: str, name: str, *, yes: bool) -> None:
    """Remove a source; its runs stay."""
    if is_asked(yes=yes):
        view = installation.database.read(run_sources.show_source, slug, name)
        confirm(f"This removes the source {name}, which has brought {view.fetched} runs; they stay.", yes=False)
    with installation.database.transaction() as session:
        run_sources.remove_source(session, slug, name)
        note(session, "run-sources.remove", slug, subject=name)
    click.echo("Removed the source of runs.", err=True)


def _access(installation: Installation) -> EngineAccess:
    return EngineAccess(installation.settings.outgoing_hosts, installation.settings.search_keys)


def _problem(problem: object) -> str | None:
    return None if problem is None else str(problem)
