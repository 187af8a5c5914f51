"""`annotator judgements`: who gave which grade to what."""

from datetime import UTC, datetime

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_file
from annotator.cli.installation import Installation, on_installation
from annotator.cli.output_files import write_or_print
from annotator.workflows import judgement_export, judgement_import

FORMATS = {"csv": judgement_export.judgements_csv, "jsonl": judgement_export.judgements_jsonl}


@click.group
def command() -> None:
    """Judgements: import labels, export everything that was said."""


@command.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@click.option("--judge", required=True, metavar="NAME", help="Whose grades they are; the account is made when new.")
@click.option("--add-to-pool", is_flag=True, help="Documents outside the pool join it and are not refused.")
@on_installation
def import_file(installation: Installation, slug: str, file: str, judge: str, *, add_to_pool: bool) -> None:
    """Import a qrels file as one judge's grades; -1 means unjudged."""
    given = read_file(file)
    limit = installation.settings.unpacked_limit
    with installation.database.reading() as session:
        checked = judgement_import.check_judgements(session, slug, given, add_to_pool=add_to_pool, unpacked_limit=limit)
    with installation.database.transaction() as session:
        done = judgement_import.store_judgements(session, slug, checked, judge=judge, added_at=datetime.now(UTC))
    click.echo(
        f"Judgements of {judge}: {done.added} added, {done.changed} changed, {done.known} known already, "
        f"{done.unjudged} unjudged; documents added to the pool: {done.pooled}.",
        err=True,
    )


@command.command("export")
@click.argument("slug")
@click.option("--format", "format_", required=True, type=click.Choice(list(FORMATS)))
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file, not to standard output.")
@on_installation
def export(installation: Installation, slug: str, format_: str, output: str | None) -> None:
    """Export every judgement, with those that were replaced."""
    with installation.database.reading() as session:
        rows = judgement_export.export_judgements(session, slug)
    write_or_print(output, FORMATS[format_](rows).encode())
