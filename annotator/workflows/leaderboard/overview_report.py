"""All results of a collection for an overview paper, at one time and by one state of the qrels."""

import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.leaderboard.overview import TopicSpread, best_of_each_team, topic_spreads
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.storage.collections.collection import find_collection
from annotator.storage.qrels.manifest_facts import public_parameters
from annotator.storage.qrels.qrels_versions import LIVE, version_number
from annotator.workflows.agreement.agreement import AgreementReport, agreement_report
from annotator.workflows.agreement.disagreements import DisagreementFilter, Survey, page_of_disagreements
from annotator.workflows.agreement.judge_hours import HoursWanted, JudgeHours, Period, judge_hours
from annotator.workflows.agreement.machine_judges import MachineReport, machine_reports
from annotator.workflows.collections.collection import (
    CollectionCounts,
    CollectionView,
    count_collection,
    show_collection,
)
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard, measure_help
from annotator.workflows.leaderboard.reusability_report import QualityReport, QualityRequest, Watch, quality_report
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.leaderboard.significance_report import (
    SignificanceReport,
    SignificanceRequest,
    significance_report,
)
from annotator.workflows.pools.pool_selection import Memory, choices_left
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import export_version
from annotator.workflows.runs.runs import list_runs
from annotator.workflows.runs.scoring_scope import TaskChoice, choices_of_collection, task_scope
from annotator.workflows.topics.topics import list_topics

Said = TypeVar("Said")

# Manifest fields that name judges or are internal to them; left out for readers of a paper.
NAMES_JUDGES = ("judge", "consensus_policy", "topic_notes", "machines")


class ReportSection(StrEnum):
    """The sections of the report, in their order."""

    TASK = "task"
    PARTICIPANTS = "participants"
    POOL = "pool"
    JUDGING = "judging"
    AGREEMENT = "agreement"
    LEADERBOARD = "leaderboard"
    TOPICS = "topics"
    SIGNIFICANCE = "significance"
    QUALITY = "quality"
    METHODS = "methods"
    CITATION = "citation"
    MANIFEST = "manifest"


ALL_SECTIONS = tuple(ReportSection)
ENGLISH = "en"
LANGUAGES = (ENGLISH, "ko")


@dataclass(frozen=True)
class OverviewRequest:
    """The measures of the leaderboard (the first is tested), the state of the qrels, the sections and the language.

    The qrels are `live` or a version; sections are shown in their own order. With a `task`, its key, the sections on
    participants, leaderboard, topics, significance and quality are about its runs and topics, the others about the
    whole collection.
    """

    measures: tuple[str, ...] = DEFAULT_MEASURES
    qrels: str = LIVE
    sections: tuple[ReportSection, ...] = ALL_SECTIONS
    language: str = ENGLISH
    task: str | None = None


@dataclass(frozen=True)
class ReportedRun:
    """A run that is scored: its team, its type (empty when not stated) and its description."""

    tag: str
    team: str | None
    run_type: str
    description: str


@dataclass(frozen=True, eq=False)
class OverviewReport:
    """The parts, each as on its own page and command; a refusal where there is no result yet.

    `judges` gives each judge a number in place of a name. `quality` uses the live grades whatever the qrels. Slow parts
    are None when no section shows them.
    """

    request: OverviewRequest
    made_at: datetime
    version: str  # of annotator
    collection: CollectionView
    counts: CollectionCounts
    manifest: Mapping[str, Any]  # of the qrels, without judges' names and notes for organisers only
    judges: Mapping[str, str]
    titles: Mapping[str, str]  # of topics, by their numbers
    runs: Sequence[ReportedRun]
    effort: Sequence[JudgeHours]  # of every judge, over all time
    agreement: AgreementReport
    survey: Survey  # of documents that several people graded
    machines: Sequence[MachineReport]
    board: Leaderboard | ConflictError
    helps: Mapping[str, str]
    significance: SignificanceReport | ConflictError | None
    quality: QualityReport | ConflictError | None
    task: TaskChoice | None = None

    @property
    def best_runs(self) -> Sequence[LeaderboardRow]:
        """The best run of each team."""
        return () if isinstance(self.board, ConflictError) else best_of_each_team(self.board)

    @property
    def topics(self) -> Sequence[TopicSpread]:
        """The distribution of each topic's scores, hardest first."""
        return () if isinstance(self.board, ConflictError) else topic_spreads(self.board)


USUAL_REQUEST = OverviewRequest()


