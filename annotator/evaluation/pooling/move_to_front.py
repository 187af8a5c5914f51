"""Move-to-front: follow a run while it finds relevant documents, then turn to the next."""

import heapq

from annotator.evaluation.pooling.adaptive import Adaptive, Blocked
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns

UNKNOWN, NOT_RELEVANT, RELEVANT = range(3)

# A run in the queue: misses since its last hit, its place in a tie, its row.
Standing = tuple[int, int, int]


class MoveToFront(Adaptive):
    """Follow a run while it finds relevant documents, then turn to the next: move-to-front.

    Every run begins with the highest priority. The next document of the run in front is judged; if it is relevant the
    run's priority becomes the highest again, else it falls by one. Documents that are judged already move their run
    likewise when it comes to them. This is the local form, topic by topic; the priority is kept as the number of misses
    since the last hit, so that it needs no highest value. Cormack, Palmer and Clarke, SIGIR 1998.
    """

    def __init__(self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1) -> None:
        """Begin with all runs in front."""
        super().__init__(runs, ties=ties, seed=seed)
        self._rows: list[list[int]] = runs.lists.tolist()
        self._tie: list[int] = self.preference.tolist()
        self._given: list[int] = runs.given.tolist()
        self._verdicts = bytearray(runs.candidates)
        self._heads = [0] * len(self._rows)
        tops = [(row, places[0]) for row, places in enumerate(self._rows) if places[0] < runs.candidates]
        self._queue = [self._standing(0, row, top) for row, top in tops]
        heapq.heapify(self._queue)

    def _standing(self, misses: int, row: int, place: int) -> Standing:
        return misses, self._given[row] if self.ties is Ties.FIRST_RUN else self._tie[place], row

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:  # noqa: ARG002  every run that comes to the document learns
        self._verdicts[place] = RELEVANT if is_relevant else NOT_RELEVANT

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        # Where the known verdicts lead depends on nothing that is still to come, so that it need not be walked again.
        self._walk(self._heads, self._queue, self._known.tobytes())
        heads, queue = self._heads.copy(), self._queue.copy()
        self._walk(heads, queue, blocked.tobytes())
        misses, _, row = queue[0]
        return self._rows[row][heads[row]], row, {"rank": heads[row] + 1, "misses": misses}

    def _walk(self, heads: list[int], queue: list[Standing], blocked: bytes) -> None:
        """Move runs on, past blocked documents, until the one in front is at one that is not; some run has one."""
        end = self.runs.candidates
        while True:
            misses, _, row = queue[0]
            places, head = self._rows[row], heads[row]
            place = places[head]
            if not blocked[place]:
                return
            heads[row] = head + 1
            after = places[head + 1]
            if after == end:
                heapq.heappop(queue)
                continue
            verdict = self._verdicts[place]
            if verdict != UNKNOWN:
                misses = 0 if verdict == RELEVANT else misses + 1
            heapq.heapreplace(queue, self._standing(misses, row, after))
