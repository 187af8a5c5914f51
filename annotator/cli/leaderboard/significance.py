"""`annotator significance` and `annotator correlation`: significance tests between runs, and rank correlation."""

from collections.abc import Iterator
from dataclasses import asdict

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import is_residual, qrels_option, residual_option, round_option, task_option
from annotator.cli.site.progress import watch
from annotator.cli.site.tables import (
    Row,
    by_measures,
    format_option,
    say_by_measure,
    show_by_measure,
    show_json,
    show_table,
)
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.significance.tukey import PERMUTATIONS
from annotator.workflows.leaderboard.measure_correlation import (
    HEADINGS,
    USUAL_MEASURES,
    Correlation,
    Side,
    correlate,
    correlation_csv,
)
from annotator.workflows.leaderboard.significance_report import (
    USUAL_SEED,
    SignificancePart,
    SignificanceReport,
    SignificanceRequest,
    significance_report,
)


@click.group
def command() -> None:
    """Significance: which runs differ by more than chance."""


@command.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "The measure that is tested")
@click.option("--baseline", metavar="TAG", help="Also compare every other run with this one, with Holm's correction.")
@qrels_option
@click.option(
    "--permutations",
    default=PERMUTATIONS,
    show_default=True,
    help="Permutations of the randomised Tukey HSD; 0 leaves it out.",
)
@click.option("--seed", metavar="N", default=USUAL_SEED, show_default=True, help="The seed of the random samples.")
@click.option("--by", type=click.Choice([part.value for part in SignificancePart]), help="One table of the report.")
@round_option
@residual_option
@task_option
@format_option()
@on_installation
def show(
    installation: Installation,
    slug: str,
    measures: tuple[str, ...],
    baseline: str | None,
    qrels: str,
    permutations: int,
    seed: int,
    by: str | None,
    round_number: int | None,
    task: str | None,
    format_: str,
    *,
    residual: bool | None,
) -> None:
    """Test which runs differ by more than chance.

    All pairs by Tukey's honestly significant difference, from its model and by permutation, and by paired t tests with
    Holm's correction; runs that share a letter do not differ by the model. Also the components of variance of the
    scores, and the number of topics needed to separate two runs. A table without --by shows all but the pairs, csv the
    pairs; json always has all.
    """
    is_left = is_residual(round_number, residual=residual)
    requests = [
        SignificanceRequest(measure, qrels, baseline, permutations, seed, round_number, is_left, task)
        for measure in measures
    ]
    with installation.database.reading() as session:
        found = [significance_report(session, slug, request, watch=watch("Permuting")) for request in requests]
    reports = {report.measure: report for report in found}
    show_by_measure(
        format_,
        reports,
        as_json=_as_json,
        as_csv=lambda report: report.file(SignificancePart(by or SignificancePart.PAIRS)),
        tables=lambda report: _show_tables(report, SignificancePart(by) if by else None),
    )
    say_by_measure({measure: [*map(str, report.notices), *_notes(report)] for measure, report in reports.items()})


def _as_json(report: SignificanceReport) -> dict[str, object]:
    notices = list(map(str, report.notices))
    about = {"measure": report.measure, "qrels": asdict(report.state), "notices": notices}
    return {**about, **{part.value: _as_dicts(report, part) for part in SignificancePart}}


def _as_dicts(report: SignificanceReport, part: SignificancePart) -> list[dict[str, str | int | float | bool | None]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _show_tables(report: SignificanceReport, by: SignificancePart | None) -> None:
    shown = [by] if by else [part for part in SignificancePart if part is not SignificancePart.PAIRS]
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


@click.group
def correlation_group() -> None:
    """Correlation of two rankings of the runs, by two measures or by two versions of the qrels."""


@correlation_group.command("show")
@click.argument("slug")
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="The measure; give two to compare them."
)
@click.option(
    "--qrels",
    multiple=True,
    metavar="GRADES",
    help="The qrels to score by, the number of a kept version or live; give two to compare them. [live]",
)
@task_option
@format_option()
@on_installation
def show_correlation(
    installation: Installation,
    slug: str,
    measures: tuple[str, ...],
    qrels: tuple[str, ...],
    task: str | None,
    format_: str,
) -> None:
    """Rank the runs twice and compare the rankings by Kendall's tau-b, tau AP and rank-biased overlap.

    Two measures, as in `-m AP -m P@10`, or two versions of the qrels, as in `--qrels 1 --qrels live`, or both; each
    version scores the runs over its own topics.
    """
    if len(measures) > len(USUAL_MEASURES) or len(qrels) > len(USUAL_MEASURES):
        raise click.UsageError("Two rankings are compared: there are two measures and two states of the qrels at most.")
    usual = USUAL_MEASURES if len(set(qrels)) <= 1 else USUAL_MEASURES[:1]
    named, states = measures or usual, qrels or ("live",)
    first, second = Side(named[0], states[0]), Side(named[-1], states[-1])
    found = installation.database.read(correlate, slug, first, second, task=task)
    rows: list[Row] = [[run.tag, run.first, run.second, run.first_place, run.second_place] for run in found.runs]
    match format_:
        case "json":
            show_json({**asdict(found), "tau": found.tau.value, "notices": list(map(str, found.notices))})
        case "csv":
            click.echo(correlation_csv(found).encode(), nl=False)
        case _:
            show_table([heading.upper() for heading in HEADINGS], rows)
    _tell_correlation(found)


def _tell_correlation(found: Correlation) -> None:
    for notice in found.notices:
        click.echo(str(notice), err=True)
    for name, side in (("First", found.first), ("Second", found.second)):
        state = side.state
        click.echo(
            f"{name}: {side.measure} by {state.source} qrels, {state.grades} grades of {state.topics} topics.", err=True
        )
    alike = found.similarity
    if found.tau.reason is not None:
        click.echo(str(found.tau.reason.sentence), err=True)
    elif alike.tau_ap is not None and alike.rbo is not None:
        click.echo(f"tau-b {alike.tau:.4f}, tau AP {alike.tau_ap:.4f}, RBO {alike.rbo:.4f}.", err=True)
