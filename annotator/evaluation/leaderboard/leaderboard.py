"""A leaderboard computed from values: sorted runs, intervals, judged shares, and significant differences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

import numpy as np

from annotator.errors import InvalidValueError, NotFoundError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.rescoring import places, values_to_rank
from annotator.evaluation.metrics.figures import Figure, Interval
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.metrics.setting import means as arithmetic_means
from annotator.evaluation.significance.comparisons import holm, letters, stars
from annotator.evaluation.significance.means import IntervalMethod, mean_intervals
from annotator.evaluation.significance.results import Undefined, figure_of, shared_topics
from annotator.evaluation.significance.tukey import tukey_hsd
from annotator.evaluation.significance.two_runs import paired_t


@dataclass(frozen=True)
class Marked:
    """A run compared with the baseline: p, None without a test, and stars after + for more or - for less."""

    p: Figure | None
    stars: str


def against_baseline(scores: Values, measure: Measure, baseline: int | None) -> list[Marked]:
    """Test every run, (runs, topics), against the run `baseline`: paired t, two-sided, corrected by Holm over all runs.

    The baseline itself has no difference and is not a test. A measure without merit is not tested: a run is not
    better for having more of its documents judged.
    """
    if baseline is None or not measure.definition.is_merit:
        return [Marked(None, "")] * len(scores)
    shared = shared_topics(scores)
    differences = shared.scores - shared.scores[baseline]
    differences[np.abs(differences) <= shared.least_spread] = 0
    tests = paired_t(differences, shared.least_spread)
    rows = zip(holm(tests.p).tolist(), tests.reasons.tolist(), tests.difference.tolist(), strict=True)
    figures = [(figure_of(p, code), difference) for p, code, difference in rows]
    return [
        Marked(figure, ("+" if difference > 0 else "-") + marks if (marks := stars(figure)) else "")
        for figure, difference in figures
    ]


def common_letters(scores: Values, measure: Measure, *, wanted: bool) -> tuple[Sequence[str], Undefined | None]:
    """The letters of every run by Tukey's test, the best run's first; none without a test.

    Measures without merit, and those not summarised by the arithmetic mean over topics, have no test.
    """
    definition = measure.definition
    if not wanted or not definition.is_merit or definition.over_topics is not arithmetic_means:
        return [""] * len(scores), None
    test = tukey_hsd(scores)
    sign = -1 if definition.better is Better.LESS else 1
    found = letters(sign * test.means, test.p)
    return found.of_runs, found.reason


USUAL_DEPTH = 10  # depth of the judged share beside a measure without a cutoff
ENOUGH_JUDGED = 0.95  # below, scores may depend more on the pool than on the run (Lu, Moffat and Culpepper 2016: most)
BY_RUN, BY_TEAM = "run", "team"


@dataclass(frozen=True)
class View:
    """The options for displaying a leaderboard.

    `sort` is a measure's name, `run` or `team`, by default the first measure; the seed is for the bootstrap.
    """

    interval: IntervalMethod = IntervalMethod.T
    baseline: str | None = None
    letters: bool = False
    sort: str | None = None
    seed: int = 0

    def on_scale(self, best_grade: int) -> "View":
        """Return the view with `sort` spelled as on a leaderboard of this scale; unknown names stay."""
        if self.sort in {None, BY_RUN, BY_TEAM}:
            return self
        try:
            return replace(self, sort=str(parse_measure(self.sort or "").on_scale(best_grade)))
        except InvalidValueError:
            return self


@dataclass(frozen=True)
class BoardRun:
    """The identity of a run on the leaderboard."""

    tag: str
    team: str | None
    uploaded_at: datetime
    fed_pool: bool  # whether the pool was also built from it
    run_type: str = ""  # automatic, manual, or empty when not stated


@dataclass(frozen=True)
class LeaderboardRow:
    """One run; all but the letters and the notices have one entry a measure, in their order.

    An interval is None for a measure without one, such as a count; tests are None without a baseline.
    """

    run: BoardRun
    place: int | None  # by the sorting measure, ties sharing a rank; None when it has no direction
    values: tuple[Number, ...]
    by_topic: Mapping[str, tuple[Number, ...]]
    intervals: tuple[Interval | None, ...]
    judged: tuple[float | None, ...]  # judged share of the top k
    p: tuple[Figure | None, ...]  # against the baseline: paired t, two-sided, corrected by Holm over all runs
    stars: tuple[str, ...]  # after + for more than the baseline, - for less
    letters: str
    best_of_team: bool  # whether it is the best run of a team with several
    unjudged: tuple[int | None, ...] = ()  # documents of the top k without a judgement, over the scored topics

    @property
    def tag(self) -> str:
        """The tag of the run."""
        return self.run.tag

    @property
    def team(self) -> str | None:
        """The name of the team, None for none."""
        return self.run.team

    @property
    def low(self) -> bool:
        """Whether the judged share for some score is too low."""
        return any(share is not None and share < ENOUGH_JUDGED for share in self.judged)


@dataclass(frozen=True)
class Leaderboard:
    """All runs scored, sorted by a measure or by name, and the description of the grades."""

    measures: tuple[str, ...]
    judged_by: tuple[str | None, ...]  # the Judged@k beside each measure that has one
    sorted_by: str  # a measure, `run` or `team`
    better: Better  # the direction of the sorting measure; `NEITHER`: sorted by name
    rows: tuple[LeaderboardRow, ...]
    topics: tuple[str, ...]  # scored topics: those with a grade
    topics_left_out: int  # topics without a grade
    topics_dropped: tuple[str, ...]
    grades: int
    source: str  # “live”, a version's number, a judge's name or a file's; with the round and the task that are scored
    policy: str | None
    relevant_from: int
    fingerprint: str  # the first digits of the SHA-256 of these grades as a qrels file, as its manifest has it
    disputed_left_out: int  # documents left out because their judges differ, if the collection does so
    view: View
    compat: str  # the equivalent trec_eval
    letters_reason: Undefined | None
    notices: tuple[Sentence, ...]
    of_sample: tuple[Sentence, ...] = ()  # the notices about the sample, if the pool is one
    of_scope: tuple[Sentence, ...] = ()  # the notices about rounds and tasks
    directions: tuple[Better, ...] = ()  # which values of each measure are better
    qrels: str = ""  # the source alone
    round: str | None = None  # as `ScoringScope.round_name`, when runs of one round are scored
    task: str | None = None  # the key, when runs of one task are scored

    def require_sort(self) -> None:
        """Raise `InvalidValueError` when the requested sorting measure is missing."""
        if self.view.sort not in {None, self.sorted_by}:
            raise InvalidValueError(
                "The leaderboard cannot be sorted by “%(measure)s”: it shows %(measures)s. Sort by one of these, by "
                "“run” or by “team”, or ask for the measure as well.",
                measure=self.view.sort,
                measures=", ".join(self.measures),
            )


class ByTopic(Mapping[str, tuple[Number, ...]]):
    """A run's values by topic number, computed lazily, as most are not needed."""

    def __init__(self, topics: Mapping[str, int], values: Values, counts: Sequence[bool]) -> None:
        """Take values, (topics, measures), and the indices of the topics."""
        self._topics, self._values, self._counts = topics, values, counts

    def __getitem__(self, topic: str) -> tuple[Number, ...]:
        return numbers(self._values[self._topics[topic]].tolist(), self._counts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics)

    def __len__(self) -> int:
        return len(self._topics)


