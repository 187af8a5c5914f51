"""Simulation of strategies on existing judgements: how soon each finds relevant documents and the ranking of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.scoring import score_runs
from annotator.evaluation.pooling.active_learning import learning_batches
from annotator.evaluation.pooling.adaptive import Verdict
from annotator.evaluation.pooling.learned_order import BatchSize
from annotator.evaluation.pooling.planning import shares
from annotator.evaluation.pooling.probability_sample import NOTHING_KNOWN, growing
from annotator.evaluation.pooling.strategies import STRATEGIES, Strategy, StrategyKind, parse_strategy
from annotator.evaluation.pooling.text_features import TextFeatures, can_learn
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns
from annotator.evaluation.significance.rank_correlation import kendall_tau_b


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The text of a topic, and the features of its candidates, a row for each of the documents of `TopicRuns`."""

    topic: str
    features: TextFeatures


def simulate(
    strategy: Strategy,
    runs: TopicRuns,
    relevant: Mapping[int, bool],
    *,
    most: int | None = None,
    seed: int = 1,
    texts: TopicTexts | None = None,
) -> NDArray[np.int32]:
    """Return the order in which a strategy selects the documents of a topic, at most `most` of them.

    `relevant` maps every judged document to whether it is relevant. Unjudged documents are skipped at no cost, like
    those that cannot be judged. An adaptive strategy starts with its pool of `start_depth`,
    here in the order in which a growing depth adds documents; a stratified one gives only its sample; a sample with a
    budget goes in the order in which a growing budget adds documents. The strategy's budget is ignored. A strategy that
    learns from texts goes by reciprocal rank fusion where there are none.
    """
    if strategy.definition.learns and texts is not None:
        return _learning(strategy, runs, relevant, most, seed, texts)
    if strategy.definition.kind is StrategyKind.ADAPTIVE:
        return _adaptive(strategy, runs, relevant, most, seed)
    if strategy.divides_budget:
        [order] = growing([strategy.open_strata(runs, NOTHING_KNOWN, None, seed)], strategy.allocation).documents
    elif strategy.definition.kind is StrategyKind.SAMPLE:
        order = np.concatenate([stratum.sample for stratum in strategy.sample(runs, seed)])
    else:
        order = strategy.order(runs, seed)
    return _judged(order, relevant)[:most]


def _judged(order: NDArray[np.int32], relevant: Mapping[int, bool]) -> NDArray[np.int32]:
    return np.array([document for document in order.tolist() if document in relevant], np.int32)


def _adaptive(
    strategy: Strategy, runs: TopicRuns, relevant: Mapping[int, bool], most: int | None, seed: int
) -> NDArray[np.int32]:
    state = strategy.begin(runs, seed)
    state.learn(Verdict(document, None) for document in runs.documents.tolist() if document not in relevant)
    order: list[int] = _judged(strategy.start(runs, seed), relevant)[:most].tolist()
    state.learn(Verdict(document, relevant[document]) for document in order)
    while (most is None or len(order) < most) and (chosen := state.choose()):
        order.append(chosen[0].document)
        state.learn([Verdict(chosen[0].document, relevant[chosen[0].document], chosen[0].run)])
    return np.array(order, np.int32)


def _learning(
    strategy: Strategy, runs: TopicRuns, relevant: Mapping[int, bool], most: int | None, seed: int, texts: TopicTexts
) -> NDArray[np.int32]:
    places = np.flatnonzero(np.isin(runs.documents, list(relevant)))
    documents = runs.documents[places]
    start = _judged(strategy.start(runs, seed), relevant)
    by_fusion = np.lexsort((runs.preference(Ties.RANDOM, seed)[places], -runs.rrf[places]))
    preference = np.empty(places.size)
    preference[by_fusion] = np.arange(places.size)
    batches = learning_batches(
        texts.features.select(places),
        texts.topic,
        np.array([relevant[document] for document in documents.tolist()], np.bool_),
        seed=seed,
        topic=runs.topic,
        judged_before=np.flatnonzero(np.isin(documents, start)).tolist(),
        preference=preference,
        grows=strategy.batch is BatchSize.GROW,
    )
    order = [start]
    while (most is None or sum(map(len, order)) < most) and (batch := next(batches, None)):
        order.append(documents[batch.rows])
    return np.concatenate(order)[:most]


SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
DEEPEST = 999_999_999
MEASURE = parse_measures(["AP"])

