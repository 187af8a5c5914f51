"""Contributions to the pool, and each run's score without its own team's contribution (leave-one-out)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.leaderboard import scoring_scope
from annotator.evaluation.leaderboard.contributions import Contributions, WhoFoundWhat, who_found_what
from annotator.evaluation.leaderboard.graded_runs import Cell, GradedRuns, Pair, QrelsState, state_of
from annotator.evaluation.leaderboard.leaderboard_notices import refuse_estimates, sample_notices
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import measures_on_scale
from annotator.evaluation.reusability.leaving_out import LeftOut, leave_out, steps_of_leaving_out
from annotator.evaluation.runs.rankings import check_depths
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.pools.pools import Find, Finder, drawn_sample, finders, finds_of_runs, finds_of_searches
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.runs.scoring_scope import scope_notices, task_scope

USUAL_MEASURES = ("nDCG@10", "AP", "P@10")
MOST_MEASURES = 12
GREATEST_DEPTH = 1_000_000
# The source of documents that people found by searching.
SEARCHES = "manual search"

Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]
Table = tuple[tuple[str, ...], list[list[Cell]]]


class By(StrEnum):
    """The unit to leave out: all runs of a team (runs without a team singly), or each run."""

    TEAM = "team"
    RUN = "run"


class Part(StrEnum):
    """The tables of the report."""

    RUNS = "runs"
    SOURCES = "sources"
    WITHOUT = "without"


@dataclass(frozen=True)
class LeaveOutRequest:
    """The measures, and the unit to leave out.

    With a `depth`, the pool is taken as the top of all active runs to that depth, otherwise as recorded. With a `task`,
    its key, only its runs are scored, on its topics; what runs of other tasks contributed to these topics stays.
    """

    measures: Sequence[str] = USUAL_MEASURES
    by: By = By.TEAM
    depth: int | None = None
    task: str | None = None


@dataclass(frozen=True)
class LeaveOutReport:
    """Contributions to the pool, and one result per measure."""

    state: QrelsState
    by: By
    depth: int | None
    found: WhoFoundWhat
    results: tuple[LeftOut, ...]
    notices: tuple[Sentence, ...]  # on rounds and tasks, and if the pool is a sample

    def table(self, part: Part) -> Table:
        """Headings and rows of a part, in full precision."""
        match part:
            case Part.RUNS:
                return RUN_HEADINGS, list(self._runs())
            case Part.SOURCES:
                return SOURCE_HEADINGS, list(self._sources())
            case Part.WITHOUT:
                return WITHOUT_HEADINGS, list(self._without())

    def file(self, part: Part) -> tuple[list[str], list[list[Cell]]]:
        """The table with the state of the qrels in every row."""
        return self.state.beside(*self.table(part))

    def _runs(self) -> Iterator[list[Cell]]:
        for result in self.results:
            for run in result.runs:
                places = (run.full_place, run.without_place, run.places_lost)
                values = (run.full, run.without, run.change, run.relative_change.value)
                yield [str(result.measure), run.tag, run.source, run.fed, *values, *places]

    def _sources(self) -> Iterator[list[Cell]]:
        for one in self.found.sources:
            counts = (one.judged, one.relevant, one.only_judged, one.only_relevant)
            yield [one.source, one.pooled, *counts, one.share_of_relevant.value]

    def _without(self) -> Iterator[list[Cell]]:
        for result in self.results:
            for one in result.sources:
                yield [str(result.measure), one.source, one.judged, one.relevant, one.tau.value]


RUN_HEADINGS = (
    *("measure", "run", "source", "fed_pool", "score", "score_without", "change", "relative_change"),
    *("place", "place_without", "places_lost"),
)
SOURCE_HEADINGS = (
    *("source", "pooled", "judged_contributed", "relevant_contributed"),
    *("only_judged", "only_relevant", "share_of_relevant"),
)
WITHOUT_HEADINGS = ("measure", "source", "judged_taken_out", "relevant_taken_out", "tau")


def _unwatched(_steps: int) -> AbstractContextManager[Callable[[], None]]:
    return nullcontext(lambda: None)


USUAL_REQUEST = LeaveOutRequest()


def leave_out_report(
    session: Session, slug: str, request: LeaveOutRequest = USUAL_REQUEST, *, watch: Watch = _unwatched
) -> LeaveOutReport:
    """Leave out one team, or run, at a time, and score all runs by what the others contributed.

    `watch` gets the number of steps and returns a function to call after each. Raises `InvalidValueError` for an
    unknown measure or a depth below 1, `NotFoundError` for an unknown task, and `ConflictError` while there is no grade
    or no run and for a measure that estimates from a sampled pool.
    """
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    measures = _checked(request, best_grade)
    sample = drawn_sample(session, collection.id)
    refuse_estimates(sample, measures)
    scope = task_scope(session, collection.id, request.task)
    grades = scoring_scope.pairs_within(scope, settled_grades(session, collection))
    if not grades:
        raise scoring_scope.nothing_judged(scope)
    pool = _Pool.read(session, collection.id, grades, scope, request.depth)
    if not pool.scored:
        raise scoring_scope.no_run(scope)
    sources, contributions = pool.contributions(request.by)
    [by_entry] = pool.graded.grades
    scorings = [Scoring(measure, collection.relevant_from, best_grade) for measure in measures]
    with watch(steps_of_leaving_out(pool.graded.runs, by_entry, contributions)) as advance:
        results = leave_out(
            [one.tag for one in pool.scored],
            [sources.of_run[one.run_id] for one in pool.scored],
            *(pool.graded.runs, by_entry, contributions, scorings),
            fed=pool.fed(),
            advance=advance,
        )
    return LeaveOutReport(
        state_of("live", collection.consensus_policy, grades, scope=scope),
        request.by,
        request.depth,
        who_found_what(contributions, by_entry, collection.relevant_from, pool.pooled(sources)),
        results,
        (*scope_notices(session, collection.id, scope), *sample_notices(sample, measures)),
    )


def _checked(request: LeaveOutRequest, best_grade: int) -> Sequence[Measure]:
    """Parse the measures and validate the request."""
    check_depths(() if request.depth is None else (request.depth,))
    if request.depth is not None and request.depth > GREATEST_DEPTH:
        raise InvalidValueError("A depth is at most %(most)d, not %(given)d.", most=GREATEST_DEPTH, given=request.depth)
    measures = measures_on_scale(request.measures, best_grade)
    if len(measures) > MOST_MEASURES:
        raise InvalidValueError(
            "At most %(most)d measures at a time, not %(given)d.", most=MOST_MEASURES, given=len(measures)
        )
    return measures


@dataclass(frozen=True)
class _Sources:
    """The sources of runs, and the source of each run."""

    names: tuple[str, ...]
    of_run: dict[int, int]

    @classmethod
    def of(cls, everyone: Sequence[Finder], by: By) -> "_Sources":
        # A team may have the name of a run without a team.
        keys = [(True, one.team) if by is By.TEAM and one.team is not None else (False, one.tag) for one in everyone]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        return cls(
            tuple(name for _, name in places),
            {one.run_id: places[key] for one, key in zip(everyone, keys, strict=True)},
        )

    def place_of(self, find: Find) -> int:
        """The index of a document's source; searches come after all others."""
        return len(self.names) if find.run_id is None else self.of_run[find.run_id]


