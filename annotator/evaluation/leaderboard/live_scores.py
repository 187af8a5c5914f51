"""A cache of scores topic by topic: when one topic's grades change, only that topic is settled and scored again.

Everything is kept under what it was made from, and is used only where that is still exactly the same; nothing is ever
told to forget, so that several processes with memories of their own can never show what is no longer so.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.join_qrels import judge_batch
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat, Values
from annotator.evaluation.qrels.graded_topic import GradedTopic

MOST_VIEWS = 4  # of collections, of which lists and grades are kept: 4 bytes a line of a run, about 20 a judgement
MOST_RUN_SETS = 2  # of each view: the present runs, and those of an earlier moment that teams see
MOST_GRADINGS = 6  # of each view: ways to settle its grades, and versions of its qrels
MOST_MEASURES = 64  # of each grading, those used last: as much as the leaderboard of the most measures takes, and more
SCORED_AT_ONCE = 125_000  # documents of ranked lists; what is made of more takes memory, and falls out of the caches
MOST_RESULTS = 24  # of each collection: gradings, measures, order and so on, each of the latest state only

# Topic key → the documents that each run returned, best first; the runs in their order.
Lists = Mapping[int, Sequence[NDArray[np.int32]]]
# From the ids of runs and topics the lists of these.
Load = Callable[[Collection[int], Collection[int]], Mapping[int, Sequence[NDArray[np.int32]]]]
# One topic's values, one a run, in their order; of the measures those used last come last.
TopicValues = OrderedDict[Measure, Values]
# From the topics that are stale, and what was kept of them with its marks, what they are now.
Make = Callable[[Collection[int], Mapping[int, tuple[Hashable, GradedTopic]]], Mapping[int, GradedTopic]]
Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Grading:
    """How values come about beside the grades: from which grade on documents are relevant, and the scale's best one."""

    relevant_from: int
    best_grade: int
    compat: Compat = Compat.TREC_EVAL_10


@dataclass(eq=False)
class GradedTopics:
    """All topics under one way to grade, each with the mark under which it was made."""

    topics: dict[int, tuple[Hashable, GradedTopic]] = field(default_factory=dict)

    def refresh(self, marks: Mapping[int, Hashable], make: Make) -> dict[int, GradedTopic]:
        """The topics of `marks`, those made under another mark made by `make`, the others as they are."""
        stale = [topic for topic, mark in marks.items() if topic not in self.topics or self.topics[topic][0] != mark]
        earlier = {topic: self.topics[topic] for topic in stale if topic in self.topics}
        made = dict(make(stale, earlier)) if stale else {}
        same = {topic: graded for topic, (_, graded) in self.topics.items() if topic not in earlier}
        # Marks that are equal may tell of different moments: the present one is kept.
        self.topics = {topic: (mark, same[topic] if topic in same else made[topic]) for topic, mark in marks.items()}
        return {topic: graded for topic, (_, graded) in self.topics.items()}


