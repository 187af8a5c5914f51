"""Leave-out-uniques: scores of runs without the documents that only they, or their teams, contributed to the pool."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.leaderboard.collection_figures import Missing, share_of, tau_figure
from annotator.evaluation.leaderboard.contributions import Contributions, Grades
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.reusability.ablation import steps, thinned_means
from annotator.evaluation.significance.rank_correlation import places, similarities

NEGLIGIBLE, CAUTION = 0.01, 0.06  # mean relative change of a run's value


class Dependence(SentenceEnum):
    """What the mean change says of runs that did not feed the pool."""

    NOTHING_TAKEN_OUT = Sentence(
        "Nothing was removed: no judged document was contributed by one of them alone, for example because the runs "
        "are nearly identical. Unchanged values mean nothing then."
    )
    NEGLIGIBLE = Sentence(
        "Negligible: without their unique documents, runs lose or gain 1 %% at most in the mean, so that a new system "
        "is treated almost as if it had contributed to the pool."
    )
    NOTICEABLE = Sentence(
        "Noticeable: runs lose or gain between 1 and 6 %% in the mean; a new system with such a difference to others "
        "should have its unjudged documents judged before anything is concluded."
    )
    CAUTION = Sentence(
        "Careful: runs lose or gain 6 %% or more in the mean, so that the collection is unfair to systems that did "
        "not contribute to the pool."
    )


@dataclass(frozen=True)
class LeftOutRun:
    """A run's values with all grades, and without its source's unique documents; ranks from 1 among all runs.

    Both times all runs are scored by the same grades, as values by different grades are not comparable.
    """

    tag: str
    source: str
    fed: bool  # whether the run itself contributed judged documents to the pool
    full: float
    without: float
    full_place: int | None  # None when the measure has no direction
    without_place: int | None

    @property
    def change(self) -> float:
        """The value without the unique documents minus the value with them."""
        return self.without - self.full

    @property
    def relative_change(self) -> Figure:
        """The change relative to the value."""
        return share_of(self.change, abs(self.full), Missing.ZERO)

    @property
    def places_lost(self) -> int | None:
        """The number of ranks the run falls, None without a rank."""
        if self.full_place is None or self.without_place is None:
            return None
        return self.without_place - self.full_place


@dataclass(frozen=True)
class LeftOutSource:
    """A source, its unique documents, and the correlation of the rankings with and without them."""

    source: str
    judged: int  # number of documents removed from the qrels
    relevant: int
    tau: Figure  # Kendall's tau-b of all runs, with and without


@dataclass(frozen=True)
class Changes:
    """A summary of one kind of change over the runs that contributed to the pool, by absolute value."""

    mean: Figure
    greatest: Figure
    greatest_of: str | None  # the run, the first in a tie


@dataclass(frozen=True)
class LeftOut:
    """The results for one measure. `reason` is given if they are undefined; then the changes have no values either."""

    measure: Measure
    runs: tuple[LeftOutRun, ...]
    sources: tuple[LeftOutSource, ...]
    values: Changes
    shares: Changes  # changes of the values
    places: Changes
    reason: Missing | None

    @property
    def dependence(self) -> Dependence | None:
        """The interpretation of the mean change; None without one."""
        mean = self.shares.mean.value
        if mean is None:
            return None
        if not any(source.judged for source in self.sources):
            return Dependence.NOTHING_TAKEN_OUT
        if mean <= NEGLIGIBLE:
            return Dependence.NEGLIGIBLE
        return Dependence.CAUTION if mean >= CAUTION else Dependence.NOTICEABLE


@dataclass(frozen=True, eq=False)
class _Rescored:
    """The means of one measure: (runs,) by all grades, and (sources, runs) without each source's unique documents."""

    full: Values
    without: Values


@dataclass(frozen=True, eq=False)
class _Whose:
    """The runs and their sources by name, and which of both contributed judged documents to the pool."""

    tags: Sequence[str]
    source_of: Sequence[int]
    sources: Sequence[str]
    feeding: NDArray[np.bool_]  # of each source
    fed: Sequence[bool]  # of each run


