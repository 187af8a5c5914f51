"""One run's value on each topic, with the worst, the median and the best of all runs, whose names are not shown.

With few other runs, they reveal too much: of two runs, one's value is twice the median less the own one. So they are
shown only with enough others, of enough teams that no team alone knows all of them but one.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import Number
from annotator.spreadsheets import csv_text

LEAST_TEAMS, LEAST_RUNS = 3, 5  # of other teams and runs
# Of several tasks, the best on a topic would be that of the few runs of its task.
WITHOUT_TASK = Sentence(
    "The worst, the median and the best of all runs are not shown: the runs of your team belong to no task, and runs "
    "are compared within a task."
)


@dataclass(frozen=True)
class TopicStanding:
    """One topic: the run's own value, and the worst, the median and the best of all runs.

    Worst and best are None where no value is better, and all three where they would reveal too much.
    """

    topic: str
    own: Number
    worst: Number | None
    median: float | None
    best: Number | None


@dataclass(frozen=True)
class Standing:
    """A run's values on every topic, by one measure; `untold` is why those of all runs are hidden."""

    run: str
    measure: str
    among: int
    topics: tuple[TopicStanding, ...]
    untold: Sentence | None


def standing(board: Leaderboard, tag: str, measure: str, *, hidden: Sentence | None = None) -> Standing:
    """Compare a run with all runs of the leaderboard, itself included; not where a reason `hidden` is given.

    Raises `NotFoundError` when the run or the measure is not on it.
    """
    own = next((row for row in board.rows if row.tag == tag), None)
    if own is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    if measure not in board.measures:
        raise NotFoundError("The measure “%(measure)s” is not on this page.", measure=measure)
    place = board.measures.index(measure)
    better = parse_measure(measure).definition.better
    others = [row for row in board.rows if row.tag != tag and (row.team is None or row.team != own.team)]
    untold = hidden or _untold(others)
    beside = board.rows if untold is None else ()
    topics = (
        _on_topic(topic, own.by_topic[topic][place], [row.by_topic[topic][place] for row in beside], better)
        for topic in board.topics
    )
    return Standing(tag, measure, len(board.rows), tuple(topics), untold)


def standings_csv(found: Sequence[Standing], *, beside: bool = True) -> str:
    """CSV with one line per run, measure and topic, in full precision, with the worst, the median and the best.

    Where these are hidden, every line gives the reason; without `beside` they are left out.
    """
    told = ["worst", "median", "best"] if all(one.untold is None for one in found) else ["worst_median_and_best"]
    headings = ["run", "measure", "topic", "value", *(told if beside else [])]
    rows = [
        [one.run, one.measure, of.topic, of.own, *(_beside(one, of) if beside else [])]
        for one in found
        for of in one.topics
    ]
    return csv_text([headings, *rows])


def standing_as_json(found: Standing) -> dict[str, object]:
    """The comparison as JSON; `untold` is why those of all runs are null, and null where they are shown."""
    return {
        "run": found.run,
        "measure": found.measure,
        "among": found.among,
        "untold": None if found.untold is None else str(found.untold),
        "topics": [asdict(one) for one in found.topics],
    }


def _beside(found: Standing, one: TopicStanding) -> list[Number | str | None]:
    return [one.worst, one.median, one.best] if found.untold is None else [str(found.untold)]


def _untold(others: Sequence[LeaderboardRow]) -> Sentence | None:
    """Why the values of these and of a team's own runs are hidden; None where they are shown."""
    teams = {row.team for row in others if row.team is not None}
    if len(teams) >= LEAST_TEAMS and len(others) >= LEAST_RUNS:
        return None
    return Sentence(
        "The worst, the median and the best of all runs are not shown: with few runs they would reveal the values of "
        "another team. They need at least %(runs)d runs of others in time, of at least %(teams)d teams.",
        {"runs": LEAST_RUNS, "teams": LEAST_TEAMS},
    )


def _on_topic(topic: str, own: Number, values: Sequence[Number], better: Better) -> TopicStanding:
    if not values:
        return TopicStanding(topic, own, None, None, None)
    ends = {Better.MORE: (min(values), max(values)), Better.LESS: (max(values), min(values))}
    worst, best = ends.get(better, (None, None))
    return TopicStanding(topic, own, worst, float(median(values)), best)
