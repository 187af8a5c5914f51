"""`annotator adjudication show`: where judges differ, what was decided, and whose grade it was."""

from dataclasses import asdict
from datetime import UTC, datetime

import click

from annotator.cli.site.formats import format_option
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.tables import Row, show_csv, show_json, show_table
from annotator.workflows.agreement.adjudication import Adjudication, show_adjudication

BY_TOPIC = ["TOPIC", "IN DISPUTE", "IN HANDS", "DECIDED"]
BY_JUDGE = ["JUDGE", "DECIDED", "UPHELD", "SHARE"]


@click.group
def command() -> None:
    """Where judges differ, what was decided, and whose grade it was."""


@command.command("show")
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
