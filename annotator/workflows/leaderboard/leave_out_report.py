"""Contributions to the pool, and each run's score without its own team's contribution (leave-one-out)."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.leaderboard.contributions import Contributions, WhoFoundWhat, who_found_what
from annotator.evaluation.leaderboard.graded_runs import Cell, GradedRuns, Pair, QrelsState, settled_pairs, state_of
from annotator.evaluation.leaderboard.leaderboard_notices import refuse_estimates, sample_notices
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import measures_on_scale
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.reusability.leaving_out import LeftOut, leave_out, steps_of_leaving_out
from annotator.evaluation.runs.rankings import check_depths
from annotator.storage import Collection
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.pools.pools import Find, Finder, drawn_sample, finders, finds_of_runs, finds_of_searches
from annotator.storage.qrels.current_grades import opinions
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.runs.scoring_scope import scope_notices

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

    With a `depth`, the pool is taken as the top of all active runs to that depth, otherwise as recorded.
    """

    measures: Sequence[str] = USUAL_MEASURES
    by: By = By.TEAM
    depth: int | None = None


@dataclass(frozen=True)
class LeaveOutReport:
    """Contributions to the pool, and one result per measure."""

    state: QrelsState
    by: By
    depth: int | None
    found: WhoFoundWhat
    results: tuple[LeftOut, ...]
    notices: tuple[Sentence, ...]  # if the pool is a sample

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
    unknown measure or a depth below 1, and `ConflictError` while there is no grade or no run and for a measure that
    estimates from a sampled pool.
    """
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    measures = _checked(request, best_grade)
    sample = drawn_sample(session, collection.id)
    refuse_estimates(sample, measures)
    grades = _settled(session, collection)
    if not grades:
        raise ConflictError("Nothing is judged yet, so there is nothing to score against.")
    of_runs = lists_of_runs(session, collection.id, {topic for topic, _ in grades})
    if not of_runs:
        raise ConflictError("There is no run to score yet.")
    graded = GradedRuns.join([run.lists for run in of_runs], [grades], accepted_topics(session, collection.id))
    everyone = finders(session, collection.id)
    sources, sources_of_runs = _Sources.of(everyone, request.by), _Sources.of(everyone, By.RUN)
    source_of = [sources.of_run[one.run_id] for one in everyone if one.counts]
    finds = _finds(session, collection.id)
    contributions = _contributions(graded, finds, sources, source_of, request.depth)
    of_counting = [sources_of_runs.of_run[one.run_id] for one in everyone if one.counts]
    by_run = _contributions(graded, finds, sources_of_runs, of_counting, request.depth)
    feeding = by_run.feeding(graded.grades[0])
    fed = [bool(feeding[place]) for place in of_counting]
    [by_entry] = graded.grades
    scorings = [Scoring(measure, collection.relevant_from, best_grade) for measure in measures]
    tags = [run.tag for run in of_runs]
    with watch(steps_of_leaving_out(graded.runs, by_entry, contributions)) as advance:
        results = leave_out(tags, source_of, graded.runs, by_entry, contributions, scorings, fed=fed, advance=advance)
    return LeaveOutReport(
        state_of("live", collection.consensus_policy, grades),
        request.by,
        request.depth,
        who_found_what(contributions, by_entry, collection.relevant_from, _pooled(finds, sources, request.depth)),
        results,
        (*scope_notices(session, collection.id, None), *sample_notices(sample, measures)),
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


def _settled(session: Session, collection: Collection) -> dict[Pair, int]:
    rules = rules_of(collection)
    return settled_pairs(opinions(session, collection.id, machines=rules.counts_machines), rules)


def _finds(session: Session, collection_id: int) -> list[Find]:
    """The recorded contributions of runs and searches."""
    return [*finds_of_runs(session, collection_id), *finds_of_searches(session, collection_id)]


def _contributions(
    graded: GradedRuns, finds: Sequence[Find], sources: _Sources, source_of: Sequence[int], depth: int | None
) -> Contributions:
    """The contributions as recorded, or by the top of the runs."""
    if depth is not None:
        return Contributions.of_tops(graded.runs, source_of, sources.names, [depth] * len(source_of))
    pairs = [((one.topic_id, one.document_id), sources.place_of(one)) for one in finds]
    searched = any(one.run_id is None for one in finds)
    return graded.contributions(pairs, (*sources.names, SEARCHES) if searched else sources.names)


def _pooled(finds: Sequence[Find], sources: _Sources, depth: int | None) -> AbstractSet[int]:
    """The indices of the sources that contributed to the pool."""
    return set(sources.of_run.values()) if depth is not None else {sources.place_of(one) for one in finds}
