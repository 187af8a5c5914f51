"""Tables of one run, of topics and of two runs; each line of a file includes the grades it was computed from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from annotator.errors import NotFoundError
from annotator.evaluation.inspection.one_topic import FoundDocuments
from annotator.evaluation.metrics.figures import SECOND_MINUS_FIRST
from annotator.spreadsheets import csv_text
from annotator.workflows.leaderboard.compared_runs import ComparedRuns, ComparedScores
from annotator.workflows.leaderboard.inspecting import (
    Choices,
    InspectedRun,
    InspectedTopic,
    InspectedTopics,
)

Row = Sequence[str | int | float | None]
SCORED_BY = ("measure", "qrels", "policy", "grades", "fingerprint")


class Chosen(Protocol):
    """An analysis that knows the grades and measure it was computed from."""

    @property
    def choices(self) -> Choices:
        """The choices it was computed from."""


Found = TypeVar("Found", bound=Chosen)
# The headings, and the function that returns the rows.
Table = tuple[tuple[str, ...], Callable[[Found], Iterator[Row]]]


def table_of(tables: Mapping[str, Table[Found]], name: str, found: Found) -> tuple[tuple[str, ...], list[Row]]:
    """The headings and rows of the table with this name; raises `NotFoundError` for an unknown name."""
    if name not in tables:
        raise NotFoundError("There is no table “%(name)s”.", name=name)
    headings, rows = tables[name]
    return headings, list(rows(found))


def table_csv(tables: Mapping[str, Table[Found]], name: str, found: Found) -> str:
    """The same table as CSV; each line ends with the measure and the grades."""
    headings, rows = table_of(tables, name, found)
    state = found.choices.state
    against = (found.choices.measure, state.named, state.policy, state.grades, state.fingerprint)
    return csv_text([[*headings, *SCORED_BY], *([*row, *against] for row in rows)])


def _bars(found: InspectedRun) -> Iterator[Row]:
    for bar in found.look.bars:
        unjudged = found.look.unjudged_in[bar.topic]
        yield bar.topic, bar.value, bar.median, bar.best, bar.worst, bar.place, unjudged


def _curve(found: InspectedRun) -> Iterator[Row]:
    levels = found.look.raw.levels or (None,) * len(found.look.curve)
    for point, of_topic in zip(found.look.curve, levels, strict=True):
        yield point.level, point.precision, point.median, found.look.raw_topic, of_topic


def _gain(found: InspectedRun) -> Iterator[Row]:
    for point in found.gain:
        yield point.rank, point.gain, point.ideal


def _points(found: InspectedRun) -> Iterator[Row]:
    raw = found.look.raw
    for point in zip(raw.recall, raw.precision, raw.interpolated, strict=True):
        yield found.look.raw_topic, *point


def _scores(found: InspectedRun) -> Iterator[Row]:
    bars = found.look.distribution
    yield from zip(bars.edges, bars.edges[1:], bars.relevant, bars.not_relevant, bars.unjudged, strict=False)


def _unjudged(found: InspectedRun) -> Iterator[Row]:
    for one in found.look.unjudged:
        yield one.topic, one.rank, found.docnos[one.document]


def _ranking(found: InspectedRun) -> Iterator[Row]:
    for one in found.listed:
        yield found.look.raw_topic, one.rank, found.docnos[one.document], one.grade


RUN_TABLES: Mapping[str, Table[InspectedRun]] = {
    "topics": (("topic", "value", "median", "best", "worst", "place", "unjudged"), _bars),
    "curve": (("recall", "precision", "median", "topic", "precision_of_topic"), _curve),
    "points": (("topic", "recall", "precision", "interpolated"), _points),
    "gain": (("rank", "cumulated_gain", "ideal"), _gain),
    "scores": (("from", "to", "relevant", "not_relevant", "unjudged"), _scores),
    "unjudged": (("topic", "rank", "docno"), _unjudged),
    "documents": (("topic", "rank", "docno", "grade"), _ranking),
}


def _difficulties(found: InspectedTopics) -> Iterator[Row]:
    for one in found.difficulties:
        figures = (one.median, one.lower_quartile, one.upper_quartile, one.deviation, one.least, one.greatest)
        yield one.topic, one.place, *(figure.value for figure in figures)


def _topic_scores(found: InspectedTopics) -> Iterator[Row]:
    matrix = found.matrix
    for topic, values in zip(matrix.topics, matrix.values.tolist(), strict=True):
        for tag, value in zip(matrix.tags, values, strict=True):
            yield topic, tag, value


TOPICS_TABLES: Mapping[str, Table[InspectedTopics]] = {
    "topics": (
        ("topic", "place", "median", "lower_quartile", "upper_quartile", "deviation", "least", "greatest"),
        _difficulties,
    ),
    "scores": (("topic", "run", "value"), _topic_scores),
}


def _runs(found: InspectedTopic) -> Iterator[Row]:
    for run in found.look.runs:
        yield found.look.number, run.ranked.place, run.ranked.tag, run.team, run.ranked.value, run.judged_share


def _documents(found: InspectedTopic) -> Iterator[Row]:
    for one in found.look.found.documents:
        docno, searchers = found.docnos[one.document], " ".join(found.searchers.get(one.document, ()))
        runs = (len(one.runs), " ".join(one.runs), " ".join(one.teams))
        yield found.look.number, docno, one.grade, *runs, one.best_rank, searchers


def _counts(count: Callable[[FoundDocuments], Mapping[int, int] | Mapping[str, int]]) -> Callable[..., Iterator[Row]]:
    """Return a function that makes rows of counts of a topic's relevant documents."""

    def rows(found: InspectedTopic) -> Iterator[Row]:
        for name, documents in count(found.look.found).items():
            yield found.look.number, name, documents

    return rows


