"""Per-process cache of grades, ranked lists, scores and leaderboards, by topic.

Each entry is stored under everything it was computed from, and used only if that is unchanged. There is no
invalidation, so several processes with their own caches never show outdated values.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.runs.rankings import RankedDocuments

MOST_BYTES = 64 << 20  # of ranked lists; what is in use stays, whatever it takes
MOST_VIEWS = 4  # of collections, of which lists and grades are kept: 4 bytes a line of a run, about 20 a judgement
MOST_MARKS = 2  # of each round among the views: that of the present, and that of the version that teams see
MOST_RUN_SETS = 2  # of each view: the current runs, and those of the earlier time that teams see
MOST_GRADINGS = 6  # of each view: ways to settle its grades, and versions of its qrels
MOST_MEASURES = 64  # of each grading, those used last: as much as the leaderboard of the most measures takes, and more
MOST_BOARDS = 24  # of each set of runs: gradings, measures, order and so on, each of the latest state only

# One topic's values, one per run, in their order; measures in LRU order, most recent last.
CachedScores = OrderedDict[Measure, Values]
# Topic id → (mark at grading, grades).
Marked = Mapping[int, tuple[Hashable, GradedTopic]]
Key = TypeVar("Key", bound=Hashable)
Cached = TypeVar("Cached")


@dataclass(eq=False)
class GradedTopics:
    """All topics by one way to grade, each with its mark at grading."""

    topics: dict[int, tuple[Hashable, GradedTopic]] = field(default_factory=dict)

    def stale(self, marks: Mapping[int, Hashable]) -> list[int]:
        """The topics that are not cached under their current mark."""
        return [topic for topic, mark in marks.items() if topic not in self.topics or self.topics[topic][0] != mark]

    def earlier(self, topics: Collection[int]) -> dict[int, tuple[Hashable, GradedTopic]]:
        """The cached entries of these topics, whatever their mark."""
        return {topic: self.topics[topic] for topic in topics if topic in self.topics}

    def renew(self, marks: Mapping[int, Hashable], graded: Mapping[int, GradedTopic]) -> dict[int, GradedTopic]:
        """Store the grades of the stale topics, evict topics without a mark, and return all current grades."""
        # Equal marks may be of different times: keep the current one.
        self.topics = {
            topic: (mark, graded[topic] if topic in graded else self.topics[topic][1]) for topic, mark in marks.items()
        }
        return {topic: one for topic, (_, one) in self.topics.items()}


@dataclass(eq=False)
class CachedView:
    """Cache of one view of a collection, whatever its runs: grades, and sets of runs.

    Settling grades requires the lock; several threads may read settled grades at once.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    gradings: OrderedDict[Hashable, GradedTopics] = field(default_factory=OrderedDict)
    run_sets: "OrderedDict[Hashable, CachedRuns]" = field(default_factory=OrderedDict)

    def grading(self, key: Hashable) -> GradedTopics:
        """The cached grades of one way to grade."""
        return _recall(self.gradings, key, GradedTopics, MOST_GRADINGS)

    @property
    def list_bytes(self) -> int:
        """The bytes of its ranked lists; those that two sets of runs share count twice."""
        return sum(runs.list_bytes for runs in list(self.run_sets.values()))


