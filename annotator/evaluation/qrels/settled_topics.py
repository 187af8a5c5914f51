"""The current opinions of whole topics, settled at once into each topic's grades and lines of the qrels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.qrels.consensus import Opinions
from annotator.evaluation.qrels.graded_topic import GradedTopic, grades_of_16_bits, in_file_order
from annotator.evaluation.qrels.qrels_format import UNJUDGED
from annotator.evaluation.qrels.settling import Rules, SettledItems, settle_columns
from annotator.evaluation.qrels.topic_judgements import (
    ADJUDICATES,
    CURRENT,
    Ids,
    JudgementColumns,
    begins_of,
)

PIECES = 3  # of a line of qrels: topic and iteration, docno, grade
NOBODY = 0  # the owner of a topic without one


class Judge(Protocol):
    """An account of a judge."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def is_machine(self) -> bool:
        """Whether the judge is a machine."""


@dataclass(frozen=True, eq=False)
class CurrentOpinions:
    """Judges' current grades: the judgements, and what policies ask of them, element by element."""

    judgements: JudgementColumns
    opinions: Opinions

    def settle(self, rules: Rules) -> SettledItems:
        """Compute the consensus; raises `InvalidValueError` for an unknown policy."""
        return settle_columns(self.opinions, rules)

    def graded_in(self, settled: SettledItems) -> list[int]:
        """The topics with a settled grade."""
        topic = self.of_items(self.judgements.topic)[settled.has_grade]
        topics: list[int] = topic[begins_of(topic)].tolist()
        return topics

    def counts_by_topic(self, settled: SettledItems, relevant_from: int) -> dict[int, tuple[int, int]]:
        """Topic → its documents with a settled grade, and the relevant ones of these; only topics that have any."""
        topic, grade = self.of_items(self.judgements.topic)[settled.has_grade], settled.grade[settled.has_grade]
        topics, counts = np.unique(topic, return_counts=True)
        relevant = np.searchsorted(np.sort(topic[grade >= relevant_from]), [topics, topics + 1])
        pairs = zip(counts.tolist(), np.diff(relevant, axis=0)[0].tolist(), strict=True)
        return dict(zip(topics.tolist(), pairs, strict=True))

    def grades_by_pair(self, settled: SettledItems) -> dict[tuple[int, int], int]:
        """(topic, document) → settled grade, by topic and docno."""
        columns = (self.of_items(self.judgements.topic), self.of_items(self.judgements.document), settled.grade)
        topic, document, grade = (column[settled.has_grade].tolist() for column in columns)
        return dict(zip(zip(topic, document, strict=True), grade, strict=True))

    def of_items(self, column: Ids) -> Ids:
        """A column of the judgements that is the same for all judgements of an item, one element an item."""
        return column[self.opinions.first]


def current_opinions(
    judgements: JudgementColumns, judges: Mapping[int, Judge], owners: Mapping[int, int | None], *, machines: bool
) -> CurrentOpinions:
    """Select the grades that count now; those of machines only with `machines`. `owners` is by topic.

    Adjudications come last among the opinions on an item, ordered by their present judgement.
    """
    counts = judgements.have(CURRENT) & judgements.is_graded
    of_machines = [id_ for id_, judge in judges.items() if judge.is_machine]
    if of_machines and not machines:
        counts &= ~judgements.by(of_machines)
    kept = judgements.where(counts)
    begins = begins_of(kept.item)
    place = np.arange(kept.item.size) - np.flatnonzero(begins)[np.cumsum(begins) - 1] + 1
    adjudicates = kept.have(ADJUDICATES)
    if adjudicates.any():
        order = np.lexsort((np.where(adjudicates, kept.id, 0), np.cumsum(begins)))
        kept, place, adjudicates = kept.take(order), place[order], adjudicates[order]
    topics = np.flatnonzero(begins_of(kept.topic))
    owner = np.array([owners.get(topic) or NOBODY for topic in kept.topic[topics].tolist()], np.int64)
    owner_of = np.repeat(owner, np.diff(topics, append=kept.topic.size))
    opinions = Opinions(
        item=kept.item,
        grade=kept.grade,
        judge=kept.judge,
        place=place,
        by_owner=np.asarray(kept.judge == owner_of, np.bool_),
        adjudicates=adjudicates,
        is_machine=kept.by(of_machines) if of_machines else np.zeros(place.size, np.bool_),
        judges={judge.name: id_ for id_, judge in judges.items()},
    )
    return CurrentOpinions(kept, opinions)


