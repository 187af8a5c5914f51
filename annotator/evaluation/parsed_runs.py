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


@dataclass(frozen=True, eq=False)
class RunDocuments:
    """The documents of a run, each once, and its lists as positions among them, best first."""

    docnos: tuple[str, ...]
    positions: Mapping[str, NDArray[np.int32]]

    def numbered(self, numbers: Mapping[str, int]) -> dict[str, NDArray[np.int32]]:
        """The lists as the numbers that a collection gives the documents."""
        given = np.fromiter((numbers[docno] for docno in self.docnos), np.int32, len(self.docnos))
        return {topic: given[positions] for topic, positions in self.positions.items()}


@dataclass(frozen=True, eq=False)
class ParsedRun:
    """One system's ranked lists, topics in the order in which the file names them first; `lines` of it hold data."""

    tag: str
    lists: Mapping[str, ParsedList]
    lines: int

    def index(self) -> "RunDocuments":
        """Name each document once, so that giving numbers to all of them is quick."""
        lengths = [ranked.docnos.size for ranked in self.lists.values()]
        docnos, positions = np.unique(
            np.concatenate([ranked.docnos for ranked in self.lists.values()]), return_inverse=True
        )
        pieces = np.split(positions.astype(np.int32), np.cumsum(lengths)[:-1])
        return RunDocuments(
            tuple(docno.decode() for docno in docnos.tolist()), dict(zip(self.lists, pieces, strict=True))
        )

    @property
    def retrieved(self) -> int:
        """Documents in all lists together."""
        return sum(ranked.docnos.size for ranked in self.lists.values())
