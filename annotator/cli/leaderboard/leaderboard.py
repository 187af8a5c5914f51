"""`annotator leaderboard`: the scores of every run."""

import re
from collections.abc import Sequence

import click

from annotator.cli.leaderboard.estimates import or_estimates
from annotator.cli.leaderboard.inspecting import run, topic, topics_group
from annotator.cli.leaderboard.score_formats import score_format_option
from annotator.cli.leaderboard.source_scores import source_group
from annotator.cli.site.files import read_file
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import (
    LIVE,
    compat_option,
    is_residual,
    measures_option,
    residual_option,
    round_option,
    sort_option,
    task_option,
)
from annotator.cli.site.tables import show_json, show_table
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, View
from annotator.evaluation.leaderboard.leaderboard_table import BEST_OF_TEAM
from annotator.evaluation.significance.means import IntervalMethod
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard, default_measures, scores_of_board

VERSION = re.compile(r"[0-9]{1,9}")


@click.group
def command() -> None:
    """The leaderboard: scores of all runs."""


for each in (run, topic, topics_group, source_group):
    command.add_command(each)


@command.command("show")
@click.argument("slug")
@measures_option
@sort_option
@click.option("--baseline", metavar="TAG", help="Test every run against this one, and mark significant differences.")
@click.option(
    "--letters", is_flag=True, help="Mark runs that do not differ significantly by Tukey's test with common letters."
)
@click.option(
    "--qrels",
    "qrels_source",
    default=LIVE,
    show_default=True,
    metavar="GRADES",
    help="The qrels to score by: the number of a kept version, live, the current grades, or a file.",
)
@click.option(
    "--interval",
    type=click.Choice([one.value for one in IntervalMethod]),
    default=IntervalMethod.T.value,
    show_default=True,
    help="How the 95 % intervals are computed.",
)
@compat_option
@score_format_option
@click.option("--by-topic", "per_topic", is_flag=True, help="Also show the value of each topic.")
@click.option("--policy", metavar="POLICY", help="Settle by this consensus policy, not by the collection's.")
@click.option("--judge", metavar="NAME", help="Score by the grades of this judge.")
@round_option
@residual_option
@task_option
@on_installation
@or_estimates
def show(
    installation: Installation,
    slug: str,
    measures: Sequence[str],
    sort: str | None,
    baseline: str | None,
    qrels_source: str,
    interval: str,
    compat: str,
    format_: str,
    policy: str | None,
    judge: str | None,
    round_number: int | None,
    task: str | None,
    *,
    residual: bool | None,
    letters: bool,
    per_topic: bool,
) -> None:
    """Score every run by the current judgements, best first by the first measure unless --sort names another.

    Each mean has its 95 % interval and, once for each depth, the share of the top that is judged. A table shows four
    decimals; csv and json are exact. For a file whose name is a number give ./NUMBER. With --estimate, scores are
    estimated from people's judgements of a sample and a machine's labels of all documents, with intervals for these
    topics and for topics like these, and differences of runs.
    """
    has_settling = policy is not None or judge is not None
    _refuse_together(qrels_source, format_, has_settling=has_settling, per_topic=per_topic)
    is_version = VERSION.fullmatch(qrels_source) is not None
    grades = GradesFrom(
        policy=policy,
        judge=judge,
        version=int(qrels_source) if is_version else None,
        qrels_file=None if is_version or qrels_source == LIVE else read_file(qrels_source),
        unpacked_limit=installation.settings.unpacked_limit,
        compat=compat,
        round=round_number,
        residual=is_residual(round_number, residual=residual),
        task=task,
    )
    view = View(IntervalMethod(interval), baseline, letters, sort)
    asked = measures or default_measures(format_)
    board = installation.database.read(build_leaderboard, slug, asked, grades=grades, view=view)
    board.require_sort()
    _show(board, format_, per_topic=per_topic)


def _refuse_together(qrels_source: str, format_: str, *, has_settling: bool, per_topic: bool) -> None:
    """Raise an error for options that do not go together."""
    if qrels_source != LIVE and has_settling:
        raise click.UsageError("--qrels stands alone: a file or a version has neither judges nor a consensus policy.")
    if per_topic and format_ in {"latex", "markdown"}:
        raise click.UsageError(f"--by-topic is for the other formats, not for {format_}.")


def _show(board: Leaderboard, format_: str, *, per_topic: bool) -> None:
    match format_:
        case "json":
            show_json(leaderboard.as_json(board, per_topic=per_topic))
        case "table":
            _show_table(board, per_topic=per_topic)
        case _:
            click.echo(scores_of_board(board, format_, per_topic=per_topic), nl=False)


def _show_table(board: Leaderboard, *, per_topic: bool) -> None:
    if per_topic:
        show_table(["RUN", "TOPIC", *board.measures], list(leaderboard.topic_rows(board)))
    else:
        headings, *rows = leaderboard.readable_rows(board)
        show_table([str(heading) for heading in headings], rows)
    grades, topics, *notices = leaderboard.scored_against(board)
    explanations = [] if per_topic else _explanations(board)
    for line in ["", grades, topics, *explanations, *notices]:
        click.echo(line.encode())


def _explanations(board: Leaderboard) -> list[str]:
    """Explanations of the intervals, stars, letters and marks that the leaderboard contains."""
    methods = {
        IntervalMethod.T: "by Student's t over topics",
        IntervalMethod.BOOTSTRAP: "by 10,000 bootstrap samples of topics",
    }
    lines = [f"95%: {methods[board.view.interval]}."]
    if board.view.interval is IntervalMethod.T:
        lines[0] += " Intervals end at the least and the greatest value that the measure can have."
    if board.view.baseline is not None:
        lines.append(
            f"STARS: against {board.view.baseline}, paired t test, two-sided, corrected by Holm for the number of "
            "runs: * p up to 0.05, ** 0.01, *** 0.001."
        )
    if board.view.letters:
        reason = f" {board.letters_reason.sentence}" if board.letters_reason else ""
        lines.append(f"LETTERS: runs with a letter in common do not differ by Tukey's HSD at 5 %.{reason}")
    if any(row.best_of_team for row in board.rows):
        lines.append(f"{BEST_OF_TEAM}: the best of its team's runs.")
    return lines
