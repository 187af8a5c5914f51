"""How one run does on each topic beside the median and the best of all runs, whose names are not told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from annotator.errors import NotFoundError
from annotator.evaluation.leaderboard import Leaderboard
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import Number
from annotator.spreadsheets import csv_text


@dataclass(frozen=True)
class TopicStanding:
    """One topic: the run's own value, the median of all runs, and their best; None where no value is better."""

    topic: str
    own: Number
    median: float
    best: Number | None


@dataclass(frozen=True)
class Standing:
    """A run on every topic, by one measure, among so many runs."""

    run: str
    measure: str
    among: int
    topics: tuple[TopicStanding, ...]


def standing(board: Leaderboard, tag: str, measure: str, *, before: datetime) -> Standing:
    """Compare a run with all that were uploaded before a moment, itself among them.

    Later runs have no part in it: from what they change, the grades of single documents could be found out. Raises
    `NotFoundError` when there is no such run in time, or the measure is not on the leaderboard.
    """
    in_time = [row for row in board.rows if row.run.uploaded_at < before]
    own = next((row for row in in_time if row.tag == tag), None)
    if own is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    if measure not in board.measures:
        raise NotFoundError("The measure “%(measure)s” is not on this page.", measure=measure)
    place = board.measures.index(measure)
    better = parse_measure(measure).definition.better
    return Standing(
        tag,
        measure,
        len(in_time),
        tuple(
            _on_topic(topic, own.by_topic[topic][place], [row.by_topic[topic][place] for row in in_time], better)
            for topic in board.topics
        ),
    )


def standing_csv(found: Standing) -> str:
    """A line a topic, in full precision."""
    headings = ["run", "measure", "topic", "value", "median", "best"]
    rows = [[found.run, found.measure, one.topic, one.own, one.median, one.best] for one in found.topics]
    return csv_text([headings, *rows])


def _on_topic(topic: str, own: Number, values: Sequence[Number], better: Better) -> TopicStanding:
    best = {Better.MORE: max(values), Better.LESS: min(values), Better.NEITHER: None}[better]
    return TopicStanding(topic, own, float(median(values)), best)
