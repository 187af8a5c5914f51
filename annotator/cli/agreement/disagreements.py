"""`annotator disagreements` and `annotator adjudication`: documents whose judges differ, and their adjudication."""

from dataclasses import asdict
from datetime import UTC, datetime
from uuid import uuid4

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import topics_option
from annotator.cli.site.tables import Row, format_option, show_csv, show_json, show_table
from annotator.storage.judging.leases import Decision
from annotator.workflows.agreement.adjudication import Adjudication, show_adjudication
from annotator.workflows.agreement.deciding import adjudicator_id, decide_disagreement
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
    """Documents on which judges differ: list them, decide one."""


@command.command("list")
@click.argument("slug")
@topics_option
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="NAME",
    help="Only where this judge differs; if given twice: only where these two do.",
)
@click.option(
    "--apart", "least_distance", default=1, metavar="N", help="Only a difference of this many grades or more."
)
@click.option(
    "--across", "only_across", is_flag=True, help="Only documents that one judge finds relevant and another does not."
)
@click.option("--undecided", "only_undecided", is_flag=True, help="Only documents without an adjudicator's decision.")
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
    """List the documents on which judges differ, worst first: across the relevance threshold, then by grade distance.

    A table has the grades; csv and json also have the notes and the evidence. Grades of machines and adjudicators are
    left out.
    """
    wanted = DisagreementFilter(topics, judges, least_distance, only_across, only_undecided)
    rows = installation.database.read(list_disagreements, slug, wanted)
    match format_:
        case "json":
            click.echo(disagreements_json(rows).encode(), nl=False)
        case "csv":
            click.echo(disagreements_csv(rows).encode(), nl=False)
        case _:
            show_table(["TOPIC", "DOCUMENT", "APART", "ACROSS", "DECIDED", "GRADES"], [_row(row) for row in rows])
            click.echo(f"Documents: {len(rows)}.", err=True)


@command.command("decide")
@click.argument("slug")
@click.argument("topic")
@click.argument("docno")
@click.argument("grade", type=int)
@click.option(
    "--adjudicator", required=True, metavar="NAME", help="Who decides: an adjudicator or organiser of the collection."
)
@click.option("--note", default="", metavar="TEXT", help="The reason for the decision.")
@on_installation
def decide(
    installation: Installation, slug: str, topic: str, docno: str, grade: int, adjudicator: str, note: str
) -> None:
    """Decide that a document on which judges differ has GRADE; deciding again replaces an earlier decision."""
    user_id = installation.database.read(adjudicator_id, slug, adjudicator)
    with installation.database.transaction() as session:
        decide_disagreement(
            session,
            slug,
            topic,
            docno,
            user_id,
            Decision(grade, None, note),
            client_id=uuid4().hex,
            decided_at=datetime.now(UTC),
        )
    click.echo(f"Decided by {adjudicator}: document {docno} of topic {topic} is {grade}.", err=True)


def _row(row: Disagreement) -> Row:
    words = [_cell(word) for word in row.words]
    return [row.topic, row.docno, row.distance, row.is_across, row.is_decided, ", ".join(words)]


def _cell(word: JudgementShown) -> str:
    """A judge's name and grade; a decisive judgement has its own mark."""
    said = "cannot judge" if word.decision.grade is None else str(word.decision.grade)
    return f"{word.judge}{'!' if word.adjudicates else ''}: {said}"


@click.group
def adjudication() -> None:
    """Disputed documents and the decisions about them."""


@adjudication.command("show")
@click.argument("slug")
@click.option(
    "--by", default="topic", show_default=True, type=click.Choice(["topic", "judge"]), help="One table of the report."
)
@format_option()
@on_installation
def show(installation: Installation, slug: str, by: str, format_: str) -> None:
    """List documents on which judges differ, by topic: in dispute and undecided, in adjudication, decided.

    Documents with the same text count once, because one decision decides them all; the qrels list and count each.

    With --by judge: of the documents graded by a judge and decided by an adjudicator, the number with the same grade
    from both. Adjudicators are added with `annotator members add SLUG NAME --role adjudicator`; json always has all.
    """
    report = installation.database.read(show_adjudication, slug, now=datetime.now(UTC))
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
