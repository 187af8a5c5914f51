"""Joins rankings with qrels: by database document numbers, or as matched with a qrels file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics.judged_rankings import JudgedRankings, Strata, SubtopicRows, UnjudgedRows
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.qrels.graded_topic import ABSENT, GRADES, arrays_of
from annotator.evaluation.qrels.qrels_table import QrelsTable, SubtopicGrades
from annotator.evaluation.qrels.samples import Samples

NOT_SAMPLED: Mapping[int, Mapping[int, int]] = {}

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, eq=False)
class _TopicQrels:
    """One topic's qrels as parallel arrays."""

    documents: NDArray[np.int32]
    grades: NDArray[np.int16]

    @classmethod
    def of(cls, qrels: Mapping[int, int]) -> "_TopicQrels":
        return cls(*arrays_of(qrels))


@dataclass(frozen=True, eq=False)
class _Entries:
    """The qrels as parallel arrays, entries by topic."""

    grade: NDArray[np.int16]
    first: NDArray[np.intp]
    stratum: NDArray[np.intp]  # numbered over all topics together
    strata: NDArray[np.intp]  # the topic of each stratum


@dataclass(frozen=True, eq=False)
class _Rows:
    """The retrieved documents that the qrels list, by ranking, then by rank."""

    ranking: NDArray[np.intp]
    rank: NDArray[np.int32]
    grade: NDArray[np.int16]
    stratum: NDArray[np.intp]


def judge_matched(table: QrelsTable, runs: Sequence[MatchedRun]) -> JudgedRankings:
    """Join runs that were matched with a table: a ranking for each run and each of its topics, topics within runs."""
    topics = len(table.topics)
    topic = np.repeat(np.arange(topics), np.diff(table.first))
    stratum, strata = (topic, np.arange(topics)) if table.strata is None else _number_strata(topic, table.strata)
    entry = np.concatenate([run.entry for run in runs])
    rows = _Rows(
        ranking=np.concatenate([run.topic + number * topics for number, run in enumerate(runs)]),
        rank=np.concatenate([run.rank for run in runs]),
        grade=table.grades[entry],
        stratum=stratum[entry],
    )
    retrieved = np.concatenate([run.retrieved for run in runs])
    entries = _Entries(table.grades, table.first, stratum, strata)
    counts = np.bincount(rows.ranking, minlength=retrieved.size)
    judged = _assemble(rows, counts, retrieved, np.tile(np.arange(topics), len(runs)), entries)
    if table.subtopics is None:
        return judged
    return replace(judged, subtopics=_subtopic_rows(entry[rows.grade >= 0], table, table.subtopics))


def _subtopic_rows(entry: NDArray[np.intp], table: QrelsTable, grades: SubtopicGrades) -> SubtopicRows:
    """Give each judged row, whose entries these are, its grades by subtopic."""
    sizes = np.diff(grades.first)
    counts = sizes[entry]
    row = np.repeat(np.arange(entry.size), counts)
    of_row = np.arange(row.size) + (grades.first[entry] - (np.cumsum(counts) - counts))[row]
    by_docno = np.empty(table.docnos.size, np.intp)
    by_docno[np.argsort(table.docnos, kind="stable")] = np.arange(table.docnos.size)
    return SubtopicRows(
        row=row,
        subtopic=grades.subtopic[of_row],
        grade=grades.grade[of_row],
        topic=grades.topic,
        listed_document=np.repeat(by_docno, sizes),
        listed_subtopic=grades.subtopic,
        listed_grade=grades.grade,
    )


