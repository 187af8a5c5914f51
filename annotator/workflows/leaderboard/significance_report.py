"""Significance tests of run differences: all pairs, each against a baseline, and the number of topics needed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.agreement.judge_effect import best_first
from annotator.evaluation.leaderboard import scoring_scope
from annotator.evaluation.leaderboard.graded_runs import Cell, GradedRuns, Pair, QrelsState, state_of
from annotator.evaluation.leaderboard.leaderboard_notices import sample_notices
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.metrics.figures import SECOND_MINUS_FIRST, SentenceEnum
from annotator.evaluation.metrics.names import USUAL_MEASURE, measure_on_scale, parse_measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.significance.comparisons import (
    BaselineComparison,
    Letters,
    PairedTests,
    compare_with_baseline,
    letter,
    letters,
    paired_tests,
)
from annotator.evaluation.significance.means import RunMean, run_means
from annotator.evaluation.significance.results import ALPHA, Undefined
from annotator.evaluation.significance.tukey import (
    PERMUTATIONS,
    ModelTukeyTest,
    RandomisedTukeyTest,
    randomised_tukey_hsd,
    steps_of_permuting,
    tukey_hsd,
)
from annotator.evaluation.significance.variance import (
    TopicsNeeded,
    VarianceShares,
    deviation_of_differences,
    topics_needed,
    variance_shares,
)
from annotator.storage import Collection
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.pools.pools import DrawnSample, drawn_sample, strata_of
from annotator.storage.qrels.qrels_versions import LIVE, kept_grades
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.runs.scoring_scope import scope_notices, whole_scope

USUAL_SEED = 1
MOST_PERMUTATIONS = 1_000_000
# Permuting this many scores takes about half a second.
QUICK_SCORES = 20_000_000
DIFFERENCES = (0.01, 0.02, 0.05, 0.1)

Table = tuple[tuple[str, ...], list[list[Cell]]]
Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]


class SignificancePart(StrEnum):
    """The tables of the report."""

    RUNS = "runs"
    PAIRS = "pairs"
    BASELINE = "baseline"
    VARIANCE = "variance"
    TOPICS = "topics"


@dataclass(frozen=True)
class SignificanceRequest:
    """The request: a measure, a state of the qrels (`live` or a version), and a baseline run.

    0 permutations means none; None means the default number where that is fast, else none. With a `round` only its runs
    are tested, with `residual` without documents judged before it; with a `task`, its key, only its runs on its topics.
    """

    measure: str = USUAL_MEASURE
    qrels: str = LIVE
    baseline: str | None = None
    permutations: int | None = PERMUTATIONS
    seed: int = USUAL_SEED
    round: int | None = None
    residual: bool = False
    task: str | None = None


@dataclass(frozen=True, eq=False)
class SignificanceReport:
    """The results of the tests; runs are ordered best first in every part."""

    measure: str
    state: QrelsState
    tags: tuple[str, ...]
    means: tuple[RunMean, ...]
    model: ModelTukeyTest
    letters: Letters  # compact letter display by the model
    randomised: RandomisedTukeyTest | None  # None when not requested, or too slow
    paired: PairedTests
    baseline: BaselineComparison | None
    shares: VarianceShares
    needed: tuple[TopicsNeeded, ...]  # for several differences; empty when it cannot be computed
    needed_reason: SentenceEnum | None
    notices: tuple[Sentence, ...] = ()  # on round and task, and if the pool is a sample

    @property
    def differing(self) -> int:
        """The number of pairs that differ by the model."""
        return int(self.model.p.at_most(ALPHA).sum()) // 2

    @property
    def pairs(self) -> int:
        """The number of all pairs."""
        return len(self.tags) * (len(self.tags) - 1) // 2

    @property
    def beaten_by_best(self) -> int:
        """The number of runs that the best run is significantly better than."""
        return sum(self.differ(0, other) is True for other in range(1, len(self.tags)))

    @property
    def letter_groups(self) -> list[tuple[str, frozenset[int]]]:
        """The letter and the runs, by their indices, of each group that does not differ."""
        return [(letter(number), frozenset(group)) for number, group in enumerate(self.letters.groups)]

    def differ(self, first: int, second: int) -> bool | None:
        """Whether two runs differ by the model, by their indices; None when it is undefined."""
        value = self.model.p.of(first, second).value
        return None if value is None else value <= ALPHA

    def table(self, part: SignificancePart) -> Table:
        """Headings and rows of a part, in full precision."""
        rows = {
            SignificancePart.RUNS: self._run_rows,
            SignificancePart.PAIRS: self._pair_rows,
            SignificancePart.BASELINE: self._baseline_rows,
            SignificancePart.VARIANCE: self._variance_rows,
            SignificancePart.TOPICS: self._topic_rows,
        }
        return HEADINGS[part], list(rows[part]())

    def file(self, part: SignificancePart) -> tuple[list[str], list[list[Cell]]]:
        """The table with the measure and the state of the qrels in every row."""
        return self.state.beside(*self.table(part), self.measure)

    def _run_rows(self) -> Iterator[list[Cell]]:
        for tag, mean, of_run in zip(self.tags, self.means, self.letters.of_runs, strict=True):
            yield [tag, mean.mean.value, *(mean.interval.bounds or (None, None)), of_run, mean.topics]

    def _pair_rows(self) -> Iterator[list[Cell]]:
        randomised = self.randomised
        for first, second in combinations(range(len(self.tags)), 2):
            pair = (first, second)
            yield [
                *(self.tags[first], self.tags[second], self._difference(first, second), self.differ(*pair)),
                *(self.model.p.of(*pair).value, randomised.p.of(*pair).value if randomised else None),
                *(self.paired.p.of(*pair).value, self.paired.holm.of(*pair).value),
            ]

    def _difference(self, first: int, second: int) -> float | None:
        if not self.model.topics:
            return None
        return float(self.model.means[second] - self.model.means[first])

    def _baseline_rows(self) -> Iterator[list[Cell]]:
        for one in self.baseline.runs if self.baseline else ():
            yield [
                *(one.run, one.mean.value, one.t.difference.value, *(one.t.interval.bounds or (None, None))),
                *(one.t.effect_size.value, one.t.p.value, one.t_holm.value),
                *(one.randomised.value, one.randomised_holm.value, one.max_t.value),
            ]

    def _variance_rows(self) -> Iterator[list[Cell]]:
        shares = self.shares
        named = {"topics": shares.of_topics, "runs": shares.of_runs, "interaction": shares.of_interaction}
        for name, component in named.items():
            yield [name, component.variance, component.share]

    def _topic_rows(self) -> Iterator[list[Cell]]:
        for one in self.needed:
            yield [one.difference, one.deviation, one.power, one.topics]


HEADINGS: Mapping[SignificancePart, tuple[str, ...]] = {
    SignificancePart.RUNS: ("run", "mean", "low", "high", "letters", "topics"),
    SignificancePart.PAIRS: (
        "first",
        "second",
        SECOND_MINUS_FIRST,
        "differ",
        "tukey_p",
        "randomised_p",
        "t_p",
        "t_holm",
    ),
    SignificancePart.BASELINE: (
        *("run", "mean", "run_minus_baseline", "low", "high", "effect_size", "t_p", "t_holm"),
        *("randomised_p", "randomised_holm", "max_t"),
    ),
    SignificancePart.VARIANCE: ("part", "variance", "share"),
    SignificancePart.TOPICS: ("difference", "deviation", "power", "topics"),
}


def _unwatched(_steps: int) -> AbstractContextManager[Callable[[], None]]:
    return nullcontext(lambda: None)


USUAL_REQUEST = SignificanceRequest()


def significance_report(
    session: Session, slug: str, request: SignificanceRequest = USUAL_REQUEST, *, watch: Watch = _unwatched
) -> SignificanceReport:
    """Test all pairs of active runs, on the topics that have a grade.

    `watch` gets the number of permutation steps and returns a function to call after each. Raises `InvalidValueError`
    for an unknown measure or numbers out of range, `NotFoundError` for an unknown version, baseline, round or task, and
    `ConflictError` while there is no grade or no run.
    """
    _check(request)
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    measure = measure_on_scale(request.measure, best_grade)
    scope = whole_scope(session, collection.id, request.round, residual=request.residual, task=request.task)
    policy, settled, sample = _grades(session, collection, request.qrels)
    grades = scoring_scope.pairs_within(scope, settled)
    if not grades:
        raise scoring_scope.nothing_judged(scope)
    of_runs = lists_of_runs(
        session, collection.id, {topic for topic, _ in grades}, runs_of=scope.runs if scope else None
    )
    if not of_runs:
        raise scoring_scope.no_run(scope)
    scoring = Scoring(measure, collection.relevant_from, best_grade)
    numbers = accepted_topics(session, collection.id)
    strata = strata_of(session, sample if measure.definition.estimates else None, numbers)
    samples = scoring_scope.samples_within(scope, samples_of(strata))
    graded = GradedRuns.join(
        [scoring_scope.lists_within(scope, run.lists) for run in of_runs], [grades], numbers, [samples]
    )
    values = graded.runs.score(graded.grades[0], scoring).values
    tags = [run.tag for run in of_runs]
    merits = scoring.order(values.mean(axis=1))
    order = best_first(tags, merits)
    ranked = _Ranked(str(measure), tuple(tags[place] for place in order), values[order], merits[order])
    state = state_of(request.qrels, policy, grades, scope=scope)
    notices = (*scope_notices(session, collection.id, scope), *sample_notices(sample, [measure]))
    return replace(_report(ranked, state, request, watch), notices=notices)


def _check(request: SignificanceRequest) -> None:
    if request.permutations is not None and not 0 <= request.permutations <= MOST_PERMUTATIONS:
        raise InvalidValueError(
            "The number of permutations is from 0 to %(most)d, not %(given)d.",
            most=MOST_PERMUTATIONS,
            given=request.permutations,
        )
    if request.seed < 0:
        raise InvalidValueError("A seed is a whole number from 0, not %(given)d.", given=request.seed)


def _grades(session: Session, collection: Collection, name: str) -> tuple[str, dict[Pair, int], DrawnSample | None]:
    """The policy and the grades of a state of the qrels, and the sample that the pool was at the time."""
    if name != LIVE:
        kept = kept_grades(session, collection.id, name)
        return kept.policy, kept.grades, drawn_sample(session, collection.id, up_to=kept.pool_version)
    rules = rules_of(collection)
    grades = settled_grades(session, collection)
    return rules.policy, grades, drawn_sample(session, collection.id)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """The runs best first, their scores (runs x topics), and their means, negated where less is better."""

    measure: str
    tags: tuple[str, ...]
    scores: Values
    merits: Values


def _report(ranked: _Ranked, state: QrelsState, request: SignificanceRequest, watch: Watch) -> SignificanceReport:
    scores, tags = ranked.scores, ranked.tags
    model = tukey_hsd(scores)
    deviation = deviation_of_differences(scores)
    baseline = request.baseline
    return SignificanceReport(
        measure=ranked.measure,
        state=state,
        tags=tags,
        means=run_means(scores, bounds=parse_measure(ranked.measure).definition.bounds),
        model=model,
        letters=letters(ranked.merits, model.p),
        randomised=_randomised(scores, request, watch),
        paired=paired_tests(scores),
        baseline=None if baseline is None else compare_with_baseline(tags, scores, baseline, seed=request.seed),
        shares=variance_shares(scores),
        needed=tuple(topics_needed(one, deviation.value) for one in DIFFERENCES) if deviation.value else (),
        needed_reason=deviation.reason or (None if deviation.value else Undefined.SAME_DIFFERENCE),
    )


def _randomised(scores: Values, request: SignificanceRequest, watch: Watch) -> RandomisedTukeyTest | None:
    permutations = request.permutations
    if permutations is None:
        permutations = PERMUTATIONS if scores.size * PERMUTATIONS <= QUICK_SCORES else 0
    if not permutations:
        return None
    with watch(steps_of_permuting(scores, permutations)) as advance:
        return randomised_tukey_hsd(scores, seed=request.seed, permutations=permutations, advance=advance)
