"""Documents on which judges disagree, worst first, with all their judgements; for organisers only."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.agreement.graded_items import (
    GradedItems,
    graded_items,
    grades_of_people,
    multiply_graded,
)
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.topic_judgements import JudgementColumns
from annotator.spreadsheets import csv_text
from annotator.storage import ACCEPTED, CannotJudge, Collection, Topic
from annotator.storage.agreement.adjudication_queue import decisions
from annotator.storage.agreement.judged_items import (
    ItemText,
    JudgementRow,
    evidence_of,
    items_by_id,
    judgements_on,
    texts_of,
    titles_of_topics,
)
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.judging.leases import Decision
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.storage.site.bulk_insert import chunks
from annotator.workflows.judging.topic_judgements import read_judgements

ROWS_A_PAGE = 25
MOST_CHARACTERS = 10_000  # of a document's text on a card; a page of its own has the whole text
PAIR = 2


@dataclass(frozen=True)
class DisagreementFilter:
    """Filter of disagreements: by topic numbers, by one judge or a pair of judges, and by severity.

    No topic means all. With a pair, only the judgements of these two determine how many grades apart they are.
    """

    topics: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    least_distance: int = 1
    only_across: bool = False  # only those across the relevance threshold
    only_undecided: bool = False  # only those no adjudicator has decided


@dataclass(frozen=True)
class JudgementShown:
    """One person's current judgement; `adjudicates`: as adjudicator; `is_carried`: copied from the same text."""

    judge: str
    decision: Decision
    judged_at: datetime
    evidence: tuple[str, ...]
    adjudicates: bool
    is_carried: bool


@dataclass(frozen=True)
class Disagreement:
    """A document whose judges are some grades apart; `is_across`: on both sides of the relevance threshold.

    `known_grade` is that of a gold question. `words` are the judgements in order of time, adjudicators' last.
    """

    topic: str
    docno: str
    title: str
    has_text: bool
    distance: int
    is_across: bool
    is_decided: bool
    known_grade: int | None
    words: tuple[JudgementShown, ...]


@dataclass(frozen=True)
class Survey:
    """How often judges disagree in a collection, before filtering: documents graded by two or more people, and so on.

    `topics` has those with a disagreement, in order, with their number; `judges` has all who graded anything.
    """

    compared: int
    differing: int
    across: int
    undecided: int
    topics: tuple[tuple[str, int], ...]
    judges: tuple[str, ...]


@dataclass(frozen=True)
class DisagreementCard:
    """A disagreement with its topic's title and the document's text; `text` is None without an imported one."""

    row: Disagreement
    topic_title: str
    text: ItemText | None

    @property
    def decided_by(self) -> str | None:
        """The adjudicator who decided it last, None before a decision."""
        return next((word.judge for word in reversed(self.row.words) if word.adjudicates), None)


@dataclass(frozen=True)
class DisagreementsPage:
    """One page of the matching disagreements, worst first, and their total number."""

    survey: Survey
    cards: tuple[DisagreementCard, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True)
class _Compared:
    """Grades of people in accepted topics, the items with two or more, and those that adjudicators decided."""

    relevant_from: int
    numbers: Mapping[int, str]  # topic id → number
    adjudications: Mapping[int, int]  # an adjudicator's judgement → its item
    decided: AbstractSet[int]
    grades: JudgementColumns
    items: GradedItems
    people: Mapping[str, int]  # everyone who graded anything, with their ids

    @property
    def topics(self) -> list[int]:
        """The topics in the order of their numbers."""
        return sorted(self.numbers, key=lambda topic_id: natural_order(self.numbers[topic_id]))