class GradeThen(Protocol):
    """A judge's grade of a document as it counted at some time."""

    @property
    def judgement_id(self) -> int:
        """The id of the judgement."""

    @property
    def topic_id(self) -> int:
        """The id of the topic."""

    @property
    def pool_item_id(self) -> int:
        """The id of the pool item."""

    @property
    def document_id(self) -> int:
        """The id of the document."""

    @property
    def judge_id(self) -> int:
        """The id of the judge."""

    @property
    def grade(self) -> int:
        """The grade."""

    @property
    def place(self) -> int:
        """The position of the judge in the order of first judgement."""

    @property
    def adjudicates(self) -> bool:
        """Whether it is an adjudication."""


def columns_of_grades(grades: Sequence[GradeThen], docnos: Mapping[int, str]) -> JudgementColumns:
    """Put grades that counted at some time in the order of columns, as if they were current."""
    in_order = sorted(grades, key=lambda one: (one.topic_id, docnos[one.document_id], one.place))
    rows = [
        (one.judgement_id, one.topic_id, one.pool_item_id, one.document_id, one.judge_id, one.grade, one.adjudicates)
        for one in in_order
    ]
    id_, topic, item, document, judge, grade, adjudicates = np.array(rows, np.int64).reshape(-1, 7).T
    begins = begins_of(item)
    return JudgementColumns(
        id=id_,
        topic=topic,
        item=item,
        document=document,
        judge=judge,
        assignment=np.zeros_like(id_),
        grade=grade,
        flags=CURRENT | adjudicates * ADJUDICATES,
        place=np.cumsum(begins) - 1,
        seconds=np.full(id_.size, np.nan),
        docnos=[docnos[one].encode() for one in document[begins].tolist()],
    )


def refused_items(judgements: JudgementColumns, judges: Mapping[int, Judge], *, machines: bool) -> frozenset[int]:
    """The items that a judge could not judge and nobody has graded."""
    current = judgements.where(judgements.have(CURRENT))
    if not machines:
        current = current.where(~current.by([id_ for id_, judge in judges.items() if judge.is_machine]))
    return frozenset(current.item[~current.is_graded].tolist()).difference(current.item[current.is_graded].tolist())


def differing_lines(qrels: bytes, current: CurrentOpinions, settled: SettledItems, numbers: Mapping[int, str]) -> int:
    """Compare qrels, byte by byte, with the settled grades, and count the pairs of topic and document that differ.

    `numbers` is by topic. Lines that differ only in number or order count as one.
    """
    at = 0
    for expected in _expected_topics(current, settled, numbers):
        if not qrels.startswith(expected, at):
            break
        at += len(expected)
    else:
        if at == len(qrels):
            return 0
    expected_lines = b"".join(_expected_topics(current, settled, numbers)).splitlines()
    different = set(expected_lines).symmetric_difference(qrels.splitlines())
    return max(1, len({line.rpartition(b" ")[0] for line in different}))


def _expected_topics(current: CurrentOpinions, settled: SettledItems, numbers: Mapping[int, str]) -> Iterator[bytes]:
    """The lines of each topic in file order, made line by line and apart from `settled_qrels`, to compare with it."""
    topic = current.of_items(current.judgements.topic)[settled.has_grade]
    place = current.of_items(current.judgements.place)[settled.has_grade]
    starts = np.flatnonzero(begins_of(topic)).tolist()
    spans = dict(zip([numbers[one] for one in topic[starts].tolist()], pairwise([*starts, topic.size]), strict=True))
    grades = settled.grade[settled.has_grade]
    ends = {grade: b" %d\n" % grade for grade in np.unique(grades).tolist()}
    docnos = current.judgements.docnos
    for number in in_file_order(spans):
        start, end = spans[number]
        pieces = [b"%s 0 " % number.encode(), b"", b""] * (end - start)
        pieces[1::PIECES] = [docnos[one] for one in place[start:end].tolist()]
        pieces[2::PIECES] = [ends[grade] for grade in grades[start:end].tolist()]
        yield b"".join(pieces)


def line_columns(
    current: CurrentOpinions, settled: SettledItems, unjudged: Sequence[tuple[int, int]]
) -> tuple[Ids, Ids, Ids]:
    """Topics, documents and grades of the lines of qrels: the settled ones, and -1 for unjudged (topic, document)."""
    more = np.array(unjudged, np.int64).reshape(-1, 2).T
    topic, document = (current.judgements.topic, current.judgements.document)
    return (
        np.append(current.of_items(topic)[settled.has_grade], more[0]),
        np.append(current.of_items(document)[settled.has_grade], more[1]),
        np.append(settled.grade[settled.has_grade], np.full(len(unjudged), UNJUDGED)),
    )


