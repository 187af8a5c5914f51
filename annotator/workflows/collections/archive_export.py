"""Export of a collection as one archive in open formats, with a manifest."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from annotator.evaluation.archives.bundle_format import BundleWriter
from annotator.evaluation.formats.pseudonyms import (
    policy_without_names,
    pseudonyms_of,
    without_names,
    without_names_in,
)
from annotator.evaluation.runs.questionnaires import AnswerKind
from annotator.files import GZIP_MAGIC
from annotator.storage import (
    Announcement,
    AuditEvent,
    Collection,
    Question,
    QuestionnaireVersion,
    Run,
    RunAnswer,
    RunFile,
    UserKind,
)
from annotator.storage.collections.bundles import (
    COLLECTION,
    KEPT_SECRET,
    ROWS_AT_ONCE,
    TABLES,
    USER,
    part_of,
    people_in,
    rows_of,
)
from annotator.storage.collections.collection import find_collection
from annotator.storage.collections.plain_values import as_plain
from annotator.storage.qrels.manifest_facts import PERSONAL_PARAMETERS
from annotator.storage.site.bulk_insert import Row
from annotator.storage.site.schema import newest_version

RUN_FILES = "run_file"
LINES = json.JSONEncoder(ensure_ascii=False, default=str)
# Columns of free text by organisers, judges and participants, and the names of their files; `_renamed` has more.
WRITTEN_BY_PEOPLE: Mapping[str, tuple[str, ...]] = {
    "announcement": ("title", "text"),
    "clarification": ("text",),
    "click_log": ("name",),
    "collection": ("title", "terms", "corpus"),
    "contribution": ("imported_from", "query"),
    "docno_list": ("files",),
    "fact_column": ("name",),
    "guideline_version": ("text",),
    "judgement": ("note",),
    "label_file": ("name",),
    "qualifying_item": ("explanation",),
    "question": ("text", "answer"),
    "run": ("description", "file_name", "warnings"),
    "run_answer": ("answer",),
    "run_fact": ("words",),
    "task": ("title", "description"),
    "topic": ("reason",),
    "topic_mark": ("words",),
    "topic_note": ("text",),
}
WRITTEN_IN_QUESTIONS = ("text", "choices")  # their keys, kinds and fields are words of the format
QRELS = "qrels.txt"  # the live qrels, compared after an import
ABOUT = """\
This is an archive of one collection, made by annotator (collections export), which reads it (collections import).

manifest.json names every part with its SHA-256 and its size. Parts that end with .jsonl have a JSON object a line, in
UTF-8; the names in it are those of annotator's glossary, and a name that ends with _id holds the id of a line in
another part: topic_id is an id of topics.jsonl, judge_id and all other ids of persons are of people.jsonl.

collections.jsonl   the collection itself, with all its settings; grades.jsonl is its scale
people.jsonl        who had to do with it; memberships.jsonl says as what, teams.jsonl for whom. No passwords.
guideline_versions.jsonl  every version of the guidelines, in Markdown
topics.jsonl, documents.jsonl
tasks.jsonl         the tasks of the collection, if it has several; task_topics.jsonl the topics of each task that does
                    not have every topic
docno_lists.jsonl   the list of valid docnos, if there is one; docno_list_parts.jsonl has it, as base64 of lines of
                    docnos that are compressed by zlib
runs.jsonl          what is known of each run; runs/ID.run has its file as it was sent (.gz if it was gzipped)
ranked_lists.jsonl  the runs as they were read: ids of documents, best first, as base64 of little-endian 32-bit
                    integers, and their scores as base64 of little-endian 64-bit floating-point numbers
run_facts.jsonl     what each system costs, as stated with the run; fact_columns.jsonl what the organisers asked beside
                    what every collection asks
questionnaire_versions.jsonl  what the organisers asked about every run; run_answers.jsonl what was answered, to which
                    version (no e-mail addresses where people have pseudonyms)
pools.jsonl         the versions of the pool, with strategy, parameters and seed; pool_items.jsonl what is in it, and
                    contributions.jsonl why; strata.jsonl are the samples, selection_events.jsonl adaptive choices;
                    stopping_decisions.jsonl who decided to stop judging a topic, when and why
assignments.jsonl   who was given what; judgements.jsonl what they said, with everything that was replaced later
                    (a grade, or why there is none; current says what counts); evidence.jsonl the words it was said for
machine_labels.jsonl  the labels of machines, also of documents outside the pool, a line for each import and topic:
                    ids of documents, grades (16-bit integers), confidences and probabilities (32-bit floating-point
                    numbers) as base64, little-endian; outside has the labels that are no grades, by position
questions.jsonl     what judges and participants asked, and the answers (of those of participants only what is public,
                    where people have pseudonyms); clarifications.jsonl the clarifications of topics, each a text or a
                    question with a public answer; clarifications_seen.jsonl who has seen which; announcements.jsonl
                    what the organisers announced, and public answers to participants
qrels_versions.jsonl, qrels_grades.jsonl  the qrels that were kept, with their manifests; qrels.txt those of the day of
                    the archive, as trec_eval reads them
click_logs.jsonl    what was found in the click logs, never the logs; click_variants.jsonl which runs their variants
                    stand for
