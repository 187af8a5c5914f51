"""`annotator disagreements` and `annotator adjudication`: documents whose judges differ, and what was decided."""

from dataclasses import asdict
from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import topics_option
from annotator.cli.site.tables import Row, format_option, show_csv, show_json, show_table
from annotator.workflows.agreement.adjudication import Adjudication, show_adjudication
from annotator.workflows.agreement.disagreements import (
    Disagreement,
    DisagreementFilter,
    JudgementShown,
    disagreements_csv,
    disagreements_json,
    list_disagreements,
)

BY_TOPIC = ["TOPIC", "IN DISPUTE", "IN HANDS", "DECIDED"]
BY_JUDGE = ["JUDGE", "DECIDED", "UPHELD", "SHARE"]


@click.group
def command() -> None:
    """Documents whose judges differ."""


@command.command("list")
@click.argument("slug")
@topics_option
@click.option(
    "--judge", "judges", multiple=True, metavar="NAME", help="Only where this judge differs; twice: where these two do."
)
@click.option("--apart", "least_distance", default=1, metavar="N", help="Only so many grades apart or more.")
@click.option("--across", "only_across", is_flag=True, help="Only what one judge finds relevant and another does not.")
@click.option("--undecided", "only_undecided", is_flag=True, help="Only what no adjudicator has decided.")
@format_option()
@on_installation
def list_(
    installation: Installation,
    slug: str,
    topics: tuple[str, ...],
    judges: tuple[str, ...],
    least_distance: int,
    format_: str,
    *,
    only_across: bool,
    only_undecided: bool,
) -> None:
    """List the documents whose judges differ, worst first: across the line of relevance, then by grades apart.

    A table has the grades; csv and json have the notes and the evidence too. Machines are left out, and adjudicators
    decide.
    """
    wanted = DisagreementFilter(topics, judges, least_distance, only_across, only_undecided)
    with installation.database.reading() as session:
        rows = list_disagreements(session, slug, wanted)
    match format_:
        case "json":
            click.echo(disagreements_json(rows).encode(), nl=False)
        case "csv":
            click.echo(disagreements_csv(rows).encode(), nl=False)
        case _:
            show_table(["TOPIC", "DOCUMENT", "APART", "ACROSS", "DECIDED", "GRADES"], [_row(row) for row in rows])
            click.echo(f"Documents: {len(rows)}.", err=True)


def _row(row: Disagreement) -> Row:
    words = [_said(word) for word in row.words]
    return [row.topic, row.docno, row.distance, row.is_across, row.is_decided, ", ".join(words)]


def _said(word: JudgementShown) -> str:
    """The judge with their grade; what decides has a sign of its own."""
    said = "cannot judge" if word.decision.grade is None else str(word.decision.grade)
    return f"{word.judge}{'!' if word.adjudicates else ''}: {said}"


@click.group
def adjudication() -> None:
    """Where judges differ, what was decided, and whose grade it was."""


@adjudication.command("show")
@click.argument("slug")
@click.option(
    "--by", default="topic", show_default=True, type=click.Choice(["topic", "judge"]), help="One table of the report."
)
@format_option()
@on_installation
def show(installation: Installation, slug: str, by: str, format_: str) -> None:
    """Documents whose judges differ, by topic: in dispute and undecided, in adjudicators' hands, decided.

    Documents with the same text count once, as whoever decides one decides all; the qrels list and count each.

    With --by judge: of the documents that a judge graded and an adjudicator decided, in how many the judge's grade was
    the one. Adjudicators are made with `annotator members add SLUG NAME --role adjudicator`; json always has all.
    """
    with installation.database.reading() as session:
        report = show_adjudication(session, slug, now=datetime.now(UTC))
    headings, rows = (BY_TOPIC, _topics(report)) if by == "topic" else (BY_JUDGE, _judges(report))
    match format_:
        case "json":
            show_json(asdict(report))
        case "csv":
            show_csv([heading.lower().replace(" ", "_") for heading in headings], rows)
        case _:
            show_table(headings, rows)
    if not report.is_heard and (report.decided or report.in_dispute):
        click.echo(
            f"The consensus policy of {slug}, {report.policy}, hears an adjudicator like any judge, or not at all; "
            "choose one of adjudicated-else-… if their word is to decide.",
            err=True,
        )


def _topics(report: Adjudication) -> list[Row]:
    return [[topic.number, topic.in_dispute, topic.in_hands, topic.decided] for topic in report.topics]


def _judges(report: Adjudication) -> list[Row]:
    return [[one.judge, one.decided, one.upheld, one.share] for one in report.judges]
