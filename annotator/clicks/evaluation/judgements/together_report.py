"""The report that compares clicks with judgements, and its tables for files."""

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
    """The state of a clicked document for the topic; judged documents also have a grade."""

    JUDGED = "judged"
    POOLED = "pooled"  # in the pool, not judged
    NOT_POOLED = "not pooled"
    UNKNOWN = "unknown"  # in no run, and without text


@dataclass(frozen=True)
class VariantBeside:
    """A variant of a log with the run it is linked to, if any; values are None where missing.

    `delta` is Δ against the other variant of an interleaving, from -0.5 to 0.5, above 0 if this one is preferred.
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
    """The difference between two runs in one log: second minus first."""

    log: str
    what: What
    difference: Difference


@dataclass(frozen=True)
class PairBeside:
    """Two runs that users were shown; differences are second minus first."""

    first: str
    second: str
    judged: Difference
    clicks: tuple[ClicksOfPair, ...]
    verdict: Verdict

    @property
    def judges_prefer(self) -> str | None:
        """The better run by the judgements, None if not significant."""
        return self._named(self.judged)

    @property
    def users_prefer(self) -> str | None:
        """The better run by the first log with a significant difference."""
        return next((name for one in self.clicks if (name := self._named(one.difference)) is not None), None)

    def _named(self, difference: Difference) -> str | None:
        return {Says.FIRST: self.first, Says.SECOND: self.second}.get(difference.says)


@dataclass(frozen=True)
class SeenDocument:
    """A document that users clicked for a query, or that is at the top of one of the two runs."""

    docno: str
    clicks: int
    ranks: tuple[int | None, int | None]  # rank in the first run and in the second, from 1, if at the top
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
    """The report; without a log of two variants linked to runs, `asked` is None and there are no queries."""

    measure: str
    state: QrelsState
    variants: tuple[VariantBeside, ...]
    pairs: tuple[PairBeside, ...]
    logs: tuple[str, ...]  # names of the logs with queries
    asked: str | None
    what: What | None  # the measure of users' preference in that log
    runs: tuple[str, str] | None  # the first and the second run of that log
    queries: tuple[QueryApart, ...]
    notices: tuple[Sentence, ...] = ()  # the sample, if the pool is one

    @property
    def to_pool(self) -> tuple[tuple[str, str], ...]:
        """Topic and docno of the documents of these queries that are not in the pool."""
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
