"""A process's cache of grades, ranked lists, scores and leaderboards, topic by topic.

Everything is kept under what it was made from, and is used only where that is still exactly the same. Nothing is ever
invalidated, so that several processes with caches of their own can never show what is no longer so.
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

MOST_VIEWS = 4  # of collections, of which lists and grades are kept: 4 bytes a line of a run, about 20 a judgement
MOST_RUN_SETS = 2  # of each view: the present runs, and those of an earlier moment that teams see
MOST_GRADINGS = 6  # of each view: ways to settle its grades, and versions of its qrels
MOST_MEASURES = 64  # of each grading, those used last: as much as the leaderboard of the most measures takes, and more
MOST_BOARDS = 24  # of each collection: gradings, measures, order and so on, each of the latest state only

# One topic's values, one a run, in their order; of the measures those used last come last.
CachedScores = OrderedDict[Measure, Values]
# Topic id → the mark under which it was graded, and its grades.
Marked = Mapping[int, tuple[Hashable, GradedTopic]]
Key = TypeVar("Key", bound=Hashable)
Cached = TypeVar("Cached")


@dataclass(eq=False)
class GradedTopics:
    """All topics under one way to grade, each with the mark under which it was graded."""

    topics: dict[int, tuple[Hashable, GradedTopic]] = field(default_factory=dict)

    def stale(self, marks: Mapping[int, Hashable]) -> list[int]:
        """The topics that are not here under their present mark."""
        return [topic for topic, mark in marks.items() if topic not in self.topics or self.topics[topic][0] != mark]

    def earlier(self, topics: Collection[int]) -> dict[int, tuple[Hashable, GradedTopic]]:
        """What is here of these topics, whatever its mark."""
        return {topic: self.topics[topic] for topic in topics if topic in self.topics}

    def renew(self, marks: Mapping[int, Hashable], graded: Mapping[int, GradedTopic]) -> dict[int, GradedTopic]:
        """Take these grades of the stale topics, forget topics without a mark, and return the grades of all others."""
        # Marks that are equal may be of different moments: the present one is kept.
        self.topics = {
            topic: (mark, graded[topic] if topic in graded else self.topics[topic][1]) for topic, mark in marks.items()
        }
        return {topic: one for topic, (_, one) in self.topics.items()}


@dataclass(eq=False)
class CachedView:
    """What is kept of one view of a collection whatever runs it has: grades, and runs of the present and of before.

    Whoever settles grades holds the lock; the settled grades are read by several threads at once.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    gradings: OrderedDict[Hashable, GradedTopics] = field(default_factory=OrderedDict)
    run_sets: "OrderedDict[Hashable, CachedRuns]" = field(default_factory=OrderedDict)

    def grading(self, key: Hashable) -> GradedTopics:
        """What is kept of one way to grade."""
        return _recall(self.gradings, key, GradedTopics, MOST_GRADINGS)


@dataclass(eq=False)
class CachedRuns:
    """What is kept of one view of a collection with some runs: lists, values and leaderboards.

    Neither a list nor a run ever changes. Whoever loads lists or scores holds the lock; leaderboards are read by
    several threads at once.
    """

    view: CachedView = field(default_factory=CachedView)
    runs: tuple[int, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)
    lists: dict[int, list[RankedDocuments]] = field(default_factory=dict)
    scores: OrderedDict[Hashable, dict[int, tuple[Hashable, CachedScores]]] = field(default_factory=OrderedDict)
    boards: OrderedDict[Hashable, tuple[Hashable, Leaderboard]] = field(default_factory=OrderedDict)
    lock_of_boards: threading.Lock = field(default_factory=threading.Lock)

    def missing_lists(self, topics: Collection[int]) -> dict[tuple[int, ...], dict[int, dict[int, RankedDocuments]]]:
        """Which lists of these topics have to be loaded: {runs: {topic: the lists of the other runs, by run}}.

        Lists that the view has with another set of runs are taken from there.
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
        """Take the lists of topics, those that are known by run and those of `runs` that were loaded."""
        for topic, by_run in known.items():
            every = {**by_run, **dict(zip(runs, loaded.get(topic, ()), strict=True))}
            self.lists[topic] = [every[run] for run in self.runs]

    def scores_of(self, key: Hashable, marks: Mapping[int, Hashable]) -> dict[int, CachedScores]:
        """The values of topics by one way to grade; none are there yet of a topic that has another mark now."""
        kept = _recall(self.scores, key, dict[int, tuple[Hashable, CachedScores]], MOST_GRADINGS)
        for gone in kept.keys() - marks.keys():
            del kept[gone]
        for topic, mark in marks.items():
            if topic not in kept or kept[topic][0] != mark:
                kept[topic] = (mark, OrderedDict())
        return {topic: values for topic, (_, values) in kept.items()}

    def find_board(self, key: Hashable, state: Hashable) -> Leaderboard | None:
        """The leaderboard that was made under this key in exactly this state."""
        with self.lock_of_boards:
            kept = self.boards.get(key)
            if kept is None or kept[0] != state:
                return None
            self.boards.move_to_end(key)
            return kept[1]

    def keep_board(self, key: Hashable, state: Hashable, board: Leaderboard) -> None:
        """Keep it in the place of the one of an earlier state."""
        with self.lock_of_boards:
            self.boards.pop(key, None)
            _recall(self.boards, key, lambda: (state, board), MOST_BOARDS)


@dataclass(eq=False)
class ScoreCache:
    """The cache of one process; no request for one collection waits for a request for another."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    # In the order of use.
    views: OrderedDict[tuple[int, Hashable], CachedView] = field(default_factory=OrderedDict)

    def of(self, collection: int, view: Hashable, state: Hashable, runs: Sequence[int] = ()) -> CachedRuns:
        """What is kept of a view of a collection, such as one round, with exactly these runs in this state.

        Each run that arrives makes another set of runs; the sets before it are forgotten, or every process would keep
        the values of several.
        """
        with self.lock:
            kept = _recall(self.views, (collection, view), CachedView, MOST_VIEWS)
            return _recall(kept.run_sets, state, lambda: CachedRuns(kept, tuple(runs)), MOST_RUN_SETS)


def add_scores(
    kept: Mapping[int, CachedScores], scores: Mapping[int, Mapping[Measure, Values]], used: Sequence[Measure]
) -> None:
    """Keep new values of topics, and forget those of the measures used longest ago; `used` are used now."""
    for topic, of_topic in kept.items():
        of_topic.update(scores.get(topic, {}))
        for measure in used:
            if measure in of_topic:
                of_topic.move_to_end(measure)
        while len(of_topic) > max(MOST_MEASURES, len(used)):
            of_topic.popitem(last=False)


def _lists_of(kept: Sequence[CachedRuns], topic: int) -> dict[int, RankedDocuments]:
    """The lists of one topic by run, as far as they are kept."""
    return {run: of_run for one in kept for run, of_run in zip(one.runs, one.lists.get(topic, ()), strict=False)}


def _recall(kept: OrderedDict[Key, Cached], key: Key, make: Callable[[], Cached], most: int) -> Cached:
    """Find what is kept or make it, and forget what was used longest ago."""
    if key not in kept:
        kept[key] = make()
        while len(kept) > most:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]
