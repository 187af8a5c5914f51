"""Import of a finished task: topics, runs and qrels together, all or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Problems
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.topic_formats import ParsedTopic
from annotator.evaluation.qrels.scale import GradeMeaning
from annotator.evaluation.runs.result_lists import as_run_files
from annotator.evaluation.runs.run_tags import Sender
from annotator.evaluation.runs.task_files import TaskFiles, sort_task_files
from annotator.files import InputFile
from annotator.storage import Database
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.collections.collection import find_open_collection, scale_of, topic_ids
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.judging.judgement_import import check_judgements, store_judgements
from annotator.workflows.runs.run_upload import CheckedRun, check_each_run, store_runs
from annotator.workflows.topics.topics import MOST_TOPICS, import_topics, list_topics, read_topics

SENDER = Sender(None, organises=True, replaces=False)


@dataclass(frozen=True)
class ImportedTask:
    """The numbers of what was stored."""

    topics: int
    runs: int
    judgements: int


@dataclass(frozen=True)
class _ReadTask:
    topics: Sequence[ParsedTopic]
    runs: Sequence[CheckedRun]
    files: TaskFiles


def import_task(
    database: Database,
    slug: str,
    given: Sequence[InputFile],
    *,
    actor: Actor,
    at: datetime,
    unpacked_limit: int,
    most_topics: int = MOST_TOPICS,
) -> ImportedTask:
    """Store topics, runs and qrels, told apart by their content; zip archives are opened.

    In a collection without topics, and without a file of them, those of the qrels and the runs are created with their
    numbers as titles. The scale grows
    to the grades of the qrels, whose judge is an account of the collection that cannot sign in. Files are read without
    blocking other writers. Raises `FileRefusedError` with every problem of the files, and `InvalidValueError` when
    there is neither a run nor qrels.
    """
    with database.reading() as session:
        task = _read(session, slug, given, unpacked_limit)
    with database.transaction() as session:
        topics = import_topics(session, slug, task.topics, most=most_topics)
        _widen_scale(session, slug, task.files.greatest_grade)
        receipts = store_runs(
            session, slug, task.runs, details=RunDetails(), uploaded_by_id=actor.user_id, uploaded_at=at
        )
        judged = sum(_store_qrels(session, slug, task.files, actor, at, unpacked_limit))
        record_in(session, actor, "topics.import", slug, at=at, subject="", details=vars(topics))
        for receipt in receipts:
            details = {"sha256": receipt.checksum}
            record_in(session, actor, "runs.import", slug, at=at, subject=receipt.tag, details=details)
    return ImportedTask(topics.added + topics.changed, len(receipts), judged)


def read_result_lists(
    session: Session, slug: str, files: Sequence[InputFile], *, unpacked_limit: int
) -> Sequence[InputFile]:
    """The files, result lists in CSV turned into runs; `FileRefusedError` for rows that fit no topic."""
    problems = Problems()
    titles = [(row.number, row.title) for row in list_topics(session, slug)]
    found = as_run_files(files, titles, problems, unpacked_limit=unpacked_limit)
    problems.refuse_if_any()
    return found


def _read(session: Session, slug: str, given: Sequence[InputFile], limit: int) -> _ReadTask:
    problems = Problems()
    files = sort_task_files(given, problems, unpacked_limit=limit)
    problems.refuse_if_any()
    if not files.qrels and not files.runs:
        raise InvalidValueError("A finished task has runs or qrels; there are only topics in these files.")
    present = topic_ids(session, find_open_collection(session, slug).id)
    if files.topics:
        topics = read_topics(files.topics, unpacked_limit=limit)
    else:
        new = [] if present else sorted(files.numbers, key=natural_order)
        topics = [ParsedTopic(number, number, "", "", None, 1) for number in new]
    titles = [(topic.number, topic.title) for topic in list_topics(session, slug)]
    titles += [(topic.number, topic.title) for topic in topics]
    runs = as_run_files(files.runs, titles, problems, unpacked_limit=limit)
    problems.refuse_if_any()
    checked = check_each_run(
        session,
        slug,
        runs,
        sender=SENDER,
        new_topics=frozenset(topic.number for topic in topics),
        unpacked_limit=limit,
    )
    checked.problems.refuse_if_any()
    return _ReadTask(topics, checked.runs, files)


def _widen_scale(session: Session, slug: str, greatest: int) -> None:
    """Add grades to the scale up to the greatest of the qrels."""
    collection = find_open_collection(session, slug)
    scale = [GradeMeaning(one.value, one.name, one.description) for one in scale_of(session, collection.id)]
    more = [GradeMeaning(value, f"Grade {value}", "") for value in range(scale[-1].value + 1, greatest + 1)]
    if more:
        change_collection(session, slug, CollectionChange(scale=(*scale, *more)))


def _store_qrels(session: Session, slug: str, files: TaskFiles, actor: Actor, at: datetime, limit: int) -> list[int]:
    """Store each file as the labels of a judge of its own, and return the numbers of labels."""
    stored = []
    for number, file in enumerate(files.qrels, start=1):
        judge = f"{slug}-qrels" if number == 1 else f"{slug}-qrels-{number}"
        checked = check_judgements(session, slug, file, add_to_pool=True, unpacked_limit=limit)
        if not checked.rows:
            raise ConflictError("“%(file)s” has no judgement.", file=file.name)
        result = store_judgements(session, slug, checked, judge=judge, added_at=at)
        record_in(session, actor, "judgements.import", slug, at=at, subject=judge, details=vars(result))
        stored.append(result.added)
    return stored
