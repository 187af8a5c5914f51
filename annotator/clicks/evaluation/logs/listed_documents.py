"""The documents of a file of lists by the codes of a click log, so that millions of clicks find theirs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.interleaving.interleaved_lists import InterleavedLists
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog

Keys = NDArray[np.int64]


class ListedDocuments:
    """The lists that a log may speak of; `teams`, `positions` and `ranks` have an entry for each of their documents.

    `ranks` has shape: documents, runs.
    """

    def __init__(self, log: ClickLog, lists: InterleavedLists) -> None:
        """Take the lists whose topic and number the log has as query and variant, and those documents that it has."""
        queries, numbers, docnos = (
            {name: code for code, name in enumerate(names)} for names in (log.queries, log.variants, log.docnos)
        )
        self._log = log
        listed = sorted(
            (
                (queries[topic], numbers[str(number)], documents)
                for (topic, number), documents in lists.lists.items()
                if topic in queries and str(number) in numbers
            ),
            key=lambda one: one[:2],
        )
        self._lists = _joined(_whole([one[0] for one in listed]), _whole([one[1] for one in listed]), len(numbers))
        placed = sorted(
            (
                (place, docnos[one.docno], one)
                for place, (_, _, documents) in enumerate(listed)
                for one in documents
                if one.docno in docnos
            ),
            key=lambda one: one[:2],
        )
        self._documents = _joined(_whole([one[0] for one in placed]), _whole([one[1] for one in placed]), len(docnos))
        self.teams = _whole([one.team for _, _, one in placed])
        self.positions = _whole([one.position for _, _, one in placed])
        self.ranks = np.array([one.ranks for _, _, one in placed], np.int64).reshape(-1, len(lists.runs))

    def has_list(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell of each of these events of the log whether it is on one of the lists."""
        on_list: NDArray[np.bool_] = self._lists_of(rows) != NOT_SAID
        return on_list

    def places(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Find the entry of each event's document in its list; `NOT_SAID` when there is none."""
        log = self._log
        return _find(self._documents, _joined(self._lists_of(rows), log.docno[rows], len(log.docnos)))

    def _lists_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        log = self._log
        return _find(self._lists, _joined(log.query[rows], log.variant[rows], len(log.variants)))


def _whole(numbers: Sequence[int]) -> Keys:
    return np.array(numbers, np.int64)


def _joined(firsts: NDArray[np.integer], seconds: NDArray[np.integer], count: int) -> Keys:
    """Give pairs of codes one number each; there are `count` seconds, and either may be `NOT_SAID`."""
    keys: Keys = firsts.astype(np.int64) * (count + 1) + seconds + 1
    return keys


def _find(keys: Keys, wanted: Keys) -> NDArray[np.intp]:
    """Find each in keys that are sorted; `NOT_SAID` where it is not among them."""
    if not keys.size:
        return np.full(wanted.size, NOT_SAID)
    places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[places] == wanted, places, NOT_SAID)
