"""The report of costs on a terminal, the same from a database and from a site; and what is stated on a command line."""

from collections.abc import Iterator, Mapping, Sequence

import click

from annotator.cli.site.tables import TABLE, say_by_measure, show_by_measure, show_table
from annotator.workflows.leaderboard import costs_text
from annotator.workflows.leaderboard.costs_text import ReportEntry

cost_option = click.option(
    "--cost", metavar="FACT", help="The cost of the Pareto front, such as latency_at@1000000. [a latency]"
)
within_option = click.option("--within", default="", metavar="BOUND", help="Only runs within it, such as “50 ms”.")


def show_cost_reports(format_: str, reports: Mapping[str, ReportEntry]) -> None:
    """Show what every run states, by measure."""
    show_by_measure(
        format_,
        reports,
        as_json=lambda report: report,
        as_csv=lambda report: costs_text.exact_rows(report, names_measure=len(reports) == 1),
        tables=lambda report: show_table(*costs_text.readable_rows(report)),
    )
    if format_ == TABLE:
        say_by_measure({measure: _notes(report) for measure, report in reports.items()})


def read_statements(statements: Sequence[str]) -> dict[str, str]:
    """Facts with what is to be stated of them, from `FACT=VALUE`; `UsageError` for what is not of this form."""
    written = dict(map(_read, statements))
    if len(written) < len(statements):
        raise click.UsageError("A fact is given twice.")
    return written


def _read(statement: str) -> tuple[str, str]:
    fact, equals, value = statement.partition("=")
    if not equals:
        raise click.UsageError(f"“{statement}” is not FACT=VALUE.")
    return fact.strip(), value


def _notes(report: ReportEntry) -> Iterator[str]:
    """What the marks stand for, and what was left out."""
    if report["has_front"]:
        front = f"FRONT: nobody is better by {report['measure']} without being worse by {report['cost']}"
        yield f"{front}. Qrels: {report['qrels']}, fingerprint {report['fingerprint']}."
    if report["within"] is not None:
        beyond, silent = report["over"], report["silent"]
        yield f"Left out: {beyond} runs beyond the bound, {silent} that do not state {report['cost']}."
