"""Two runs, looked at from all sides: tests of their difference, where it lies, and the documents that make it."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.evaluation.formats.natural_order import natural_order
from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.inspection.two_runs import MovedDocument, TopicDifferences, moved_documents, topic_differences
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.scoring import Number, Scores
from annotator.evaluation.significance.sign_flips import FLIPS
from annotator.evaluation.significance.two_runs import TwoRuns, compare_two_runs


@dataclass(frozen=True)
class PairByMeasure:
    """Two runs by one measure; every difference is the second's value less the first's."""

    measure: str
    better: Better
    first: Number  # over all topics, as on the leaderboard
    second: Number
    tests: TwoRuns
    differences: TopicDifferences


@dataclass(frozen=True)
class MovedInTopic:
    """The documents of a topic that one of the two runs has high and the other lower, or not."""

    topic: str
    documents: tuple[MovedDocument, ...]


@dataclass(frozen=True)
class PairLook:
    """All that is to be said of two runs."""

    first: str
    second: str
    first_judged: float  # of the top ten, on average
    second_judged: float
    by_measure: tuple[PairByMeasure, ...]
    moved: tuple[MovedInTopic, ...]


def pair_by_measure(
    scores: Scores, first: int, second: int, measure: int, *, seed: int, flips: int = FLIPS
) -> PairByMeasure:
    """Compare two runs by their places, by the measure of that place."""
    asked = scores.measures[measure]
    one, other = scores.values[first, :, measure], scores.values[second, :, measure]
    return PairByMeasure(
        measure=str(asked),
        better=asked.definition.better,
        first=scores.over_topics(first)[measure],
        second=scores.over_topics(second)[measure],
        tests=compare_two_runs(one, other, seed=seed, flips=flips),
        differences=topic_differences(scores.topics, one, other),
    )


def look_at_pair(
    scored: ScoredRuns, first: str, second: str, *, seed: int, top: int, topics: Sequence[str] | None = None
) -> PairLook:
    """Look at two runs; documents are those of the top of either, of these topics or of all.

    An empty list of topics is the one on which the two differ most by the first measure. Raises `NotFoundError` for an
    unknown run or topic.
    """
    one, other = scored.run(first), scored.run(second)
    by_measure = tuple(
        pair_by_measure(scored.scores, one, other, place, seed=seed) for place in range(len(scored.measures))
    )
    wanted = sorted(scored.numbers, key=natural_order) if topics is None else topics or [_widest(by_measure[0])]
    return PairLook(
        first=first,
        second=second,
        first_judged=scored.judged_share(one),
        second_judged=scored.judged_share(other),
        by_measure=by_measure,
        moved=tuple(_moved(scored, one, other, number, top) for number in wanted),
    )


def _widest(by_measure: PairByMeasure) -> str:
    return max(by_measure.differences.topics, key=lambda one: abs(one.difference)).topic


def _moved(scored: ScoredRuns, first: int, second: int, number: str, top: int) -> MovedInTopic:
    topic = scored.topic(number)
    grades = scored.qrels[scored.topics[topic]]
    moved = moved_documents(scored.ranking(first, topic), scored.ranking(second, topic), grades, top=top)
    return MovedInTopic(number, moved)
