"""Scoring a later round: what was judged before is taken out of the runs, so that nothing known helps them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Documents = NDArray[np.int32]
Run = Mapping[int, Documents]


@dataclass(frozen=True, eq=False)
class ResidualRuns:
    """Runs without what was judged before, the other documents moved up in their order."""

    runs: tuple[dict[int, Documents], ...]
    removed: tuple[int, ...]  # of each run: how many documents, over all topics


def residual_runs(runs: Sequence[Run], judged_before: Mapping[int, Documents]) -> ResidualRuns:
    """Take the documents that were judged before out of runs, {topic key: document numbers best first}.

    Residual collection, as in TREC-COVID (Voorhees et al., SIGIR Forum 2020). A document whose text changed since, and
    that is judged anew, should not be among those judged before.
    """
    tables = {topic: _table(documents) for topic, documents in judged_before.items()}
    left = tuple({topic: _without(ranking, tables.get(topic)) for topic, ranking in run.items()} for run in runs)
    before, after = ([sum(ranking.size for ranking in run.values()) for run in several] for several in (runs, left))
    return ResidualRuns(left, tuple(all_of - some for all_of, some in zip(before, after, strict=True)))


def residual_qrels(
    qrels: Mapping[int, Mapping[int, int]], judged_before: Mapping[int, Documents]
) -> dict[int, dict[int, int]]:
    """Take the same documents out of the qrels, {topic key: {document: grade}}, which score the runs that are left.

    A topic of which nothing is left is left out.
    """
    known = {topic: set(documents.tolist()) for topic, documents in judged_before.items()}
    left = {
        topic: {document: grade for document, grade in grades.items() if document not in known.get(topic, ())}
        for topic, grades in qrels.items()
    }
    return {topic: grades for topic, grades in left.items() if grades}


def _table(documents: Documents) -> NDArray[np.bool_]:
    """Mark the documents; one more than the highest, for every higher number is clipped to it."""
    table = np.zeros(int(documents.max(initial=0)) + 2, np.bool_)
    table[documents] = True
    return table


def _without(ranking: Documents, table: NDArray[np.bool_] | None) -> Documents:
    if table is None:
        return ranking
    return ranking[~table.take(ranking, mode="clip")]
