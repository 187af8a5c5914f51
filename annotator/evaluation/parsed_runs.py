"""What a run file says: a ranked list for each topic, in trec_eval's order."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ParsedList:
    """One topic's documents, best first: score descending, equal scores by document id (bytes) descending.

    `docnos` has dtype `S` (UTF-8) and `scores` float64, both of shape (documents,).
    """

    docnos: NDArray[np.bytes_]
    scores: NDArray[np.float64]

    def numbered(self, numbers: Mapping[str, int]) -> NDArray[np.int32]:
        """The documents as the numbers that a collection gives them."""
        return np.fromiter((numbers[docno.decode()] for docno in self.docnos.tolist()), np.int32, self.docnos.size)


@dataclass(frozen=True, eq=False)
class ParsedRun:
    """One system's ranked lists, topics in the order in which the file names them first; `lines` of it hold data."""

    tag: str
    lists: Mapping[str, ParsedList]
    lines: int

    def docnos(self) -> set[str]:
        """Every document the run has, each once."""
        return {docno.decode() for ranked in self.lists.values() for docno in ranked.docnos.tolist()}

    @property
    def retrieved(self) -> int:
        """Documents in all lists together."""
        return sum(ranked.docnos.size for ranked in self.lists.values())
