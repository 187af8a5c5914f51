"""Quality of the collection: relevant documents, the effect of a deeper pool, and of fewer judgements."""

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard import scoring_scope
from annotator.evaluation.leaderboard.graded_runs import Cell, GradedRuns, Pair, QrelsState, state_of
from annotator.evaluation.leaderboard.leaderboard_notices import refuse_estimates, sample_notices
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope
from annotator.evaluation.metrics.names import USUAL_MEASURE, measure_on_scale
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.qrels.topic_flags import JudgedTopic
from annotator.evaluation.reusability.ablation import Ablation, ablate, steps_of_ablating
from annotator.evaluation.reusability.depth_growth import (
    DepthGrowth,
    PoolDensity,
    depth_growth,
    judged_depth,
    new_by_depth,
    pool_density,
)
from annotator.storage import Collection
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.judging.progress import topic_counts
from annotator.storage.pools.pools import drawn_sample, feeding_runs, finders, pool_item_ids
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.runs.scoring_scope import scope_notices, whole_scope

USUAL_SEED = 1
TIMES_DEEPER = (2, 5, 10)

Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]
Table = tuple[tuple[str, ...], list[list[Cell]]]


class ReusabilityPart(StrEnum):
    """The tables of the report."""

    TOPICS = "topics"
    DEPTHS = "depths"
    DEEPER = "deeper"
    FEWER = "fewer"


@dataclass(frozen=True)
class QualityRequest:
    """The request; ablation scores the runs many times over, so it is optional.

    With a `round` only its runs count, with `residual` without documents judged before it; with a `task`, its key, only
    its runs and topics.
    """

    measure: str = USUAL_MEASURE
    seed: int = USUAL_SEED
    ablates: bool = True
    round: int | None = None
    residual: bool = False
    task: str | None = None


@dataclass(frozen=True)
class QualityReport:
    """The quality by the live judgements; `ablation` is None when it was not requested, or there is no run."""

    state: QrelsState
    measure: str
    density: PoolDensity
    runs: int
    fed: int  # runs that contributed to the pool
    growth: DepthGrowth
    seed: int
    ablation: Ablation | None
    notices: tuple[Sentence, ...]  # on round and task, and if the pool is a sample

    def table(self, part: ReusabilityPart) -> Table:
        """Headings and rows of a part, in full precision."""
        match part:
            case ReusabilityPart.TOPICS:
                headings = ("topic", "pooled", "judged", "waiting", "relevant", "share", "too_many", "too_few")
                return headings, [
                    [
                        *(one.topic.number, one.topic.pooled, one.topic.judged, one.topic.waiting, one.topic.relevant),
                        *(one.share.value, one.is_flagged, one.has_too_few),
                    ]
                    for one in self.density.topics
                ]
            case ReusabilityPart.DEPTHS:
                growth = self.growth
                fitted = growth.fitted or (None,) * len(growth.new)
                columns = zip(growth.new, growth.found, fitted, strict=True)
                return ("depth", "new", "found", "fitted"), [[p, *row] for p, row in enumerate(columns, start=1)]
            case ReusabilityPart.DEEPER:
                return ("depth", "new", "low", "high"), [
                    [one.depth, one.new.value, *(one.interval or (None, None))] for one in self.growth.extrapolations
                ]
            case ReusabilityPart.FEWER:
                headings = ("share", "judgements", "relevant", "mean", "tau", "least_tau", "greatest_tau", "tau_ap")
                return headings, [
                    [
                        *(step.share, step.judgements, step.relevant, step.mean.value, step.tau.value),
                        *(step.least_tau.value, step.greatest_tau.value, step.tau_ap.value),
                    ]
                    for step in (self.ablation.steps if self.ablation else ())
                ]

    def file(self, part: ReusabilityPart) -> tuple[list[str], list[list[Cell]]]:
        """The table with the state of the qrels in every row, and with the measure where it matters."""
        return self.state.beside(*self.table(part), self.measure if part is ReusabilityPart.FEWER else None)


def _unwatched(_steps: int) -> AbstractContextManager[Callable[[], None]]:
    return nullcontext(lambda: None)


USUAL_REQUEST = QualityRequest()


