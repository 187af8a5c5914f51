"""The order in which documents are shown to judges, independent of why they were chosen."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

PRIORITY_BITS = 62  # so that a priority plus one fits a signed 64-bit column


def judging_order(docnos: Sequence[str], seed: int, topic: str) -> NDArray[np.int64]:
    """Assign each document a priority, from 0 to 2**62 - 1; the lowest is shown first.

    The order is random, so that it reveals neither run nor rank, and reproducible: a
    priority depends only on the seed, the topic's number and the document's docno. Documents may
    be added in any order, and a growing pool keeps its order.
    """
    # The zero bytes separate topic 1 with document 23 from topic 12 with document 3.
    start = blake2b(f"{seed}\0{topic}\0".encode(), digest_size=8)
    priorities = np.empty(len(docnos), np.int64)
    for index, docno in enumerate(docnos):
        digest = start.copy()
        digest.update(docno.encode())
        priorities[index] = int.from_bytes(digest.digest(), "big") >> (64 - PRIORITY_BITS)
    return priorities


def showing_order(
    showing: str, docnos: Sequence[str], seed: int, topic: str, *, last: int | None = None
) -> NDArray[np.int64]:
    """Assign priorities to documents that join a pool, by one of the display orders.

    `random` is `judging_order`, which mixes them with what the topic has; with `docno`, and with `selection`, the order
    in which they are given here, they come after `last`, the greatest priority that the topic has.
    """
    if showing == "random":
        return judging_order(docnos, seed, topic)
    first = 0 if last is None else last + 1
    order = range(len(docnos)) if showing == "selection" else sorted(range(len(docnos)), key=docnos.__getitem__)
    priorities = np.empty(len(docnos), np.int64)
    priorities[np.array(order, np.intp)] = np.arange(first, first + len(docnos))
    return priorities
