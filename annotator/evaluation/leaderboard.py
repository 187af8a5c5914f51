"""A leaderboard made of values: runs in order, with intervals, how far they are judged, and which of them differ."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.leaderboard_marks import against_baseline, common_letters
from annotator.evaluation.metrics.means import means as arithmetic_means
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.significance import Figure, Interval, IntervalMethod, Undefined, run_means

USUAL_DEPTH = 10  # how far is judged beside a measure without a cutoff
ENOUGH_JUDGED = 0.95  # below, scores may say more of the pool than of the run (Lu, Moffat and Culpepper 2016: most)
BY_RUN, BY_TEAM = "run", "team"
SAYS_HOW_FAR = frozenset({"Judged", "Unjudged"})


@dataclass(frozen=True)
class View:
    """How a leaderboard is to be shown.

    `sort` is a measure's name, `run` or `team`, else the first measure; the seed is for the bootstrap.
    """

    interval: IntervalMethod = IntervalMethod.T
    baseline: str | None = None
    letters: bool = False
    sort: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class BoardRun:
    """A run as the leaderboard names it."""

    tag: str
    team: str | None
    uploaded_at: datetime
    fed_pool: bool  # whether the pool was made from it, too


@dataclass(frozen=True)
class LeaderboardRow:
    """One run; all but the letters and what is said of it has an entry a measure, in their order.

    Without an interval there is None for a measure of which a mean has none, as a count; without a test against a
    baseline, None.
    """

    run: BoardRun
    values: tuple[Number, ...]
    by_topic: Mapping[str, tuple[Number, ...]]
    intervals: tuple[Interval | None, ...]
    judged: tuple[float | None, ...]  # share of the top k that has a grade
    p: tuple[Figure | None, ...]  # against the baseline: paired t, two-sided, by Holm corrected for all runs
    stars: tuple[str, ...]  # with a + for more than the baseline's, a - for less
    letters: str
    best_of_team: bool  # which has others, too

    @property
    def tag(self) -> str:
        """Its name."""
        return self.run.tag

    @property
    def team(self) -> str | None:
        """Whose it is."""
        return self.run.team

    @property
    def low(self) -> bool:
        """Whether too little of what some score looks at is judged."""
        return any(share is not None and share < ENOUGH_JUDGED for share in self.judged)


@dataclass(frozen=True)
class Leaderboard:
    """Every run scored, best first by a measure or else by name, and what it was scored against."""

    measures: tuple[str, ...]
    judged_by: tuple[str | None, ...]  # Judged@k, for each measure that has one beside it
    sorted_by: str  # a measure, `run` or `team`
    better: Better  # which values of the measure are by which it is sorted; `NEITHER`: the runs stand by name
    rows: tuple[LeaderboardRow, ...]
    topics: tuple[str, ...]  # scored: those with a grade
    topics_left_out: int  # no grade yet
    topics_dropped: tuple[str, ...]
    grades: int
    source: str  # “live”, a version's number, a judge's name or a file's
    policy: str | None
    relevant_from: int
    fingerprint: str  # the first digits of the SHA-256 of these grades as a qrels file, as its manifest has it
    disputed_left_out: int  # documents whose judges differ, where the collection leaves them out
    view: View
    compat: str  # which trec_eval it equals
    letters_reason: Undefined | None
    notices: tuple[Sentence, ...]


class ByTopic(Mapping[str, tuple[Number, ...]]):
    """A run's values by topic number; made when they are asked for, as most are not."""

    def __init__(self, topics: Mapping[str, int], values: Values, counts: Sequence[bool]) -> None:
        """Take values, (topics, measures), at the places of the topics."""
        self._topics, self._values, self._counts = topics, values, counts

    def __getitem__(self, topic: str) -> tuple[Number, ...]:
        """Give the values of a topic, in the order of the measures."""
        return numbers(self._values[self._topics[topic]].tolist(), self._counts)

    def __iter__(self) -> Iterator[str]:
        """Name the topics."""
        return iter(self._topics)

    def __len__(self) -> int:
        """Count the topics."""
        return len(self._topics)


@dataclass(frozen=True, eq=False)
class BoardValues:
    """The values of some measures, and of those that stand beside them: (runs, topics), by measure."""

    runs: Sequence[BoardRun]
    topics: tuple[str, ...]  # in the order of their bytes
    measures: tuple[Measure, ...]
    values: Mapping[Measure, Values]

    def means(self, measure: Measure) -> Values:
        """Sum up one measure, an entry a run."""
        return measure.over_topics(self.values[measure])


def judged_beside(measure: Measure) -> Measure | None:
    """How far is judged, as deep as the measure looks; None beside what says that itself and beside counts."""
    if measure.name in SAYS_HOW_FAR or measure.definition.is_count:
        return None
    return Measure("Judged", measure.cutoff if isinstance(measure.cutoff, int) else USUAL_DEPTH)


