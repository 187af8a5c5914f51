"""Two states of the qrels compared, kept or live: which grades differ, and what that does to every run."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import score_runs
from annotator.evaluation.qrels_difference import (
    GradeChange,
    RunDifference,
    TopicDifference,
    grade_changes,
    run_differences,
    topic_differences,
)
from annotator.evaluation.rankings import decode_documents
from annotator.evaluation.settling import rules_of, settle_voices
from annotator.spreadsheets import csv_text
from annotator.storage import Collection
from annotator.storage.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents import docnos_of
from annotator.storage.kept_grades import grades_of_version
from annotator.storage.opinions import opinions
from annotator.storage.qrels_versions import kept_version
from annotator.storage.ranked_lists import ListsOfRun, lists_of_runs

LIVE = "live"
USUAL_MEASURE = "nDCG@10"

# (topic id, document id) → grade.
Grades = Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Side:
    """One of the two states: its name, and how many grades and topics it has; those of -1 are none."""

    name: str
    policy: str
    grades: int
    topics: int


@dataclass(frozen=True)
class QrelsDiff:
    """What differs; `tau` compares the rankings of the runs, None where there is no order to compare."""

    before: Side
    after: Side
    changes: tuple[GradeChange, ...]
    topics: tuple[TopicDifference, ...]
    measure: str
    runs: tuple[RunDifference, ...]
    tau: float | None


def diff_qrels(session: Session, slug: str, before: str, after: str, measure: str = USUAL_MEASURE) -> QrelsDiff:
    """Compare two versions by number, or one with `live`, the settled grades of this moment.

    Each side scores the runs over its own topics, by the collection's present scale. Raises `NotFoundError` for a
    version that there is not, `InvalidValueError` for what is no version or measure, and `ConflictError` when nothing
    is judged on a side.
    """
    collection = find_collection(session, slug)
    parsed = parse_measure(measure)
    sides = [_side(session, collection, name) for name in (before, after)]
    documents = {document for _, grades in sides for _, document in grades}
    topics = {topic for _, grades in sides for topic, _ in grades}
    numbers = {id_: number for number, id_ in topic_ids(session, collection.id).items()}
    docnos = docnos_of(session, documents)
    first, second = (
        {(numbers[topic], docnos[document]): grade for (topic, document), grade in grades.items()}
        for _, grades in sides
    )
    runs = lists_of_runs(session, collection.id, topics)
    best_grade = scale_of(session, collection.id)[-1].value
    values = [_values(collection, runs, grades, numbers, parsed, best_grade) for _, grades in sides]
    differences, tau = run_differences([run.tag for run in runs], values[0], values[1], parsed)
    return QrelsDiff(
        before=sides[0][0],
        after=sides[1][0],
        changes=tuple(grade_changes(first, second)),
        topics=tuple(topic_differences(first, second)),
        measure=str(parsed),
        runs=tuple(differences),
        tau=tau,
    )


def changes_csv(diff: QrelsDiff) -> str:
    """Every grade that differs, a line each."""
    rows = [[change.topic, change.docno, change.kind, change.before, change.after] for change in diff.changes]
    return csv_text([["topic", "docno", "change", "before", "after"], *rows])


def _side(session: Session, collection: Collection, name: str) -> tuple[Side, Grades]:
    policy, grades = _live(session, collection) if name == LIVE else _kept(session, collection.id, name)
    if not grades:
        raise ConflictError("Nothing is judged yet, so there is nothing to compare.")
    return Side(name, policy, len(grades), len({topic for topic, _ in grades})), grades


def _live(session: Session, collection: Collection) -> tuple[str, Grades]:
    rules = rules_of(collection)
    said = opinions(session, collection.id, machines=rules.hears_machines)
    settled = settle_voices(said, rules).grades
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    return rules.policy, {pairs[item]: grade for item, grade in settled.items()}


def _kept(session: Session, collection_id: int, name: str) -> tuple[str, Grades]:
    if not name.isdecimal():
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=name)
    version = kept_version(session, collection_id, name)
    return version.policy, grades_of_version(session, version.id, every_topic=True)


def _values(
    collection: Collection,
    runs: list[ListsOfRun],
    grades: Grades,
    numbers: Mapping[int, str],
    measure: Measure,
    best_grade: int,
) -> list[float]:
    """Each run's value over the topics of these grades."""
    if not runs:
        return []
    qrels: dict[int, dict[int, int]] = {}
    for (topic, document), grade in grades.items():
        qrels.setdefault(topic, {})[document] = grade
    rankings = [
        {topic: decode_documents(packed) for topic, packed in run.lists.items() if topic in qrels} for run in runs
    ]
    names = {topic: numbers[topic] for topic in qrels}
    scores = score_runs(rankings, qrels, names, [measure], collection.relevant_from, best_grade)
    return [float(scores.over_topics(place)[0]) for place in range(len(runs))]
