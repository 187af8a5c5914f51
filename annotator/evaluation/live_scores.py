"""Scores that are kept topic by topic: when one topic's grades change, only that topic is settled and scored anew.

Everything is kept under what it was made from, and is used only where that is still exactly the same; nothing is ever
told to forget, so that several processes with memories of their own can never show what is no longer so.
"""

import gc
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.batches import judge_batch
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat, Values
from annotator.evaluation.qrels_format import WHOLE_TOPIC
from annotator.evaluation.samples import TopicSample

MOST_COLLECTIONS = 4  # whose ranked lists are kept in memory; some 30 megabytes for 143 runs of 30 topics
MOST_RUN_SETS = 2  # of each view of a collection: the present runs, and those of an earlier moment that teams see
MOST_GRADINGS = 6  # of each collection: ways to settle its grades, and versions of its qrels
MOST_MEASURES = 64  # of each grading, those used last: as much as the leaderboard of the most measures takes, and more
MOST_RESULTS = 24  # of each collection: gradings, measures, order and so on, each of the latest state only

# Topic key → the documents that each run returned, best first; the runs in their order.
Lists = Mapping[int, Sequence[NDArray[np.int32]]]
Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Grading:
    """How values come about beside the grades: from which grade on documents are relevant, and the scale's best one."""

    relevant_from: int
    best_grade: int
    compat: Compat = Compat.TREC_EVAL_10


@dataclass(frozen=True, eq=False)
class GradedTopic:
    """The grades of one topic, {document: grade}, with its lines of a qrels file, and the values of the runs."""

    grades: Mapping[int, int]
    lines: bytes
    judges: frozenset[str] = frozenset()
    left_out: int = 0  # documents in dispute
    sample: TopicSample | None = None  # what estimates are computed from beside the grades
    # One a run, in their order; those used last come last.
    values: OrderedDict[Measure, Values] = field(default_factory=OrderedDict)

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """How many documents have each grade."""
        return Counter(self.grades.values())

    @property
    def judged(self) -> int:
        """How many documents have a grade; a negative one is none."""
        return self.relevant(0)

    def relevant(self, relevant_from: int) -> int:
        """How many documents have at least this grade."""
        return sum(count for grade, count in self.counts.items() if grade >= relevant_from)

    def forget_measures(self, used: Sequence[Measure]) -> None:
        """Forget the values of measures used longest ago beyond those that are kept; these are used now."""
        for measure in used:
            self.values.move_to_end(measure)
        while len(self.values) > max(MOST_MEASURES, len(used)):
            self.values.popitem(last=False)


@dataclass(eq=False)
class GradedTopics:
    """All topics under one way to grade, each with the mark under which it was made."""

    topics: dict[int, tuple[Hashable, GradedTopic]] = field(default_factory=dict)

    def refresh(
        self, marks: Mapping[int, Hashable], make: Callable[[Collection[int]], Mapping[int, GradedTopic]]
    ) -> dict[int, GradedTopic]:
        """The topics of `marks`, those made under another mark made anew by `make`, the others as they are."""
        stale = [topic for topic, mark in marks.items() if topic not in self.topics or self.topics[topic][0] != mark]
        made = make(stale) if stale else {}
        for topic in stale:
            self.topics[topic] = (marks[topic], made[topic])
        for gone in self.topics.keys() - marks.keys():
            del self.topics[gone]
        return {topic: self.topics[topic][1] for topic in marks}


