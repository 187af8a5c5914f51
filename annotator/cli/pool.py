"""`annotator pool`: what is to be judged."""

from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_table
from annotator.errors import NotFoundError
from annotator.workflows import pools, runs


@click.group
def command() -> None:
    """The pool: build it from the runs, show how far it is judged. A pool only grows."""


@command.command("build")
@click.argument("slug")
@click.option("--depth", required=True, type=int, metavar="K", help="Pool the first K documents of each ranked list.")
@click.option(
    "--runs",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Pool only runs with this tag; * ? [...] stand for any signs, as in a shell. Repeatable.",
)
@click.option("--seed", type=int, metavar="N", help="Of the order in which judges see the documents.")
@on_installation
def build(installation: Installation, slug: str, depth: int, patterns: Sequence[str], seed: int | None) -> None:
    """Add the first K documents of the runs to the pool, by trec_eval's order within a run."""
    with installation.database.transaction() as session:
        tags = _fitting([run.tag for run in runs.list_runs(session, slug)], patterns) if patterns else None
        summary = pools.build_pool(
            session, slug, depth=depth, tags=tags, seed=seed, built_by_id=None, built_at=datetime.now(UTC)
        )
    show_table(
        ["TOPIC", "ADDED", "ALREADY POOLED"],
        [[topic.number, topic.added, topic.already_pooled] for topic in summary.topics],
    )
    click.echo(
        f"Version {summary.version} of the pool: {summary.added} added, {summary.already_pooled} already pooled.",
        err=True,
    )


@command.command("show")
@click.argument("slug")
@on_installation
def show(installation: Installation, slug: str) -> None:
    """Show the versions of the pool and how far each topic is judged."""
    with installation.database.reading() as session:
        versions = pools.pool_versions(session, slug)
        progress = pools.pool_progress(session, slug)
    show_table(
        ["VERSION", "STRATEGY", "SEED", "ADDED", "BUILT"],
        [[one.version, one.strategy, one.seed, one.added, one.built_at] for one in versions],
    )
    click.echo()
    show_table(
        ["TOPIC", "ITEMS", "JUDGED", "COMPLETE", "TITLE"],
        [[topic.number, topic.items, topic.judged, topic.complete, topic.title] for topic in progress],
    )


def _fitting(tags: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The tags that are, or fit, one of the patterns; a pattern that fits none is taken for a mistake."""
    for pattern in patterns:
        if not _fits_any(pattern, tags):
            raise NotFoundError("No run of this collection has a tag like “%(pattern)s”.", pattern=pattern)
    return [tag for tag in tags if any(_fits_any(pattern, [tag]) for pattern in patterns)]


def _fits_any(pattern: str, tags: Sequence[str]) -> bool:
    # A tag may itself hold the signs of a pattern.
    return any(tag == pattern or fnmatchcase(tag, pattern) for tag in tags)