@dataclass(frozen=True, eq=False)
class _Pool:
    """Who put what into the pool of the scored topics, and the scored runs.

    Where a task is scored, runs of other tasks are sources as well: without a team, what they contributed would still
    have been judged.
    """

    scored: Sequence[Finder]
    graded: GradedRuns  # the scored runs
    active: Sequence[Finder]
    of_active: GradedRuns
    sources: Sequence[Finder]
    finds: Sequence[Find]
    depth: int | None

    @classmethod
    def read(
        cls,
        session: Session,
        collection_id: int,
        grades: Mapping[Pair, int],
        scope: ScoringScope | None,
        depth: int | None,
    ) -> "_Pool":
        everyone = finders(session, collection_id)
        active = [one for one in everyone if one.counts]
        of_runs = lists_of_runs(session, collection_id, {topic for topic, _ in grades})
        numbers = accepted_topics(session, collection_id)
        of_active = GradedRuns.join([run.lists for run in of_runs], [grades], numbers)
        finds = _finds(session, collection_id)
        if scope is None:
            return cls(active, of_active, active, of_active, everyone, finds, depth)
        scored = [place for place, one in enumerate(active) if one.run_id in scope.runs]
        graded = GradedRuns.join([of_runs[place].lists for place in scored], [grades], numbers)
        finds = [one for one in finds if scope.topics is None or one.topic_id in scope.topics]
        taking_part = scope.runs | {one.run_id for one in finds}
        if depth is not None:
            taking_part |= {one.run_id for one, run in zip(active, of_runs, strict=True) if run.lists}
        sources = [one for one in everyone if one.run_id in taking_part]
        return cls([active[place] for place in scored], graded, active, of_active, sources, finds, depth)

    def contributions(self, by: By) -> tuple["_Sources", Contributions]:
        """The contributions of every source, as recorded, or by the top of the active runs."""
        sources = _Sources.of(self.sources, by)
        if self.depth is not None:
            # An active run that is no source has no list for these topics.
            source_of = [sources.of_run.get(one.run_id, 0) for one in self.active]
            depths = [self.depth] * len(source_of)
            return sources, Contributions.of_tops(self.of_active.runs, source_of, sources.names, depths)
        pairs = [((one.topic_id, one.document_id), sources.place_of(one)) for one in self.finds]
        searched = any(one.run_id is None for one in self.finds)
        return sources, self.graded.contributions(pairs, (*sources.names, SEARCHES) if searched else sources.names)

    def fed(self) -> list[bool]:
        """Whether each scored run itself contributed judged documents, whatever its team did."""
        sources, contributions = self.contributions(By.RUN)
        feeding = contributions.feeding(self.graded.grades[0])
        return [bool(feeding[sources.of_run[one.run_id]]) for one in self.scored]

    def pooled(self, sources: "_Sources") -> AbstractSet[int]:
        """The indices of the sources that contributed to the pool."""
        if self.depth is not None:
            return set(sources.of_run.values())
        return {sources.place_of(one) for one in self.finds}


def _finds(session: Session, collection_id: int) -> list[Find]:
    """The recorded contributions of runs and searches."""
    return [*finds_of_runs(session, collection_id), *finds_of_searches(session, collection_id)]
