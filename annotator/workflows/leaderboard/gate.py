"""The gate of a build pipeline: whether a run's mean score falls too far below that of a baseline."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.metrics.measures import Better
from annotator.storage.collections.collection import find_collection
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.storage.runs.sent_runs import sent_runs
from annotator.storage.runs.tasks import find_task
from annotator.storage.tables.runs import RunState
from annotator.workflows.leaderboard.common_task import in_common_task
from annotator.workflows.leaderboard.inspecting import GradesChosen, inspect_pair

# Means that differ by less are equal: sums of the same values in another order differ in their last digits.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Gate:
    """Means of a baseline and of a run over the same topics, and how far the run may be worse.

    The interval is the 95 % interval of the paired t test of the difference, run less baseline; None where the test is
    not defined, as with one topic.
    """

    measure: str
    baseline: str
    run: str
    baseline_score: float
    run_score: float
    low: float | None
    high: float | None
    topics: int
    max_drop: float
    less_is_better: bool = False
    notices: tuple[str, ...] = ()  # on round and task, and if the pool is a sample

    @property
    def difference(self) -> float:
        """The run's mean less the baseline's."""
        return self.run_score - self.baseline_score

    @property
    def passes(self) -> bool:
        """Whether the run is worse by at most `max_drop`."""
        drop = self.difference if self.less_is_better else -self.difference
        return drop <= self.max_drop + ROUNDING


class SentTag(NamedTuple):
    """An active run: when it was sent, its tag, and the key of its task, if it has one."""

    at: datetime
    tag: str
    task: str | None = None


def newest_tag(sent: Collection[SentTag], *, besides: str, task: str | None = None, all_tasks: bool = False) -> str:
    """The tag that was sent last, the baseline left out: with a `task` of its runs, else of those of the baseline's.

    The runs without a task are compared among themselves, too; with `all_tasks` any run is taken. Of those sent
    together it is the last in natural order: the API gives no ids. Raises `ConflictError` without another run.
    """
    its_task = task or next((one.task for one in sent if one.tag == besides), None)
    others = [one for one in sent if one.tag != besides]
    alike = [one for one in others if all_tasks or one.task == its_task]
    if alike:
        return max((one.at, natural_order(one.tag), one.tag) for one in alike)[-1]
    if others and its_task is None:
        raise ConflictError(
            "“%(tag)s” has no task, and there is no other run without one to compare with it.", tag=besides
        )
    raise ConflictError("The collection has no run besides “%(tag)s” to compare with it.", tag=besides)


def _newest_run(session: Session, slug: str, *, besides: str, task: str | None, all_tasks: bool) -> str:
    collection_id = find_collection(session, slug).id
    if task is not None:
        find_task(session, collection_id, task)
    sent = [run for run in sent_runs(session, collection_id) if run.state == RunState.IN_FORCE]
    return newest_tag(
        [SentTag(run.uploaded_at, run.tag, run.task) for run in sent], besides=besides, task=task, all_tasks=all_tasks
    )


def gate_run(
    session: Session,
    slug: str,
    baseline: str,
    run: str | None,
    *,
    measure: str,
    max_drop: float,
    qrels: str = LIVE,
    task: str | None = None,
    all_tasks: bool = False,
) -> Gate:
    """Compare a run, by default the newest of its task, with a baseline, over all topics with a grade.

    Both runs are of `task`, by default of the baseline's, and the topics are its own; with `all_tasks` they are of any
    tasks. Raises as `in_common_task` and `inspect_pair`.
    """
    candidate = run or _newest_run(session, slug, besides=baseline, task=task, all_tasks=all_tasks)
    grades = in_common_task(session, slug, baseline, candidate, GradesChosen(qrels, task=task), all_tasks=all_tasks)
    found = inspect_pair(session, slug, baseline, candidate, measures=[measure], topics=(), grades=grades)
    one = found.look.by_measure[0]
    low, high = one.tests.t.interval.bounds or (None, None)
    return Gate(
        one.measure,
        baseline,
        candidate,
        one.first,
        one.second,
        low,
        high,
        one.tests.topics,
        max_drop,
        one.better is Better.LESS,
        tuple(map(str, found.choices.notices)),
    )