def page_of_disagreements(session: Session, slug: str, wanted: DisagreementFilter, page: int = 1) -> DisagreementsPage:
    """One page of the disagreements; pages count from 1, and a number out of range gives the nearest page.

    Machines are left out, and adjudicators' decisions do not count as disagreement. Raises `NotFoundError` for an
    unknown topic or judge and `InvalidValueError` for a filter that contradicts itself.
    """
    collection = find_collection(session, slug)
    compared = _compared(session, collection)
    items = _wanted(session, collection.id, compared, wanted)
    total = items.item.size
    pages = max(1, -(-total // ROWS_A_PAGE))
    page = min(max(page, 1), pages)
    shown = _rows(items, slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE))
    texts = texts_of(session, [item.id for item in shown], MOST_CHARACTERS)
    titles = titles_of_topics(session, {item.topic_id for item in shown})
    cards = (
        DisagreementCard(row, titles[item.topic_id], texts.get(item.id))
        for item, row in zip(shown, _described(session, compared, shown), strict=True)
    )
    return DisagreementsPage(_survey(compared), tuple(cards), total, page, pages)


def disagreement_items(session: Session, slug: str, wanted: DisagreementFilter) -> tuple[int, ...]:
    """The ids of all matching pool items, worst first; raises as `page_of_disagreements`."""
    collection = find_collection(session, slug)
    compared = _compared(session, collection)
    return tuple(_wanted(session, collection.id, compared, wanted).item.tolist())


def list_disagreements(session: Session, slug: str, wanted: DisagreementFilter) -> list[Disagreement]:
    """All matching disagreements; raises as `page_of_disagreements`."""
    collection = find_collection(session, slug)
    compared = _compared(session, collection)
    return _described(session, compared, _rows(_wanted(session, collection.id, compared, wanted)))


def disagreements_csv(rows: Sequence[Disagreement]) -> str:
    """CSV with a header line and one line per document and person; the evidence is a JSON list."""
    headings = ["topic", "docno", "title", "distance", "across", "decided", "known_grade", "judge", "grade"]
    headings += ["cannot_judge", "note", "evidence", "judged_at", "adjudicates", "carried"]
    return csv_text([headings, *(line for row in rows for line in _lines(row))])


def disagreements_json(rows: Sequence[Disagreement]) -> str:
    """A list of objects, one per document, with each person's judgement."""
    return json.dumps([_as_object(row) for row in rows], ensure_ascii=False, indent=2) + "\n"


def _as_object(row: Disagreement) -> dict[str, object]:
    return {
        **{name: value for name, value in vars(row).items() if name != "words"},
        "words": [
            {
                **{name: value for name, value in vars(word).items() if name != "decision"},
                "grade": word.decision.grade,
                "cannot_judge": word.decision.cannot_judge,
                "note": word.decision.note,
                "judged_at": word.judged_at.isoformat(),
            }
            for word in row.words
        ],
    }


def _lines(row: Disagreement) -> Iterator[Sequence[object]]:
    for word in row.words:
        said = word.decision
        yield [
            *(row.topic, row.docno, row.title, row.distance, row.is_across, row.is_decided, row.known_grade),
            *(word.judge, said.grade, said.cannot_judge, said.note, json.dumps(word.evidence, ensure_ascii=False)),
            *(word.judged_at.isoformat(), word.adjudicates, word.is_carried),
        ]


def _compared(session: Session, collection: Collection) -> _Compared:
    rows = session.execute(select(Topic.id, Topic.number).where(Topic.collection_id == collection.id, ACCEPTED))
    adjudications = {made.judgement_id: made.pool_item_id for made in decisions(session, collection.id)}
    people = {id_: judge.name for id_, judge in judges_by_id(session).items() if not judge.is_machine}
    grades = grades_of_people(read_judgements(session, collection.id, docnos=False, seconds=False), people)
    named = sorted((people[id_], id_) for id_ in grades.judges())
    return _Compared(
        collection.relevant_from,
        {id_: number for id_, number in rows},
        adjudications,
        frozenset(adjudications.values()),
        grades,
        multiply_graded(grades),
        dict(named),
    )


def _survey(compared: _Compared) -> Survey:
    items = compared.items
    differing = items.where(items.distance > 0)
    of_topic = Counter(differing.topic.tolist())
    return Survey(
        items.item.size,
        differing.item.size,
        int(differing.is_across(compared.relevant_from).sum()),
        int((~differing.are_of(compared.decided)).sum()),
        tuple((compared.numbers[topic], of_topic[topic]) for topic in compared.topics if topic in of_topic),
        tuple(compared.people),
    )


def _wanted(session: Session, collection_id: int, compared: _Compared, wanted: DisagreementFilter) -> GradedItems:
    if len(set(wanted.judges)) != len(wanted.judges) or len(wanted.judges) > PAIR or wanted.least_distance < 1:
        raise InvalidValueError("Ask for one judge or for two different ones, and for 1 grade apart or more.")
    items = _of_judges(compared, wanted.judges) if wanted.judges else compared.items
    topics = [find_topic(session, collection_id, number, ACCEPTED).id for number in wanted.topics]
    which = items.distance >= wanted.least_distance
    if topics:
        which &= items.are_of_topics(topics)
    if wanted.only_across:
        which &= items.is_across(compared.relevant_from)
    if wanted.only_undecided:
        which &= ~items.are_of(compared.decided)
    return items.where(which).worst_first(compared.relevant_from, compared.topics)


def _of_judges(compared: _Compared, names: Sequence[str]) -> GradedItems:
    for name in names:
        if name not in compared.people:
            raise NotFoundError("“%(judge)s” has judged nothing in this collection.", judge=name)
    given = compared.grades.where(compared.grades.by([compared.people[name] for name in names]))
    if len(names) == PAIR:
        return multiply_graded(given)
    return compared.items.where(compared.items.are_of(graded_items(given)))


class _Item(NamedTuple):
    """An item with its topic, and its lowest and highest grade."""

    id: int
    topic_id: int
    low: int
    high: int


def _rows(items: GradedItems, part: slice = slice(None)) -> list[_Item]:
    columns = (items.item, items.topic, items.low, items.high)
    return list(map(_Item, *(column[part].tolist() for column in columns)))


def _described(session: Session, compared: _Compared, items: Sequence[_Item]) -> list[Disagreement]:
    return [row for some in chunks(list(items)) for row in _some_described(session, compared, some)]


def _some_described(session: Session, compared: _Compared, items: Sequence[_Item]) -> Iterator[Disagreement]:
    ids = [item.id for item in items]
    about, words, evidence = items_by_id(session, ids), judgements_on(session, ids), evidence_of(session, ids)
    for item in items:
        document = about[item.id]
        yield Disagreement(
            compared.numbers[item.topic_id],
            document.docno,
            document.title,
            document.has_text,
            item.high - item.low,
            item.low < compared.relevant_from <= item.high,
            item.id in compared.decided,
            document.known_grade,
            _judgements_shown(words[item.id], evidence, compared.adjudications),
        )


def _judgements_shown(
    rows: Sequence[JudgementRow], evidence: Mapping[int, Sequence[str]], decisions: Mapping[int, int]
) -> tuple[JudgementShown, ...]:
    words = [_word(row, evidence.get(row.judgement_id, ()), adjudicates=row.judgement_id in decisions) for row in rows]
    return tuple(sorted(words, key=lambda word: word.adjudicates))


def _word(row: JudgementRow, evidence: Sequence[str], *, adjudicates: bool) -> JudgementShown:
    reason = CannotJudge(row.cannot_judge) if row.cannot_judge else None
    decision = Decision(row.grade, reason, row.note)
    return JudgementShown(row.judge, decision, row.judged_at, tuple(evidence), adjudicates, row.is_carried)