def needed(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """These measures and those that stand beside them, each once."""
    beside = [judged for measure in measures if (judged := judged_beside(measure)) is not None]
    return tuple(dict.fromkeys([*measures, *beside]))


def make_rows(values: BoardValues, view: View) -> tuple[tuple[LeaderboardRow, ...], str, Better, Undefined | None]:
    """The rows in their order, by what they are sorted, what is better there, and why there are no letters if asked.

    Raises `NotFoundError` for a baseline that is no run of these.
    """
    measures = values.measures
    counts = [measure.definition.is_count for measure in measures]
    over_topics = {measure: values.means(measure) for measure in needed(measures)}
    means = [over_topics[measure].tolist() for measure in measures]
    beside = [judged_beside(measure) for measure in measures]
    judged = [None if one is None else over_topics[one].tolist() for one in beside]
    stacked = np.stack([values.values[measure] for measure in measures], axis=-1)  # shape: runs, topics, measures
    places = {number: place for place, number in enumerate(values.topics)}
    ranking = _ranking_measure(measures, view.sort)
    first = over_topics[ranking] * _sign(ranking)
    intervals = _intervals(values, view)
    tests = [against_baseline(values.values[measure], _baseline(values.runs, view)) for measure in measures]
    marks, reason = common_letters(values.values[ranking], ranking, wanted=view.letters)
    best = _best_of_teams(values.runs, first, ranking.definition.better)
    rows = [
        LeaderboardRow(
            run=run,
            values=numbers([column[place] for column in means], counts),
            by_topic=ByTopic(places, stacked[place], counts),
            intervals=tuple(of_runs[place] if of_runs else None for of_runs in intervals),
            judged=tuple(column[place] if column else None for column in judged),
            p=tuple(of_runs[place].p for of_runs in tests),
            stars=tuple(of_runs[place].stars for of_runs in tests),
            letters=marks[place],
            best_of_team=place in best,
        )
        for place, run in enumerate(values.runs)
    ]
    by = view.sort if view.sort in {BY_RUN, BY_TEAM} else str(ranking)
    better = Better.NEITHER if by in {BY_RUN, BY_TEAM} else ranking.definition.better
    return tuple(rows[place] for place in _order(values.runs, first, by)), by, better, reason


def numbers(values: Sequence[float], counts: Sequence[bool]) -> tuple[Number, ...]:
    """Make whole numbers of counts."""
    return tuple(int(value) if count else value for value, count in zip(values, counts, strict=True))


def _ranking_measure(measures: Sequence[Measure], sort: str | None) -> Measure:
    return next((measure for measure in measures if str(measure) == sort), measures[0])


def _sign(measure: Measure) -> int:
    """What to multiply values with so that the least is the best."""
    return {Better.MORE: -1, Better.LESS: 1, Better.NEITHER: 0}[measure.definition.better]


def _order(runs: Sequence[BoardRun], first: Values, by: str) -> list[int]:
    """Best first, equals by name; all by name where no value is better; or by team, within it best first."""
    natural = [natural_order(run.tag) for run in runs]
    if by == BY_RUN:
        return sorted(range(len(runs)), key=lambda place: natural[place])
    values = first.tolist()
    if by == BY_TEAM:
        teams = [(run.team is None, natural_order(run.team or "")) for run in runs]
        return sorted(range(len(runs)), key=lambda place: (teams[place], values[place], natural[place]))
    return sorted(range(len(runs)), key=lambda place: (values[place], natural[place]))


def _best_of_teams(runs: Sequence[BoardRun], first: Values, better: Better) -> set[int]:
    """The places of the best run of each team with several; of several best ones the first by name."""
    sizes = Counter(run.team for run in runs)
    best: dict[str, int] = {}
    for place in _order(runs, first, "") if better is not Better.NEITHER else ():
        team = runs[place].team
        if team is not None and sizes[team] > 1:
            best.setdefault(team, place)
    return set(best.values())


def _baseline(runs: Sequence[BoardRun], view: View) -> int | None:
    tags = [run.tag for run in runs]
    if view.baseline is not None and view.baseline not in tags:
        raise NotFoundError("The baseline “%(run)s” is not among the runs compared.", run=view.baseline)
    return None if view.baseline is None else tags.index(view.baseline)


def _intervals(values: BoardValues, view: View) -> list[list[Interval] | None]:
    """Of each measure one a run; None for what is no mean."""
    have = [measure.definition.over_topics is arithmetic_means for measure in values.measures]
    blocks = [values.values[measure] for measure, is_mean in zip(values.measures, have, strict=True) if is_mean]
    if not blocks:
        return [None] * len(have)
    of_all = iter(run_means(np.concatenate(blocks), view.interval, seed=view.seed))
    return [[next(of_all).interval for _ in values.runs] if is_mean else None for is_mean in have]
