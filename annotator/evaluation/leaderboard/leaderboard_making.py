"""The leaderboard from scored topics, and the effect of dropping topics."""

import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.errors import ConflictError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import (
    BoardRun,
    BoardValues,
    Leaderboard,
    View,
    judged_beside,
    make_rows,
    needed,
)
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_ROUND, EVERY_TASK, notices, unjudged_notices
from annotator.evaluation.leaderboard.scoring_scope import named_within
from annotator.evaluation.leaderboard.topic_scores import Grading, TopicScores
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.graded_topic import GradedTopic, qrels_bytes
from annotator.evaluation.significance.rank_correlation import kendall_tau_b

FINGERPRINT_DIGITS = 12


@dataclass(frozen=True, eq=False)
class BoardRequest:
    """The input of a leaderboard other than grades and lists."""

    runs: tuple[BoardRun, ...]
    numbers: Mapping[int, str]  # numbers of the topics that count
    dropped: tuple[str, ...]
    measures: tuple[Measure, ...]
    grading: Grading
    view: View
    source: str
    policy: str | None
    fingerprint: str | None = None  # of the stored file of grades; computed if None
    round: str | None = None  # as `ScoringScope.round_name`, when runs of one round are scored
    task: str | None = None  # the key, when runs of one task are scored

    @property
    def key(self) -> Hashable:
        """A key that identifies the request for the same runs and grades."""
        return (self.dropped, self.measures, self.view, self.source, self.round, self.task)


def scored_topics(request: BoardRequest, graded: Mapping[int, GradedTopic]) -> dict[int, GradedTopic]:
    """Return the topics with a grade, in byte order.

    A topic whose lines in a file are all below 0 is included, with value 0 for every run, as in trec_eval; live grades
    have no such lines.
    """
    numbers = request.numbers
    return {
        id_: graded[id_] for id_ in sorted(graded, key=lambda id_: numbers[id_].encode()) if graded[id_].documents.size
    }


def make_leaderboard(request: BoardRequest, graded: Mapping[int, GradedTopic], values: BoardValues) -> Leaderboard:
    """Build the leaderboard as requested from the values of `board_values`."""
    numbers, scored = request.numbers, scored_topics(request, graded)
    rows, by, better, reason = make_rows(values, request.view)
    relevant = [topic.relevant(request.grading.relevant_from) for topic in scored.values()]
    judges = frozenset[int]().union(*(topic.judges for topic in scored.values()))
    beside = [judged_beside(measure) for measure in request.measures]
    return Leaderboard(
        measures=tuple(map(str, request.measures)),
        judged_by=tuple(None if one is None else str(one) for one in beside),
        directions=tuple(measure.definition.better for measure in request.measures),
        sorted_by=by,
        better=better,
        rows=rows,
        topics=tuple(sorted(values.topics, key=natural_order)),
        topics_left_out=len(numbers) - len(scored),
        topics_dropped=request.dropped,
        grades=sum(topic.judged for topic in scored.values()),
        source=named_within(request.source, request.task, request.round),
        qrels=request.source,
        round=request.round,
        task=request.task,
        policy=request.policy,
        relevant_from=request.grading.relevant_from,
        fingerprint=(request.fingerprint or fingerprint_of(numbers, scored))[:FINGERPRINT_DIGITS],
        disputed_left_out=sum(len(topic.disputed) for topic in graded.values()),
        view=request.view,
        compat=request.grading.compat.value,
        letters_reason=reason,
        notices=(
            *unjudged_notices([numbers[id_] for id_, topic in scored.items() if not topic.judged]),
            *notices(values, rows, relevant, len(judges), request.grading.best_grade),
        ),
    )


