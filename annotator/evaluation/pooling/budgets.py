"""Budgets: how many documents each topic gets of a total, and the first of each topic's order."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def shares(total: int, sizes: Sequence[int]) -> list[int]:
    """Divide a total over topics that have so many documents to give, evenly.

    What a topic cannot use goes to the others; a remainder goes one each to the first topics that can use more. So the
    shares add up to the total, or to everything there is, and differ by more than 1 only where a topic is used up.
    """
    # At each level, from 0: how many documents there are when every topic gives so many, as far as it can.
    topics_at = np.cumsum(np.bincount(np.asarray(sizes, np.intp), minlength=1)[::-1])[::-1]
    levels = np.append(0, np.cumsum(topics_at[1:]))
    level = int(np.searchsorted(levels, total, side="right")) - 1
    given = [min(size, level) for size in sizes]
    left = total - int(levels[level])
    larger = [topic for topic, size in enumerate(sizes) if size > level]
    for topic in larger[:left]:
        given[topic] += 1
    return given


def take_by_topic(orders: Sequence[NDArray[np.int32]], per_topic: int) -> list[NDArray[np.int32]]:
    """Take the first so many documents of every topic's order."""
    return [order[:per_topic] for order in orders]


def take_in_total(orders: Sequence[NDArray[np.int32]], total: int) -> list[NDArray[np.int32]]:
    """Take so many documents in all from the topics' orders, divided as `shares` does."""
    given = shares(total, [order.size for order in orders])
    return [order[:share] for order, share in zip(orders, given, strict=True)]
