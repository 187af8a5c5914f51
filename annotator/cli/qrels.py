"""`annotator qrels`: the settled grades."""

from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.argument_text import FILE
from annotator.cli.installation import Installation, on_installation
from annotator.cli.output_files import STANDARD_OUTPUT, write_or_print, write_together
from annotator.workflows.qrels import export_qrels


@click.group
def command() -> None:
    """Qrels: export the settled grades."""


@command.command("export")
@click.argument("slug")
@click.option(
    "-o", "--output", type=FILE, metavar="FILE", help="Write to this file, and the manifest to FILE.manifest.json."
)
@click.option("--manifest", type=FILE, metavar="FILE", help="Write the manifest to this file; - is standard error.")
@click.option("--policy", metavar="POLICY", help="Settle by this consensus policy, not by the collection's.")
@click.option("--judge", metavar="NAME", help="Export the grades of one judge.")
@on_installation
def export(
    installation: Installation,
    slug: str,
    output: str | None,
    manifest: str | None,
    policy: str | None,
    judge: str | None,
) -> None:
    """Export TREC qrels of what is judged, and the manifest that says what they are.

    Qrels and manifest are written whole and together, or not at all. Unjudged documents, and those that could not be
    judged, have no line.
    """
    if output is not None and manifest is not None and _is_same_file(output, manifest):
        raise click.UsageError("The qrels and their manifest cannot be the same file.")
    with installation.database.reading() as session:
        made = export_qrels(session, slug, policy=policy, judge=judge, made_at=datetime.now(UTC))
    output = None if output == STANDARD_OUTPUT else output
    if manifest is None and output is not None:
        manifest = f"{output}.manifest.json"
    files = {output: made.qrels, manifest: made.manifest.encode()}
    write_together({path: content for path, content in files.items() if path not in {None, STANDARD_OUTPUT}})
    if output is None:
        write_or_print(None, made.qrels)
    if manifest == STANDARD_OUTPUT:
        click.echo(made.manifest, err=True, nl=False)


def _is_same_file(first: str, second: str) -> bool:
    return STANDARD_OUTPUT not in {first, second} and Path(first).resolve() == Path(second).resolve()
