"""All results of a collection for an overview paper, at one time and by one state of the qrels."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.storage.qrels.qrels_versions import LIVE, version_number
from annotator.workflows.agreement.agreement import AgreementReport, agreement_report
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

Said = TypeVar("Said")

# Manifest fields that name judges or are internal to them; left out for readers of a paper.
NAMES_JUDGES = ("judge", "consensus_policy", "topic_notes", "machines")


@dataclass(frozen=True)
class OverviewRequest:
    """The measures of the leaderboard (the first is tested) and the state of the qrels: `live` or a version."""

    measures: tuple[str, ...] = DEFAULT_MEASURES
    qrels: str = LIVE


@dataclass(frozen=True, eq=False)
class OverviewReport:
    """The parts, each as on its own page and command; a refusal where there is no result yet.

    `judges` gives each judge a number in place of a name. `quality` uses the live grades whatever the qrels.
    """

    made_at: datetime
    version: str  # of annotator
    collection: CollectionView
    counts: CollectionCounts
    manifest: Mapping[str, Any]  # of the qrels, without judges' names and notes for organisers only
    judges: Mapping[str, str]
    agreement: AgreementReport
    board: Leaderboard | ConflictError
    helps: Mapping[str, str]
    significance: SignificanceReport | ConflictError
    quality: QualityReport | ConflictError


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
    `NotFoundError` for an unknown version.
    """
    manifest = _manifest(session, slug, request.qrels, made_at)
    agreement = agreement_report(session, slug)
    measures, live = request.measures, request.qrels == LIVE
    grades = GradesFrom() if live else GradesFrom(version=version_number(request.qrels))
    board = _or_refusal(lambda: build_leaderboard(session, slug, measures, grades=grades, cache=cache))
    first = next(iter(measure_help(measures)))
    tests = SignificanceRequest(first, request.qrels, permutations=0)
    quality = QualityRequest(first)
    watching = {} if watch is None else {"watch": watch}
    to_come = choices_left(session, slug, memory=Memory())
    return OverviewReport(
        made_at=made_at,
        version=version,
        collection=show_collection(session, slug),
        counts=count_collection(session, slug),
        manifest=_for_readers(manifest),
        judges=_numbered(agreement.judges, manifest["sha256"]),
        agreement=agreement,
        board=board,
        helps=measure_help(measures),
        significance=_or_refusal(lambda: significance_report(session, slug, tests)),
        quality=_or_refusal(lambda: quality_report(session, slug, quality, to_come=to_come, **watching)),
    )


def _manifest(session: Session, slug: str, qrels: str, made_at: datetime) -> Mapping[str, Any]:
    """The manifest of these qrels; the qrels are exported, verified and discarded."""
    if qrels == LIVE:
        return _read(export_qrels(session, slug, made_at=made_at).manifest)
    return _read(export_version(session, slug, version_number(qrels)).manifest)


def _read(manifest: str) -> Mapping[str, Any]:
    said: Mapping[str, Any] = json.loads(manifest)
    of_one_judge = said["judge"] is not None
    return {**said, "consensus": "The grades of one judge." if of_one_judge else said["consensus"]}


def _for_readers(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without judges' names and the organisers' reasons for dropping topics."""
    dropped = [{"number": topic["number"]} for topic in manifest.get("dropped_topics", ())]
    public = {name: value for name, value in manifest.items() if name not in NAMES_JUDGES}
    return {**public, "dropped_topics": dropped}


def _numbered(names: Sequence[str], salt: str) -> dict[str, str]:
    """A number for each judge, in an order that reveals nothing of names."""
    order = sorted(names, key=lambda name: hashlib.sha256(f"{salt} {name}".encode()).hexdigest())
    return {name: f"judge {place}" for place, name in enumerate(order, start=1)}


def _or_refusal(make: Callable[[], Said]) -> Said | ConflictError:
    """The result of `make`, or the refusal it raises: a part without judgements does not fail the report."""
    try:
        return make()
    except ConflictError as refusal:
        return refusal
