"""From graded topics and ranked lists to the leaderboard: what is lacking is scored, then all is put together."""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from annotator.evaluation.formats.natural_order import natural_order
from annotator.evaluation.leaderboard.leaderboard import (
    BoardRun,
    BoardValues,
    Leaderboard,
    View,
    judged_beside,
    make_rows,
    needed,
)
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_ROUND, notices, unjudged_notices
from annotator.evaluation.leaderboard.live_scores import Grading, Lists, TopicValues, score_topics
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.qrels.graded_topic import GradedTopic, qrels_bytes

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
    fingerprint: str | None = None  # of the file that the grades were kept as; else it is made of them

    @property
    def what(self) -> Hashable:
        """The same as a key, among leaderboards of the same runs and grades."""
        return (self.dropped, self.measures, self.view, self.source)


def scored_topics(asked: Asked, graded: Mapping[int, GradedTopic]) -> dict[int, GradedTopic]:
    """Those that have a grade, in the order of their bytes.

    A topic of which a file has lines below 0 alone is among them, with 0 for every run, as trec_eval has it; elsewhere
    there are no such lines.
    """
    numbers = asked.numbers
    return {
        id_: graded[id_] for id_ in sorted(graded, key=lambda id_: numbers[id_].encode()) if graded[id_].documents.size
    }


def make_leaderboard(asked: Asked, graded: Mapping[int, GradedTopic], values: BoardValues) -> Leaderboard:
    """Show the runs as asked, by what `score_board` gives."""
    numbers, scored = asked.numbers, scored_topics(asked, graded)
    rows, by, better, reason = make_rows(values, asked.view)
    relevant = [topic.relevant(asked.grading.relevant_from) for topic in scored.values()]
    judges = frozenset[int]().union(*(topic.judges for topic in scored.values()))
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
        fingerprint=(asked.fingerprint or _fingerprint(numbers, scored))[:FINGERPRINT_DIGITS],
        disputed_left_out=sum(len(topic.disputed) for topic in graded.values()),
        view=asked.view,
        compat=asked.grading.compat.value,
        letters_reason=reason,
        notices=(
            *unjudged_notices([numbers[id_] for id_, topic in scored.items() if not topic.judged]),
            *notices(values, rows, relevant, len(judges), asked.grading.best_grade),
        ),
    )


def of_every_round(board: Leaderboard) -> Leaderboard:
    """The leaderboard of a collection with rounds, which tells in files and on pages that it has the runs of all."""
    source = f"{board.source}, every round, whole"
    return replace(board, source=source, notices=(EVERY_ROUND, *board.notices), of_rounds=(EVERY_ROUND,))


def score_board(
    asked: Asked, graded: Mapping[int, GradedTopic], kept: Mapping[int, TopicValues], lists: Lists
) -> BoardValues:
    """Score the topics that have a grade, as far as that was not done; what comes out changes no more."""
    every, scored = needed(asked.measures), scored_topics(asked, graded)
    score_topics(scored, kept, lists, len(asked.runs), every, asked.grading)
    columns = np.concatenate([kept[id_][measure] for id_ in scored for measure in every])
    by_measure = np.ascontiguousarray(columns.reshape(len(scored), len(every), len(asked.runs)).transpose(1, 2, 0))
    return BoardValues(
        asked.runs,
        tuple(asked.numbers[id_] for id_ in scored),
        asked.measures,
        dict(zip(every, by_measure, strict=True)),
    )


def _fingerprint(numbers: Mapping[int, str], scored: Mapping[int, GradedTopic]) -> str:
    return hashlib.sha256(qrels_bytes({numbers[id_]: topic for id_, topic in scored.items()})).hexdigest()