def graded_topics(
    current: CurrentOpinions, settled: SettledItems, numbers: Mapping[int, str]
) -> dict[int, GradedTopic]:
    """Divide a settlement by topic, {id: number}, ascending: grades, judges, disputes and lines of the qrels.

    Raises `InvalidValueError` for a grade that 16 bits cannot hold.
    """
    topic, document = current.of_items(current.judgements.topic), current.of_items(current.judgements.document)
    documents = document[settled.has_grade].astype(np.int32)
    grades = grades_of_16_bits(settled.grade[settled.has_grade])
    judges = _judges_by_topic(current.judgements)
    disputed = _by_topic(topic[settled.is_left_out], document[settled.is_left_out])
    return {
        id_: GradedTopic(
            documents[start:end],
            grades[start:end],
            lines,
            frozenset(judges.get(id_, ())),
            frozenset(disputed.get(id_, ())),
        )
        for id_, (start, end, lines) in _lines_by_topic(current, settled, numbers).items()
    }


def settled_qrels(current: CurrentOpinions, settled: SettledItems, numbers: Mapping[int, str]) -> bytes:
    """Write the settled grades of these topics, {id: number}, ascending, in the order of `format_qrels`.

    Raises `InvalidValueError` for a grade that 16 bits cannot hold.
    """
    lines = {numbers[id_]: lines for id_, (_, _, lines) in _lines_by_topic(current, settled, numbers).items()}
    return b"".join([lines[number] for number in in_file_order([one for one in lines if lines[one]])])


def _lines_by_topic(
    current: CurrentOpinions, settled: SettledItems, numbers: Mapping[int, str]
) -> dict[int, tuple[int, int, bytes]]:
    """Topic → where its settled items begin and end, and their lines of the qrels."""
    topic, place = current.of_items(current.judgements.topic), current.of_items(current.judgements.place)
    topics, places = topic[settled.has_grade], place[settled.has_grade]
    ids = np.array(list(numbers), np.int64)
    starts, ends = (np.searchsorted(topics, ids, side=side).tolist() for side in ("left", "right"))
    tails = _tails(grades_of_16_bits(settled.grade[settled.has_grade]))
    docnos = current.judgements.docnos
    return {
        id_: (start, end, _lines(number, _chosen(docnos, places[start:end]), tails[start:end]))
        for (id_, number), start, end in zip(numbers.items(), starts, ends, strict=True)
    }


def _lines(number: str, docnos: Sequence[bytes], tails: Sequence[bytes]) -> bytes:
    pieces = [f"{number} 0 ".encode()] * (PIECES * len(docnos))
    pieces[1::PIECES] = docnos
    pieces[2::PIECES] = tails
    return b"".join(pieces)


def _tails(grades: NDArray[np.int16]) -> list[bytes]:
    """The end of the line of each grade."""
    if not grades.size:
        return []
    lowest, highest = int(grades.min()), int(grades.max())
    ends = np.array([b" %d\n" % grade for grade in range(lowest, highest + 1)], np.object_)
    of_grades: list[bytes] = ends[grades.astype(np.intp) - lowest].tolist()
    return of_grades


def _chosen(docnos: Sequence[bytes], places: Ids) -> Sequence[bytes]:
    """The docnos at these places, which ascend."""
    if places.size and places[-1] - places[0] == places.size - 1:
        return docnos[int(places[0]) : int(places[-1]) + 1]
    return [docnos[place] for place in places.tolist()]


def _judges_by_topic(judgements: JudgementColumns) -> dict[int, list[int]]:
    """Topic → its judges, ascending."""
    starts = begins_of(judgements.topic)
    changes = starts | begins_of(judgements.judge)
    # Topics by number in their order, as products with ids of their own could exceed 64 bits.
    number, judge = (np.cumsum(starts) - 1)[changes], judgements.judge[changes]
    size = int(judge.max(initial=0)) + 1
    topics, judges = np.divmod(np.unique(number * size + judge), size)
    return _by_topic(judgements.topic[starts][topics], judges)


def _by_topic(topics: Ids, values: Ids) -> dict[int, list[int]]:
    """Topic → values, from columns that are sorted by topic."""
    starts = np.flatnonzero(begins_of(topics))
    several = np.split(values, starts[1:]) if starts.size else []
    return {topic: of_topic.tolist() for topic, of_topic in zip(topics[starts].tolist(), several, strict=True)}