@dataclass(frozen=True, eq=False)
class BoardValues:
    """The values of some measures and their companions: {measure: (runs, topics)}."""

    runs: Sequence[BoardRun]
    topics: tuple[str, ...]  # in byte order
    measures: tuple[Measure, ...]
    values: Mapping[Measure, Values]

    def means(self, measure: Measure) -> Values:
        """Summarise one measure over topics, one value a run."""
        return measure.over_topics(self.values[measure])


def judged_beside(measure: Measure) -> Measure | None:
    """Return Judged@k at the measure's depth; None for counts and for measures of judged shares."""
    if not measure.definition.is_merit:
        return None
    return Measure("Judged", measure.cutoff if isinstance(measure.cutoff, int) else USUAL_DEPTH)


def unjudged_beside(measure: Measure) -> Measure | None:
    """Return Unjudged@k at the depth of `judged_beside`."""
    judged = judged_beside(measure)
    return None if judged is None else Measure("Unjudged", judged.cutoff)


@lru_cache
def needed(measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Return these measures and their companions, deduplicated.

    Returns the same objects every time: look-ups by identical keys are faster than by equal ones.
    """
    beside = [one for measure in measures for one in (judged_beside(measure), unjudged_beside(measure))]
    return tuple(dict.fromkeys([*measures, *(one for one in beside if one is not None)]))


def make_rows(values: BoardValues, view: View) -> tuple[tuple[LeaderboardRow, ...], str, Better, Undefined | None]:
    """Return the sorted rows, the sort key, its direction, and the reason for missing letters.

    Raises `NotFoundError` for an unknown baseline.
    """
    measures = values.measures
    over_topics = {measure: values.means(measure) for measure in needed(measures)}
    ranking = _ranking_measure(measures, view.sort)
    by = view.sort if view.sort in {BY_RUN, BY_TEAM} else str(ranking)
    better = ranking.definition.better
    ranked = _rank(values.runs, values_to_rank(ranking, over_topics[ranking]), by)
    baseline = _baseline(values.runs, view)
    tests = [against_baseline(values.values[measure], measure, baseline) for measure in measures]
    marks, reason = common_letters(values.values[ranking], ranking, wanted=view.letters)
    columns = zip(
        *(values.runs, ranked.places if better is not Better.NEITHER else [None] * len(values.runs)),
        zip(*(_numbers(over_topics[measure], measure) for measure in measures), strict=True),
        _by_topic(values),
        zip(*_intervals(values, view), strict=True),
        zip(*_judged_beside(values, over_topics), strict=True),
        zip(*([test.p for test in of_runs] for of_runs in tests), strict=True),
        zip(*([test.stars for test in of_runs] for of_runs in tests), strict=True),
        *(marks, [better is not Better.NEITHER and run in ranked.best_of_teams for run in range(len(values.runs))]),
        zip(*_unjudged_beside(values), strict=True),
        strict=True,
    )
    rows = [LeaderboardRow(*row) for row in columns]
    better_order = Better.NEITHER if by in {BY_RUN, BY_TEAM} else better
    return tuple(rows[place] for place in ranked.order), by, better_order, reason


def numbers(values: Sequence[float], counts: Sequence[bool]) -> tuple[Number, ...]:
    """Convert the values of counts to integers."""
    return tuple(int(value) if count else value for value, count in zip(values, counts, strict=True))


def _numbers(means: Values, measure: Measure) -> list[Number]:
    listed: list[Number] = means.tolist()
    return list(map(int, listed)) if measure.definition.is_count else listed


def _by_topic(values: BoardValues) -> list[ByTopic]:
    counts = [measure.definition.is_count for measure in values.measures]
    stacked = np.stack([values.values[measure] for measure in values.measures], axis=-1)  # runs, topics, measures
    topics = {number: place for place, number in enumerate(values.topics)}
    return [ByTopic(topics, of_run, counts) for of_run in stacked]


def _judged_beside(values: BoardValues, over_topics: Mapping[Measure, Values]) -> list[list[float | None]]:
    """Return for each measure the judged share of every run."""
    beside = [judged_beside(measure) for measure in values.measures]
    return [[None] * len(values.runs) if one is None else over_topics[one].tolist() for one in beside]


def _unjudged_beside(values: BoardValues) -> list[list[int | None]]:
    """Return for each measure the number of unjudged documents in the top k of every run, over its topics."""
    counts: list[list[int | None]] = []
    for measure in values.measures:
        beside = unjudged_beside(measure)
        if beside is None or not isinstance(beside.cutoff, int):
            counts.append([None] * len(values.runs))
        else:
            counts.append([round(share * beside.cutoff) for share in values.values[beside].sum(axis=1).tolist()])
    return counts


def _ranking_measure(measures: Sequence[Measure], sort: str | None) -> Measure:
    return next((measure for measure in measures if str(measure) == sort), measures[0])


@dataclass(frozen=True)
class _Ranked:
    """Sorted runs, by their indices in the input."""

    places: Sequence[int]  # from 1, ties sharing a rank
    order: Sequence[int]
    best_of_teams: frozenset[int]  # for each team with several runs, the best one


def _rank(runs: Sequence[BoardRun], ranked: Values, by: str) -> _Ranked:
    """Sort best first, ties by name; or all by name; or by team, within it best first. The greatest value is best."""
    place_of = places(ranked)
    names = [natural_order(run.tag) for run in runs]
    best_first = sorted(range(len(runs)), key=lambda run: (place_of[run], names[run]))
    order = best_first
    if by == BY_RUN:
        order = sorted(best_first, key=lambda run: names[run])
    if by == BY_TEAM:
        order = sorted(best_first, key=lambda run: (runs[run].team is None, natural_order(runs[run].team or "")))
    sizes = Counter(run.team for run in runs)
    best: dict[str | None, int] = {}
    for run in best_first:
        best.setdefault(runs[run].team, run)
    teams = frozenset(run for team, run in best.items() if team is not None and sizes[team] > 1)
    return _Ranked(place_of, order, teams)


def _baseline(runs: Sequence[BoardRun], view: View) -> int | None:
    tags = [run.tag for run in runs]
    if view.baseline is not None and view.baseline not in tags:
        raise NotFoundError("The baseline “%(run)s” is not among the runs compared.", run=view.baseline)
    return None if view.baseline is None else tags.index(view.baseline)


def _intervals(values: BoardValues, view: View) -> list[Sequence[Interval | None]]:
    """The intervals of each measure, one a run; None for measures that are no mean."""
    return [
        mean_intervals(values.values[measure], view.interval, bounds=measure.definition.bounds, seed=view.seed)
        if measure.definition.over_topics is arithmetic_means
        else [None] * len(values.runs)
        for measure in values.measures
    ]
