"""Two versions of a machine judge side by side: each beside people, and the documents whose grade changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.evaluation.agreement.machine_agreement import MachineBeside, TopicDocument, graded_beside
from annotator.evaluation.qrels.settling import settle_items
from annotator.storage.agreement.machine_judging import docnos_of, versions_of
from annotator.storage.collections.collection import accepted_topics, find_collection, scale_of
from annotator.storage.qrels.current_grades import opinions
from annotator.workflows.agreement.judge_tables import BESIDE, Row, cells_beside
from annotator.workflows.agreement.machine_judges import rules_of_people
from annotator.workflows.agreement.machine_setup import MachineVersion, show_version
from annotator.workflows.judging.machine_labels import machine_labels

Graded = Mapping[TopicDocument, int]
FEWEST_VERSIONS = 2


@dataclass(frozen=True)
class ChangedGrade:
    """A document to which two versions gave different grades, with the settled grade of people, None without one."""

    topic: str
    docno: str
    first: int
    second: int
    people: int | None

    @property
    def moved(self) -> int:
        """The distance from people's grade by the second version minus that by the first; 0 without one."""
        return 0 if self.people is None else abs(self.second - self.people) - abs(self.first - self.people)


@dataclass(frozen=True)
class ComparedVersion:
    """A version, the number of its labels, and its agreement with people where both versions have a label."""

    version: MachineVersion
    labels: int
    people: MachineBeside


@dataclass(frozen=True)
class PromptComparison:
    """Two versions of a machine judge; `common` is the number of documents that both labelled."""

    grades: tuple[int, ...]
    first: ComparedVersion
    second: ComparedVersion
    common: int
    changed: tuple[ChangedGrade, ...]

    @property
    def nearer(self) -> int:
        """How many of the changed grades are nearer to people's by the second version."""
        return sum(one.moved < 0 for one in self.changed)

    @property
    def further(self) -> int:
        """How many of the changed grades are nearer to people's by the first version."""
        return sum(one.moved > 0 for one in self.changed)

    @property
    def versions(self) -> tuple[ComparedVersion, ComparedVersion]:
        """Both."""
        return self.first, self.second


def compare_versions(
    session: Session,
    slug: str,
    name: str,
    first: int | None = None,
    second: int | None = None,
    *,
    topics: Sequence[str] | None = None,
) -> PromptComparison:
    """Compare two versions of a machine judge, the newest two by default, on accepted topics or some of them.

    Both are compared with people on the same documents: those with labels of both and a settled grade of people.
    Raises `NotFoundError` for an unknown machine judge, version or topic, and `InvalidValueError` for one alone.
    """
    collection = find_collection(session, slug)
    newest = show_version(session, slug, name).number
    known = len(versions_of(session, collection.id, name))
    second = newest if second is None else second
    first = max(second - 1, 1) if first is None else first
    if known < FEWEST_VERSIONS or first == second:
        raise InvalidValueError("Two different versions of “%(name)s” are needed to compare them.", name=name)
    versions = [show_version(session, slug, name, number) for number in (first, second)]
    numbers = accepted_topics(session, collection.id, topics)
    labels = [_labels(session, version, numbers) for version in versions]
    people = _people(session, collection.id, slug, numbers)
    scale = tuple(grade.value for grade in scale_of(session, collection.id))
    both = labels[0].keys() & labels[1].keys()
    shared = {pair: grade for pair, grade in people.items() if pair in both}
    one, other = (
        ComparedVersion(version, len(of_version), graded_beside(of_version, shared, scale))
        for version, of_version in zip(versions, labels, strict=True)
    )
    return PromptComparison(scale, one, other, len(both), _changed(session, labels[0], labels[1], people, numbers))


def _labels(session: Session, version: MachineVersion, topics: Mapping[int, str]) -> dict[TopicDocument, int]:
    packed = machine_labels(session, version.judge_id, list(topics))
    return {
        (topic, document): grade
        for topic, one in packed.items()
        for document, grade in zip(one.document_ids.tolist(), one.grades.tolist(), strict=True)
    }


def _people(session: Session, collection_id: int, slug: str, topics: Mapping[int, str]) -> dict[TopicDocument, int]:
    """The settled grades of people, without those carried over to documents with the same text."""
    rules = rules_of_people(session, find_collection(session, slug))
    rows = [row for row in opinions(session, collection_id, machines=False, topics=topics) if not row.is_carried]
    pairs = {row.pool_item_id: (row.topic_id, row.document_id) for row in rows}
    return {pairs[item]: grade for item, grade in settle_items(rows, rules).grades.items()}


def _changed(
    session: Session, first: Graded, second: Graded, people: Graded, topics: Mapping[int, str]
) -> tuple[ChangedGrade, ...]:
    pairs = [pair for pair in first.keys() & second.keys() if first[pair] != second[pair]]
    docnos = docnos_of(session, {document for _, document in pairs})
    changed = [
        ChangedGrade(topics[pair[0]], docnos[pair[1]], first[pair], second[pair], people.get(pair)) for pair in pairs
    ]
    return tuple(sorted(changed, key=lambda one: (one.people is None, one.topic, one.docno)))


def _version_rows(found: PromptComparison) -> list[Row]:
    return [[one.version.number, one.version.judge, one.labels, *cells_beside(one.people)] for one in found.versions]


def _grade_rows(found: PromptComparison) -> list[Row]:
    return [
        [one.version.number, machine, people, one.people.confusion[row][column]]
        for one in found.versions
        for row, machine in enumerate(found.grades)
        for column, people in enumerate(found.grades)
    ]


def _document_rows(found: PromptComparison) -> list[Row]:
    return [[one.topic, one.docno, one.first, one.second, one.people] for one in found.changed]


# Headings and rows by name.
PROMPT_TABLES = {
    "version": (("version", "judge", "labels", *BESIDE), _version_rows),
    "grade": (("version", "machine_grade", "people_grade", "documents"), _grade_rows),
    "document": (("topic", "docno", "first_grade", "second_grade", "people_grade"), _document_rows),
}