def leave_out(
    tags: Sequence[str],
    source_of: Sequence[int],
    runs: RegradedRuns,
    grades: Grades,
    contributions: Contributions,
    scorings: Sequence[Scoring],
    *,
    fed: Sequence[bool] | None = None,
    advance: Callable[[], None] = lambda: None,
) -> tuple[LeftOut, ...]:
    """Leave out one source after the other, a team or a run, and score all runs without what only it brought.

    Leave-out-uniques (Zobel, SIGIR 1998; by team: Voorhees, CLEF 2001): documents that only this source put into the
    pool are taken out of the qrels, relevant or not. `source_of` is the place of each run's source; sources may have
    no runs, as people who searched. `fed` says of each run whether it put anything judged into the pool itself (without
    it: whether its source did); the changes are summed up over these. Nothing follows from a single source. Of a pool
    that was chosen adaptively this tells little, for without the source other documents would have been chosen. One
    result a scoring; nothing judged gives none. `advance` is called `steps_of_leaving_out` times.
    """
    if not np.any(grades > NOT_GRADED):
        return ()
    removing = _removing(contributions, grades)
    kept = [np.ones(grades.size, np.bool_), *(contributions.only_source != source for source in removing)]
    means = thinned_means(runs, grades, kept, scorings, advance=advance)
    # Without a source that brought nothing alone, nothing changes.
    without = np.repeat(means[:1], len(contributions.sources), axis=0)
    without[removing] = means[1:]
    feeding = contributions.feeding(grades)
    fed = [bool(feeding[source]) for source in source_of] if fed is None else fed
    return tuple(
        _left_out(
            scoring,
            _Rescored(means[0, which], without[:, which]),
            _Whose(tags, source_of, contributions.sources, feeding, fed),
            _removed(contributions, grades, scoring.relevant_from),
        )
        for which, scoring in enumerate(scorings)
    )


def steps_of_leaving_out(runs: RegradedRuns, grades: Grades, contributions: Contributions) -> int:
    """The number of calls of `advance` by `leave_out`, when anything is judged."""
    return steps(runs, 1 + len(_removing(contributions, grades)))


def _removing(contributions: Contributions, grades: Grades) -> list[int]:
    """Return the indices of the sources with unique judged documents."""
    only = contributions.only_source
    removing: list[int] = np.unique(only[(only >= 0) & (grades > NOT_GRADED)]).tolist()
    return removing


def _removed(contributions: Contributions, grades: Grades, relevant_from: int) -> list[tuple[int, int]]:
    """Count each source's unique documents: the judged ones, and the relevant ones of these."""
    only = contributions.only_source
    is_only = (only >= 0) & (grades > NOT_GRADED)
    counts = (
        np.bincount(only[which], minlength=len(contributions.sources)).tolist()
        for which in (is_only, is_only & (grades >= relevant_from))
    )
    return list(zip(*counts, strict=True))


def _left_out(scoring: Scoring, scored: _Rescored, whose: _Whose, removed: Sequence[tuple[int, int]]) -> LeftOut:
    left = _runs(scoring, scored, whose)
    reason = _reason(left, int(np.count_nonzero(whose.feeding)))
    fed = [run for run in left if run.fed]
    taus = _taus(scoring.order(scored.full), scoring.order(scored.without))
    sources = zip(whose.sources, removed, taus, strict=True)
    return LeftOut(
        scoring.measure,
        left,
        tuple(LeftOutSource(source, *count, tau) for source, count, tau in sources),
        _changes([(run.tag, run.change) for run in fed], reason, Missing.NO_FED_RUN),
        _changes([(run.tag, run.relative_change.value) for run in fed], reason, Missing.ZERO),
        _changes([(run.tag, run.places_lost) for run in fed], reason, Missing.NEITHER_BETTER),
        reason,
    )


def _runs(scoring: Scoring, scored: _Rescored, whose: _Whose) -> tuple[LeftOutRun, ...]:
    is_ordered = scoring.measure.definition.better is not Better.NEITHER
    before = places(scoring.order(scored.full)).tolist()
    after = [places(scoring.order(values)).tolist() for values in scored.without]
    return tuple(
        LeftOutRun(
            tag,
            whose.sources[source],
            whose.fed[run],
            float(scored.full[run]),
            float(scored.without[source, run]),
            before[run] if is_ordered else None,
            after[source][run] if is_ordered else None,
        )
        for run, (tag, source) in enumerate(zip(whose.tags, whose.source_of, strict=True))
    )


def _reason(left: Sequence[LeftOutRun], feeding: int) -> Missing | None:
    if not left:
        return Missing.NO_RUN
    if not feeding:
        return Missing.NO_POOL
    if feeding == 1:
        return Missing.ONE_SOURCE
    return None if any(run.fed for run in left) else Missing.NO_FED_RUN


def _taus(full: Values, without: Values) -> list[Figure]:
    alike = similarities(np.broadcast_to(full, without.shape), without)
    return [tau_figure(one, full.size) for one in alike]


def _changes(changes: Sequence[tuple[str, float | None]], reason: Missing | None, otherwise: Missing) -> Changes:
    """Summarise the defined changes, or return the reason: that for all, or that none is defined."""
    known = [(tag, abs(change)) for tag, change in changes if change is not None]
    if reason or not known:
        nothing = Figure(None, reason or otherwise)
        return Changes(nothing, nothing, None)
    tag, greatest = max(known, key=lambda one: one[1])
    return Changes(Figure(sum(change for _, change in known) / len(known)), Figure(float(greatest)), tag)