def overview_report(
    session: Session,
    slug: str,
    request: OverviewRequest = USUAL_REQUEST,
    *,
    made_at: datetime,
    version: str,
    watch: Watch | None = None,
    cache: ScoreCache | None = None,
) -> OverviewReport:
    """Build the report in one transaction; deterministic for a state, time and program version.

    `watch` is for the slow parts, as in the quality report. Raises `InvalidValueError` for an unknown measure and
    `NotFoundError` for an unknown version or task.
    """
    collection, task = find_collection(session, slug), request.task
    task_scope(session, collection.id, task)
    manifest = manifest_for_readers(_manifest(session, slug, request.qrels, made_at))
    agreement = agreement_report(session, slug)
    effort = judge_hours(session, slug, HoursWanted(by=Period.ALL))
    version_ = None if request.qrels == LIVE else version_number(request.qrels)
    grades = GradesFrom(version=version_, task=task)
    board = _or_refusal(lambda: build_leaderboard(session, slug, request.measures, grades=grades, cache=cache))
    people = {*agreement.judges, *(work.judge for work in effort)}
    return OverviewReport(
        request=request,
        made_at=made_at,
        version=version,
        collection=show_collection(session, slug),
        counts=count_collection(session, slug),
        manifest=manifest,
        judges=_numbered(sorted(people), collection.judge_order_key),
        titles={topic.number: topic.title for topic in list_topics(session, slug)},
        runs=_runs(session, slug, task),
        effort=effort,
        agreement=agreement,
        survey=page_of_disagreements(session, slug, DisagreementFilter()).survey,
        machines=_machines(session, slug, request),
        board=board,
        helps=measure_help(request.measures),
        significance=_significance(session, slug, request),
        quality=_quality(session, slug, request, watch),
        task=next((one for one in choices_of_collection(session, collection.id).tasks if one.key == task), None),
    )


def _runs(session: Session, slug: str, task: str | None) -> list[ReportedRun]:
    """The active runs, or those of a task."""
    return [
        ReportedRun(run.tag, run.team, run.run_type.value, run.description)
        for run in list_runs(session, slug)
        if task is None or run.task == task
    ]


def _first_measure(request: OverviewRequest) -> str:
    return next(iter(measure_help(request.measures)))


def _machines(session: Session, slug: str, request: OverviewRequest) -> Sequence[MachineReport]:
    if ReportSection.AGREEMENT not in request.sections:
        return ()
    return machine_reports(session, slug, _first_measure(request)).machines


def _significance(session: Session, slug: str, request: OverviewRequest) -> SignificanceReport | ConflictError | None:
    if ReportSection.SIGNIFICANCE not in request.sections:
        return None
    tests = SignificanceRequest(_first_measure(request), request.qrels, permutations=0, task=request.task)
    return _or_refusal(lambda: significance_report(session, slug, tests))


def _quality(
    session: Session, slug: str, request: OverviewRequest, watch: Watch | None
) -> QualityReport | ConflictError | None:
    if ReportSection.QUALITY not in request.sections:
        return None
    wanted = QualityRequest(_first_measure(request), task=request.task)
    watching = {} if watch is None else {"watch": watch}
    to_come = choices_left(session, slug, memory=Memory())
    return _or_refusal(lambda: quality_report(session, slug, wanted, to_come=to_come, **watching))


def _manifest(session: Session, slug: str, qrels: str, made_at: datetime) -> str:
    """The manifest of these qrels; the qrels are exported, verified and discarded."""
    if qrels == LIVE:
        return export_qrels(session, slug, made_at=made_at).manifest
    return export_version(session, slug, version_number(qrels)).manifest


def manifest_for_readers(written: str) -> dict[str, Any]:
    """The manifest of qrels without judges' names and the organisers' reasons for dropping topics."""
    manifest: Mapping[str, Any] = json.loads(written)
    public = {name: value for name, value in manifest.items() if name not in NAMES_JUDGES}
    if manifest["judge"] is not None:
        public["consensus"] = "The grades of one judge."
    public["dropped_topics"] = [{"number": topic["number"]} for topic in manifest.get("dropped_topics", ())]
    # A version that was kept before may have them.
    pools = [{**pool, "parameters": public_parameters(pool["parameters"])} for pool in manifest["pool_versions"]]
    return {**public, "pool_versions": pools}


def _numbered(names: Sequence[str], key: str) -> dict[str, str]:
    """A number for each judge, in an order that only those who know the secret key can compute from the names."""
    order = sorted(names, key=lambda name: hmac.digest(key.encode(), name.encode(), "sha256"))
    return {name: f"judge {place}" for place, name in enumerate(order, start=1)}


def _or_refusal(make: Callable[[], Said]) -> Said | ConflictError:
    """The result of `make`, or the refusal it raises: a part without judgements does not fail the report."""
    try:
        return make()
    except ConflictError as refusal:
        return refusal