audit.jsonl         who did what at the site it comes from; it is not imported
"""


@dataclass(frozen=True)
class Archiving:
    """Parameters of an archive: time, program version, and the secret for pseudonyms, if any."""

    made_at: datetime
    program: str
    secret: str | None = None


def write_archive(
    session: Session, slug: str, stream: BinaryIO, archiving: Archiving, *, extras: Mapping[str, bytes] | None = None
) -> dict[str, int]:
    """Write everything of a collection, and return the number of lines of each part; `extras` are further parts.

    Raises `NotFoundError` for an unknown collection.
    """
    collection = find_collection(session, slug)
    people = people_in(session, collection.id)
    accounts = [row["name"] for row in people if row["kind"] == UserKind.PERSON]
    names = {} if archiving.secret is None else pseudonyms_of(accounts, archiving.secret)
    is_private = partial(_is_private, public=_public_questions(session, collection.id))
    counts: dict[str, int] = {}
    with BundleWriter(stream) as writer:
        writer.add("README.txt", iter([ABOUT.encode()]))
        persons = ({**row, "name": names.get(row["name"], row["name"])} for row in people)
        writer.add(part_of(USER), _lines(counts, USER, persons))
        for table in (COLLECTION, *TABLES):
            if table.name != RUN_FILES:
                stored = rows_of(session, table, collection.id)
                rows = (_renamed(table, row, names) for row in stored if not names or not is_private(table, row))
                writer.add(part_of(table), _lines(counts, table, rows))
        _add_run_files(session, collection.id, writer)
        if not names:
            writer.add("audit.jsonl", _audit_entries(session, collection.id))
        for name, content in (extras or {}).items():
            writer.add(name, iter([content]))
        about = _about(collection, archiving, counts, (extras or {}).get(QRELS))
        writer.finish(about | without_names_in(about, ["title"], names))
    return counts


def _about(
    collection: Collection, archiving: Archiving, counts: Mapping[str, int], qrels: bytes | None
) -> dict[str, Any]:
    return {
        "slug": collection.slug,
        "title": collection.title,
        "made_at": archiving.made_at.isoformat(),
        "program": archiving.program,
        "tables": newest_version(),
        "pseudonyms": archiving.secret is not None,
        "lines": dict(counts),
        "qrels_sha256": None if qrels is None else hashlib.sha256(qrels).hexdigest(),
    }


def run_part(id_: int, *, packed: bool) -> str:
    """The name of the part with a run's file."""
    return f"runs/{id_}.run.gz" if packed else f"runs/{id_}.run"


def _lines(counts: dict[str, int], table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
    counts[part_of(table)] = 0
    secret = [column.name for column in table.columns if str(column) in KEPT_SECRET]
    for row in rows:
        counts[part_of(table)] += 1
        plain = as_plain(table, row) if table is not USER else row
        for name in secret:
            del plain[name]
        yield _line(plain)


def _line(row: Mapping[str, Any]) -> bytes:
    return f"{LINES.encode(row)}\n".encode()


def _add_run_files(session: Session, collection_id: int, writer: BundleWriter) -> None:
    for id_ in session.scalars(select(Run.id).where(Run.collection_id == collection_id).order_by(Run.id)).all():
        packed_here, stored = session.execute(
            select(RunFile.packed_here, RunFile.content).where(RunFile.run_id == id_)
        ).one()
        content = gzip.decompress(stored) if packed_here else stored
        writer.add(run_part(id_, packed=content.startswith(GZIP_MAGIC)), iter([content]))


def _audit_entries(session: Session, collection_id: int) -> Iterator[bytes]:
    statement = select(AuditEvent).where(AuditEvent.collection_id == collection_id).order_by(AuditEvent.id)
    for entry in session.scalars(statement, execution_options={"yield_per": ROWS_AT_ONCE}):
        written = {"at": entry.at.isoformat(), "name": entry.name, "door": entry.door, "action": entry.action}
        yield _line({**written, "subject": entry.subject, "details": entry.details})


def _public_questions(session: Session, collection_id: int) -> frozenset[int | None]:
    """The questions of participants whose answers all participants see."""
    return frozenset(
        session.scalars(select(Announcement.question_id).where(Announcement.collection_id == collection_id))
    )


def _is_private(table: Table, row: Row, *, public: frozenset[int | None]) -> bool:
    """Whether no archive with pseudonyms has the row.

    These are e-mail addresses that were given about a run, and what a team asked the organisers alone.
    """
    if table is Question.__table__:
        return row["team_id"] is not None and row["id"] not in public
    return table is RunAnswer.__table__ and row["kind"] == AnswerKind.EMAIL


def _renamed(table: Table, row: Row, names: Mapping[str, str]) -> Row:
    """The row without people's names: in policies, manifests, parameters and free text."""
    if not names:
        return row
    for column in ("policy", Collection.consensus_policy.key):
        if isinstance(row.get(column), str):
            row[column] = policy_without_names(row[column], names)
    if "manifest" in row:
        row["manifest"] = without_names(row["manifest"], names)
    if "parameters" in row:
        row["parameters"] |= without_names_in(row["parameters"], PERSONAL_PARAMETERS, names)
    if table is QuestionnaireVersion.__table__:
        row["questions"] = [one | without_names_in(one, WRITTEN_IN_QUESTIONS, names) for one in row["questions"]]
    return row | without_names_in(row, WRITTEN_BY_PEOPLE.get(table.name, ()), names)
