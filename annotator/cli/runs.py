"""`annotator runs`: what the systems found."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_files
from annotator.cli.installation import Installation, on_installation
from annotator.cli.output_files import write_or_print
from annotator.cli.progress import watched
from annotator.cli.tables import show_table
from annotator.workflows import runs

run_files = click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
tag_from_file = click.option(
    "--tag-from-file", is_flag=True, help="Take the tag from the file's name, without .txt and .gz."
)


@click.group
def command() -> None:
    """Runs in TREC's six columns, plain or gzip: check, import, list, give back."""


@command.command("check")
@click.argument("slug")
@run_files
@tag_from_file
@on_installation
def check(installation: Installation, slug: str, files: Sequence[str], *, tag_from_file: bool) -> None:
    """Say everything that is wrong with files of runs, and store nothing."""
    checked = _checked(installation, slug, files, tag_from_file=tag_from_file)
    show_table(
        ["TAG", "TOPICS", "RETRIEVED", "FILE"],
        [[run.parsed.tag, len(run.parsed.lists), run.parsed.retrieved, run.file.name] for run in checked],
    )


@command.command("import")
@click.argument("slug")
@run_files
@tag_from_file
@click.option("--team", metavar="TEAM", help="Whose runs they are; made when it is new.")
@click.option("--description", default="", metavar="TEXT", help="What the system does.")
@on_installation
def import_files(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    *,
    tag_from_file: bool,
    team: str | None,
    description: str,
) -> None:
    """Import runs: all of the files, or none when there is anything wrong with one of them."""
    checked = _checked(installation, slug, files, tag_from_file=tag_from_file)
    with installation.database.transaction() as session:
        tags = runs.store_runs(
            session,
            slug,
            checked,
            team=team,
            description=description,
            uploaded_by_id=None,
            uploaded_at=datetime.now(UTC),
        )
    click.echo(f"Runs imported: {len(tags)}.", err=True)


@command.command("list")
@click.argument("slug")
@click.option("--team", metavar="TEAM", help="Only the runs of this team.")
@on_installation
def show(installation: Installation, slug: str, team: str | None) -> None:
    """List the runs."""
    with installation.database.reading() as session:
        rows = runs.list_runs(session, slug, team=team)
    show_table(
        ["TAG", "TEAM", "TOPICS", "RETRIEVED", "POOLED", "SENT", "DESCRIPTION"],
        [
            [
                row.tag,
                row.team,
                row.topics,
                row.retrieved,
                row.pooled,
                row.uploaded_at,
                row.description,
            ]
            for row in rows
        ],
    )


@command.command("export")
@click.argument("slug")
@click.argument("tag")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file, not to standard output.")
@on_installation
def export(installation: Installation, slug: str, tag: str, output: str | None) -> None:
    """Give a run's file back, byte for byte as it was sent."""
    with installation.database.reading() as session:
        file = runs.original_file(session, slug, tag)
    write_or_print(output, file.content)


def _checked(
    installation: Installation, slug: str, paths: Sequence[str], *, tag_from_file: bool
) -> list[runs.CheckedRun]:
    with watched(read_files(paths)) as given, installation.database.reading() as session:
        return runs.check_runs(
            session, slug, given, tag_from_file=tag_from_file, unpacked_limit=installation.settings.unpacked_limit
        )
