"""From graded topics and ranked lists to the leaderboard: what is lacking is scored, then all is put together."""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.leaderboard import (
    BoardRun,
    BoardValues,
    Leaderboard,
    View,
    judged_beside,
    make_rows,
    needed,
)
from annotator.evaluation.leaderboard_notices import notices
from annotator.evaluation.live_scores import GradedTopic, Grading, Lists, qrels_bytes, score_topics
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.natural_order import natural_order

FINGERPRINT_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Asked:
    """All that a leaderboard is made from, but grades and lists."""

    runs: tuple[BoardRun, ...]
    numbers: Mapping[int, str]  # of the topics that count
    dropped: tuple[str, ...]
    measures: tuple[Measure, ...]
    grading: Grading
    view: View
    source: str
    policy: str | None

    @property
    def what(self) -> Hashable:
        """The same as a key, among leaderboards of the same runs and grades."""
        return (self.dropped, self.measures, self.view, self.source)


def make_leaderboard(asked: Asked, graded: Mapping[int, GradedTopic], lists: Lists) -> Leaderboard:
    """Score the topics that have a grade, as far as that was not done, and show the runs as asked."""
    numbers = asked.numbers
    scored = {id_: graded[id_] for id_ in sorted(graded, key=lambda id_: numbers[id_].encode()) if graded[id_].grades}
    values = _values(asked, scored, lists)
    rows, by, better, reason = make_rows(values, asked.view)
    relevant = [topic.relevant(asked.grading.relevant_from) for topic in scored.values()]
    judges = frozenset[str]().union(*(topic.judges for topic in scored.values()))
    lines = qrels_bytes({numbers[id_]: topic for id_, topic in scored.items()})
    beside = [judged_beside(measure) for measure in asked.measures]
    return Leaderboard(
        measures=tuple(map(str, asked.measures)),
        judged_by=tuple(None if one is None else str(one) for one in beside),
        sorted_by=by,
        better=better,
        rows=rows,
        topics=tuple(sorted(values.topics, key=natural_order)),
        topics_left_out=len(numbers) - len(scored),
        topics_dropped=asked.dropped,
        grades=sum(topic.judged for topic in scored.values()),
        source=asked.source,
        policy=asked.policy,
        relevant_from=asked.grading.relevant_from,
        fingerprint=hashlib.sha256(lines).hexdigest()[:FINGERPRINT_DIGITS],
        disputed_left_out=sum(topic.left_out for topic in graded.values()),
        view=asked.view,
        compat=asked.grading.compat.value,
        letters_reason=reason,
        notices=notices(values, rows, relevant, len(judges), asked.grading.best_grade),
    )


def _values(asked: Asked, scored: Mapping[int, GradedTopic], lists: Lists) -> BoardValues:
    every = needed(asked.measures)
    score_topics(scored, lists, len(asked.runs), every, asked.grading)
    return BoardValues(
        asked.runs,
        tuple(asked.numbers[id_] for id_ in scored),
        asked.measures,
        {
            measure: np.ascontiguousarray(np.stack([topic.values[measure] for topic in scored.values()], axis=1))
            for measure in every
        },
    )