@dataclass(eq=False)
class CachedRuns:
    """Cache of one view of a collection with one set of runs: lists, values and leaderboards.

    Lists and runs are immutable. Loading lists or scores requires the lock; several threads may read leaderboards at
    once.
    """

    view: CachedView = field(default_factory=CachedView)
    runs: tuple[int, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)
    lists: dict[int, list[RankedDocuments]] = field(default_factory=dict)
    list_bytes: int = 0
    scores: OrderedDict[Hashable, dict[int, tuple[Hashable, CachedScores]]] = field(default_factory=OrderedDict)
    boards: OrderedDict[Hashable, tuple[Hashable, Leaderboard]] = field(default_factory=OrderedDict)
    lock_of_boards: threading.Lock = field(default_factory=threading.Lock)

    def missing_lists(self, topics: Collection[int]) -> dict[tuple[int, ...], dict[int, dict[int, RankedDocuments]]]:
        """The lists of these topics that must be loaded: {runs: {topic: the lists of the other runs, by run}}.

        Lists cached for another set of runs of the view are reused.
        """
        beside = [other for other in list(self.view.run_sets.values()) if other is not self]
        missing: dict[tuple[int, ...], dict[int, dict[int, RankedDocuments]]] = {}
        for topic in topics:
            if topic not in self.lists:
                known = _lists_of(beside, topic)
                missing.setdefault(tuple(run for run in self.runs if run not in known), {})[topic] = known
        return missing

    def add_lists(
        self,
        runs: Sequence[int],
        known: Mapping[int, Mapping[int, RankedDocuments]],
        loaded: Mapping[int, Sequence[RankedDocuments]],
    ) -> None:
        """Store the lists of topics: the known ones by run, and the loaded ones of `runs`."""
        for topic, by_run in known.items():
            every = {**by_run, **dict(zip(runs, loaded.get(topic, ()), strict=True))}
            self.lists[topic] = [every[run] for run in self.runs]
            self.list_bytes += sum(documents.nbytes for documents in self.lists[topic])

    def scores_of(self, key: Hashable, marks: Mapping[int, Hashable]) -> dict[int, CachedScores]:
        """The cached values of topics by one way to grade; empty for topics whose mark has changed."""
        kept = _recall(self.scores, key, dict[int, tuple[Hashable, CachedScores]], MOST_GRADINGS)
        for gone in kept.keys() - marks.keys():
            del kept[gone]
        for topic, mark in marks.items():
            if topic not in kept or kept[topic][0] != mark:
                kept[topic] = (mark, OrderedDict())
        return {topic: values for topic, (_, values) in kept.items()}

    def find_board(self, key: Hashable, state: Hashable) -> Leaderboard | None:
        """The leaderboard cached under this key for exactly this state."""
        with self.lock_of_boards:
            kept = self.boards.get(key)
            if kept is None or kept[0] != state:
                return None
            self.boards.move_to_end(key)
            return kept[1]

    def keep_board(self, key: Hashable, state: Hashable, board: Leaderboard) -> None:
        """Cache the leaderboard, replacing that of an earlier state."""
        with self.lock_of_boards:
            self.boards.pop(key, None)
            _recall(self.boards, key, lambda: (state, board), MOST_BOARDS)


@dataclass(eq=False)
class ScoreCache:
    """The cache of one process; requests for different collections do not wait for each other."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    # By collection, view and mark, in LRU order.
    views: OrderedDict[tuple[int, Hashable, Hashable], CachedView] = field(default_factory=OrderedDict)

    def of(
        self, collection: int, view: Hashable, state: Hashable, runs: Sequence[int] = (), mark: Hashable = None
    ) -> CachedRuns:
        """The cache of a view of a collection, such as one round, with exactly these runs in this state.

        Each new run makes another set of runs; earlier sets are evicted, or every process would keep the values of
        several. So are views under an earlier `mark`, before those of other rounds and collections.
        """
        with self.lock:
            self._evict_large((collection, view, mark))
            beside = [key for key in self.views if key[:2] == (collection, view) and key[2] != mark]
            for earlier in beside[: 1 - MOST_MARKS]:
                del self.views[earlier]
            kept = _recall(self.views, (collection, view, mark), CachedView, MOST_VIEWS)
            return _recall(kept.run_sets, state, lambda: CachedRuns(kept, tuple(runs)), MOST_RUN_SETS)

    def _evict_large(self, used: tuple[int, Hashable, Hashable]) -> None:
        """Evict views, least recently used first, until the lists of all take no more than they may."""
        sizes = {key: view.list_bytes for key, view in self.views.items()}
        for key in [key for key in self.views if key != used]:
            if sum(sizes.values()) <= MOST_BYTES:
                return
            del self.views[key], sizes[key]


def add_scores(
    kept: Mapping[int, CachedScores], scores: Mapping[int, Mapping[Measure, Values]], used: Sequence[Measure]
) -> None:
    """Cache new values of topics, and evict the least recently used measures; `used` are in use now."""
    for topic, of_topic in kept.items():
        of_topic.update(scores.get(topic, {}))
        for measure in used:
            if measure in of_topic:
                of_topic.move_to_end(measure)
        while len(of_topic) > max(MOST_MEASURES, len(used)):
            of_topic.popitem(last=False)


def _lists_of(kept: Sequence[CachedRuns], topic: int) -> dict[int, RankedDocuments]:
    """The cached lists of one topic by run."""
    return {run: of_run for one in kept for run, of_run in zip(one.runs, one.lists.get(topic, ()), strict=False)}


def _recall(kept: OrderedDict[Key, Cached], key: Key, make: Callable[[], Cached], most: int) -> Cached:
    """Return the cached value or create it, and evict the least recently used."""
    if key not in kept:
        kept[key] = make()
        while len(kept) > most:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]
