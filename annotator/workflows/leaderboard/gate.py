"""The gate of a build pipeline: whether a run's mean score falls too far below that of a baseline."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.metrics.measures import Better
from annotator.storage.collections.collection import find_collection
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

    @property
    def difference(self) -> float:
        """The run's mean less the baseline's."""
        return self.run_score - self.baseline_score

    @property
    def passes(self) -> bool:
        """Whether the run is worse by at most `max_drop`."""
        drop = self.difference if self.less_is_better else -self.difference
        return drop <= self.max_drop + ROUNDING


def newest_run(session: Session, slug: str, *, besides: str) -> str:
    """The tag of the active run that was sent last, the baseline left out; raises `ConflictError` without another."""
    runs = [
        run
        for run in sent_runs(session, find_collection(session, slug).id)
        if run.state == RunState.IN_FORCE and run.tag != besides
    ]
    if not runs:
        raise ConflictError("The collection has no run besides “%(tag)s” to compare with it.", tag=besides)
    return max(runs, key=lambda run: (run.uploaded_at, run.id)).tag


def gate_run(
    session: Session,
    slug: str,
    baseline: str,
    run: str | None,
    *,
    measure: str,
    max_drop: float,
    qrels: str = LIVE,
) -> Gate:
    """Compare a run, by default the newest, with a baseline, over all topics with a grade. Raises as `inspect_pair`."""
    candidate = run or newest_run(session, slug, besides=baseline)
    found = inspect_pair(session, slug, baseline, candidate, measures=[measure], topics=(), grades=GradesChosen(qrels))
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
    )
