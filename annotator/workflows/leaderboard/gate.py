"""The gate of a build pipeline: whether a run's mean score falls too far below that of a baseline."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.metrics.measures import Better
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_task import facts_of_task
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.storage.runs.sent_runs import sent_runs
from annotator.storage.tables.runs import RunState
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


def newest_tag(sent: Iterable[tuple[datetime, str]], *, besides: str) -> str:
    """The tag that was sent last, the baseline left out, of active runs with their times of sending.

    Of those sent together it is the last in natural order: the API gives no ids. Raises `ConflictError` without
    another run.
    """
    others = [(at, natural_order(tag), tag) for at, tag in sent if tag != besides]
    if not others:
        raise ConflictError("The collection has no run besides “%(tag)s” to compare with it.", tag=besides)
    return max(others)[-1]


def _newest_run(session: Session, slug: str, *, besides: str, task: str | None) -> str:
    collection_id = find_collection(session, slug).id
    of_task = facts_of_task(session, collection_id, task)
    sent = [run for run in sent_runs(session, collection_id) if of_task is None or run.id in of_task.runs]
    return newest_tag(((run.uploaded_at, run.tag) for run in sent if run.state == RunState.IN_FORCE), besides=besides)


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
) -> Gate:
    """Compare a run, by default the newest, with a baseline, over all topics with a grade.

    With a `task`, its key, both runs are of it, and the topics are its own. Raises as `inspect_pair`.
    """
    candidate = run or _newest_run(session, slug, besides=baseline, task=task)
    grades = GradesChosen(qrels, task=task)
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
