"""`annotator leaderboard source`: the scores of the runs of a run source in time."""

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.source_scores import source_history

ALARM = 1


@click.group("source")
def source_group() -> None:
    """The runs of a run source in time."""


@source_group.command("show")
@click.argument("slug")
@click.argument("name")
@click.option("--measure", default=USUAL_MEASURE, show_default=True, metavar="MEASURE", help="The measure.")
@click.option("--check", is_flag=True, help="Exit with 1 when the newest run has left its interval.")
@format_option()
@on_installation
def show(installation: Installation, slug: str, name: str, measure: str, format_: str, *, check: bool) -> None:
    """Show the scores of the runs of a source in time, by the live qrels and by kept versions.

    LOW and HIGH are the mean of an earlier run, plus and minus half of the 95 % interval of the paired t test between
    the two runs. The earlier run is the first, or the last one that left its interval.
    """
    found = installation.database.read(source_history, slug, name, measure=measure)
    show_rows(
        format_,
        ["RUN", "CAME", "QRELS", found.measure, "LOW", "HIGH", "ALARM"],
        [
            [run.named, run.at, qrels, score.mean, score.low, score.high, _alarm(score.alarms, score.is_better)]
            for qrels in found.qrels
            for run in found.runs
            if (score := run.scores.get(qrels)) is not None
        ],
    )
    for notice in found.notices:
        click.echo(str(notice), err=True)
    for qrels in found.alarms:
        click.echo(f"By the qrels {qrels}, the newest run has left its interval.", err=True)
    if check and found.alarms:
        click.get_current_context().exit(ALARM)


def _alarm(alarms: bool, is_better: bool) -> str | None:  # noqa: FBT001 - two sides of one cell
    if not alarms:
        return None
    return "better" if is_better else "worse"
