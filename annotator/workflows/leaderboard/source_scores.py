"""The history of the scores of a run source: its runs in time, by the live qrels and by kept versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Sentence
from annotator.evaluation.inspection.source_history import HistoryScore, history_of
from annotator.evaluation.metrics.names import USUAL_MEASURE, parse_measure
from annotator.storage import QrelsVersion, RunSource
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_task import task_of_runs
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.storage.runs.run_sources import runs_from_source, stored_source
from annotator.storage.runs.sent_runs import SentRun, sent_runs
from annotator.storage.runs.tasks import tasks_of
from annotator.storage.tables.runs import RunState
from annotator.workflows.leaderboard.inspecting import GradesChosen, score_versions
from annotator.workflows.runs.scoring_scope import scope_notices, task_scope

# Each is scored by each state of the qrels.
MOST_RUNS, MOST_VERSIONS = 100, 4


@dataclass(frozen=True)
class HistoryRun:
    """A run of the source; `scores` by the qrels that it was scored by: live, or the number of a version."""

    tag: str
    version: int
    at: datetime
    is_replaced: bool
    scores: Mapping[str, HistoryScore]

    @property
    def named(self) -> str:
        """The tag, with the version of a run that was sent again."""
        return self.tag if self.version == 1 and not self.is_replaced else f"{self.tag} ({self.version})"


@dataclass(frozen=True)
class SourceHistory:
    """The newest runs of a source in the order of time, the live qrels first among those that scored them.

    `withdrawn` runs are left out, and `left_out` older ones.
    """

    source: str
    measure: str
    qrels: Sequence[str]
    runs: Sequence[HistoryRun]
    withdrawn: int
    left_out: int
    notices: Sequence[Sentence] = ()  # on the task of the runs, or that those of every task are scored

    def newest(self, qrels: str) -> tuple[HistoryRun, HistoryScore, HistoryRun] | None:
        """The newest run with its score and the run that it is compared with; None without two runs."""
        scored = [one for one in self.runs if qrels in one.scores]
        score = scored[-1].scores[qrels] if scored else None
        if score is None or score.reference is None:
            return None
        return scored[-1], score, scored[score.reference]

    @property
    def alarms(self) -> Sequence[str]:
        """The qrels by which the newest run has left its interval."""
        return [one for one in self.qrels if (found := self.newest(one)) is not None and found[1].alarms]


def source_history(session: Session, slug: str, name: str, *, measure: str = USUAL_MEASURE) -> SourceHistory:
    """Score the newest runs of a source, its replaced versions included, by the live qrels and the newest versions.

    With a task of the source, only runs of this task are scored, on its topics; without one, those of one task if all
    belong to it. Qrels by which nothing can be scored, as while nothing is judged, are left out. Raises
    `NotFoundError` for an unknown source, and `InvalidValueError` for an unknown measure.
    """
    collection = find_collection(session, slug)
    source = stored_source(session, collection.id, name)
    if source is None:
        raise NotFoundError("There is no source of runs “%(name)s” in this collection.", name=name)
    asked = str(parse_measure(measure))
    sent, others = _runs_of(session, collection.id, source)
    counting = [run for run in sent if run.state != RunState.WITHDRAWN and run.withdrawn_at is None]
    shown = counting[-MOST_RUNS:]
    run_ids = [run.id for run in shown]
    task = source.task if others is not None else task_of_runs(session, collection.id, run_ids)
    by_qrels = _scores(session, slug, run_ids, asked, _qrels(session, collection.id), task)
    notices = scope_notices(session, collection.id, task_scope(session, collection.id, task))
    runs = [
        HistoryRun(
            run.tag,
            run.version,
            run.uploaded_at,
            run.state == RunState.REPLACED,
            {qrels: scores[run.id] for qrels, scores in by_qrels.items() if run.id in scores},
        )
        for run in shown
    ]
    left_out = len(counting) - len(shown)
    if others:
        left = Sentence("Runs of the source that are not of its task, and are left out: %(count)d.", {"count": others})
        notices = (*notices, left)
    return SourceHistory(name, asked, list(by_qrels), runs, len(sent) - len(counting), left_out, notices)


def _runs_of(session: Session, collection_id: int, source: RunSource) -> tuple[list[SentRun], int | None]:
    """The runs of a source, those of its task where it has one, and how many others came from it; None without one."""
    came = {run.id for run in runs_from_source(session, source.id)}
    sent = [run for run in sent_runs(session, collection_id) if run.id in came]
    if source.task not in {task.key for task in tasks_of(session, collection_id)}:
        return sent, None
    of_task = [run for run in sent if run.task == source.task]
    return of_task, len(sent) - len(of_task)


def _qrels(session: Session, collection_id: int) -> list[str]:
    """The live qrels, and the newest kept versions, the newest first."""
    # Negative while its grades are stored.
    numbers = select(QrelsVersion.number).where(QrelsVersion.collection_id == collection_id, QrelsVersion.number > 0)
    newest = session.scalars(numbers.order_by(QrelsVersion.number.desc()).limit(MOST_VERSIONS))
    return [LIVE, *map(str, newest)]


def _scores(
    session: Session, slug: str, run_ids: Sequence[int], measure: str, qrels: Sequence[str], task: str | None
) -> dict[str, dict[int, HistoryScore]]:
    """Qrels → run id → score, of the qrels by which something can be scored."""
    found: dict[str, dict[int, HistoryScore]] = {}
    for one in qrels if run_ids else ():
        try:
            ids, scored = score_versions(session, slug, run_ids, measure, GradesChosen(one, task=task))
        except ConflictError:  # nothing is judged, or no topic of the version is left
            continue
        found[one] = dict(zip(ids, history_of(scored), strict=True))
    return found
