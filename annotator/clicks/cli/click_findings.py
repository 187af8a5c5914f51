"""What was found in a click log of a collection, on a terminal; the same from a database and from a site."""

import click

from annotator.cli.site.tables import show_csv, show_json, show_table
from annotator.clicks.workflows import click_logs
from annotator.clicks.workflows.click_logs import FINDING_TABLES, LogFindings, LogKind
from annotator.errors import NotFoundError

# Of the tables, those that a terminal shows unless one is asked for; the last of them is the csv.
SHOWN_UNASKED = {LogKind.COMPARISON: ("checks", "variants", "measures"), LogKind.INTERLEAVING: ("variants", "pairs")}

table_option = click.option("--by", type=click.Choice(FINDING_TABLES), help="One table of the report.")


def show_findings(format_: str, findings: LogFindings, by: str | None) -> None:
    """Show the tables of a log, and the conclusion of an A/B test; `NotFoundError` for a table that it has not."""
    conclusion = None if findings.comparison is None else str(click_logs.conclusion(findings.comparison))
    names = [by] if by else SHOWN_UNASKED[findings.kind]
    if format_ == "json":
        show_json({"conclusion": conclusion, **findings.to_json()})
    elif format_ == "csv":
        show_csv(*_table(findings, names[-1]))
    else:
        for place, name in enumerate(names):
            if place:
                click.echo()
            headings, rows = _table(findings, name)
            show_table([heading.upper() for heading in headings], rows)
    if conclusion is not None:
        click.echo(conclusion, err=True)


def _table(findings: LogFindings, name: str) -> click_logs.Table:
    found = click_logs.finding_table(findings, name)
    if found is None:
        raise NotFoundError("There is no such part of the report.")
    return found
