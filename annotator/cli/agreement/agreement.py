"""`annotator agreement`: inter-judge agreement."""

from collections.abc import Sequence

import click

from annotator.cli.agreement.judge_effect import effect
from annotator.cli.agreement.machine_judges import machines
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import topics_option
from annotator.cli.site.tables import Row, format_option, show_csv, show_json, show_table
from annotator.evaluation.agreement.kappa import Weighting
from annotator.workflows.agreement.agreement import (
    AgreementReport,
    By,
    Choice,
    PairPart,
    agreement_report,
    documents_of_two,
    pair_report,
)

# The name of each part in JSON.
PARTS = {
    By.ALL: "all",
    By.PAIR: "pairs",
    By.TOPIC: "by_topic",
    By.JUDGE: "by_judge",
    By.GRADE: "by_grade",
    By.TIME: "over_time",
}

DOCUMENTS = "documents"
weights_option = click.option(
    "--weights",
    "weighting",
    default=Weighting.NONE.value,
    type=click.Choice([weighting.value for weighting in Weighting]),
    help="Whether small differences of grades weigh less than large ones.",
)


@click.group
def command() -> None:
    """Agreement of the judges beyond chance."""


@command.command("show")
@click.argument("slug")
@click.option(
    "--by",
    type=click.Choice([part.value for part in By]),
    help="One table of the report. [all judges together, and by pair]",
)
@weights_option
@topics_option
@format_option()
@on_installation
def show(
    installation: Installation, slug: str, by: str | None, weighting: str, topics: tuple[str, ...], format_: str
) -> None:
    """Show Krippendorff's alpha of all judges and Cohen's kappa of each pair, on the documents both have graded.

    OBSERVED is the share of documents with the same grade, P(A), and EXPECTED the share expected by chance, P(E). LOW
    and HIGH are the 95 % interval by topics (jackknife), ANALYTIC_LOW and ANALYTIC_HIGH the one that assumes
    independent documents, which is often too narrow because documents of one topic are not independent.
    Adjudicators, machines and grades carried over between documents with the same text are left out. A table leaves out
    the pairs without common documents and counts them; csv and json have every pair.
    --by time is alpha over the course of judging, without labels from files, which have no time.
    """
    report = installation.database.read(agreement_report, slug, Choice(Weighting(weighting), topics))
    part = By(by or By.PAIR)
    match format_:
        case "json":
            show_json(_as_json(report, part))
        case "csv":
            show_csv(*report.table(part))
        case _:
            _show_tables(report, [part] if by else [By.ALL, By.PAIR])


def _show_tables(report: AgreementReport, parts: Sequence[By]) -> None:
    for place, part in enumerate(parts):
        headings, rows = report.table(part)
        if part == By.PAIR:
            rows = [row for row in rows if row[headings.index("n")]]
            _count_left_out("Pairs without a document in common", len(report.pairs) - len(rows))
        if part == By.TIME:
            _count_left_out("Grades of files, which have no time of their own, left out", report.over_time.left_out)
        if place:
            click.echo()
        show_table([heading.upper() for heading in headings], rows)


def _count_left_out(what: str, count: int) -> None:
    if count:
        click.echo(f"{what}: {count}.", err=True)


def _as_json(report: AgreementReport, by: By) -> dict[str, object]:
    headings, cells = report.table(by)
    rows: list[dict[str, object]] = [dict(zip(headings, row, strict=True)) for row in cells]
    if by == By.PAIR:
        rows = [{**row, "confusion": pair.confusion} for row, pair in zip(rows, report.pairs, strict=True)]
    return {
        "judges": report.judges,
        "grades": [grade.value for grade in report.grades],
        "weights": report.choice.weighting,
        "only_topics": report.choice.topics or None,
        "judgements": report.all.judgements,
        "documents": report.all.items,
        "documents_shared": report.all.items_shared,
        "grades_without_time": report.over_time.left_out,
        PARTS[by]: rows,
    }


@command.group("pair")
def pair() -> None:
    """Agreement of two judges."""


@pair.command("show")
@click.argument("slug")
@click.argument("first", metavar="JUDGE")
@click.argument("second", metavar="JUDGE")
@click.option(
    "--by",
    type=click.Choice([*(part.value for part in PairPart), DOCUMENTS]),
    default=PairPart.PAIR.value,
    show_default=True,
    help=(
        "One table of the report: kappa and other coefficients, documents by both grades, kappa over time, or the "
        "documents with both grades."
    ),
)
@weights_option
@topics_option
@format_option()
@on_installation
def show_pair(
    installation: Installation,
    slug: str,
    first: str,
    second: str,
    by: str,
    weighting: str,
    topics: tuple[str, ...],
    format_: str,
) -> None:
    """Compare two judges on the documents that both graded, in alphabetical order of their names."""
    one, other = sorted((first, second))
    headings: Sequence[str]
    rows: Sequence[Row]
    if by == DOCUMENTS:
        found = installation.database.read(documents_of_two, slug, (one, other), topics=topics, most=None)
        headings = ("topic", "docno", "title", "first", "second")
        rows = [[one.topic, one.docno, one.title, one.first, one.second] for one in found.documents]
    else:
        choice = Choice(Weighting(weighting), topics)
        headings, rows = installation.database.read(pair_report, slug, one, other, choice=choice).table(PairPart(by))
    match format_:
        case "json":
            show_json([dict(zip(headings, row, strict=True)) for row in rows])
        case "csv":
            show_csv(headings, rows)
        case _:
            show_table([heading.upper().replace("_", " ") for heading in headings], rows)
    click.echo(f"First: {one}. Second: {other}.", err=True)


command.add_command(effect, "effect")
command.add_command(machines, "machines")
