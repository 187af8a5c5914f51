"""Impressions and clicks counted by position and by query, for each variant."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog
from annotator.clicks.evaluation.logs.page_views import Marks, PageViews

DEEPEST = 50  # deepest position shown


@dataclass(frozen=True)
class PositionClicks:
    """One position on the first pages of a variant."""

    variant: str
    position: int
    shown: int  # first pages with a result at this position
    clicked: int  # first pages with a click at this position

    @property
    def rate(self) -> float | None:
        """The share of impressions that were clicked; None without impressions."""
        return self.clicked / self.shown if self.shown else None


def clicks_by_position(views: PageViews, variants: tuple[str, ...]) -> tuple[PositionClicks, ...]:
    """Count the first pages by position for each variant, down to the last position that any of them has.

    A page that is logged as a whole counts as showing a result at every position.
    """
    clicked = _pages_by_position(views, _once(views.clicked), len(variants))
    shown = _pages_by_position(views, views.shown, len(variants))  # count a position once a view
    deepest = int(np.flatnonzero((clicked + shown).any(axis=0)).max(initial=-1)) + 1
    shown += np.bincount(views.variant[views.is_first_page & (views.results == 0)], minlength=len(variants))[:, None]
    return tuple(
        PositionClicks(name, place + 1, int(shown[code, place]), int(clicked[code, place]))
        for code, name in enumerate(variants)
        for place in range(deepest)
    )


def _once(marks: Marks) -> Marks:
    """Deduplicate the positions of each view."""
    _, first = np.unique((marks.view.astype(np.int64) << 32) + marks.position, return_index=True)
    return Marks(marks.view[first], marks.position[first], marks.docno[first])


def _pages_by_position(views: PageViews, marks: Marks, variants: int) -> NDArray[np.int64]:
    """Count the marks on first pages at each position: shape (variants, `DEEPEST`)."""
    counts = (marks.position >= 1) & (marks.position <= DEEPEST) & views.is_first_page[marks.view]
    cells = views.variant[marks.view[counts]] * np.int32(DEEPEST) + marks.position[counts] - 1
    return np.bincount(cells, minlength=variants * DEEPEST).reshape(variants, DEEPEST)


MOST_QUERIES = 1_000
MOST_DOCUMENTS = 10


@dataclass(frozen=True)
class QueryClicks:
    """One query with one variant; `views` are first pages that showed a top result, as CTR@1 counts them."""

    query: str
    variant: str
    views: int
    top_clicks: int  # of these views, those with a click on the top result
    clicked: tuple[tuple[str, int], ...]  # docno and clicks on all pages, the ten most clicked

    @property
    def ctr_at_1(self) -> float | None:
        """The share of views with a click on the top result; None without views."""
        return self.top_clicks / self.views if self.views else None


@dataclass(frozen=True)
class QueriesClicked:
    """The most frequent queries, each with a row of every variant, and the number of queries left out."""

    rows: tuple[QueryClicks, ...]
    left_out: int


def clicks_by_query(
    log: ClickLog, views: PageViews, is_wanted: Callable[[str], bool], most: int = MOST_QUERIES
) -> QueriesClicked:
    """Count by query: the wanted queries, then the most frequent, at most `most` in all or as many as are wanted.

    Rows are grouped by query, most frequent first.
    """
    said = views.query != NOT_SAID
    shown = np.bincount(views.query[said], minlength=len(log.queries))
    asked = np.flatnonzero(shown)
    order = asked[np.argsort(-shown[asked], kind="stable")]
    wanted = np.array([is_wanted(log.queries[query]) for query in order], np.bool_)
    others = np.flatnonzero(~wanted)[: max(0, most - int(wanted.sum()))]
    kept = order[np.union1d(np.flatnonzero(wanted), others)]
    counts = said & views.is_first_page & views.has_top
    seen = _by_query(log, views, counts)
    topped = _by_query(log, views, counts & (views.top_clicks > 0))
    documents = _documents(log, views, kept)
    rows = tuple(
        QueryClicks(
            log.queries[query], name, int(seen[query, code]), int(topped[query, code]), documents.get((query, code), ())
        )
        for query in kept.tolist()
        for code, name in enumerate(log.variants)
    )
    return QueriesClicked(rows, asked.size - kept.size)


def _by_query(log: ClickLog, views: PageViews, counts: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count views, (queries, variants)."""
    variants = len(log.variants)
    cells = views.query[counts].astype(np.int64) * variants + views.variant[counts]
    return np.bincount(cells, minlength=len(log.queries) * variants).reshape(-1, variants)


def _documents(
    log: ClickLog, views: PageViews, kept: NDArray[np.intp]
) -> dict[tuple[int, int], tuple[tuple[str, int], ...]]:
    """The most clicked documents by (query, variant), ties by docno."""
    clicked = views.clicked
    known = (clicked.docno != NOT_SAID) & np.isin(views.query[clicked.view], kept)
    view, docno = clicked.view[known], clicked.docno[known]
    keys, clicks = np.unique(np.stack([views.query[view], views.variant[view], docno]), axis=1, return_counts=True)
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for (query, variant, document), count in zip(keys.T.tolist(), clicks.tolist(), strict=True):
        found.setdefault((query, variant), []).append((log.docnos[document], count))
    return {
        cell: tuple(sorted(documents, key=lambda one: (-one[1], one[0]))[:MOST_DOCUMENTS])
        for cell, documents in found.items()
    }
