"""How often people click at each position: that is what they click on there, not how good it is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.marks import Marks
from annotator.clicks.evaluation.logs.page_views import PageViews

DEEPEST = 50  # position that is told of


@dataclass(frozen=True)
class PositionClicks:
    """One position on the first pages of a variant."""

    variant: str
    position: int
    shown: int  # first pages on which a result stood there
    clicked: int  # first pages on which it was clicked, once or more

    @property
    def rate(self) -> float | None:
        """Clicked of shown; None where nothing was shown."""
        return self.clicked / self.shown if self.shown else None


def clicks_by_position(views: PageViews, variants: tuple[str, ...]) -> tuple[PositionClicks, ...]:
    """Count the first pages by position, variant by variant, down to the last position that any of them has.

    A page that is told of as a whole is taken to have shown a result at every position.
    """
    clicked = _pages_by_position(views, _once(views.clicked), len(variants))
    shown = _pages_by_position(views, views.shown, len(variants))  # a view shows a position once
    deepest = int(np.flatnonzero((clicked + shown).any(axis=0)).max(initial=-1)) + 1
    shown += np.bincount(views.variant[views.is_first_page & (views.results == 0)], minlength=len(variants))[:, None]
    return tuple(
        PositionClicks(name, place + 1, int(shown[code, place]), int(clicked[code, place]))
        for code, name in enumerate(variants)
        for place in range(deepest)
    )


def _once(marks: Marks) -> Marks:
    """The same with one mark of several at one position of a view."""
    _, first = np.unique((marks.view.astype(np.int64) << 32) + marks.position, return_index=True)
    return Marks(marks.view[first], marks.position[first], marks.docno[first])


def _pages_by_position(views: PageViews, marks: Marks, variants: int) -> NDArray[np.int64]:
    """Count the marks on first pages at each position: shape (variants, `DEEPEST`)."""
    counts = (marks.position >= 1) & (marks.position <= DEEPEST) & views.is_first_page[marks.view]
    cells = views.variant[marks.view[counts]] * np.int32(DEEPEST) + marks.position[counts] - 1
    return np.bincount(cells, minlength=variants * DEEPEST).reshape(variants, DEEPEST)