TOPIC_TABLES: Mapping[str, Table[InspectedTopic]] = {
    "grades": (("topic", "grade", "documents"), _counts(lambda found: found.by_grade)),
    "counts": (("topic", "runs", "documents"), _counts(lambda found: found.by_runs)),
    "teams": (("topic", "team", "documents"), _counts(lambda found: found.unique)),
    "runs": (("topic", "place", "run", "team", "value", "Judged@10"), _runs),
    "documents": (
        ("topic", "docno", "grade", "found_by", "runs", "teams", "best_rank", "found_by_searching"),
        _documents,
    ),
}


def _tests(found: ComparedRuns | ComparedScores) -> Iterator[Row]:
    one = found.look.by_measure[0]
    tests = one.tests
    low, high = tests.t.interval.bounds or (None, None)
    runs = (found.look.first, found.look.second, one.first, one.second)
    judged = (found.look.first_judged, found.look.second_judged)
    figures = (tests.t.statistic, tests.t.p, tests.randomisation.p, tests.signed_ranks.p, tests.signs.p)
    values = (figure.value for figure in (tests.t.difference, tests.t.effect_size, *figures))
    yield *runs, *judged, tests.topics, *values, low, high


def _differences(found: ComparedRuns | ComparedScores) -> Iterator[Row]:
    for one in found.look.by_measure[0].differences.topics:
        yield one.topic, one.first, one.second, one.difference


def _moved(found: ComparedRuns) -> Iterator[Row]:
    for moved in found.look.moved:
        for one in moved.documents:
            yield moved.topic, found.docnos[one.document], one.grade, one.first_rank, one.second_rank, one.gap


def _lists(found: ComparedRuns) -> Iterator[Row]:
    for tag, listed in ((found.look.first, found.lists.first), (found.look.second, found.lists.second)):
        for one in listed:
            yield found.lists.topic, tag, one.rank, found.docnos[one.document], one.grade, one.other_rank


def _curves(found: ComparedRuns) -> Iterator[Row]:
    yield from zip(found.curves.levels, found.curves.first, found.curves.second, strict=True)


TESTS = (
    *("first", "second", "first_mean", "second_mean", "first_judged", "second_judged", "topics"),
    *(SECOND_MINUS_FIRST, "effect_size", "t", "p_t", "p_randomisation", "p_wilcoxon", "p_signs", "low", "high"),
)
DIFFERENCES = ("topic", "first", "second", SECOND_MINUS_FIRST)
# What the scores alone say of two runs.
SCORE_PAIR_TABLES: Mapping[str, Table[ComparedScores]] = {
    "tests": (TESTS, _tests),
    "topics": (DIFFERENCES, _differences),
}
PAIR_TABLES: Mapping[str, Table[ComparedRuns]] = {
    "tests": (TESTS, _tests),
    "topics": (DIFFERENCES, _differences),
    "documents": (("topic", "docno", "grade", "first_rank", "second_rank", SECOND_MINUS_FIRST), _moved),
    "lists": (("topic", "run", "rank", "docno", "grade", "rank_in_other"), _lists),
    "curves": (("recall", "first", "second"), _curves),
}
