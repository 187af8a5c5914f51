"""Depth-k pool: the documents that the top k of each run hold, and which runs they came from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.runs.rankings import check_depths


@dataclass(frozen=True, eq=False)
class PooledTopic:
    """The pool of one topic as contributions: one row each, by document number, then by run."""

    document: NDArray[np.int32]
    run: NDArray[np.intp]  # index into the rankings that were pooled
    rank: NDArray[np.int32]  # from 1

    @property
    def documents(self) -> NDArray[np.int32]:
        """The distinct pooled documents, by number."""
        return np.unique(self.document)


def depth_pool(rankings: Sequence[NDArray[np.int32]], depth: int | Sequence[int]) -> PooledTopic:
    """Pool the top `depth` documents of every run, given one topic's document numbers per run, best first.

    `depth` is one for all runs, or one for each. A deeper pool contains the shallower one, and does not depend on the
    order of the runs. A ranking shorter than its depth contributes all it has. Raises `InvalidValueError` for a
    depth below 1. Spärck Jones and van Rijsbergen, "Report on the need for and provision of an 'ideal' information
    retrieval test collection", 1975.
    """
    depths = [depth] * len(rankings) if isinstance(depth, int) else depth
    check_depths([depth] if isinstance(depth, int) else depths)
    tops = [ranking[:most] for ranking, most in zip(rankings, depths, strict=True)]
    document = np.concatenate([np.empty(0, np.int32), *tops])
    run = np.concatenate([np.empty(0, np.intp), *(np.full(top.size, index) for index, top in enumerate(tops))])
    rank = np.concatenate([np.empty(0, np.int32), *(np.arange(1, top.size + 1, dtype=np.int32) for top in tops)])
    # The rows are sorted by run already, and a stable sort keeps them so within a document.
    order = np.argsort(document, kind="stable")
    return PooledTopic(document[order], run[order], rank[order])
