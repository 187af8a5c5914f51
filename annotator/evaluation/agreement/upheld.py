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
    rows = met[[JUDGE, ITEM, GRADE]].T.tolist()
    return count_upheld((judges[judge], decided[item] == grade) for judge, item, grade in rows)


def count_upheld(words: Iterable[tuple[str, bool]]) -> list[Upheld]:
    """Count the judges' words on decided documents, each with whether it was the decision; by name."""
    all_, same = Counter[str](), Counter[str]()
    for judge, is_same in words:
        all_[judge] += 1
        same[judge] += is_same
    return [Upheld(judge, all_[judge], same[judge]) for judge in sorted(all_)]
