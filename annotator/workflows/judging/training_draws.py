"""Which training documents an attempt has, and in which order."""

from collections import Counter
from random import Random


def draw(stored: int, size: int | None, attempt: int, *, seed: str) -> list[int]:
    """Places (from 0) of the documents of an attempt (from 1) in the order of showing: `size` of them, or all.

    An attempt draws from the documents that the attempts before it had least often, so that it has other ones as long
    as there are any. With all documents in each attempt the first has them in their order, later ones in random orders.
    """
    if size is None or size >= stored:
        return list(range(stored)) if attempt == 1 else _reordered(stored, f"{seed}:{attempt}")
    shown: Counter[int] = Counter()
    for number in range(1, attempt):
        shown.update(_least_shown(stored, size, shown, f"{seed}:{number}"))
    return _least_shown(stored, size, shown, f"{seed}:{attempt}")


def _least_shown(stored: int, size: int, shown: Counter[int], seed: str) -> list[int]:
    drawn = sorted(_shuffled(stored, seed), key=lambda place: shown[place])[:size]
    # Otherwise those that earlier attempts had would always come last.
    return [drawn[at] for at in _shuffled(size, f"{seed}:order")]


def _reordered(stored: int, seed: str) -> list[int]:
    order = _shuffled(stored, seed)
    return [*order[1:], *order[:1]] if order == sorted(order) else order


def _shuffled(count: int, seed: str) -> list[int]:
    order = list(range(count))
    Random(seed).shuffle(order)  # noqa: S311 - an order, no secret
    return order
