"""`annotator costs`: the costs of systems with their scores, from the database or from the site of --site."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

import click

from annotator.cli.remote.either import on_database_or_site
from annotator.cli.site.installation import Installation, note
from annotator.cli.site.tables import (
    TABLE,
    Row,
    by_measures,
    format_option,
    say_by_measure,
    show_by_measure,
    show_rows,
    show_table,
)
from annotator.client import Site
from annotator.client.site import in_path
from annotator.errors import ConflictError
from annotator.evaluation.costs.facts import FactKind
from annotator.evaluation.costs.report import Question
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.workflows.leaderboard import costs, costs_text
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.runs import run_costs
from annotator.workflows.runs.run_costs import ColumnRequest

FACT_FIELDS = ("key", "kind", "unit", "better", "per", "own", "name")

cost_option = click.option(
    "--cost", metavar="FACT", help="The cost for the Pareto front, such as latency_at@1000000. [a latency]"
)
within_option = click.option(
    "--within", default="", metavar="BOUND", help="Only runs within this limit, such as “50 ms”."
)


class StoredCosts:
    """Costs in the local database."""

    def __init__(self, installation: Installation) -> None:
        """Use the database of the installation."""
        self._database = installation.database

    def reports(
        self, slug: str, measures: Sequence[str], cost: str | None, within: str
    ) -> Mapping[str, costs_text.ReportEntry]:
        """The cost report by measure; a single one as long as the runs cannot be scored."""
        with self._database.reading() as session:
            boards = _boards(partial(build_leaderboard, session, slug), measures)
            found = [costs.build_costs(session, slug, board, Question(cost, within)) for board in boards]
        return {report["measure"] or "": report for report in map(costs_text.as_json, found)}

    def change(self, slug: str, tag: str, written: Mapping[str, str]) -> None:
        """Store values of a run; an empty text removes the value."""
        with self._database.transaction() as session:
            run_costs.change_costs(session, slug, tag, written, at=datetime.now(UTC))
            note(session, "costs.set", slug, subject=tag, details={"facts": sorted(written)})

    def facts(self, slug: str) -> tuple[Sequence[str], Sequence[Row]]:
        """Headings and rows of the available facts."""
        with self._database.reading() as session:
            return costs_text.facts_rows(run_costs.list_facts(session, slug))

    def add_column(self, slug: str, key: str, name: str, unit: str, better: str | None, *, words: bool) -> None:
        """Add a fact that can be reported for runs."""
        kind = FactKind.WORDS if words else FactKind.NUMBER
        request = ColumnRequest(key, name or key, kind, unit, better or "")
        with self._database.transaction() as session:
            run_costs.add_column(session, slug, request, at=datetime.now(UTC))
            note(session, "costs.add-column", slug, subject=request.key, details=vars(request))

    def remove_column(self, slug: str, key: str) -> None:
        """Remove a fact that no run uses."""
        with self._database.transaction() as session:
            run_costs.remove_column(session, slug, key)
            note(session, "costs.remove-column", slug, subject=key)


class SiteCosts:
    """Costs on a remote site, through its API."""

    def __init__(self, site: Site) -> None:
        """Use this site."""
        self._site = site

    def reports(
        self, slug: str, measures: Sequence[str], cost: str | None, within: str
    ) -> Mapping[str, costs_text.ReportEntry]:
        """The cost report by measure; a single one as long as the runs cannot be scored."""
        reports: dict[str, costs_text.ReportEntry] = {}
        for measure in measures:
            report = self._site.get(f"/collections/{slug}/costs", m=measure, cost=cost, within=within)
            unscored = report.pop("unscored")
            reports[report["measure"] or ""] = report
            if unscored is not None:  # the same for every measure
                click.echo(unscored, err=True)
                break
        return reports

    def change(self, slug: str, tag: str, written: Mapping[str, str]) -> None:
        """Store values of a run; an empty text removes the value."""
        statements = [{"fact": fact, "value": value} for fact, value in written.items()]
        self._site.patch(f"/collections/{slug}/runs/{in_path(tag)}/costs", {"costs": statements})

    def facts(self, slug: str) -> tuple[Sequence[str], Sequence[Row]]:
        """Headings and rows of the available facts."""
        facts = self._site.every(f"/collections/{slug}/cost-facts")
        return costs_text.FACT_HEADINGS, [[fact[name] for name in FACT_FIELDS] for fact in facts]

    def add_column(self, slug: str, key: str, name: str, unit: str, better: str | None, *, words: bool) -> None:
        """Add a fact that can be reported for runs."""
        body = {"key": key, "name": name, "unit": unit, "kind": "words" if words else "number"}
        self._site.post(f"/collections/{slug}/cost-facts", body | ({} if better is None else {"better": better}))

    def remove_column(self, slug: str, key: str) -> None:
        """Remove a fact that no run uses."""
        self._site.delete(f"/collections/{slug}/cost-facts/{in_path(key)}")


Costs = StoredCosts | SiteCosts
on_costs = on_database_or_site(StoredCosts, SiteCosts)


@click.group
def command() -> None:
    """Costs of each system: speed, size, hardware, query language."""


@command.command("show")
@click.argument("slug")
@by_measures(DEFAULT_MEASURES[0], "Show this measure beside the costs")
@cost_option
@within_option
@format_option()
@on_costs
def show(stated: Costs, slug: str, measures: tuple[str, ...], cost: str | None, within: str, format_: str) -> None:
    """Show the statements of every run, best first by the measure; on a site, to participants once scores are released.

    FRONT marks the runs on the Pareto front: no other run is at least as good by the measure and at least as cheap, and
    better in one of the two.
    """
    show_cost_reports(format_, stated.reports(slug, measures, cost, within))


@command.command("set")
@click.argument("slug")
@click.argument("tag")
@click.argument("statements", nargs=-1, required=True, metavar="FACT=VALUE…")
@on_costs
def set_costs(stated: Costs, slug: str, tag: str, statements: Sequence[str]) -> None:
    """State the costs of a system, such as latency_p95=48, “index_size=1.2 GB”, “latency_at@1000000=35 ms”.

    Statements of other facts are kept; FACT= without a value withdraws the statement. `costs columns list` lists the
    facts.
    """
    stated.change(slug, tag, read_statements(statements))
    click.echo(f"Stored what {tag} costs.", err=True)


@command.group("columns")
def columns() -> None:
    """The facts that runs may state: those of every collection, and those added to this one."""


@columns.command("list")
@click.argument("slug")
@format_option()
@on_costs
def list_columns(stated: Costs, slug: str, format_: str) -> None:
    """List the facts that runs may state."""
    show_rows(format_, *stated.facts(slug))


@columns.command("add")
@click.argument("slug")
@click.argument("key")
@click.option("--name", default="", metavar="TEXT", help="The heading on pages; by default the key.")
@click.option("--unit", default="", metavar="UNIT", help="The unit of its numbers, such as ms.")
@click.option(
    "--better", type=click.Choice(["less", "more"]), help="Whether lower or higher values are better, if either."
)
@click.option("--words", is_flag=True, help="The fact is text, not a number.")
@on_costs
def add_column(stated: Costs, slug: str, key: str, name: str, unit: str, better: str | None, *, words: bool) -> None:
    """Add a fact that runs may state, under the KEY."""
    stated.add_column(slug, key, name, unit, better, words=words)
    click.echo(f"Added the column {key}.", err=True)


@columns.command("remove")
@click.argument("slug")
@click.argument("key")
@on_costs
def remove_column(stated: Costs, slug: str, key: str) -> None:
    """Remove a fact that was added; refused while a run states it."""
    stated.remove_column(slug, key)
    click.echo(f"Removed the column {key}.", err=True)


def show_cost_reports(format_: str, reports: Mapping[str, costs_text.ReportEntry]) -> None:
    """Print the costs of every run, by measure."""
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
    """Parse `FACT=VALUE` arguments; `UsageError` for any other form."""
    written = dict(map(_read, statements))
    if len(written) < len(statements):
        raise click.UsageError("A fact is given twice.")
    return written


def _read(statement: str) -> tuple[str, str]:
    fact, equals, value = statement.partition("=")
    if not equals:
        raise click.UsageError(f"“{statement}” is not FACT=VALUE.")
    return fact.strip(), value


def _notes(report: costs_text.ReportEntry) -> Iterator[str]:
    """Notes that explain the marks and list omitted runs."""
    if report["has_front"]:
        front = f"FRONT: nobody is better by {report['measure']} without being worse by {report['cost']}"
        yield f"{front}. Qrels: {report['qrels']}, fingerprint {report['fingerprint']}."
    if report["within"] is not None:
        beyond, silent = report["over"], report["silent"]
        yield f"Left out: {beyond} runs beyond the bound, {silent} that do not state {report['cost']}."


def _boards(score: Callable[[list[str]], Leaderboard], measures: Sequence[str]) -> Sequence[Leaderboard | None]:
    """The leaderboard by each measure; a single None as long as the runs cannot be scored (costs are shown anyway)."""
    try:
        return [score([measure]) for measure in measures]
    except ConflictError as refusal:
        click.echo(str(refusal), err=True)
        return [None]
