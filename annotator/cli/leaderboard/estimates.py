"""`annotator leaderboard show --estimate`: scores estimated from a sample and a machine's labels, at a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from annotator.cli.site.installation import Installation
from annotator.cli.site.tables import FORMATS, say_by_measure, show_by_measure, show_table
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.estimates import EstimatePart, EstimateReport, EstimateRequest, estimate_report


@dataclass(frozen=True)
class EstimateOptions:
    """The options of `leaderboard show` that are for estimates; `others` are those given that are for scores alone."""

    machine: str | None
    no_machine: bool
    by: str | None
    baseline: str | None
    others: Mapping[str, bool]

    def check(self, *, estimates: bool, format_: str) -> None:
        """Raise `UsageError` for options that do not belong together."""
        if not estimates:
            if self.machine is not None or self.no_machine or self.by is not None:
                raise click.UsageError("--machine, --no-machine and --by go with --estimate.")
            return
        given = [name for name, is_given in self.others.items() if is_given]
        if given:
            raise click.UsageError(f"--estimate does not go with {given[0]}.")
        if self.machine is not None and self.no_machine:
            raise click.UsageError("Give --machine or --no-machine, not both.")
        if format_ not in FORMATS:
            raise click.UsageError(f"Estimates are shown as {', '.join(FORMATS)}, not as {format_}.")


def show_estimates(
    installation: Installation, slug: str, measures: Sequence[str], options: EstimateOptions, format_: str
) -> None:
    """Estimate every measure and show the runs, or with `--by pairs` every two of them."""
    part = EstimatePart(options.by or EstimatePart.RUNS)
    with installation.database.reading() as session:
        found = [
            estimate_report(
                session, slug, EstimateRequest(measure, options.machine, options.no_machine, options.baseline)
            )
            for measure in dict.fromkeys(measures or [USUAL_MEASURE])
        ]
    reports = {report.measure: report for report in found}
    show_by_measure(
        format_,
        reports,
        as_json=_as_json,
        as_csv=lambda report: report.table(part),
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
        "differing": report.differing,
        "notices": list(map(str, report.notices)),
        **tables,
    }
