"""The evidence of an analysed click log about its variants, in one form for comparisons and interleavings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotator.clicks.evaluation.comparison.click_counts import QueryClicks
from annotator.clicks.evaluation.comparison.comparison import ClickComparison
from annotator.clicks.evaluation.comparison.measures import ClickMeasure
from annotator.clicks.evaluation.interleaving.interleaving_scores import InterleavingResult, PairScore, QueryScore
from annotator.clicks.evaluation.judgements.together import Difference, folded, topics_of_queries

MOST_DOCUMENTS = 10  # maximum number of clicked documents of a query


class What(StrEnum):
    """The measure of users' preference."""

    CTR_AT_1 = "CTR@1"
    DELTA = "Δ"  # Δ of an interleaving, from -0.5 to 0.5


@dataclass(frozen=True)
class VariantEffect:
    """The effect between two variants in one log; the difference is second minus first.

    `values` are CTR@1 of each, None without impressions; an interleaving has none.
    """

    what: What
    variants: tuple[str, str]
    difference: Difference
    values: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class AskedQuery:
    """What users did for a query with the first and the second variant: views, hits of the views, and clicks by docno.

    Hits are clicks on the top result; for an interleaving, lists won, ties counting half.
    """

    query: str
    views: tuple[int, int]
    hits: tuple[float, float]
    clicks: Mapping[str, int]

    @property
    def shares(self) -> tuple[float, float]:
        """The hits per view of each variant; 0 without views."""
        first, second = (hits / max(views, 1) for hits, views in zip(self.hits, self.views, strict=True))
        return first, second

    def most_clicked(self) -> list[tuple[str, int]]:
        """Docnos with their clicks, most clicked first."""
        return sorted(self.clicks.items(), key=lambda one: (-one[1], one[0]))[:MOST_DOCUMENTS]


@dataclass(frozen=True)
class LogEvidence:
    """The evidence of a log: impressions of each variant, the effect between every two, and queries of one pair."""

    views: Mapping[str, int]
    effects: tuple[VariantEffect, ...]
    queries: tuple[AskedQuery, ...]  # the first and second are the variants of `effects[0]`

    def of_variant(self, variant: str) -> tuple[float | None, float | None]:
        """Return CTR@1 of a variant, and its Δ against the other variant if there is exactly one."""
        clicked = next((dict(zip(one.variants, one.values, strict=True)).get(variant) for one in self.effects), None)
        preferred = [one for one in self.effects if one.what is What.DELTA]
        if len(preferred) != 1 or preferred[0].difference.value is None or variant not in preferred[0].variants:
            return clicked, None
        value = preferred[0].difference.value
        return clicked, value if variant == preferred[0].variants[1] else -value


def evidence_of_comparison(found: ClickComparison) -> LogEvidence:
    """Build the evidence of a comparison of two variants: CTR@1."""
    row = found.row(ClickMeasure.TOP_CTR)
    effect = VariantEffect(
        What.CTR_AT_1, found.names, _difference(row.difference, row.low, row.high), (row.first, row.second)
    )
    return LogEvidence({one.name: one.pages for one in found.variants}, (effect,), tuple(_queries_of_variants(found)))


def evidence_of_interleaving(found: InterleavingResult) -> LogEvidence:
    """Build the evidence of an interleaving: Δ of every two variants, positive when the second is preferred.

    Without users there is no interval, as lists of one user are not independent.
    """
    effects = [VariantEffect(What.DELTA, (one.first, one.second), _preference(one).turned) for one in found.pairs]
    asked = [one for one in found.queries if effects and (one.first, one.second) == effects[0].variants]
    return LogEvidence(
        dict.fromkeys(found.runs, found.lists),
        tuple(effects),
        tuple(_query_of_lists(one, one.query) for one in asked if one.query is not None),
    )


def _preference(one: PairScore) -> Difference:
    if one.test is None or not one.test.is_by_user:
        return Difference(one.delta)
    return _difference(one.user_delta, one.low, one.high)


def _difference(value: float | None, low: float | None, high: float | None) -> Difference:
    return Difference(value, None if low is None or high is None else (low, high))


def _queries_of_variants(found: ClickComparison) -> Iterator[AskedQuery]:
    """Yield each query with the rows of its two variants joined."""
    rows: dict[str, dict[str, QueryClicks]] = {}
    for row in found.queries:
        rows.setdefault(row.query, {})[row.variant] = row
    for query, of_query in rows.items():
        first, second = (of_query.get(name) or QueryClicks(query, name, 0, 0, ()) for name in found.names)
        clicks = Counter(dict(first.clicked))
        clicks.update(dict(second.clicked))
        yield AskedQuery(query, (first.views, second.views), (first.top_clicks, second.top_clicks), clicks)


def _query_of_lists(one: QueryScore, query: str) -> AskedQuery:
    lists, half = one.wins_first + one.wins_second + one.ties, one.ties / 2
    return AskedQuery(query, (lists, lists), (one.wins_first + half, one.wins_second + half), dict(one.clicked))


def by_topic(queries: Sequence[AskedQuery], titles: Mapping[str, str]) -> dict[str, AskedQuery]:
    """Merge the queries of each topic; queries that match no topic are left out. `titles` are {number: title}."""
    numbers = topics_of_queries(titles)
    found: dict[str, AskedQuery] = {}
    for one in queries:
        number = numbers.get(folded(one.query))
        if number is not None:
            known = found.get(number)
            found[number] = _joined(AskedQuery(number, (0, 0), (0, 0), {}) if known is None else known, one)
    return found


def _joined(one: AskedQuery, other: AskedQuery) -> AskedQuery:
    clicks = Counter(one.clicks)
    clicks.update(other.clicks)
    return AskedQuery(
        one.query,
        (one.views[0] + other.views[0], one.views[1] + other.views[1]),
        (one.hits[0] + other.hits[0], one.hits[1] + other.hits[1]),
        clicks,
    )
