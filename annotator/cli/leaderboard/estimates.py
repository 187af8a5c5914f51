"""`annotator leaderboard show --estimate`: scores estimated from a sample and a machine's labels, at a terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from annotator.cli.site.installation import Installation
from annotator.cli.site.options import refuse_options_besides
from annotator.cli.site.tables import FORMATS, say_by_measure, show_by_measure, show_table
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.estimates import EstimatePart, EstimateReport, EstimateRequest, estimate_report

OPTIONS = (
    click.option(
        "--estimate", is_flag=True, help="Estimate scores, with intervals, from a sample that the pool has drawn."
    ),
    click.option("--machine", metavar="NAME", help="Estimate with the labels of this machine. [that of the sample]"),
    click.option("--no-machine", is_flag=True, help="Estimate from people's judgements alone."),
    click.option(
        "--by",
        type=click.Choice([part.value for part in EstimatePart]),
        help="One table of the report of estimates: runs or every two of them. [runs]",
    ),
)
# Options that estimates take as well; all others are of scores by the judgements alone.
ALSO_FOR_ESTIMATES = {"measures", "baseline", "format_", "estimate", "machine", "no_machine", "by", "task"}


@dataclass(frozen=True)
class EstimateOptions:
    """The options of `leaderboard show` that are for estimates."""

    wanted: bool
    machine: str | None
    no_machine: bool
    by: str | None

    def check(self, format_: str) -> None:
        """Raise `UsageError` for options that do not belong together."""
        if not self.wanted:
            if self.machine is not None or self.no_machine or self.by is not None:
                raise click.UsageError("--machine, --no-machine and --by go with --estimate.")
            return
        refuse_options_besides("--estimate", ALSO_FOR_ESTIMATES)
        if self.machine is not None and self.no_machine:
            raise click.UsageError("Give --machine or --no-machine, not both.")
        if format_ not in FORMATS:
            raise click.UsageError(f"Estimates are shown as {', '.join(FORMATS)}, not as {format_}.")


def or_estimates(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which is called without `--estimate` only."""

    @wraps(command)
    def choosing(
        installation: Installation,
        *,
        machine: str | None,
        by: str | None,
        estimate: bool,
        no_machine: bool,
        **options: Any,  # noqa: ANN401 - the command's own
    ) -> None:
        estimates = EstimateOptions(estimate, machine, no_machine, by)
        estimates.check(options["format_"])
        if estimate:
            given = (options["slug"], options["measures"], estimates, options["baseline"], options["task"])
            _show_estimates(installation, *given, format_=options["format_"])
        else:
            command(installation, **options)

    described = choosing
    for option in reversed(OPTIONS):
        described = option(described)
    return described


def _show_estimates(
    installation: Installation,
    slug: str,
    measures: Sequence[str],
    options: EstimateOptions,
    baseline: str | None,
    task: str | None,
    *,
    format_: str,
) -> None:
    """Estimate every measure and show the runs, or with `--by pairs` every two of them."""
    part = EstimatePart(options.by or EstimatePart.RUNS)
    with installation.database.reading() as session:
        found = [
            estimate_report(
                session,
                slug,
                EstimateRequest(measure, options.machine, options.no_machine, baseline, task=task),
            )
            for measure in dict.fromkeys(measures or [USUAL_MEASURE])
        ]
    reports = {report.measure: report for report in found}
    show_by_measure(
        format_,
        reports,
        as_json=_as_json,
        as_csv=lambda report: report.file(part),
        tables=lambda report: _show(report, part),
    )
    say_by_measure({measure: _explanations(report, part) for measure, report in reports.items()})


def _show(report: EstimateReport, part: EstimatePart) -> None:
    headings, rows = report.table(part)
    show_table([heading.upper().replace("_", " ") for heading in headings], rows)


def _explanations(report: EstimateReport, part: EstimatePart) -> list[str]:
    machine = "alone" if report.machine is None else f"and the labels of {report.machine}"
    lines = [
        f"{report.measure}, estimated from people's judgements {machine}; topics: {len(report.topics)}.",
        f"Judged: {report.judged} of {report.documents} documents, sample of version {report.version} of the pool.",
        f"{report.differing} of {report.all_pairs} pairs of runs differ at 5 %, corrected by Holm.",
    ]
    if part is EstimatePart.RUNS:
        lines.append(
            "LOW, HIGH: 95 % interval for these topics; IN ALL: for topics like these, taken as a sample; BY DRAW: how "
            "much of the variance in the latter comes from the draw of documents; OUTSIDE: the share of documents that "
            "could not be drawn."
        )
        if report.machine is not None:
            lines.append("PEOPLE: estimated without the machine; MACHINE: by its labels alone, as biased as they are.")
    return [*lines, *map(str, report.notices)]


def _as_json(report: EstimateReport) -> Mapping[str, object]:
    about = ("measure", "machine", "baseline", "version", "policy", "relevant_from", "topics", "documents", "judged")
    tables = {
        part.value: [dict(zip(headings, row, strict=True)) for row in rows]
        for part in EstimatePart
        for headings, rows in [report.table(part)]
    }
    return {
        **{name: getattr(report, name) for name in about},
        **({} if report.task is None else {"task": report.task}),
        "differing": report.differing,
        "notices": list(map(str, report.notices)),
        **tables,
    }
