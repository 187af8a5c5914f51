"""All runs of a collection, scored by one state of its grades: the input of every inspection."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, named_within, topics_within
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import NOTHING_RETRIEVED, Number, Scores, score_runs
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.qrels_format import format_qrels
from annotator.evaluation.qrels.samples import Samples
from annotator.evaluation.qrels.settling import ItemGrade, Rules, settle_items
from annotator.evaluation.runs.rankings import decode_documents

JUDGED = parse_measure("Judged@10")  # shown beside every score
FINGERPRINT_DIGITS = 12


class DocumentGrade(ItemGrade, Protocol):
    """A judge's grade of a pool item, with the item's topic and document."""

    @property
    def topic_id(self) -> int:
        """The id of the topic."""

    @property
    def document_id(self) -> int:
        """The id of the document."""


class PackedRun(Protocol):
    """A run as it is stored."""

    @property
    def tag(self) -> str:
        """The tag of the run."""

    @property
    def team(self) -> str | None:
        """The name of the team, None for a run without one."""

    @property
    def lists(self) -> Mapping[int, bytes]:
        """The packed documents of each topic, by topic id."""


@dataclass(frozen=True)
class GradesState:
    """The state of the grades that runs are scored by."""

    source: str  # “live”, the number of a version, or a judge's name
    policy: str | None  # None for one judge
    relevant_from: int
    grades: int
    topics: int
    topics_left_out: int  # accepted topics without a grade
    fingerprint: str  # the first digits of the SHA-256 of the grades as a qrels file
    round: str | None = None  # as `ScoringScope.round_name`, when runs of one round are scored
    task: str | None = None  # the key, when runs of one task are scored

    @property
    def named(self) -> str:
        """The name of the grades in tables and files."""
        return named_within(self.source, self.task, self.round)


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Runs in order of submission, scored over the topics with a grade, which are in byte order.

    The last of the measures is `JUDGED`.
    """

    state: GradesState
    topics: tuple[int, ...]  # ids
    tags: tuple[str, ...]
    teams: tuple[str, ...]  # a run without a team is a team of its own
    rankings: tuple[Mapping[int, NDArray[np.int32]], ...]
    qrels: Mapping[int, Mapping[int, int]]
    scores: Scores
    notices: tuple[Sentence, ...] = ()  # the sample, if the pool is one

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers of the topics."""
        return self.scores.topics

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures in the order of the request."""
        return self.scores.measures[:-1]

    @property
    def better(self) -> Better:
        """Which values of the first measure are better."""
        return self.scores.measures[0].definition.better

    @property
    def values(self) -> Values:
        """Values of the first measure, (runs, topics)."""
        return self.scores.values[:, :, 0]

    @property
    def judged(self) -> Values:
        """Judged share of each top ten, (runs, topics)."""
        return self.scores.values[:, :, -1]

    def run(self, tag: str) -> int:
        """Return the index of a run; raises `NotFoundError` for an unknown tag."""
        if tag not in self.tags:
            raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
        return self.tags.index(tag)

    def topic(self, number: str) -> int:
        """Return the index of a topic; raises `NotFoundError` when it is not scored."""
        if number not in self.numbers:
            raise NotFoundError(
                "Topic “%(number)s” is not scored: nothing of it is judged, or it does not count.", number=number
            )
        return self.numbers.index(number)

    def ranking(self, run: int, topic: int) -> NDArray[np.int32]:
        """Return a run's document numbers for a topic, best first, by their indices."""
        return self.rankings[run].get(self.topics[topic], NOTHING_RETRIEVED)

    def mean(self, run: int) -> Number:
        """The value of the first measure over all topics."""
        return self.scores.over_topics(run)[0]

    def judged_share(self, run: int) -> float:
        """The mean judged share of a run's top ten."""
        return float(self.scores.means[run, -1])


@dataclass(frozen=True)
class Names:
    """The numbers of the accepted topics and the docnos of graded documents, by id."""

    topics: Mapping[int, str]
    docnos: Mapping[int, str]


def settle_by_topic(said: Sequence[DocumentGrade], rules: Rules) -> dict[int, dict[int, int]]:
    """Settle the grades: topic id → {document id: grade}."""
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    qrels: dict[int, dict[int, int]] = {}
    for item, grade in settle_items(said, rules).grades.items():
        topic, document = pairs[item]
        qrels.setdefault(topic, {})[document] = grade
    return qrels


def state_of(
    qrels: Mapping[int, Mapping[int, int]],
    names: Names,
    source: str,
    policy: str | None,
    relevant_from: int,
    *,
    fingerprint: str | None = None,
    scope: ScoringScope | None = None,
) -> GradesState:
    """Describe grades, with the given fingerprint, of the file they were stored as, or their own.

    Grades restricted to a round or a task have their own fingerprint.
    """
    lines = [
        (names.topics[topic], names.docnos[document], grade)
        for topic, grades in qrels.items()
        for document, grade in grades.items()
    ]
    if scope is not None and scope.changes_grades:
        fingerprint = None
    digits = (fingerprint or hashlib.sha256(format_qrels(lines)).hexdigest())[:FINGERPRINT_DIGITS]
    left_out = len(topics_within(scope, names.topics)) - len(qrels)
    of_round, task = (None, None) if scope is None else (scope.round_name, scope.task)
    return GradesState(source, policy, relevant_from, len(lines), len(qrels), left_out, digits, of_round, task)


def score_inspected(
    runs: Sequence[PackedRun],
    qrels: Mapping[int, Mapping[int, int]],
    state: GradesState,
    numbers: Mapping[int, str],
    measures: Sequence[Measure],
    best_grade: int,
    samples: Samples,
) -> ScoredRuns:
    """Score runs by grades, {topic id: {document id: grade}}, at least one, and by their samples."""
    rankings = tuple({topic: decode_documents(packed) for topic, packed in run.lists.items()} for run in runs)
    return ScoredRuns(
        state=state,
        topics=tuple(sorted(qrels, key=lambda topic: numbers[topic].encode())),
        tags=tuple(run.tag for run in runs),
        teams=tuple(run.team or run.tag for run in runs),
        rankings=rankings,
        qrels=qrels,
        scores=score_runs(rankings, qrels, numbers, [*measures, JUDGED], state.relevant_from, best_grade, samples),
    )
