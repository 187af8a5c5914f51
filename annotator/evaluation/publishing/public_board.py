"""What everybody may read of a collection: the facts of its task or tasks, and its runs with or without scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median

from annotator.errors import Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.publishing.veil import Veil

BY_NAME = "run"


@dataclass(frozen=True)
class BesideMedian:
    """A run beside the median of all runs by one measure: 1 if it is better, -1 if worse, 0 if equal.

    `better` and `worse` are the topics on which it is better and worse than the median of all runs on that topic.
    """

    side: int
    better: int
    worse: int


@dataclass(frozen=True)
class PublicRun:
    """A run with one value per measure; None where nothing may or can be shown."""

    name: str
    team: str | None
    scores: tuple[Number, ...]  # empty if only the sides of the median are public
    sides: tuple[BesideMedian | None, ...]  # empty if scores are public; None for a measure that has no better end


@dataclass(frozen=True)
class PublicBoard:
    """The runs by name, and which values of each measure are better."""

    measures: tuple[str, ...]
    directions: tuple[Better, ...]
    relative: bool
    topics: int  # with a judgement
    runs: tuple[PublicRun, ...]
    notices: tuple[Sentence, ...]

    @property
    def orders(self) -> tuple[str, ...]:
        """By what the runs may be sorted, the usual first: a side of the median has no order beyond that of names."""
        return (BY_NAME,) if self.relative else (*self.measures, BY_NAME)

    def sorted_by(self, order: str) -> list[tuple[int | None, PublicRun]]:
        """The runs with their ranks, best first; ties share a rank, and are sorted by name.

        By name there are no ranks, nor by a measure that has no better end; its greatest values come first.
        """
        if order == BY_NAME:
            return [(None, run) for run in self.runs]
        place = self.measures.index(order)
        direction = self.directions[place]
        sign = 1 if direction is Better.LESS else -1
        runs = sorted(self.runs, key=lambda run: sign * run.scores[place])  # stable: ties keep the order of names
        if direction is Better.NEITHER:
            return [(None, run) for run in runs]
        first: dict[Number, int] = {}
        return [(first.setdefault(run.scores[place], rank), run) for rank, run in enumerate(runs, start=1)]


@dataclass(frozen=True)
class PublicPart:
    """A task of several in a collection: its title, its description, which may be empty, and its accepted topics."""

    key: str
    title: str
    description: str
    topics: int


@dataclass(frozen=True)
class PublicResults:
    """The runs and their scores by a released version of the qrels.

    In a collection with several tasks there is a board for each that has one, by its key, and `board` is the first or
    the chosen one.
    """

    released_at: datetime
    version: int  # of the qrels
    kept_at: datetime
    judged: int  # documents with a grade
    teams: int
    veiled: bool
    board: PublicBoard
    of_parts: Mapping[str, PublicBoard] = field(default_factory=dict)
    part: str | None = None  # the key of the task of `board`

    @property
    def runs(self) -> int:
        """The number of runs, of every task."""
        return sum(len(one.runs) for one in self.of_parts.values()) if self.of_parts else len(self.board.runs)

    def of_part(self, key: str) -> "PublicResults":
        """The results with the board of that task."""
        return replace(self, board=self.of_parts[key], part=key)


@dataclass(frozen=True)
class PublicTask:
    """The task of a collection as it is published; texts may be empty.

    `parts` are the tasks of a collection with several. Without `results` there is no leaderboard. `registration_until`
    is None unless teams may register.
    """

    title: str
    description: str
    guidelines: str
    citation: str
    deadline: str  # in words
    topics: int
    registration_until: datetime | None = None
    results: PublicResults | None = None
    parts: tuple[PublicPart, ...] = ()

    @property
    def boards(self) -> tuple[str, ...]:
        """The keys of the tasks that have a leaderboard; empty in a collection that is a single task."""
        return () if self.results is None else tuple(self.results.of_parts)

    def with_board_of(self, key: str | None) -> "PublicTask":
        """The same with the leaderboard of that task; as it is for None."""
        return self if key is None or self.results is None else replace(self, results=self.results.of_part(key))

    @property
    def orders(self) -> tuple[str, ...]:
        """By what the leaderboard may be sorted; empty without one."""
        return () if self.results is None else self.results.board.orders


def public_board(board: Leaderboard, veil: Veil, *, relative: bool) -> PublicBoard:
    """The runs of a leaderboard under their published names; `relative` leaves out every score."""
    sides = _sides(board) if relative else {}
    runs = [
        PublicRun(veil.run(row.tag), veil.team(row.team), () if relative else row.values, sides.get(row.tag, ()))
        for row in board.rows
    ]
    return PublicBoard(
        board.measures,
        board.directions,
        relative,
        len(board.topics),
        tuple(sorted(runs, key=lambda run: natural_order(run.name))),
        (*board.of_scope, *board.of_sample),
    )


def _sides(board: Leaderboard) -> Mapping[str, tuple[BesideMedian | None, ...]]:
    """The sides of every run by tag."""
    columns = [_sides_by(board.rows, board.topics, place, one) for place, one in enumerate(board.directions)]
    return {row.tag: sides for row, sides in zip(board.rows, zip(*columns, strict=True), strict=True)}


def _sides_by(
    rows: Sequence[LeaderboardRow], topics: Sequence[str], place: int, direction: Better
) -> list[BesideMedian | None]:
    if direction is Better.NEITHER:
        return [None] * len(rows)
    sign = -1 if direction is Better.LESS else 1
    of_all = _beside_median([sign * row.values[place] for row in rows])
    by_topic = [_beside_median([sign * row.by_topic[topic][place] for row in rows]) for topic in topics]
    of_runs = zip(*by_topic, strict=True)
    return [
        BesideMedian(side, on_topics.count(1), on_topics.count(-1))
        for side, on_topics in zip(of_all, of_runs, strict=True)
    ]


def _beside_median(values: Sequence[Number]) -> list[int]:
    """The side of each value: 1 above the median, -1 below it, 0 at it."""
    middle = median(values)
    return [(value > middle) - (value < middle) for value in values]