@dataclass(eq=False)
class OneView:
    """What is kept of one view of a collection whatever runs it has: grades, and runs of the present and of before.

    Who settles grades holds the lock; what comes out of that is read by many at once.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    gradings: OrderedDict[Hashable, GradedTopics] = field(default_factory=OrderedDict)
    run_sets: "OrderedDict[Hashable, OneCollection]" = field(default_factory=OrderedDict)

    def grading(self, key: Hashable) -> GradedTopics:
        """What is kept of one way to grade."""
        return _recall(self.gradings, key, GradedTopics, MOST_GRADINGS)


@dataclass(eq=False)
class OneCollection:
    """What is kept of one view of a collection with some runs: their lists and values. Neither list nor run changes.

    Who reads lists or scores holds the lock; what comes out of that is shown by many at once.
    """

    view: OneView = field(default_factory=OneView)
    runs: tuple[int, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)
    lists: dict[int, list[NDArray[np.int32]]] = field(default_factory=dict)
    values: OrderedDict[Hashable, dict[int, tuple[Hashable, TopicValues]]] = field(default_factory=OrderedDict)
    results: OrderedDict[Hashable, tuple[Hashable, object]] = field(default_factory=OrderedDict)
    lock_of_results: threading.Lock = field(default_factory=threading.Lock)

    def values_of(self, key: Hashable, marks: Mapping[int, Hashable]) -> dict[int, TopicValues]:
        """The values of topics by one way to grade; none are there yet of a topic that has another mark now."""
        kept = _recall(self.values, key, dict[int, tuple[Hashable, TopicValues]], MOST_GRADINGS)
        for gone in kept.keys() - marks.keys():
            del kept[gone]
        for topic, mark in marks.items():
            if topic not in kept or kept[topic][0] != mark:
                kept[topic] = (mark, OrderedDict())
        return {topic: values for topic, (_, values) in kept.items()}

    def complete_lists(self, topics: Collection[int], load: Load) -> None:
        """Load the lists of these topics that are not here yet, but for those that the view has with other runs."""
        beside = [other for other in list(self.view.run_sets.values()) if other is not self]
        lacking: dict[tuple[int, ...], list[int]] = {}
        found = {topic: _lists_of(beside, topic) for topic in topics if topic not in self.lists}
        for topic, known in found.items():
            lacking.setdefault(tuple(run for run in self.runs if run not in known), []).append(topic)
        for runs, some in lacking.items():
            loaded = load(runs, some) if runs else {}
            for topic in some:
                found[topic].update(zip(runs, loaded.get(topic, ()), strict=True))
                self.lists[topic] = [found[topic][run] for run in self.runs]

    def result(self, key: Hashable, state: Hashable, make: Callable[[], Kept]) -> Kept:
        """What was made under this key in exactly this state before, or else is made now; a former state's is gone.

        Nobody waits while it is made, so that two who ask at once may both make it; they make the same.
        """
        with self.lock_of_results:
            kept = self.results.get(key)
            if kept is not None and kept[0] == state:
                self.results.move_to_end(key)
                return kept[1]  # type: ignore[return-value]  # keys name the kind
        made = make()
        with self.lock_of_results:
            self.results.pop(key, None)
            _recall(self.results, key, lambda: (state, made), MOST_RESULTS)
        return made


@dataclass(eq=False)
class LiveScores:
    """The memory of one process; who asks for one collection waits for nobody who asks for another."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    # In the order of use.
    views: OrderedDict[tuple[int, Hashable], OneView] = field(default_factory=OrderedDict)

    def of(self, collection: int, view: Hashable, state: Hashable, runs: Sequence[int] = ()) -> OneCollection:
        """What is kept of a view of a collection, such as one round, with exactly these runs in this state.

        Each run that arrives makes another set of runs; the sets before it are forgotten, or every process would keep
        the values of several.
        """
        with self.lock:
            kept = _recall(self.views, (collection, view), OneView, MOST_VIEWS)
            return _recall(kept.run_sets, state, lambda: OneCollection(kept, tuple(runs)), MOST_RUN_SETS)


def score_topics(
    topics: Mapping[int, GradedTopic],
    kept: Mapping[int, TopicValues],
    lists: Lists,
    runs: int,
    measures: Sequence[Measure],
    grading: Grading,
) -> None:
    """Add the values of these measures that topics lack; a measure's value never depends on other topics."""
    wanted = frozenset(measures)
    groups: dict[frozenset[Measure], list[int]] = {}
    for key in topics:
        groups.setdefault(wanted.difference(kept[key]), []).append(key)
    groups.pop(frozenset(), None)
    for lacking, keys in groups.items():
        for some in _batches(keys, lists):
            _score(some, {key: topics[key] for key in some}, kept, lists, runs, lacking, grading)
    for key in topics:
        _forget_measures(kept[key], measures)


def _score(
    keys: Sequence[int],
    topics: Mapping[int, GradedTopic],
    kept: Mapping[int, TopicValues],
    lists: Lists,
    runs: int,
    measures: Collection[Measure],
    grading: Grading,
) -> None:
    rankings = [(key, lists[key][run]) for run in range(runs) for key in keys]
    samples = {key: sample for key in keys if (sample := topics[key].sample) is not None}
    judged = judge_batch(rankings, {key: topics[key].by_document for key in keys}, samples, measures)
    for measure in measures:
        values = measure.values(
            judged.of(measure), grading.relevant_from, compat=grading.compat, best_grade=grading.best_grade
        ).reshape(runs, len(keys))
        for place, key in enumerate(keys):
            kept[key][measure] = np.ascontiguousarray(values[:, place])


def _batches(keys: Sequence[int], lists: Lists) -> Iterator[list[int]]:
    """Topics whose lists have about so many documents together as are scored at once; at least one each time."""
    batch: list[int] = []
    size = 0
    for key in keys:
        size += sum(map(len, lists[key]))
        batch.append(key)
        if size >= SCORED_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _forget_measures(kept: TopicValues, used: Sequence[Measure]) -> None:
    """Forget the values of measures used longest ago beyond those that are kept; these are used now."""
    for measure in used:
        kept.move_to_end(measure)
    while len(kept) > max(MOST_MEASURES, len(used)):
        kept.popitem(last=False)


def _lists_of(kept: Sequence[OneCollection], topic: int) -> dict[int, NDArray[np.int32]]:
    """The lists of one topic by run, as far as they are kept."""
    return {run: of_run for one in kept for run, of_run in zip(one.runs, one.lists.get(topic, ()), strict=False)}


def _recall(kept: OrderedDict[Key, Kept], key: Key, make: Callable[[], Kept], most: int) -> Kept:
    """Find what is kept or make it, and forget what was asked for longest ago."""
    if key not in kept:
        kept[key] = make()
        while len(kept) > most:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]
