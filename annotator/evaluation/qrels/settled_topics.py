"""The current opinions of whole topics, settled at once into each topic's grades and lines of the qrels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat, zip_longest
from typing import Protocol

import numpy as np

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

COLUMNS = 4  # of qrels
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
        topics: list[int] = np.unique(self.of_items(self.judgements.topic)[settled.has_grade]).tolist()
        return topics

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
    """Read qrels back and count the fields that are not those of the settled grades; `numbers` is by topic."""
    topic = current.of_items(current.judgements.topic)[settled.has_grade]
    place = current.of_items(current.judgements.place)[settled.has_grade]
    grades, docnos = settled.grade[settled.has_grade], current.judgements.docnos
    starts = np.flatnonzero(begins_of(topic)).tolist()
    spans = dict(zip([numbers[one] for one in topic[starts].tolist()], pairwise([*starts, topic.size]), strict=True))
    in_order = in_file_order(spans)
    order = [np.arange(*spans[number]) for number in in_order]
    places = place[np.concatenate([np.zeros(0, np.intp), *order])].tolist()
    values = grades[np.concatenate([np.zeros(0, np.intp), *order])].tolist()
    tails = {grade: b"%d" % grade for grade in set(values)}
    expected: tuple[list[bytes], ...] = (
        [word for number, some in zip(in_order, order, strict=True) for word in repeat(number.encode(), some.size)],
        [docnos[one] for one in places],
        [tails[grade] for grade in values],
    )
    words = qrels.split()
    written = (words[::COLUMNS], words[2::COLUMNS], words[3::COLUMNS])
    return sum(_differing(*columns) for columns in zip(expected, written, strict=True))


def _differing(expected: Sequence[bytes], written: Sequence[bytes]) -> int:
    if expected == written:
        return 0
    return sum(one != other for one, other in zip_longest(expected, written))


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
    topic, document, place = map(
        current.of_items, (current.judgements.topic, current.judgements.document, current.judgements.place)
    )
    has_grade = settled.has_grade
    documents, grades, places = document[has_grade].astype(np.int32), settled.grade[has_grade], place[has_grade]
    of_16_bits = grades_of_16_bits(grades)
    ends = np.searchsorted(topic[has_grade], np.array(list(numbers), np.int64), side="right").tolist()
    starts = np.searchsorted(topic[has_grade], np.array(list(numbers), np.int64)).tolist()
    judges = _judges_by_topic(current.judgements)
    disputed = _by_topic(topic[settled.is_left_out], document[settled.is_left_out])
    docnos = current.judgements.docnos
    return {
        id_: GradedTopic(
            documents[start:end],
            of_16_bits[start:end],
            _lines(number, [docnos[place] for place in places[start:end].tolist()], grades[start:end].tolist()),
            frozenset(judges.get(id_, ())),
            frozenset(disputed.get(id_, ())),
        )
        for (id_, number), start, end in zip(numbers.items(), starts, ends, strict=True)
    }


def _lines(number: str, docnos: Sequence[bytes], grades: Sequence[int]) -> bytes:
    tails = {grade: b" %d\n" % grade for grade in set(grades)}
    head = f"{number} 0 ".encode()
    return b"".join(chain.from_iterable(zip(repeat(head), docnos, map(tails.__getitem__, grades), strict=False)))


def _judges_by_topic(judgements: JudgementColumns) -> dict[int, list[int]]:
    """Topic → its judges."""
    changes = begins_of(judgements.topic) | begins_of(judgements.judge)
    return _by_topic(judgements.topic[changes], judgements.judge[changes])


def _by_topic(topics: Ids, values: Ids) -> dict[int, list[int]]:
    """Topic → values, from columns that are sorted by topic."""
    starts = np.flatnonzero(begins_of(topics))
    several = np.split(values, starts[1:]) if starts.size else []
    return {topic: of_topic.tolist() for topic, of_topic in zip(topics[starts].tolist(), several, strict=True)}
