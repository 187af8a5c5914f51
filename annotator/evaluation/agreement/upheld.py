"""Whose word an adjudicator let stand: how often each judge had given the grade that was decided."""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.agreement.columns import GRADE, ITEM, JUDGE, Columns, counting_entries


@dataclass(frozen=True)
class Upheld:
    """Of the documents a judge graded and an adjudicator decided: in how many the judge's grade was the one."""

    judge: str
    decided: int
    upheld: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.upheld / self.decided


def upheld(
    pieces: Iterable[tuple[AbstractSet[int], Columns]],
    judges: Mapping[int, str],
    topics: Mapping[int, str],
    decided: Mapping[int, int],
) -> list[Upheld]:
    """Count it for every judge of whom something was decided (item id → grade); by name.

    The rest is as in `code_columns`.
    """
    if not decided:
        return []
    entries = counting_entries(pieces, judges, topics)
    met = entries[:, np.isin(entries[ITEM], list(decided))]
    rows = [(judge, decided[item] == grade) for judge, item, grade in met[[JUDGE, ITEM, GRADE]].T.tolist()]
    all_, same = Counter(judge for judge, _ in rows), Counter(judge for judge, is_same in rows if is_same)
    return sorted((Upheld(judges[judge], all_[judge], same[judge]) for judge in all_), key=lambda one: one.judge)
