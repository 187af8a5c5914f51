"""`annotator agreement`: how far the judges agree."""

from collections.abc import Sequence

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import Row, show_csv, show_json, show_table
from annotator.workflows.agreement import AgreementReport, PairAgreement, agreement_report

# `low` and `high` bound kappa with 95 % confidence; `reason` says why there is none.
HEADINGS = ("first", "second", "n", "kappa", "low", "high", "observed", "expected", "reason")


@click.group
def command() -> None:
    """How far the judges agree: Cohen's kappa."""


@command.command("show")
@click.argument("slug")
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """Show Cohen's kappa of each pair of judges, on the documents both have graded.

    A table leaves out the pairs that have graded none in common and counts them; csv and json have every pair.
    """
    with installation.database.reading() as session:
        report = agreement_report(session, slug)
    rows = [_row(pair) for pair in report.pairs]
    match format_:
        case "json":
            show_json(_as_json(report, rows))
        case "csv":
            show_csv(HEADINGS, rows)
        case _:
            _show_table(report)


def _show_table(report: AgreementReport) -> None:
    rows = [_row(pair) for pair in report.pairs if pair.kappa.n]
    show_table([heading.upper() for heading in HEADINGS], rows)
    if left_out := len(report.pairs) - len(rows):
        click.echo(f"Pairs without a document in common: {left_out}.", err=True)


def _row(pair: PairAgreement) -> Row:
    kappa = pair.kappa
    low, high = kappa.interval or (None, None)
    reason = str(kappa.reason.sentence) if kappa.reason else None
    return [pair.first, pair.second, kappa.n, kappa.value, low, high, kappa.observed, kappa.expected, reason]


def _as_json(report: AgreementReport, rows: Sequence[Row]) -> dict[str, object]:
    pairs = [
        {**dict(zip(HEADINGS, row, strict=True)), "confusion": pair.confusion}
        for pair, row in zip(report.pairs, rows, strict=True)
    ]
    return {"judges": report.judges, "grades": report.grades, "pairs": pairs}