def of_every_run(board: Leaderboard, *, rounds: bool, tasks: bool) -> Leaderboard:
    """Add the notices that a leaderboard has the runs of every round of several, and those of every task."""
    of_tasks = ((EVERY_TASK, "every task"),) if tasks else ()
    found = (*of_tasks, (EVERY_ROUND, "every round, whole")) if rounds else of_tasks
    if not found:
        return board
    sentences = tuple(sentence for sentence, _ in found)
    return replace(
        board,
        source=", ".join([board.source, *(name for _, name in found)]),
        notices=(*sentences, *board.notices),
        of_scope=(*sentences, *board.of_scope),
    )


def board_values(
    request: BoardRequest, graded: Mapping[int, GradedTopic], scores: Mapping[int, TopicScores]
) -> BoardValues:
    """Arrange the scores, {topic key: {measure: one value a run}}, of the topics with a grade by measure."""
    every, scored = needed(request.measures), scored_topics(request, graded)
    columns = np.concatenate([scores[id_][measure] for id_ in scored for measure in every])
    by_measure = np.ascontiguousarray(columns.reshape(len(scored), len(every), len(request.runs)).transpose(1, 2, 0))
    return BoardValues(
        request.runs,
        tuple(request.numbers[id_] for id_ in scored),
        request.measures,
        dict(zip(every, by_measure, strict=True)),
    )


def fingerprint_of(numbers: Mapping[int, str], graded: Mapping[int, GradedTopic]) -> str:
    """The fingerprint, in the digits that a leaderboard shows, of the grades of topics {id: number}."""
    lines = qrels_bytes({numbers[id_]: topic for id_, topic in graded.items()})
    return hashlib.sha256(lines).hexdigest()[:FINGERPRINT_DIGITS]


@dataclass(frozen=True)
class RunChange:
    """A run's value over the topics, and its rank from 1, with and without the dropped topics; ties share a rank."""

    run: str
    with_them: float
    without_them: float
    place_with: int
    place_without: int

    @property
    def moves(self) -> bool:
        """Whether its rank changes."""
        return self.place_with != self.place_without


@dataclass(frozen=True)
class DroppingEffect:
    """The runs in their input order, and the correlation of their two rankings."""

    measure: str
    dropped: tuple[str, ...]
    topics_left: int
    runs: tuple[RunChange, ...]
    tau: float | None  # Kendall's tau-b; None when all runs tie, or there is only one
    notices: tuple[Sentence, ...] = ()  # on rounds and tasks


def effect_of_dropping(
    measure: Measure, values: Mapping[str, Mapping[str, float]], topics: Collection[str]
) -> DroppingEffect:
    """Summarise `values` (run → topic number → value) over all topics, and over those not in `topics`.

    Raises `ConflictError` when no topic would be left.
    """
    scored = sorted({topic for of_run in values.values() for topic in of_run}, key=str.encode)
    left = [topic for topic in scored if topic not in topics]
    if not left:
        raise ConflictError("Without these topics there would be none left to average over.")
    before, after = (_summaries(measure, values, among) for among in (scored, left))
    places = (_places(among, measure.definition.better) for among in (before, after))
    rows = zip(values, before.tolist(), after.tolist(), *places, strict=True)
    return DroppingEffect(
        measure=str(measure),
        dropped=tuple(topic for topic in scored if topic in topics),
        topics_left=len(left),
        runs=tuple(RunChange(*row) for row in rows),
        tau=kendall_tau_b(before.tolist(), after.tolist()),
    )


def _summaries(measure: Measure, values: Mapping[str, Mapping[str, float]], topics: Sequence[str]) -> Values:
    """One value a run, summarised as on the leaderboard: the mean, for counts the sum."""
    return measure.over_topics(np.array([[of_run[topic] for topic in topics] for of_run in values.values()], float))


def _places(values: Values, better: Better) -> list[int]:
    """Rank each run as one more than the number of better ones; without a direction all have rank 1."""
    best_first = {Better.MORE: -1, Better.LESS: 1, Better.NEITHER: 0}[better] * values
    places: list[int] = (1 + np.count_nonzero(best_first[np.newaxis, :] < best_first[:, np.newaxis], axis=1)).tolist()
    return places
