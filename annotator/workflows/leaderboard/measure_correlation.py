"""Correlation of two rankings of the same runs, by two measures or two states of the qrels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard import scoring_scope
from annotator.evaluation.leaderboard.collection_figures import tau_figure
from annotator.evaluation.leaderboard.graded_runs import GradedRuns, Pair, QrelsState, state_of
from annotator.evaluation.leaderboard.leaderboard_notices import notices_of_sides
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.names import measure_on_scale
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.significance.rank_correlation import Similarity, places, similarity_of
from annotator.spreadsheets import csv_text
from annotator.storage import Collection
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.pools.pools import DrawnSample, drawn_sample, strata_of
from annotator.storage.qrels.qrels_versions import LIVE, kept_grades
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.runs.scoring_scope import scope_notices, task_scope

USUAL_MEASURES = ("nDCG@10", "AP")
HEADINGS = ("run", "first", "second", "first_place", "second_place")
ABOUT = tuple(f"{side}_{what}" for side in ("first", "second") for what in ("measure", "qrels", "policy", "grades"))


@dataclass(frozen=True)
class Side:
    """The basis of a ranking: a measure and a state of the qrels, `live` or a version."""

    measure: str
    qrels: str = LIVE


@dataclass(frozen=True)
class RankedSide:
    """The basis of a ranking, resolved."""

    measure: str
    state: QrelsState


@dataclass(frozen=True)
class RankedRun:
    """A run in both rankings; ranks count from 1, and ties share theirs."""

    tag: str
    first: float
    second: float
    first_place: int
    second_place: int


@dataclass(frozen=True)
class Correlation:
    """Two rankings, best first by the first; `tau` gives a reason if there is no order to compare."""

    first: RankedSide
    second: RankedSide
    runs: tuple[RankedRun, ...]
    tau: Figure
    similarity: Similarity
    notices: tuple[Sentence, ...] = ()  # on rounds and tasks, and if the pool is a sample


USUAL_SIDES = (Side(USUAL_MEASURES[0]), Side(USUAL_MEASURES[1]))


def correlate(
    session: Session,
    slug: str,
    first: Side = USUAL_SIDES[0],
    second: Side = USUAL_SIDES[1],
    *,
    task: str | None = None,
) -> Correlation:
    """Rank the active runs twice, each time over the topics with a grade in that state of the qrels.

    With a `task`, its key, only its runs are ranked, over its topics. Raises `InvalidValueError` for an unknown
    measure, `NotFoundError` for an unknown version or task, and `ConflictError` while there is no grade or no run.
    """
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    measures = [measure_on_scale(side.measure, best_grade) for side in (first, second)]
    scope = task_scope(session, collection.id, task)
    states = {name: _grades(session, collection, name, scope) for name in (first.qrels, second.qrels)}
    if not all(grades for _, grades, _ in states.values()):
        raise scoring_scope.nothing_judged(scope)
    estimates = any(measure.definition.estimates for measure in measures)
    to_join = [(grades, sample if estimates else None) for _, grades, sample in states.values()]
    graded, tags = _join(session, collection.id, to_join, scope)
    scorings = [Scoring(measure, collection.relevant_from, best_grade) for measure in measures]
    places_of_states = [list(states).index(side.qrels) for side in (first, second)]
    sides = [
        RankedSide(str(measure), state_of(side.qrels, *states[side.qrels][:2], scope=scope))
        for measure, side in zip(measures, (first, second), strict=True)
    ]
    samples = [states[side.qrels][2] for side in (first, second)]
    found = _correlation(sides, tags, graded, scorings, places_of_states)
    of_samples = notices_of_sides(zip(samples, measures, strict=True))
    return replace(found, notices=(*scope_notices(session, collection.id, scope), *of_samples))


def correlation_csv(found: Correlation) -> str:
    """CSV with one line per run in full precision; every line names the measures and the states of the qrels."""
    about: list[str | int] = []
    for side in (found.first, found.second):
        about += [side.measure, side.state.source, side.state.policy, side.state.grades]
    rows = [[run.tag, run.first, run.second, run.first_place, run.second_place, *about] for run in found.runs]
    return csv_text([[*HEADINGS, *ABOUT], *rows])


def _grades(
    session: Session, collection: Collection, name: str, scope: ScoringScope | None
) -> tuple[str, Mapping[Pair, int], DrawnSample | None]:
    """The policy and the grades of a state of the qrels, and the sample that the pool was at the time."""
    if name != LIVE:
        kept = kept_grades(session, collection.id, name)
        sample = drawn_sample(session, collection.id, up_to=kept.pool_version)
        return kept.policy, scoring_scope.pairs_within(scope, kept.grades), sample
    rules = rules_of(collection)
    grades = settled_grades(session, collection)
    return rules.policy, scoring_scope.pairs_within(scope, grades), drawn_sample(session, collection.id)


def _join(
    session: Session,
    collection_id: int,
    states: Sequence[tuple[Mapping[Pair, int], DrawnSample | None]],
    scope: ScoringScope | None,
) -> tuple[GradedRuns, tuple[str, ...]]:
    topics = {topic for grades, _ in states for topic, _ in grades}
    of_runs = lists_of_runs(session, collection_id, topics, runs_of=scope.runs if scope else None)
    if not of_runs:
        raise scoring_scope.no_run(scope)
    numbers = accepted_topics(session, collection_id)
    samples = [
        scoring_scope.samples_within(scope, samples_of(strata_of(session, sample, numbers))) for _, sample in states
    ]
    graded = GradedRuns.join([run.lists for run in of_runs], [grades for grades, _ in states], numbers, samples)
    return graded, tuple(run.tag for run in of_runs)


def _correlation(
    sides: Sequence[RankedSide],
    tags: Sequence[str],
    graded: GradedRuns,
    scorings: Sequence[Scoring],
    states: Sequence[int],
) -> Correlation:
    values = [graded.means(state, scoring) for scoring, state in zip(scorings, states, strict=True)]
    in_order = [scoring.order(of_side) for scoring, of_side in zip(scorings, values, strict=True)]
    columns = [of_side.tolist() for of_side in (*values, *map(places, in_order))]
    runs = [RankedRun(tag, *row) for tag, *row in zip(tags, *columns, strict=True)]
    similarity = similarity_of(in_order[0].tolist(), in_order[1].tolist())
    return Correlation(
        sides[0],
        sides[1],
        tuple(sorted(runs, key=lambda run: (run.first_place, natural_order(run.tag)))),
        tau_figure(similarity, len(tags)),
        similarity,
    )
