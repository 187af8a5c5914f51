"""The parsed content of a run file: a ranked list for each topic, in trec_eval's order."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Origin:
    """The lines of a list's documents in the file; both int32, of shape (documents,), in the order of the list."""

    lines: NDArray[np.int32]  # from 1
    ranks: NDArray[np.int32]  # the rank column, `run_scores.NO_NUMBER` for values that are no whole number


@dataclass(frozen=True, eq=False)
class ParsedList:
    """One topic's documents, best first: score descending, equal scores by document id (bytes) descending.

    `docnos` has dtype `S` (UTF-8) and `scores` float64, both of shape (documents,).
    """

    docnos: NDArray[np.bytes_]
    scores: NDArray[np.float64]
    origin: Origin | None = None  # only for runs parsed line by line


@dataclass(frozen=True, eq=False)
class ParsedRun:
    """One system's ranked lists, topics in order of first occurrence in the file; `lines` counts its data lines."""

    tag: str
    lists: Mapping[str, ParsedList]
    lines: int


@dataclass(frozen=True, eq=False)
class NumberedList:
    """One topic's documents as numbers of a `DocnoNumbers`, best first as in a `ParsedList`."""

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberedRun:
    """A run whose documents are numbers; topics in order of first occurrence in the file.

    `documents`, `scores` and `origin` hold all lists, one after the other, each best first; list i is from
    `begins[i]` to `begins[i + 1]`.
    """

    tag: str
    topics: tuple[str, ...]
    begins: NDArray[np.intp]  # shape: topics and one more
    documents: NDArray[np.int32]
    scores: NDArray[np.float64]
    origin: Origin

    @property
    def retrieved(self) -> int:
        """The number of documents in all lists, which is also the number of data lines."""
        return self.documents.size

    @property
    def lists(self) -> Mapping[str, NumberedList]:
        """The lists by topic."""
        bounds = self.begins.tolist()
        return {
            topic: NumberedList(self.documents[begin:end], self.scores[begin:end])
            for topic, begin, end in zip(self.topics, bounds, bounds[1:], strict=False)
        }


def ranking_digest(run: NumberedRun) -> str:
    """A digest that is equal for runs of one intake with the same documents in the same order for the same topics."""
    digest = hashlib.sha256()
    bounds = run.begins.tolist()
    for topic, begin, end in sorted(zip(run.topics, bounds, bounds[1:], strict=False)):
        digest.update(f"{topic} {end - begin} ".encode())
        digest.update(run.documents[begin:end].tobytes())
    return digest.hexdigest()
