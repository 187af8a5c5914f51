"""`annotator qrels`: the settled grades."""

from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.argument_text import FILE
from annotator.cli.installation import Installation, on_installation
from annotator.cli.output_files import STANDARD_OUTPUT, write_or_print, write_together
from annotator.errors import Sentence
from annotator.workflows.prels import export_for_infap, export_prels
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
@click.option("--prels", "kind", flag_value="prels", help="Export a stratified sample in five columns, for xinfAP.")
@click.option("--infap", "kind", flag_value="infap", help="Export a sample of one rate in four columns, for infAP.")
@click.option("--version", type=int, metavar="N", help="Of the pool, whose sample it is; the newest unless given.")
@on_installation
def export(
    installation: Installation,
    slug: str,
    output: str | None,
    manifest: str | None,
    policy: str | None,
    judge: str | None,
    kind: str | None,
    version: int | None,
) -> None:
    """Export TREC qrels of what is judged, and the manifest that says what they are.

    Qrels and manifest are written whole and together, or not at all. Unjudged documents, and those that could not be
    judged, have no line. Of a sample every document of its strata has a line, with -1 when it was not drawn or has no
    grade yet; with --prels that is topic, iteration, document, stratum, grade.
    """
    if output is not None and manifest is not None and _is_same_file(output, manifest):
        raise click.UsageError("The qrels and their manifest cannot be the same file.")
    if version is not None and kind is None:
        raise click.UsageError("Only a sample is of one version of the pool: --version goes with --prels or --infap.")
    now = datetime.now(UTC)
    warnings: tuple[Sentence, ...] = ()
    with installation.database.reading() as session:
        if kind is None:
            made = export_qrels(session, slug, policy=policy, judge=judge, made_at=now)
            qrels, about = made.qrels, made.manifest
        else:
            of_kind = export_prels if kind == "prels" else export_for_infap
            sample = of_kind(session, slug, version=version, policy=policy, judge=judge, made_at=now)
            qrels, about, warnings = sample.prels, sample.manifest, sample.warnings
    _write(output, manifest, qrels, about)
    for warning in warnings:
        click.echo(str(warning), err=True)


def _write(output: str | None, manifest: str | None, qrels: bytes, about: str) -> None:
    """Write the files that are asked for, both or none; what is none goes to standard output, or error."""
    output = None if output == STANDARD_OUTPUT else output
    if manifest is None and output is not None:
        manifest = f"{output}.manifest.json"
    files = {output: qrels, manifest: about.encode()}
    write_together({path: content for path, content in files.items() if path not in {None, STANDARD_OUTPUT}})
    if output is None:
        write_or_print(None, qrels)
    if manifest == STANDARD_OUTPUT:
        click.echo(about, err=True, nl=False)


def _is_same_file(first: str, second: str) -> bool:
    return STANDARD_OUTPUT not in {first, second} and Path(first).resolve() == Path(second).resolve()
