"""`annotator significance`: which runs differ by more than chance."""

from collections.abc import Iterator
from dataclasses import asdict

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_csv, show_json, show_table
from annotator.cli.watching import watch
from annotator.storage.kept_grades import LIVE
from annotator.workflows.leaderboard import EVERY_ROUND
from annotator.workflows.rounds import round_numbers
from annotator.workflows.significance_report import (
    PERMUTATIONS,
    USUAL_MEASURE,
    USUAL_SEED,
    Part,
    SignificanceReport,
    SignificanceRequest,
    significance_report,
)


@click.command("significance")
@click.argument("slug")
@click.option("-m", "--measure", default=USUAL_MEASURE, show_default=True, help="The measure that is tested.")
@click.option("--baseline", metavar="TAG", help="Also compare every other run with this one, with Holm's correction.")
@click.option("--qrels", default=LIVE, show_default=True, metavar="VERSION|live", help="The grades to score by.")
@click.option(
    "--permutations", default=PERMUTATIONS, show_default=True, help="Of the randomised Tukey HSD; 0 leaves it out."
)
@click.option("--seed", default=USUAL_SEED, show_default=True, help="Of what is random; the same gives the same.")
@click.option("--by", type=click.Choice([part.value for part in Part]), help="One of the tables.")
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
@on_installation
def command(
    installation: Installation,
    slug: str,
    measure: str,
    baseline: str | None,
    qrels: str,
    permutations: int,
    seed: int,
    by: str | None,
    format_: str,
) -> None:
    """Test which runs differ by more than chance.

    All pairs by Tukey's honestly significant difference, from its model and by permuting, and by paired t tests with
    Holm's correction; runs that share a letter do not differ by the model. Also how the variance of the scores is
    shared out, and how many topics would tell two runs apart. A table without --by shows all but the pairs, csv the
    pairs; json always has all.
    """
    request = SignificanceRequest(measure, qrels, baseline, permutations, seed)
    with installation.database.reading() as session:
        report = significance_report(session, slug, request, watch=watch("Permuting"))
        notices = [str(EVERY_ROUND)] if round_numbers(session, slug) else []
    match format_:
        case "json":
            about = {"measure": report.measure, "qrels": asdict(report.state), "notices": notices}
            show_json({**about, **{part.value: _as_dicts(report, part) for part in Part}})
        case "csv":
            show_csv(*report.file(Part(by or Part.PAIRS)))
        case _:
            _show_tables(report, Part(by) if by else None)
    for line in [*notices, *_notes(report)]:
        click.echo(line, err=True)


def _as_dicts(report: SignificanceReport, part: Part) -> list[dict[str, str | int | float | bool | None]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _show_tables(report: SignificanceReport, by: Part | None) -> None:
    shown = [by] if by else [part for part in Part if part is not Part.PAIRS]
    tables = [report.table(part) for part in shown if part is by or report.table(part)[1]]
    for place, (headings, rows) in enumerate(tables):
        if place:
            click.echo()
        show_table([heading.upper() for heading in headings], rows)


def _notes(report: SignificanceReport) -> Iterator[str]:
    model, state = report.model, report.state
    yield f"{report.measure} by {state.name} qrels: {state.grades} grades; topics with a score of all: {model.topics}."
    if model.critical_difference.reason is not None:
        yield str(model.critical_difference.reason.sentence)
    else:
        yield (
            f"Tukey HSD: {report.differing} of {report.pairs} pairs differ at 5 %; critical difference "
            f"{model.critical_difference.value:.4f}, mean square {model.mean_square.value:.6f}."
        )
    randomised = report.randomised
    if randomised is not None and randomised.critical_difference.value is not None:
        yield (
            f"Randomised: critical difference {randomised.critical_difference.value:.4f} by {randomised.permutations} "
            f"permutations with seed {randomised.seed}."
        )
    if report.letters.reason is not None and report.letters.reason is not model.critical_difference.reason:
        yield str(report.letters.reason.sentence)
    for component in (report.shares.of_topics, report.shares.of_runs):
        if component.reason is not None:
            yield str(component.reason.sentence)
            break
