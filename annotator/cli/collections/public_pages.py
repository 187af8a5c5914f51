"""`annotator collections pages`: what everybody may read without signing in, and the same as files of a web site."""

import io
from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.site.files import FILE, refuse_full_folder, write_folder
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.tables import format_option, show_values
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.reporting.public_pages import site_files, zipped_site
from annotator.storage import PublicScores
from annotator.workflows.leaderboard.public_scores import (
    PublicChange,
    change_public,
    public_state,
    public_task,
    show_public,
)


@click.group
def pages() -> None:
    """Pages of the task and its leaderboard that everybody may read without signing in."""


@pages.command("show")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """Show what the public pages are set to show."""
    row = installation.database.read(show_public, slug)
    show_values(
        format_,
        ("SETTING", "VALUE"),
        {
            "scores": row.scores.value,
            "names": "pseudonyms" if row.veiled else "names",
            "measures": ", ".join(row.measures or DEFAULT_MEASURES),
            "guidelines": row.guidelines,
            "description": row.description or None,
            "citation": row.citation or None,
            "allowed names": ", ".join(row.allowed) or None,
        },
    )


@pages.command("set")
@click.argument("slug")
@click.option(
    "--scores",
    type=click.Choice([one.value for one in PublicScores]),
    help="The scores of all runs, whether each is above or below the median, the page of the task without a "
    "leaderboard, or nothing: no page is public.",
)
@click.option("--veil/--names", "veiled", default=None, help="Whether teams and runs have pseudonyms. [--veil]")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure of the leaderboard; '' for the usual ones. Repeatable.",
)
@click.option("--description", metavar="TEXT", help="A description of the task.")
@click.option("--guidelines/--no-guidelines", default=None, help="Whether the guidelines of the judges are shown.")
@click.option("--citation", metavar="TEXT", help="How to cite. [the organisers, with title and year]")
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="With --veil: this name of a team or run may occur in texts, as an ordinary word; '' for no name. Repeatable.",
)
@on_installation
def set_(
    installation: Installation,
    slug: str,
    scores: str | None,
    measures: tuple[str, ...],
    description: str | None,
    citation: str | None,
    allowed: tuple[str, ...],
    *,
    veiled: bool | None,
    guidelines: bool | None,
) -> None:
    """Set what everybody may read without signing in.

    A leaderboard needs released scores by a kept version of the qrels (`collections release`), is there from the
    release on, and ends when the scores are withheld. `--scores task` is the page of the task without one, also before
    the release. Pseudonyms are those of `collections publish --veil`. Options that are not given keep their earlier
    value.
    """
    change = PublicChange(
        scores=None if scores is None else PublicScores(scores),
        veiled=veiled,
        measures=tuple(filter(None, measures)) if measures else None,
        description=description,
        guidelines=guidelines,
        citation=citation,
        allowed=tuple(filter(None, allowed)) if allowed else None,
    )
    with installation.database.transaction() as session:
        settings = change_public(session, slug, change)
        note(session, "scores.publish", slug, details=settings.noted)
    click.echo(f"Public pages of {slug}: {settings.scores.value}.", err=True)


@pages.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, required=True, metavar="FILE", help="A new or empty folder.")
@on_installation
def export(installation: Installation, slug: str, output: str) -> None:
    """Write the public pages as files for another web site.

    They link only to each other, so that they work under every address and from a disk, without scripts, in English and
    Korean. The folder is complete or not there.
    """
    refuse_full_folder(output)
    with installation.database.reading() as session:
        task = public_task(session, public_state(session, slug, at=datetime.now(UTC)))
    note_export(installation, "scores.export-pages", slug)
    write_folder(output, io.BytesIO(zipped_site(task, slug)), may_be_empty=True)
    click.echo(f"{output} has {len(site_files(task))} pages: begin with {Path(output, 'index.html')}.", err=True)
