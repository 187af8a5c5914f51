"""The report of clicks beside judgements, and its tables as files have them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from annotator.clicks.evaluation.judgements.log_evidence import What
from annotator.clicks.evaluation.judgements.together import Difference, QueryBeside, Says, Verdict
from annotator.errors import Sentence
from annotator.evaluation.leaderboard.graded_runs import Cell, QrelsState
from annotator.evaluation.metrics.figures import SECOND_MINUS_FIRST


class TogetherTable(StrEnum):
    """The tables of the report."""

    VARIANTS = "variants"
    PAIRS = "pairs"
    QUERIES = "queries"
    DOCUMENTS = "documents"


HEADINGS: dict[TogetherTable, tuple[str, ...]] = {
    TogetherTable.VARIANTS: ("log", "variant", "run", "judged", "views", "ctr_at_1", "delta"),
    TogetherTable.PAIRS: ("first", "second", "log", "what", SECOND_MINUS_FIRST, "low", "high", "verdict"),
    TogetherTable.QUERIES: (
        *("topic", "title", "what", "views_first", "views_second", "users_first", "users_second"),
        *("judged_first", "judged_second", "apart"),
    ),
    TogetherTable.DOCUMENTS: ("topic", "docno", "clicks", "rank_first", "rank_second", "standing", "grade"),
}
JUDGED = "judged"  # the key of the judgements among the logs of a pair


class Standing(StrEnum):
    """What is known of a clicked document for the topic, with its grade when it is judged."""

    JUDGED = "judged"
    POOLED = "pooled"  # and not judged
    NOT_POOLED = "not pooled"
    UNKNOWN = "unknown"  # no run has it, and there is no text of it


@dataclass(frozen=True)
class VariantBeside:
    """A variant of a log with the run it represents, if any; values are None where there is none.

    `delta` is how much more often than not it won against the other variant of an interleaving, from -0.5 to 0.5.
    """

    log: str
    variant: str
    tag: str | None
    judged: float | None
    views: int
    clicked_first: float | None
    delta: float | None


@dataclass(frozen=True)
class ClicksOfPair:
    """What one log says of two runs: the second's value less the first's."""

    log: str
    what: What
    difference: Difference


@dataclass(frozen=True)
class PairBeside:
    """Two runs that users were shown; differences are the second's value less the first's."""

    first: str
    second: str
    judged: Difference
    clicks: tuple[ClicksOfPair, ...]
    verdict: Verdict

    @property
    def judges_prefer(self) -> str | None:
        """The better run by the judgements, None where that may be chance."""
        return self._named(self.judged)

    @property
    def users_prefer(self) -> str | None:
        """The better run by the first of the logs that show one."""
        return next((name for one in self.clicks if (name := self._named(one.difference)) is not None), None)

    def _named(self, difference: Difference) -> str | None:
        return {Says.FIRST: self.first, Says.SECOND: self.second}.get(difference.says)


@dataclass(frozen=True)
class SeenDocument:
    """A document that users clicked for a query, or that one of the two runs has at the top."""

    docno: str
    clicks: int
    ranks: tuple[int | None, int | None]  # in the first run and in the second, from 1, where it is at the top
    standing: Standing
    grade: int | None = None


@dataclass(frozen=True)
class QueryApart:
    """A topic on which clicks and judgements differ, with its documents."""

    beside: QueryBeside
    title: str
    documents: tuple[SeenDocument, ...]


@dataclass(frozen=True)
class TogetherReport:
    """All of it; without a log that has two variants with a run each there are no queries, and `asked` is None."""

    measure: str
    state: QrelsState
    variants: tuple[VariantBeside, ...]
    pairs: tuple[PairBeside, ...]
    logs: tuple[str, ...]  # with queries
    asked: str | None
    what: What | None  # by what that log says what users prefer
    runs: tuple[str, str] | None  # of that log, the first and the second
    queries: tuple[QueryApart, ...]
    notices: tuple[Sentence, ...] = ()  # where the pool is a sample

    @property
    def to_pool(self) -> tuple[tuple[str, str], ...]:
        """Topic and docno of the documents of these queries that nobody has pooled."""
        return tuple(
            (query.beside.topic, one.docno)
            for query in self.queries
            for one in query.documents
            if one.standing is Standing.NOT_POOLED
        )

    def table(self, part: TogetherTable) -> tuple[tuple[str, ...], list[list[Cell]]]:
        """Headings and rows of a part, in full precision."""
        rows = {
            TogetherTable.VARIANTS: self._variant_rows,
            TogetherTable.PAIRS: self._pair_rows,
            TogetherTable.QUERIES: self._query_rows,
            TogetherTable.DOCUMENTS: self._document_rows,
        }
        return HEADINGS[part], list(rows[part]())

    def file(self, part: TogetherTable) -> tuple[list[str], list[list[Cell]]]:
        """The table with the measure and the state of the qrels in every row."""
        return self.state.beside(*self.table(part), self.measure)

    def _variant_rows(self) -> Iterator[list[Cell]]:
        for one in self.variants:
            yield [one.log, one.variant, one.tag, one.judged, one.views, one.clicked_first, one.delta]

    def _pair_rows(self) -> Iterator[list[Cell]]:
        for pair in self.pairs:
            said = [(None, JUDGED, pair.judged)] + [(one.log, str(one.what), one.difference) for one in pair.clicks]
            for log, what, difference in said:
                low, high = difference.bounds or (None, None)
                yield [pair.first, pair.second, log, what, difference.value, low, high, pair.verdict.value]

    def _query_rows(self) -> Iterator[list[Cell]]:
        for query in self.queries:
            one = query.beside
            yield [
                one.topic,
                query.title,
                self.what and self.what.value,
                *one.views,
                *one.shares,
                *one.judged,
                one.apart,
            ]

    def _document_rows(self) -> Iterator[list[Cell]]:
        for query in self.queries:
            for one in query.documents:
                yield [query.beside.topic, one.docno, one.clicks, *one.ranks, one.standing.value, one.grade]
