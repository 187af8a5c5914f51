"""`annotator qrels`: the settled grades, and their stored versions."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from annotator.cli.site.files import FILE, STANDARD_OUTPUT, write_or_print, write_together
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.options import AS_MINUS_ONE, MOMENT, unjudged_option
from annotator.cli.site.tables import (
    by_measures,
    format_option,
    say_by_measure,
    show_json_by_measure,
    show_rows,
    show_table,
)
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.outputs.qrels_outputs import SAMPLES, TREC
from annotator.evaluation.outputs.registry import WRITTEN_BY
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_diff import QrelsDiff, changes_csv, diff_qrels
from annotator.workflows.qrels.qrels_files import GradesWanted, qrels_file

OPTIONS = (
    click.option("--policy", metavar="POLICY", help="Settle by this consensus policy, not by the collection's."),
    click.option("--judge", metavar="NAME", help="The grades of this judge only."),
    unjudged_option,
    click.option(
        "--at",
        type=MOMENT,
        metavar="TIME",
        help=(
            "Judgements until then: “2026-05-01 23:59”, UTC unless a zone follows. Settings, accepted topics and "
            "texts are the current ones; judgements that ceased to count because a text was added or changed are "
            "missing."
        ),
    ),
)


version_help = (
    "A kept version of the qrels, as trec byte for byte; with --format prels or infap, the version of the sampled "
    "pool. [there: the newest]"
)


@dataclass(frozen=True)
class GradesAsked:
    """Which grades to export."""

    policy: str | None
    judge: str | None
    at: datetime | None
    with_unjudged: bool


NOTHING_ASKED = GradesAsked(None, None, None, with_unjudged=False)


def asks_for_grades(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets their values as `grades`."""

    @wraps(command)
    def with_grades(
        *args: Any,  # noqa: ANN401 - the command's own
        policy: str | None,
        judge: str | None,
        unjudged: str,
        at: datetime | None,
        **options: Any,  # noqa: ANN401 - passed on unchanged
    ) -> None:
        if policy is not None and judge is not None:
            raise click.UsageError("Give --policy or --judge, not both.")
        asked = GradesAsked(policy, judge, at, unjudged == AS_MINUS_ONE)
        command(*args, grades=asked, **options)

    described: Callable[..., None] = with_grades
    for option in reversed(OPTIONS):
        described = option(described)
    return described


@click.group
def command() -> None:
    """Qrels: export the settled grades, keep versions and compare them."""


@command.command("export")
@click.argument("slug")
@click.option(
    "-o", "--output", type=FILE, metavar="FILE", help="Write to this file, and the manifest to FILE.manifest.json."
)
@click.option("--manifest", type=FILE, metavar="FILE", help="Write the manifest to this file; - is standard error.")
@asks_for_grades
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(WRITTEN_BY["qrels export"])),
    default=TREC,
    show_default=True,
    help=(
        "The columns of trec_eval; the layout of another tool; or a stratified sample: prels in five columns for "
        "xinfAP, infap in four for infAP."
    ),
)
@click.option("--version", type=int, metavar="N", help=version_help)
@on_installation
def export(
    installation: Installation,
    slug: str,
    output: str | None,
    manifest: str | None,
    format_name: str,
    version: int | None,
    *,
    grades: GradesAsked,
) -> None:
    """Export qrels of the judged documents, and the manifest that describes them.

    Qrels and manifest are written together and completely, or not at all. Documents that could not be judged have no
    line; neither have unjudged ones unless asked for, nor those in dispute if the collection leaves them out. For a
    sample every document of its strata has a line, with -1 if it was not drawn or has no grade yet; prels are topic,
    iteration, document, stratum, grade.
    """
    if output is not None and manifest is not None and _is_same_file(output, manifest):
        raise click.UsageError("The qrels and their manifest cannot be the same file.")
    is_sample = format_name in SAMPLES
    if is_sample and (grades.at is not None or grades.with_unjudged):
        raise click.UsageError("A sample is of this moment, and always has -1: neither --at nor --unjudged go with it.")
    if version is not None and not is_sample and grades != NOTHING_ASKED:
        raise click.UsageError("A kept version is what it is: --version N goes with -o, --manifest and --format alone.")
    wanted = GradesWanted(version, **asdict(grades))
    made = installation.database.read(qrels_file, slug, format_name, wanted, made_at=datetime.now(UTC))
    subject = version or ("" if format_name == TREC else format_name)
    note_export(installation, "qrels.export", slug, subject=subject)
    _write(output, manifest, made.content, made.manifest)
    for warning in made.warnings:
        click.echo(str(warning), err=True)


