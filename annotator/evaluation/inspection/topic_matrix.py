"""The scores of all runs on all topics as a matrix, the hardest topic and the best run first."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.inspection.one_topic import Difficulty, difficulties
from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.leaderboard.rescoring import ranked_values
from annotator.evaluation.metrics.setting import Values


@dataclass(frozen=True, eq=False)
class TopicMatrix:
    """Values of one measure, (topics, runs); without a direction of the measure, low means come first."""

    topics: tuple[str, ...]
    tags: tuple[str, ...]
    values: Values


def hardest_first(every: tuple[Difficulty, ...]) -> tuple[Difficulty, ...]:
    """Sort topics by difficulty, ties and topics without a rank in natural order of their numbers."""
    return tuple(sorted(every, key=lambda one: (one.place or 0, natural_order(one.topic))))


def topic_matrix(scored: ScoredRuns) -> TopicMatrix:
    """Sort the runs by their means, best first, and the topics by difficulty, hardest first."""
    topics = [one.topic for one in hardest_first(difficulties(scored.numbers, scored.values, scored.better))]
    ranked = ranked_values(scored.better, scored.scores.means[:, 0])
    runs = sorted(range(len(scored.tags)), key=lambda run: (-ranked[run], natural_order(scored.tags[run])))
    rows = [scored.topic(number) for number in topics]
    return TopicMatrix(tuple(topics), tuple(scored.tags[run] for run in runs), scored.values[np.ix_(runs, rows)].T)
