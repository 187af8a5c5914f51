"""A run matched with qrels: of all it retrieved, only what the qrels list takes room."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class MatchedRun:
    """One run against one `QrelsTable`. A row is a retrieved document that the qrels list, judged or only pooled.

    Rows stand by topic in the table's order, then by rank.
    """

    tag: str
    retrieved: NDArray[np.intp]  # of each topic of the table: documents in the run's list, 0 without a list
    topic: NDArray[np.intp]  # of each row: index into the table's topics, ascending
    rank: NDArray[np.int32]  # of each row: from 1, counted over all documents of the list
    entry: NDArray[np.intp]  # of each row: index into the table's entries
    other_topics: int  # lists of the run for topics that the qrels do not have