def judge_rankings(
    rankings: Sequence[tuple[int, NDArray[np.int32]]],
    qrels: Mapping[int, Mapping[int, int]],
    strata: Mapping[int, Mapping[int, int]] = NOT_SAMPLED,
) -> JudgedRankings:
    """Join rankings, each a topic's key and document numbers best first, with `{topic: {document: grade}}`.

    A topic without qrels has no judged documents. An empty ranking is a run that returned nothing for the topic,
    which trec_eval -c counts as 0. Document numbers are 0 or more, each once in a ranking. `strata`,
    `{topic: {document: stratum}}`, has every document of the qrels of a sampled topic; the documents
    of any other topic are one stratum. Raises `InvalidValueError` for a grade that 16 bits cannot hold.
    """
    members: dict[int, list[int]] = {}
    for index, (topic, _) in enumerate(rankings):
        members.setdefault(topic, []).append(index)
    listed = [_TopicQrels.of(qrels.get(topic, {})) for topic in members]
    retrieved = np.fromiter((documents.size for _, documents in rankings), np.intp, len(rankings))
    # One slot more than the highest document, to which every higher number is clipped as absent.
    table = np.full(max((int(one.documents.max(initial=0)) for one in listed), default=0) + 2, ABSENT, np.int16)
    if len(listed) == 1 and not strata:  # as in collections of many runs, whose rankings are not parted and joined
        found = _look_up(table, listed[0], [documents for _, documents in rankings], retrieved)
        of_topic = np.zeros(len(rankings), np.intp)
        ranking = np.repeat(np.arange(len(rankings)), found.counts)
        rows = _Rows(ranking, found.rank, found.grade, np.zeros(ranking.size, np.intp))
        return _assemble(rows, found.counts, retrieved, of_topic, _unsampled(listed))
    ranks: list[NDArray[np.int32]] = [np.empty(0, np.int32)] * len(rankings)
    grades: list[NDArray[np.int16]] = [np.empty(0, np.int16)] * len(rankings)
    topic_of, counts = np.zeros(len(rankings), np.intp), np.zeros(len(rankings), np.intp)
    for number, (one, indexes) in enumerate(zip(listed, members.values(), strict=True)):
        found = _look_up(table, one, [rankings[index][1] for index in indexes], retrieved[indexes])
        topic_of[indexes], counts[indexes] = number, found.counts
        for index, piece in zip(indexes, found.pieces, strict=True):
            ranks[index], grades[index] = found.rank[piece], found.grade[piece]
    ranking = np.repeat(np.arange(len(rankings)), counts)
    entries = _unsampled(listed) if not strata else _sampled(listed, [strata.get(topic, {}) for topic in members])
    # Without a sample a topic is one stratum.
    stratum = np.repeat(topic_of, counts) if not strata else _strata_of_rows(rankings, ranks, topic_of, listed, entries)
    rows = _Rows(ranking, _joined(ranks, np.int32), _joined(grades, np.int16), stratum)
    return _assemble(rows, counts, retrieved, topic_of, entries)


@dataclass(frozen=True, eq=False)
class _Found:
    """The retrieved documents of one topic's rankings that its qrels list."""

    counts: NDArray[np.intp]  # of each ranking
    rank: NDArray[np.int32]  # by ranking
    grade: NDArray[np.int16]

    @property
    def pieces(self) -> list[slice]:
        """The places of each ranking's documents."""
        return [slice(begin, end) for begin, end in pairwise([0, *np.cumsum(self.counts).tolist()])]


def _look_up(
    table: NDArray[np.int16], qrels: _TopicQrels, rankings: Sequence[NDArray[np.int32]], sizes: NDArray[np.intp]
) -> _Found:
    """Find the documents of one topic's qrels in all its rankings, which have these sizes; the table is restored."""
    table[qrels.documents] = qrels.grades
    grades = table.take(np.concatenate(rankings), mode="clip")
    table[qrels.documents] = ABSENT
    rows = np.flatnonzero(grades > ABSENT)
    after = np.cumsum(sizes)
    ends = np.searchsorted(rows, after)
    counts = np.diff(ends, prepend=0)
    # The documents of one topic fit 32 bits, which take half the time of 64.
    rank = rows.astype(np.int32)
    rank -= np.repeat((after - sizes - 1).astype(np.int32), counts)
    return _Found(counts, rank, grades[rows])


def _unsampled(listed: Sequence[_TopicQrels]) -> _Entries:
    """Use one stratum for the pool of each topic."""
    counts = np.fromiter((one.grades.size for one in listed), np.intp, len(listed))
    topics = np.arange(len(listed))
    grades = _joined([one.grades for one in listed], np.int16)
    return _Entries(grades, _starts(counts), np.repeat(topics, counts), topics)


def _sampled(listed: Sequence[_TopicQrels], strata: Sequence[Mapping[int, int]]) -> _Entries:
    """Assign the documents of each topic to its strata; a topic without strata is one stratum."""
    topic = np.repeat(np.arange(len(listed)), [one.documents.size for one in listed])
    stratum = [
        np.array([of_topic.get(document, 0) for document in one.documents.tolist()], np.int32)
        for one, of_topic in zip(listed, strata, strict=True)
    ]
    numbers, of_strata = _number_strata(topic, _joined(stratum, np.int32))
    entries = _unsampled(listed)
    return _Entries(entries.grade, entries.first, numbers, of_strata)