def quality_report(
    session: Session,
    slug: str,
    request: QualityRequest = USUAL_REQUEST,
    *,
    to_come: Mapping[str, int] | None = None,
    watch: Watch = _unwatched,
) -> QualityReport:
    """Report on the live settled grades, with or without runs.

    `to_come` maps topic numbers to the number of documents still to be chosen, which count as waiting. `watch` gets the
    number of steps and returns a function to call after each. Raises `InvalidValueError` for an unknown measure or a
    seed out of range, `NotFoundError` for an unknown round or task, and `ConflictError` while there is no grade and for
    ablation by a measure that estimates from a sampled pool.
    """
    if request.seed < 0:
        raise InvalidValueError("A seed is a whole number from 0, not %(given)d.", given=request.seed)
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    measure = measure_on_scale(request.measure, best_grade)
    sample = drawn_sample(session, collection.id)
    if request.ablates:
        refuse_estimates(sample, [measure])
    scope = whole_scope(session, collection.id, request.round, residual=request.residual, task=request.task)
    grades = scoring_scope.pairs_within(scope, settled_grades(session, collection))
    if not grades:
        raise scoring_scope.nothing_judged(scope) if scope else ConflictError("Nothing is judged yet.")
    of_runs = _lists(session, collection.id, {topic for topic, _ in grades}, scope)
    graded = GradedRuns.join(of_runs, [grades], accepted_topics(session, collection.id))
    fed = _fed(session, collection.id, scope)
    scoring = Scoring(measure, collection.relevant_from, best_grade)
    return QualityReport(
        state=state_of("live", collection.consensus_policy, grades, scope=scope),
        measure=str(measure),
        density=pool_density(_topics(session, collection, grades, to_come or {}, scope)),
        runs=len(fed),
        fed=sum(fed),
        growth=_growth(graded, fed, scoring.relevant_from, request.seed),
        seed=request.seed,
        notices=(
            *scope_notices(session, collection.id, scope),
            *(sample_notices(sample, [measure]) if request.ablates else ()),
        ),
        ablation=_ablation(graded, scoring, request, watch) if request.ablates and of_runs else None,
    )


def _lists(
    session: Session, collection_id: int, topics: AbstractSet[int], scope: ScoringScope | None
) -> list[Mapping[int, bytes]]:
    """The ranked lists of each run in the scope, {topic id: packed documents}, without what the scope takes out."""
    of_runs = lists_of_runs(session, collection_id, topics, runs_of=scope.runs if scope else None)
    return [scoring_scope.lists_within(scope, run.lists) for run in of_runs]


def _fed(session: Session, collection_id: int, scope: ScoringScope | None) -> list[bool]:
    """Whether each scored run contributed to the pool, in the order of arrival."""
    feeding = feeding_runs(session, collection_id)
    return [
        one.run_id in feeding
        for one in finders(session, collection_id)
        if one.counts and (scope is None or one.run_id in scope.runs)
    ]


def _topics(
    session: Session,
    collection: Collection,
    grades: Mapping[Pair, int],
    to_come: Mapping[str, int],
    scope: ScoringScope | None,
) -> list[JudgedTopic]:
    machines = rules_of(collection).counts_machines
    judged = Counter(topic for topic, _ in grades)
    relevant = Counter(topic for (topic, _), grade in grades.items() if grade >= collection.relevant_from)
    taken_out = _pooled_before(session, collection.id, scope)
    topics = [
        JudgedTopic(number, pooled - taken_out[id_], judged[id_], relevant[id_], waiting + to_come.get(number, 0))
        for id_, number, pooled, waiting in topic_counts(session, collection.id, machines=machines)
        if scope is None or scope.topics is None or id_ in scope.topics
    ]
    return sorted(topics, key=lambda topic: natural_order(topic.number))


def _pooled_before(session: Session, collection_id: int, scope: ScoringScope | None) -> Counter[int]:
    """Pooled documents of each topic judged before the round, where these are removed."""
    if scope is None or not scope.residual:
        return Counter()
    pooled = pool_item_ids(session, collection_id)
    return Counter(topic for topic, documents in scope.judged.items() for one in documents if (topic, one) in pooled)


def _growth(graded: GradedRuns, fed: list[bool], relevant_from: int, seed: int) -> DepthGrowth:
    [grades] = graded.grades
    depth = judged_depth(graded.runs, grades, fed)
    new = new_by_depth(graded.runs, grades, fed, relevant_from, depth)
    return depth_growth(new, [depth * times for times in TIMES_DEEPER] if depth else [], seed=seed)


def _ablation(graded: GradedRuns, scoring: Scoring, request: QualityRequest, watch: Watch) -> Ablation | None:
    with watch(steps_of_ablating(graded.runs)) as advance:
        found = ablate(graded.runs, graded.grades[0], [scoring], seed=request.seed, advance=advance)
    return next(iter(found), None)
