"""`annotator collections quality show`: completeness and reusability of the judgements."""

from collections.abc import Iterator
from dataclasses import asdict

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import is_residual, residual_option, round_option, task_option
from annotator.cli.site.progress import watch
from annotator.cli.site.tables import by_measures, format_option, say_by_measure, show_by_measure, show_table
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.reusability_report import (
    USUAL_SEED,
    QualityReport,
    QualityRequest,
    ReusabilityPart,
    quality_report,
)
from annotator.workflows.pools.pool_selection import Memory, choices_left


@click.group("quality")
def quality() -> None:
    """Collection quality: whether the judgements are enough."""


@quality.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "The measure that ranks the runs")
@click.option("--seed", metavar="N", default=USUAL_SEED, show_default=True, help="The seed of the random samples.")
@click.option("--by", type=click.Choice([part.value for part in ReusabilityPart]), help="One table of the report.")
@round_option
@residual_option
@task_option
@format_option()
@on_installation
def show_quality(
    installation: Installation,
    slug: str,
    measures: tuple[str, ...],
    seed: int,
    by: str | None,
    round_number: int | None,
    task: str | None,
    format_: str,
    *,
    residual: bool | None,
) -> None:
    """Measure the quality of a collection.

    TOPICS: the share of judged documents that is relevant. DEPTHS: relevant documents found by pool depth, with Zobel's
    curve; DEEPER: how many more a deeper pool is expected to find. FEWER: how the runs rank by nested random samples of
    the judgements. A table without --by shows everything, csv the topics; json always has all.
    """
    part = ReusabilityPart(by) if by else None
    ablates = format_ == "json" or part is ReusabilityPart.FEWER or (part is None and format_ == "table")
    is_left = is_residual(round_number, residual=residual)
    requests = [QualityRequest(measure, seed, ablates, round_number, is_left, task) for measure in measures]
    with installation.database.reading() as session:
        to_come = choices_left(session, slug, memory=Memory())
        found = [
            quality_report(session, slug, request, to_come=to_come, watch=watch("Scoring")) for request in requests
        ]
    reports = {report.measure: report for report in found}
    show_by_measure(
        format_,
        reports,
        as_json=_as_json,
        as_csv=lambda report: report.file(part or ReusabilityPart.TOPICS),
        tables=lambda report: _show_tables(report, part),
    )
    say_by_measure({measure: [*map(str, report.notices), *_notes(report)] for measure, report in reports.items()})


def _as_json(report: QualityReport) -> dict[str, object]:
    notices = list(map(str, report.notices))
    about = {"measure": report.measure, "qrels": asdict(report.state), "notices": notices}
    return {**about, **{part.value: _as_dicts(report, part) for part in ReusabilityPart}}


def _show_tables(report: QualityReport, by: ReusabilityPart | None) -> None:
    for place, part in enumerate([by] if by else ReusabilityPart):
        if place:
            click.echo()
        headings, rows = report.table(part)
        show_table([heading.upper() for heading in headings], rows)


def _as_dicts(report: QualityReport, part: ReusabilityPart) -> list[dict[str, str | int | float | bool | None]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _notes(report: QualityReport) -> Iterator[str]:
    density, growth = report.density, report.growth
    if density.share.value is not None:
        yield f"Relevant, of the {report.state.grades} judged documents: {density.share.value:.1%}."
    if density.density is not None:
        yield str(density.density.sentence)
    if density.flagged:
        yield f"Topics with 40 % or more: {', '.join(density.flagged)}."
    if density.too_few:
        yield f"Topics with fewer than three relevant documents: {', '.join(density.too_few)}."
    if growth.exponent.reason is not None:
        yield str(growth.exponent.reason.sentence)
    elif growth.scale.value is not None and growth.exponent.value is not None:
        yield (
            f"New relevant documents at depth p: {growth.scale.value:.2f} * p^{growth.exponent.value:.3f} - 1, fitted "
            f"to depths 1 to {len(growth.new)}."
        )
    if report.ablation is not None:
        yield _sufficing(report.ablation.share_that_suffices, report.measure)


def _sufficing(share: float | None, measure: str) -> str:
    if share is None:
        return f"None of the samples keeps the ranking by {measure} (tau of 0.9 or more)."
    return f"{share:.0%} of the judgements would have kept the ranking by {measure} (tau of 0.9 or more)."