def _strata_of_rows(
    rankings: Sequence[tuple[int, NDArray[np.int32]]],
    ranks: Sequence[NDArray[np.int32]],
    topic_of: NDArray[np.intp],
    listed: Sequence[_TopicQrels],
    entries: _Entries,
) -> NDArray[np.intp]:
    """Find the stratum of every retrieved document that the qrels list, by ranking, then by rank."""
    table = np.zeros(max((int(one.documents.max(initial=0)) for one in listed), default=0) + 1, np.intp)
    found: list[NDArray[np.intp]] = [np.empty(0, np.intp)] * len(rankings)
    for topic, one in enumerate(listed):
        table[one.documents] = entries.stratum[entries.first[topic] : entries.first[topic + 1]]
        for index in np.flatnonzero(topic_of == topic).tolist():
            found[index] = table[rankings[index][1][ranks[index] - 1]]
    return _joined(found, np.intp)


def _number_strata(topic: NDArray[np.intp], stratum: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the strata over all topics: the stratum of each entry, and the topic of each stratum."""
    spread = int(stratum.max(initial=0)) + 1
    keys, numbers = np.unique(topic * spread + stratum, return_inverse=True)
    return numbers, keys // spread


def _assemble(
    rows: _Rows, counts: NDArray[np.intp], retrieved: NDArray[np.intp], topic: NDArray[np.intp], entries: _Entries
) -> JudgedRankings:
    """Part the rows, so many of each ranking, into those with a grade and those that are not judged."""
    unjudged, of_judged = np.empty(0, np.intp), rows
    if rows.grade.min(initial=0) < 0:
        judged = rows.grade >= 0
        unjudged, kept = np.flatnonzero(~judged), np.flatnonzero(judged)
        of_judged = _Rows(rows.ranking[kept], rows.rank[kept], rows.grade[kept], rows.stratum[kept])
        counts = np.bincount(of_judged.ranking, minlength=retrieved.size)
    topic_grade, topic_first, of_grade = _ideals(entries)
    return JudgedRankings(
        ranking=of_judged.ranking,
        rank=of_judged.rank,
        grade=of_judged.grade,
        first_row=_starts(counts),
        retrieved=retrieved,
        topic=topic,
        topic_grade=topic_grade,
        topic_first=topic_first,
        unjudged=UnjudgedRows(rows.ranking[unjudged], rows.rank[unjudged]),
        strata=Strata(
            of_row=of_judged.stratum,
            of_unjudged=rows.stratum[unjudged],
            of_grade=of_grade,
            topic=entries.strata,
            pooled=np.bincount(entries.stratum, minlength=entries.strata.size),
        ),
    )


def _ideals(entries: _Entries) -> tuple[NDArray[np.int16], NDArray[np.intp], NDArray[np.intp]]:
    """Sort every topic's grades, best first: the grades, the index of each topic's first, and the stratum of each."""
    topics = entries.first.size - 1
    judged = np.flatnonzero(entries.grade >= 0)
    topic = np.repeat(np.arange(topics), np.diff(entries.first))[judged]
    # One sort key: the topic, then the grade descending.
    order = judged[np.argsort(topic * (GRADES.max + 1) + (GRADES.max - entries.grade[judged]), kind="stable")]
    return entries.grade[order], _starts(np.bincount(topic, minlength=topics)), entries.stratum[order]


def _joined(pieces: Sequence[NDArray[Kind]], kind: type[Kind]) -> NDArray[Kind]:
    return np.concatenate([np.empty(0, kind), *pieces])


def _starts(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate(([0], np.cumsum(counts)))


@dataclass(frozen=True, eq=False)
class JudgedBatch:
    """Rankings joined with the settled grades, and with the grades of the sample."""

    settled: JudgedRankings
    sampled: JudgedRankings

    def of(self, measure: Measure) -> JudgedRankings:
        """Return the rankings that a measure is computed from."""
        return self.sampled if measure.definition.estimates else self.settled


def judge_batch(
    rankings: Sequence[tuple[int, NDArray[np.int32]]],
    qrels: Mapping[int, Mapping[int, int]],
    samples: Samples,
    measures: Iterable[Measure],
) -> JudgedBatch:
    """Join rankings as `judge_rankings` does, also with the samples if some measure estimates from them."""
    settled = judge_rankings(rankings, qrels)
    of_topics = {topic: sample for topic, sample in samples.items() if topic in qrels}
    if not of_topics or not any(measure.definition.estimates for measure in measures):
        return JudgedBatch(settled, settled)
    drawn = {topic: sample.grades(qrels[topic]) for topic, sample in of_topics.items()}
    strata = {topic: sample.strata for topic, sample in of_topics.items()}
    return JudgedBatch(settled, judge_rankings(rankings, {**qrels, **drawn}, strata))
