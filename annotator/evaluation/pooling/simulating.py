"""What a strategy would have chosen to judge, told by judgements that exist: to compare strategies on last year's."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.adaptive import Verdict
from annotator.evaluation.pooling.strategies import Kind, Strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns


def simulate(
    strategy: Strategy, runs: TopicRuns, relevant: Mapping[int, bool], *, most: int | None = None, seed: int = 1
) -> NDArray[np.int32]:
    """Give the order in which a strategy has the documents of a topic judged, at most `most` of them.

    `relevant` says of every document that was judged whether it is relevant. Documents that were not judged are passed
    over, as those that nobody can judge, and cost nothing. An adaptive strategy begins with its pool of `start_depth`,
    here in the order in which a growing depth takes it in; a stratified one gives its sample only. The strategy's
    budget does not count.
    """
    if strategy.definition.kind is Kind.ADAPTIVE:
        return _adaptive(strategy, runs, relevant, most, seed)
    if strategy.definition.kind is Kind.SAMPLE:
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
