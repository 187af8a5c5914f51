"""Repeated scoring: runs are joined once with all graded documents, then scored by any subset of the grades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics.join_qrels import judge_matched
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.qrels_table import QrelsTable
from annotator.evaluation.qrels.samples import NO_SAMPLES, Samples

NOT_GRADED = -1
NO_STRATUM = -1
NOTHING_RETRIEVED = np.empty(0, np.int32)
NO_DOCNOS = np.empty(0, np.bytes_)
Pair = tuple[int, int]  # keys of a topic and a document
# Summation in another order of topics changes means in about the 16th digit.
RANKED_DECIMALS = 12


def values_to_rank(measure: Measure, values: Values) -> Values:
    """Return the values by which runs are ranked, as `ranked_values` does."""
    return ranked_values(measure.definition.better, values)


def ranked_values(better: Better, values: Values) -> Values:
    """Negate values if less is better, and make them all equal without a direction, so that the greatest is best.

    They are rounded to twelve decimals, so that equal means do not depend on the order of summation.
    """
    signs = {Better.MORE: 1.0, Better.LESS: -1.0, Better.NEITHER: 0.0}
    turned: Values = np.round(values, RANKED_DECIMALS) * signs[better]
    return turned


def places(ranked: Values) -> list[int]:
    """Return ranks from 1, the greatest first; ties share their best rank."""
    place: list[int] = (1 + np.searchsorted(np.sort(-ranked), -ranked)).tolist()
    return place


@dataclass(frozen=True)
class Scoring:
    """How runs are scored: the measure and the scale."""

    measure: Measure
    relevant_from: int
    best_grade: int

    def order(self, values: Values) -> Values:
        """The values for ranking, as `values_to_rank` returns them."""
        return values_to_rank(self.measure, values)


@dataclass(frozen=True, eq=False)
class TopicValues:
    """One value a run and topic, over the topics with grades."""

    topics: NDArray[np.intp]  # indices into the topics of the runs
    values: Values  # shape: runs, topics


@dataclass(frozen=True, eq=False)
class SampledEntries:
    """The sample of a sampled pool; topics without strata were not sampled."""

    stratum: NDArray[np.int32]  # of each entry; `NO_STRATUM` outside the strata
    is_drawn: NDArray[np.bool_]  # whether each entry was drawn
    has_strata: NDArray[np.bool_]  # whether each entry's topic has strata

    @classmethod
    def of(cls, samples: Samples, items: Mapping[int, Pair], place: Mapping[int, int]) -> "SampledEntries | None":
        """Look up entries, given by item, {id: (topic key, document number)}, in the samples; None without samples."""
        if not samples:
            return None
        stratum = np.full(len(place), NO_STRATUM, np.int32)
        is_drawn, has_strata = np.zeros(len(place), np.bool_), np.zeros(len(place), np.bool_)
        for item, (topic, document) in items.items():
            sample = samples.get(topic)
            if sample is not None:
                has_strata[place[item]] = True
                stratum[place[item]] = sample.strata.get(document, NO_STRATUM)
                is_drawn[place[item]] = document in sample.drawn
        return cls(stratum, is_drawn, has_strata)

    def counts(self, is_graded: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The entries that estimates are computed from: those in strata, or else those with a grade."""
        counts: NDArray[np.bool_] = np.where(self.has_strata, self.stratum != NO_STRATUM, is_graded)
        return counts

    def grades(self, grades: NDArray[np.integer]) -> NDArray[np.integer]:
        """The grades that count: grades of documents that were not drawn are removed."""
        return np.where(self.has_strata & ~self.is_drawn, NOT_GRADED, grades)


