"""`annotator gate`: fails a build pipeline when a run's score falls, in the database or on the site of --site."""

import math
from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

import click

from annotator.cli.remote.either import on_database_or_site
from annotator.cli.runs.common_task import all_tasks_option, refuse_task_and_all
from annotator.cli.site.installation import Installation
from annotator.cli.site.options import qrels_option, task_option
from annotator.cli.site.tables import Cell, format_option, show_values
from annotator.client import Site
from annotator.client.site import SiteError, in_path
from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.gate import Gate, SentTag, gate_run, newest_tag

FELL = 1
# What a site answers to what does not exist or is malformed.
WRONG = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY})


class Asked(NamedTuple):
    """How the runs are scored, and how far the run may be worse."""

    measure: str
    max_drop: float
    qrels: str
    task: str | None
    all_tasks: bool = False


class StoredRuns:
    """Runs in the local database."""

    def __init__(self, installation: Installation) -> None:
        """Use the database of the installation."""
        self._database = installation.database

    def gate(self, slug: str, baseline: str, run: str | None, asked: Asked) -> Gate:
        """The comparison of a run with its baseline."""
        return self._database.read(gate_run, slug, baseline, run, **asked._asdict())


class SiteRuns:
    """Runs on a site."""

    def __init__(self, site: Site) -> None:
        """Use this site."""
        self._site = site

    def gate(self, slug: str, baseline: str, run: str | None, asked: Asked) -> Gate:
        """The comparison of a run with its baseline."""
        candidate = run or self._newest(slug, baseline, asked)
        answer = self._site.get(
            f"/collections/{in_path(slug)}/leaderboard/comparison",
            first=baseline,
            second=candidate,
            m=asked.measure,
            qrels=asked.qrels,
            by="tests",
            **({} if asked.task is None else {"task": asked.task}),
            **({"all_tasks": True} if asked.all_tasks else {}),
        )
        row, about = answer["rows"][0], answer["about"]
        return Gate(
            about["measure"],
            baseline,
            candidate,
            row["first_mean"],
            row["second_mean"],
            row["low"],
            row["high"],
            row["topics"],
            asked.max_drop,
            about["better"] == Better.LESS,
            tuple(answer["notices"]),
        )

    def _newest(self, slug: str, baseline: str, asked: Asked) -> str:
        sent = [
            SentTag(datetime.fromisoformat(one["uploaded_at"]), str(one["tag"]), one.get("task"))
            for one in self._site.runs(in_path(slug))
        ]
        return newest_tag(sent, besides=baseline, task=asked.task, all_tasks=asked.all_tasks)


@click.command("gate")
@click.argument("slug")
@click.option("--baseline", required=True, metavar="TAG", help="The run that sets the mark.")
@click.option("--run", metavar="TAG", help="The run to check. [the newest one besides the baseline]")
@click.option("--measure", default=USUAL_MEASURE, show_default=True, metavar="MEASURE", help="The measure.")
@click.option(
    "--max-drop",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0),
    metavar="X",
    help="How far the mean may be worse than the baseline's.",
)
@qrels_option
@task_option
@all_tasks_option
@format_option()
@on_database_or_site(StoredRuns, SiteRuns)
@click.pass_context
def command(
    context: click.Context,
    runs: StoredRuns | SiteRuns,
    /,
    slug: str,
    baseline: str,
    run: str | None,
    measure: str,
    max_drop: float,
    qrels: str,
    task: str | None,
    format_: str,
    *,
    all_tasks: bool,
) -> None:
    """Fail a build when the mean score of a run falls too far below that of a baseline.

    The exit code is 0 when it does not, 1 when it does or when there is no answer, and 2 for wrong usage, such as a run
    or a measure that does not exist. The interval is that of the paired t test at 95 %: one that has 0 in it does not
    distinguish the drop from chance, but the mean alone decides. Without --run the newest active run is checked. In a
    collection with tasks both runs belong to one, that of --task or of the baseline, and it is the newest run of this
    task; --all-tasks scores on all topics.
    """
    if not math.isfinite(max_drop):
        raise click.UsageError(f"--max-drop is a finite number from 0 on, not {max_drop}.")
    refuse_task_and_all(task, all_tasks=all_tasks)
    try:
        found = runs.gate(slug, baseline, run, Asked(measure, max_drop, qrels, task, all_tasks=all_tasks))
    except (InvalidValueError, NotFoundError) as wrong:
        raise click.UsageError(str(wrong)) from wrong
    except SiteError as refusal:
        if refusal.status in WRONG:
            raise click.UsageError(str(refusal)) from refusal
        raise
    show_values(format_, ("NAME", "VALUE"), _values(found))
    for line in [*found.notices, _conclusion(found)]:
        click.echo(line, err=True)
    if not found.passes:
        context.exit(FELL)


def _values(found: Gate) -> dict[str, Cell | list[str]]:
    return {
        "measure": found.measure,
        "topics": found.topics,
        "baseline": found.baseline,
        "baseline score": found.baseline_score,
        "run": found.run,
        "run score": found.run_score,
        "difference": found.difference,
        "low": found.low,
        "high": found.high,
        "max drop": found.max_drop,
        "passes": found.passes,
    }


def _conclusion(found: Gate) -> str:
    verdict = "passes" if found.passes else "falls too far"
    return (
        f"{found.run} {verdict}: {found.measure} {found.run_score:.4f}, {found.baseline} {found.baseline_score:.4f}, "
        f"difference {found.difference:+.4f}; allowed {found.max_drop:g}."
    )