@dataclass(eq=False)
class OneCollection:
    """What is kept of one collection and some runs. A document's docno never changes.

    Whoever settles, reads lists or scores holds the lock; what comes out of that is shown by many at once.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    docnos: dict[int, str] = field(default_factory=dict)
    lists: dict[int, list[NDArray[np.int32]]] = field(default_factory=dict)
    gradings: OrderedDict[Hashable, GradedTopics] = field(default_factory=OrderedDict)
    results: OrderedDict[Hashable, tuple[Hashable, object]] = field(default_factory=OrderedDict)
    lock_of_results: threading.Lock = field(default_factory=threading.Lock)

    def grading(self, key: Hashable) -> GradedTopics:
        """What is kept of one way to grade."""
        return _recall(self.gradings, key, GradedTopics, MOST_GRADINGS)

    def complete_lists(
        self, topics: Collection[int], load: Callable[[Collection[int]], Mapping[int, list[NDArray[np.int32]]]]
    ) -> None:
        """Load the lists of these topics that are not here yet."""
        missing = [topic for topic in topics if topic not in self.lists]
        if missing:
            self.lists.update(load(missing))

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
    collections: OrderedDict[tuple[int, Hashable, Hashable], OneCollection] = field(default_factory=OrderedDict)

    def of(self, collection: int, view: Hashable, runs: Hashable) -> OneCollection:
        """What is kept of a view of a collection, such as one round, with exactly these runs.

        Each run that arrives makes another set of runs; the sets before it are forgotten, or every process would keep
        the lists of several.
        """
        with self.lock:
            found = _recall(self.collections, (collection, view, runs), OneCollection, MOST_COLLECTIONS)
            same = [key for key in self.collections if key[:2] == (collection, view)]
            for key in same[:-MOST_RUN_SETS]:
                del self.collections[key]
            return found


@contextmanager
def no_search_for_garbage() -> Iterator[None]:
    """Put off the search for garbage, which takes a third of the time and never finds any.

    What is made on the way has no cycles: it is gone as soon as nothing refers to it. Of several at once only who found
    the search on puts it off, and turns it on again, so that it is never off for longer than one of them takes.
    """
    was_enabled = gc.isenabled()
    if was_enabled:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def score_topics(
    topics: Mapping[int, GradedTopic], lists: Lists, runs: int, measures: Sequence[Measure], grading: Grading
) -> None:
    """Give the topics the values of these measures that they lack; a measure's value never depends on other topics."""
    wanted = frozenset(measures)
    groups: dict[frozenset[Measure], list[int]] = {}
    for key, topic in topics.items():
        groups.setdefault(wanted.difference(topic.values), []).append(key)
    groups.pop(frozenset(), None)
    for lacking, keys in groups.items():
        rankings = [(key, lists[key][run]) for run in range(runs) for key in keys]
        samples = {key: sample for key in keys if (sample := topics[key].sample) is not None}
        judged = judge_batch(rankings, {key: topics[key].grades for key in keys}, samples, lacking)
        for measure in lacking:
            values = measure.values(
                judged.of(measure), grading.relevant_from, compat=grading.compat, best_grade=grading.best_grade
            ).reshape(runs, len(keys))
            for place, key in enumerate(keys):
                topics[key].values[measure] = np.ascontiguousarray(values[:, place])
    for topic in topics.values():
        topic.forget_measures(measures)


def topic_lines(number: str, grades: Iterable[tuple[str, int]]) -> bytes:
    """Write one topic's docnos and grades as `format_qrels` does."""
    in_order = sorted(grades, key=itemgetter(0))
    return "".join([f"{number} 0 {docno} {grade}\n" for docno, grade in in_order]).encode()


def qrels_bytes(topics: Mapping[str, GradedTopic]) -> bytes:
    """Join the lines of topics, by their numbers, as `format_qrels` orders them."""
    numbers = sorted(number for number in topics if topics[number].lines)
    if all(WHOLE_TOPIC.fullmatch(number) for number in numbers):
        numbers.sort(key=int)
    return b"".join(topics[number].lines for number in numbers)


def _recall(kept: OrderedDict[Key, Kept], key: Key, make: Callable[[], Kept], most: int) -> Kept:
    """Find what is kept or make it, and forget what was asked for longest ago."""
    if key not in kept:
        kept[key] = make()
        while len(kept) > most:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]
