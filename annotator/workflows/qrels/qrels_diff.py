"""Comparison of two states of the qrels, kept or live: changed grades, and the effect on every run."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.leaderboard.leaderboard_notices import notices_of_sides
from annotator.evaluation.leaderboard.qrels_difference import (
    GradeChange,
    RunDifference,
    TopicDifference,
    grade_changes,
    run_differences,
    topic_differences,
)
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.metrics.names import USUAL_MEASURE, measure_on_scale
from annotator.evaluation.metrics.scoring import score_runs
from annotator.evaluation.qrels.samples import Samples, samples_of
from annotator.evaluation.qrels.settling import rules_of, settle_items
from annotator.evaluation.runs.rankings import decode_documents
from annotator.spreadsheets import csv_text
from annotator.storage import Collection
from annotator.storage.collections.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.pools.pools import DrawnSample, drawn_sample, strata_of
from annotator.storage.qrels.current_grades import opinions
from annotator.storage.qrels.qrels_versions import grades_of_version, kept_version
from annotator.storage.runs.runs import ListsOfRun, lists_of_runs
from annotator.workflows.runs.scoring_scope import task_notices

LIVE = "live"
# (topic id, document id) → grade.
Grades = Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Side:
    """One of the two states: its name, and its number of grades and topics, -1 excluded."""

    name: str
    policy: str
    grades: int
    topics: int


@dataclass(frozen=True)
class QrelsDiff:
    """The differences; `tau` compares the rankings of the runs, None if there is no order to compare."""

    before: Side
    after: Side
    changes: tuple[GradeChange, ...]
    topics: tuple[TopicDifference, ...]
    measure: str
    runs: tuple[RunDifference, ...]
    tau: float | None
    notices: tuple[Sentence, ...]  # on tasks, and if the pool is a sample


def diff_qrels(session: Session, slug: str, before: str, after: str, measure: str = USUAL_MEASURE) -> QrelsDiff:
    """Compare two versions by number, or one with `live`, the current settled grades.

    Each side scores the runs over its own topics, by the collection's current scale. Raises `NotFoundError` for an
    unknown version, `InvalidValueError` for an invalid version or measure, and `ConflictError` when a side has no
    grades.
    """
    collection = find_collection(session, slug)
    best_grade = scale_of(session, collection.id)[-1].value
    parsed = measure_on_scale(measure, best_grade)
    sides = [_side(session, collection, name) for name in (before, after)]
    documents = {document for _, grades, _ in sides for _, document in grades}
    topics = {topic for _, grades, _ in sides for topic, _ in grades}
    numbers = {id_: number for number, id_ in topic_ids(session, collection.id).items()}
    docnos = docnos_of(session, documents)
    first, second = (
        {(numbers[topic], docnos[document]): grade for (topic, document), grade in grades.items()}
        for _, grades, _ in sides
    )
    runs = lists_of_runs(session, collection.id, topics)
    scoring = Scoring(parsed, collection.relevant_from, best_grade)
    values = [
        _values(runs, grades, samples_of(strata_of(session, sample, topics)), numbers, scoring)
        for _, grades, sample in sides
    ]
    differences, tau = run_differences([run.tag for run in runs], values[0], values[1], parsed)
    return QrelsDiff(
        before=sides[0][0],
        after=sides[1][0],
        changes=tuple(grade_changes(first, second)),
        topics=tuple(topic_differences(first, second)),
        measure=str(parsed),
        runs=tuple(differences),
        tau=tau,
        notices=(
            *task_notices(session, collection.id, None),
            *notices_of_sides((sample, parsed) for _, _, sample in sides),
        ),
    )


def changes_csv(diff: QrelsDiff) -> str:
    """CSV with one line per changed grade."""
    rows = [[change.topic, change.docno, change.kind, change.before, change.after] for change in diff.changes]
    return csv_text([["topic", "docno", "change", "before", "after"], *rows])


def _side(session: Session, collection: Collection, name: str) -> tuple[Side, Grades, DrawnSample | None]:
    policy, grades, sample = _live(session, collection) if name == LIVE else _kept(session, collection.id, name)
    if not grades:
        raise ConflictError("Nothing is judged yet, so there is nothing to compare.")
    return Side(name, policy, len(grades), len({topic for topic, _ in grades})), grades, sample


def _live(session: Session, collection: Collection) -> tuple[str, Grades, DrawnSample | None]:
    rules = rules_of(collection)
    said = opinions(session, collection.id, machines=rules.counts_machines)
    settled = settle_items(said, rules).grades
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    grades = {pairs[item]: grade for item, grade in settled.items()}
    return rules.policy, grades, drawn_sample(session, collection.id)


def _kept(session: Session, collection_id: int, name: str) -> tuple[str, Grades, DrawnSample | None]:
    if not name.isdecimal():
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=name)
    version = kept_version(session, collection_id, name)
    grades = grades_of_version(session, version.id, every_topic=True)
    return version.policy, grades, drawn_sample(session, collection_id, up_to=version.pool_version)


def _values(
    runs: list[ListsOfRun], grades: Grades, samples: Samples, numbers: Mapping[int, str], scoring: Scoring
) -> list[float]:
    """Each run's mean over the topics of these grades."""
    if not runs:
        return []
    qrels: dict[int, dict[int, int]] = {}
    for (topic, document), grade in grades.items():
        qrels.setdefault(topic, {})[document] = grade
    rankings = [
        {topic: decode_documents(packed) for topic, packed in run.lists.items() if topic in qrels} for run in runs
    ]
    names = {topic: numbers[topic] for topic in qrels}
    scores = score_runs(
        rankings, qrels, names, [scoring.measure], scoring.relevant_from, scoring.best_grade, samples=samples
    )
    return [float(scores.over_topics(place)[0]) for place in range(len(runs))]