@command.command("keep")
@click.argument("slug")
@asks_for_grades
@on_installation
def keep(installation: Installation, slug: str, *, grades: GradesAsked) -> None:
    """Keep the current settled grades as a version, which later judgements do not change.

    A version identical to the last one is refused.
    """
    now = datetime.now(UTC)
    made = installation.database.read(export_qrels, slug, **asdict(grades), to_keep=True, made_at=now)
    database = installation.database
    with qrels_versions.storing_grades(database, slug, made) as stored, database.transaction() as session:
        number = qrels_versions.keep_qrels(session, slug, stored, made_by_id=None, made_at=now)
        note(session, "qrels.keep", slug, subject=number)
    for warning in made.warnings:
        click.echo(str(warning), err=True)
    click.echo(f"Kept as version {number} of the qrels of {slug}.", err=True)


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the kept versions, newest first."""
    versions = installation.database.read(qrels_versions.list_versions, slug)
    show_rows(
        format_,
        ["VERSION", "MADE", "BY", "POLICY", "LINES", "SHA-256"],
        [[one.number, one.made_at, one.made_by, one.policy, one.lines, one.fingerprint] for one in versions],
    )


@command.command("compare")
@click.argument("slug")
@click.argument("before", metavar="V1")
@click.argument("after", metavar="V2")
@by_measures(USUAL_MEASURE, "The measure to rank by")
@format_option()
@on_installation
def compare(
    installation: Installation, slug: str, before: str, after: str, measures: tuple[str, ...], format_: str
) -> None:
    """Compare two versions of the qrels, each a number or “live”: the grades, and the score and rank of every run.

    csv has a line for each changed grade, whatever the measure; json has everything.
    """
    with installation.database.reading() as session:
        found = [diff_qrels(session, slug, before, after, measure) for measure in measures]
    by_measure = {one.measure: one for one in found}
    match format_:
        case "json":
            show_json_by_measure(by_measure, _as_json)
        case "csv":
            # The grades do not depend on the measure.
            click.echo(changes_csv(found[0]).encode(), nl=False)
        case _:
            _show_grades(found[0])
            for one in by_measure.values():
                _show_runs(one)
            say_by_measure({measure: _notes(one) for measure, one in by_measure.items()})


def _as_json(found: QrelsDiff) -> dict[str, object]:
    changes = [{**asdict(one), "change": one.kind} for one in found.changes]
    return {**asdict(found), "changes": changes, "notices": list(map(str, found.notices))}


def _show_grades(found: QrelsDiff) -> None:
    for side in (found.before, found.after):
        click.echo(f"{side.name}: {side.grades} grades of {side.topics} topics, policy {side.policy}", err=True)
    show_table(
        ["TOPIC", "SAME", "CHANGED", "ADDED", "REMOVED"],
        [[one.topic, one.same, one.changed, one.added, one.removed] for one in found.topics],
    )


def _show_runs(found: QrelsDiff) -> None:
    if not found.runs:
        return
    click.echo()
    show_table(
        ["RUN", found.measure, "BEFORE", "RANK", "BEFORE"],
        [[run.tag, run.after, run.before, run.rank_after, run.rank_before] for run in found.runs],
    )


def _notes(found: QrelsDiff) -> Iterator[str]:
    if not found.runs:
        return
    yield from map(str, found.notices)
    tau = "undefined: there is no order to compare" if found.tau is None else f"{found.tau:.4f}"
    yield f"Kendall's tau of the rankings: {tau}"


def _write(output: str | None, manifest: str | None, qrels: bytes, about: str) -> None:
    """Write both requested files or neither; by default qrels go to standard output, the manifest to standard error."""
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