Documents = NDArray[np.int32]
Grades = Mapping[int, int]  # by document


@dataclass(frozen=True)
class Point:
    """The result of a strategy at a share of the judgements; tau is None where it is undefined.

    It may judge fewer documents than its share allows, if it selects no more of a topic.
    """

    share: float
    judged: int
    found: float  # recall over all topics
    tau: float | None


@dataclass(frozen=True)
class Trial:
    """A strategy to simulate; the start depth is None when it has none."""

    strategy: Strategy

    @property
    def start_depth(self) -> int | None:
        """The depth to which it pools every run before it chooses adaptively."""
        return self.strategy.start_depth if self.strategy.definition.kind is StrategyKind.ADAPTIVE else None


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """The judged documents in some run, by topic key, and the runs: by topic key the documents, best first."""

    numbers: Mapping[int, str]
    grades: Mapping[int, Grades]
    runs: Sequence[Mapping[int, Documents]]
    relevant_from: int

    @property
    def judged(self) -> int:
        """The number of judged documents."""
        return sum(map(len, self.grades.values()))

    @property
    def relevant(self) -> int:
        """The number of relevant documents."""
        return sum(self._relevant_in(grades) for grades in self.grades.values())

    def _relevant_in(self, grades: Grades) -> int:
        return sum(grade >= self.relevant_from for grade in grades.values())

    def budgets(self, share: float) -> dict[int, int]:
        """Divide a share of all judgements over the topics, like a total budget."""
        total = round(share * self.judged)
        return dict(zip(self.grades, shares(total, [len(grades) for grades in self.grades.values()]), strict=True))

    def means(self, grades: Mapping[int, Grades]) -> list[float]:
        """Mean AP of each run by these judgements, over all topics."""
        scores = score_runs(self.runs, grades, self.numbers, MEASURE, self.relevant_from)
        return [float(value) for value in scores.means[:, 0]]

    def points(self, orders: Mapping[int, Documents], means: Sequence[float]) -> tuple[Point, ...]:
        """Evaluate these judging orders of the topics; `means` are the runs' values by all judgements."""
        return tuple(self._point(share, orders, means) for share in SHARES)

    def _point(self, share: float, orders: Mapping[int, Documents], means: Sequence[float]) -> Point:
        budgets = self.budgets(share)
        grades = {
            topic: {document: all_grades[document] for document in orders[topic][: budgets[topic]].tolist()}
            for topic, all_grades in self.grades.items()
        }
        judged = sum(map(len, grades.values()))
        found = sum(map(self._relevant_in, grades.values())) / self.relevant
        return Point(share, judged, found, kendall_tau_b(means, self.means(grades)))


def trials(names: Sequence[str], start_depths: Sequence[int], strata: str | None) -> list[Trial]:
    """Parse the strategies to simulate; adaptive ones once for each start depth.

    Without names these are all that need no machine, and no library that is missing.

    Raises `InvalidValueError` for a strategy that is unknown or needs a machine, and for invalid depths and strata.
    """
    tried: list[Trial] = []
    for name in names or _simulated():
        if name.lower() in STRATEGIES and STRATEGIES[name.lower()].requires:
            raise InvalidValueError("The strategy %(name)s asks a machine judge, and is not simulated.", name=name)
        # The trial varies the number of judgements.
        said: dict[str, str | int] = {"depth": DEEPEST} if name.lower() == "depth" else {"budget": DEEPEST}
        if name.lower() == "stratified":
            said = {} if strata is None else {"strata": strata}
        first = parse_strategy(name, said)
        if first.definition.kind is StrategyKind.ADAPTIVE:
            tried += [Trial(parse_strategy(name, {**said, "start_depth": depth})) for depth in start_depths]
        else:
            tried.append(Trial(first))
    return tried


def _simulated() -> list[str]:
    return [
        name
        for name, definition in STRATEGIES.items()
        if not definition.requires and (can_learn() or not definition.learns)
    ]


def orders_of_topic(
    tried: Sequence[Trial],
    runs: TopicRuns,
    grades: Grades,
    relevant_from: int,
    *,
    most: int,
    seed: int,
    texts: TopicTexts | None = None,
) -> list[Documents]:
    """Return for each trial the order in which it selects the first documents of a topic."""
    relevant = {document: grade >= relevant_from for document, grade in grades.items()}
    return [simulate(trial.strategy, runs, relevant, most=most, seed=seed, texts=texts) for trial in tried]
