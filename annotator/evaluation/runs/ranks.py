"""The ranks of some documents in their lists: trec_eval's order, worked out for those alone."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.table_tokens import Words
from annotator.evaluation.runs.run_scores import Scores

Positions = NDArray[np.intp]


KEY_BITS = 64
DISTINCT_BITS = 48


def ranks_of(rows: Positions, lists: Positions, begins: Positions, scores: Scores, words: Words) -> Positions:
    """Return the rank, from 1, of each of `rows` in its list: score descending, then docno (bytes) descending.

    A row is a retrieved document; list i is the rows from `begins[i]` to the next. `lists` names the list of each of
    `rows`. Only documents that share their score with one of `rows` are ever compared by docno.
    """
    falls = scores[1:] < scores[:-1]
    falls[begins[1:] - 1] = True
    if falls.all():
        return rows - begins[lists] + 1
    rises = scores[1:] > scores[:-1]
    rises[begins[1:] - 1] = False
    if not rises.any():
        return _with_ties(rows, np.arange(scores.size), rows, falls, words) - begins[lists] + 1
    list_of_row = np.repeat(np.arange(begins.size), np.diff(begins, append=scores.size))
    order = np.lexsort((-scores, list_of_row))
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    falls = scores[order[1:]] < scores[order[:-1]]
    falls[begins[1:] - 1] = True
    return _with_ties(places[rows], order, rows, falls, words) - begins[lists] + 1


def _with_ties(
    places: Positions, order: Positions, rows: Positions, falls: NDArray[np.bool_], words: Words
) -> Positions:
    """Return where `rows` stand once ties are settled; without that they stand at `places` of `order`."""
    firsts = np.concatenate(([0], np.flatnonzero(falls) + 1))
    sizes = np.diff(firsts, append=order.size)
    ties = np.searchsorted(firsts, places, side="right") - 1
    shared = sizes[ties] > 1
    if not shared.any():
        return places
    is_open = np.zeros(firsts.size, np.bool_)
    is_open[ties[shared]] = True
    open_ties = np.flatnonzero(is_open)
    lengths = sizes[open_ties]
    ends = np.cumsum(lengths)
    spots = np.arange(ends[-1]) + np.repeat(firsts[open_ties] - (ends - lengths), lengths)
    members = order[spots]
    place_of_row = np.empty(order.size, np.intp)
    place_of_row[order] = np.arange(order.size)
    place_of_row[members[_order_within(np.repeat(np.arange(open_ties.size), lengths), words[members])]] = spots
    return place_of_row[rows]


def _order_within(ties: Positions, words: Words) -> Positions:
    """Order documents by tie, and those of a tie by docno descending.

    One sort by the tie's number and the first bits in which any two docnos differ leaves few to be sorted by all.
    """
    last_first = [~word.byteswap() for word in words.T]
    if ties[-1] >> (KEY_BITS - DISTINCT_BITS):
        return np.lexsort((*reversed(last_first), ties))
    keys = (ties.astype(np.uint64) << np.uint64(DISTINCT_BITS)) | _distinct_bytes(last_first)
    order = np.argsort(keys)
    keys = keys[order]
    equals_next = keys[1:] == keys[:-1]
    spots = np.flatnonzero(np.append(equals_next, False) | np.append(False, equals_next))
    if spots.size:
        equal = order[spots]
        order[spots] = equal[np.lexsort((*(word[equal] for word in reversed(last_first)), ties[equal]))]
    return order


def _distinct_bytes(words: list[Words]) -> Words:
    """Return what `DISTINCT_BITS` hold of each text from the first bit in which any two differ; first byte highest.

    There must be two that differ, as there are when a tie is to be settled.
    """
    place, word = next((place, word) for place, word in enumerate(words) if np.any(word != word[0]))
    following = words[place + 1] if place + 1 < len(words) else np.zeros_like(word)
    skipped = KEY_BITS - int(np.bitwise_or.reduce(word ^ word[0])).bit_length()
    distinct = word << np.uint64(skipped)
    if skipped:
        distinct |= following >> np.uint64(KEY_BITS - skipped)
    return distinct >> np.uint64(KEY_BITS - DISTINCT_BITS)