@dataclass(frozen=True, eq=False)
class RegradedRuns:
    """Runs joined with documents; an entry is a document of a topic, a row is a retrieved entry.

    Topics are in byte order of their numbers, entries by topic, rows by run, then topic, then rank.
    """

    topics: tuple[str, ...]
    entry_topic: NDArray[np.intp]  # of each entry: index into the topics
    retrieved: NDArray[np.intp]  # shape: runs, topics
    run: NDArray[np.intp]  # of each row
    rank: NDArray[np.int32]
    entry: NDArray[np.intp]
    sample: SampledEntries | None = None  # the sample for measures that estimate, if the pool is one

    @classmethod
    def join(
        cls,
        runs: Sequence[Mapping[int, NDArray[np.int32]]],
        documents: Mapping[int, NDArray[np.int32]],
        numbers: Mapping[int, str],
    ) -> "RegradedRuns":
        """Join runs, each {topic key: document numbers best first}, with documents, {topic key: document numbers}.

        Entries are in the order of these documents, topics by their `numbers`. A run without a list for a topic
        retrieved nothing there.
        """
        keys = sorted(documents, key=lambda topic: numbers[topic].encode())
        first = np.concatenate(([0], np.cumsum([documents[topic].size for topic in keys]))).astype(np.intp)
        table = np.full(max((int(listed.max(initial=0)) for listed in documents.values()), default=0) + 2, -1, np.intp)
        columns = [
            _rows_of_topic(
                table, documents[topic], int(first[place]), [run.get(topic, NOTHING_RETRIEVED) for run in runs]
            )
            for place, topic in enumerate(keys)
        ]
        run, rank, entry = (
            np.concatenate([np.empty(0, np.intp), *(rows[which] for rows in columns)]) for which in range(3)
        )
        order = np.argsort(run, kind="stable")  # keep the order of the topics
        sizes = [[run.get(topic, NOTHING_RETRIEVED).size for topic in keys] for run in runs]
        return cls(
            tuple(numbers[topic] for topic in keys),
            np.repeat(np.arange(len(keys)), np.diff(first)),
            np.array(sizes, np.intp).reshape(len(runs), len(keys)),
            run[order],
            rank[order].astype(np.int32),
            entry[order],
        )

    @classmethod
    def join_items(
        cls,
        runs: Sequence[Mapping[int, NDArray[np.int32]]],
        items: Mapping[int, Pair],
        numbers: Mapping[int, str],
        samples: Samples = NO_SAMPLES,
    ) -> tuple["RegradedRuns", dict[int, int]]:
        """Join runs with pool items, {id: (topic key, document number)}; also return the entry of each item.

        The documents of the samples also become entries, after those of the items.
        """
        samples = {topic: samples[topic] for topic in {topic for topic, _ in items.values()} & samples.keys()}
        others = pairs_of_samples(samples) - set(items.values())
        items = {**items, **{-1 - number: pair for number, pair in enumerate(sorted(others))}}  # ids are not negative
        of_topic: dict[int, list[int]] = {}
        for item, (topic, _) in items.items():
            of_topic.setdefault(topic, []).append(item)
        in_order = sorted(of_topic, key=lambda topic: numbers[topic].encode())
        listed = [item for topic in in_order for item in of_topic[topic]]
        documents = {topic: np.array([items[item][1] for item in of_topic[topic]], np.int32) for topic in in_order}
        place = {item: entry for entry, item in enumerate(listed)}
        return replace(cls.join(runs, documents, numbers), sample=SampledEntries.of(samples, items, place)), place

    def score(self, grades: NDArray[np.integer], scoring: Scoring) -> TopicValues:
        """Score every run by grades, one an entry, `NOT_GRADED` for none, as if the other entries were unjudged.

        Only topics with a grade are scored. A measure that estimates uses the sample.
        """
        is_graded = grades > NOT_GRADED
        topics = np.unique(self.entry_topic[is_graded])
        if not topics.size:
            return TopicValues(topics, np.zeros((len(self.retrieved), 0)))
        counts, strata = is_graded, None
        if self.sample is not None and scoring.measure.definition.estimates:
            counts = self.sample.counts(is_graded) & np.isin(self.entry_topic, topics)
            grades, strata = self.sample.grades(grades), np.maximum(self.sample.stratum[counts], 0)
        sizes = np.bincount(self.entry_topic[counts], minlength=len(self.topics))[topics]
        first = np.concatenate(([0], np.cumsum(sizes)))
        names = tuple(self.topics[topic] for topic in topics.tolist())
        table = QrelsTable(names, first, NO_DOCNOS, grades[counts].astype(np.int16), strata)
        judged = judge_matched(table, self._matched(counts, topics))
        values = scoring.measure.values(judged, scoring.relevant_from, best_grade=scoring.best_grade)
        return TopicValues(topics, values.reshape(len(self.retrieved), topics.size))

    def means(self, grades: NDArray[np.integer], scoring: Scoring) -> Values:
        """Score every run as `score` does and average over topics; raises `InvalidValueError` without grades."""
        return scoring.measure.over_topics(self.score(grades, scoring).values)

    @cached_property
    def row_topic(self) -> NDArray[np.intp]:
        """The topic of each row."""
        return self.entry_topic[self.entry]

    @cached_property
    def _latest(self) -> dict[bytes, list[MatchedRun]]:
        """Cache of the last matching, by the set of graded entries: successive calls often differ only in grades."""
        return {}

    def _matched(self, is_graded: NDArray[np.bool_], topics: NDArray[np.intp]) -> list[MatchedRun]:
        """Return the rows with graded documents, renumbered among these topics and entries."""
        key = np.packbits(is_graded).tobytes()
        matched = self._latest.get(key)
        if matched is None:
            matched = self._match(is_graded, topics)
            self._latest.clear()
            self._latest[key] = matched
        return matched

    def _match(self, is_graded: NDArray[np.bool_], topics: NDArray[np.intp]) -> list[MatchedRun]:
        kept = np.flatnonzero(is_graded[self.entry])
        new_topic = np.zeros(len(self.topics), np.intp)
        new_topic[topics] = np.arange(topics.size)
        topic, entry = new_topic[self.row_topic[kept]], (np.cumsum(is_graded) - 1)[self.entry[kept]]
        rank, retrieved = self.rank[kept], self.retrieved[:, topics]
        bounds = np.searchsorted(self.run[kept], np.arange(len(retrieved) + 1)).tolist()
        return [
            MatchedRun("", retrieved[place], topic[begin:end], rank[begin:end], entry[begin:end], 0)
            for place, (begin, end) in enumerate(pairwise(bounds))
        ]


def pairs_of_samples(samples: Samples) -> set[Pair]:
    """Return (topic, document) for every document of the strata, drawn or not."""
    return {(topic, document) for topic, sample in samples.items() for document in sample.strata}


def _rows_of_topic(
    table: NDArray[np.intp], documents: NDArray[np.int32], first: int, lists: Sequence[NDArray[np.int32]]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return run, rank and entry of the documents of one topic in its lists; the table is restored."""
    table[documents] = np.arange(first, first + documents.size)
    # One slot more than the highest document, to which every higher number is clipped as absent.
    found = table.take(np.concatenate([NOTHING_RETRIEVED, *lists]), mode="clip")
    table[documents] = -1
    sizes = np.array([one.size for one in lists], np.intp)
    run = np.repeat(np.arange(len(lists)), sizes)
    rank = np.arange(1, found.size + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.flatnonzero(found >= 0)
    return run[rows], rank[rows], found[rows]
