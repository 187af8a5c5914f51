"""Builds the demonstration through the same workflows that organisers use, into an SQLite file of its own."""

import secrets
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from annotator.clicks.evaluation.logs.log_studying import LogRequest, study_log
from annotator.clicks.workflows import click_logs
from annotator.demonstration.corpus import PythonDocument, python_documents, text_hash
from annotator.demonstration.evidence import (
    COSTS,
    LOG_NAME,
    MACHINE,
    MACHINE_FACTS,
    VARIANTS,
    click_log,
    machine_labels,
)
from annotator.demonstration.systems import SYSTEMS
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.topic_formats import ParsedTopic
from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.passwords import KNOWN_PASSWORD, hash_known_password
from annotator.settings import MEBIBYTE, Settings, sqlite_url
from annotator.storage import Database, Role, RunType
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.migrating import upgrade_schema
from annotator.workflows.collections import collection, rounds
from annotator.workflows.documents import documents
from annotator.workflows.judging import judgement_import
from annotator.workflows.people import accounts, members
from annotator.workflows.pools import pool_building, pools
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import run_costs, run_upload, runs
from annotator.workflows.topics import topics

HERE = Path(__file__).parent
SLUG = "python-docs"
PASSWORD = KNOWN_PASSWORD
DEPTH = 10
SEED = 2026
UNPACKED_LIMIT = 16 * MEBIBYTE
SCALE = """
0=Not relevant | Does not help with this need, even if it shares its words.
1=Relevant | Helps, goes part of the way, or is a close alternative.
2=Highly relevant | With this very thing the programmer could meet the need.
"""
# Each account shows a different part of the program.
ROLES: Mapping[str, tuple[Role, str | None]] = {
    "ola": (Role.ORGANISER, None),
    "jo": (Role.JUDGE, None),
    "kim": (Role.JUDGE, None),
    "pat": (Role.PARTICIPANT, "vectors"),
}
TEAMS = {
    "words": ("bm25-plain", "bm25-porter", "bm25-names", "bm25-description"),
    "vectors": ("tfidf-cosine", "trigram-summary"),
}
# The others are of the first round.
SECOND_ROUND = frozenset({"bm25-description", "trigram-summary"})
FIRST_ROUND = frozenset(tag for tags in TEAMS.values() for tag in tags) - SECOND_ROUND
LABELLINGS = ("strict", "generous")


@dataclass(frozen=True)
class Demonstration:
    """The location of the demonstration, and what to show its visitor.

    `labels_left_out` counts shipped labels whose text differs in this Python or is not pooled; 0 when the demonstration
    existed already.
    """

    settings: Settings
    is_new: bool
    labels_used: int
    labels_left_out: int


@dataclass(frozen=True)
class Label:
    """The labels of a document, and the hash of the labelled text."""

    topic: str
    docno: str
    text_hash: str
    grades: tuple[str, ...]  # one per labelling, empty where it has none


def prepare_demonstration(directory: Path, *, now: datetime) -> Demonstration:
    """Create the demonstration in `directory`, or open the existing one with its judgements.

    Creation is atomic: it is built under another name and renamed when complete. The tables of one created by an older
    version are migrated.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "annotator.sqlite"
    settings = Settings(
        secret_key=_secret_key(directory / "secret-key"), database_url=sqlite_url(path.resolve()), demonstration=True
    )
    if path.exists():
        database = Database(settings.database_url)
        upgrade_schema(database)
        database.close()
        return Demonstration(settings, is_new=False, labels_used=0, labels_left_out=0)
    unfinished = directory / "unfinished.sqlite"
    for leftover in directory.glob("unfinished.sqlite*"):
        leftover.unlink()
    used, left_out = _build(Database(sqlite_url(unfinished.resolve())), now)
    unfinished.rename(path)
    return Demonstration(settings, is_new=True, labels_used=used, labels_left_out=left_out)


def _secret_key(path: Path) -> str:
    """The key that signs the demonstration's sessions, readable by its owner only; written atomically."""
    if not path.exists():
        unfinished = path.with_name("unfinished-secret-key")
        unfinished.unlink(missing_ok=True)  # a leftover might be readable by others
        unfinished.touch(mode=0o600)
        unfinished.write_text(secrets.token_hex(32))
        unfinished.rename(path)
    return path.read_text().strip()


def _build(database: Database, now: datetime) -> tuple[int, int]:
    """Build everything in one transaction, and return the number of labels used and left out."""
    upgrade_schema(database)
    corpus = python_documents()
    with database.transaction() as session:
        _add_collection_and_people(session, now)
        read = topics.read_topics([_shipped("topics.xml")], unpacked_limit=UNPACKED_LIMIT)
        topics.import_topics(session, SLUG, read)
        documents.import_documents(session, SLUG, [_parsed(document) for document in corpus])
        used, left_out = _hold_round(session, corpus, read, FIRST_ROUND, now)
        made = qrels.export_qrels(session, SLUG, made_at=now)
        qrels_versions.close_round(session, SLUG, made, by_id=None, at=now)
        rounds.open_round(session, SLUG, name="Second round", at=now)
        more, left_out = _hold_round(session, corpus, read, SECOND_ROUND, now)
        _add_evidence(session, corpus, now)
    # Closing merges SQLite's log into the file, so that the file alone can be renamed.
    database.close()
    return used + more, left_out - used


def _hold_round(
    session: Session,
    corpus: Sequence[PythonDocument],
    read: Sequence[ParsedTopic],
    tags: AbstractSet[str],
    now: datetime,
) -> tuple[int, int]:
    """Store the runs of a round, pool them, and import the labels that fit the pool."""
    for team, tag in ((team, tag) for team, of_team in TEAMS.items() for tag in of_team if tag in tags):
        system = SYSTEMS[tag]
        sent = InputFile(f"{tag}.run", system.run_lines(corpus, read).encode())
        checked = run_upload.check_runs(
            session, SLUG, [sent], sender=Sender(team, organises=True), unpacked_limit=UNPACKED_LIMIT
        )
        run_upload.store_runs(
            session,
            SLUG,
            checked,
            details=RunDetails(team, system.description, RunType.AUTOMATIC),
            uploaded_by_id=None,
            uploaded_at=now,
        )
        run_costs.state_costs(session, SLUG, tag, COSTS[tag], at=now)
    request = PoolRequest("depth", {"depth": DEPTH})
    pool_building.build_pool(session, SLUG, request, seed=SEED, built_by_id=None, built_at=now)
    return _import_labels(session, corpus, now)


def _add_evidence(session: Session, corpus: Sequence[PythonDocument], now: datetime) -> None:
    """Import the labels of the machine and the click log, both made from the shipped labels."""
    labels = [
        (label.topic, label.docno, int(label.grades[0]))
        for label in fitting_labels(shipped_labels(), corpus, pools.pooled_docnos(session, SLUG))
        if label.grades[0]
    ]
    file = InputFile("machine.qrels", machine_labels(labels).encode())
    checked = judgement_import.check_judgements(session, SLUG, file, by_machine=True, unpacked_limit=UNPACKED_LIMIT)
    judgement_import.store_judgements(session, SLUG, checked, judge=MACHINE, machine=MACHINE_FACTS, added_at=now)
    relevant = {(topic, docno) for topic, docno, grade in labels if grade}
    lists = {tag: _lists_of(runs.original_file(session, SLUG, tag)) for tag in VARIANTS}
    log = click_log(lists, relevant, now).encode()
    titles = click_logs.foresee_log(session, SLUG, LOG_NAME)
    click_logs.store_log(
        session, SLUG, study_log([("clicks.csv", log)], LogRequest(LOG_NAME), titles), by_id=None, at=now
    )


def _lists_of(run: InputFile) -> dict[str, list[str]]:
    """The ranked documents of a run file by topic."""
    lists: dict[str, list[str]] = {}
    for line in run.content.decode().splitlines():
        topic, _, docno, *_ = line.split()
        lists.setdefault(topic, []).append(docno)
    return lists


def _add_collection_and_people(session: Session, now: datetime) -> None:
    collection.add_collection(
        session,
        SLUG,
        title="Finding things in Python's documentation",
        scale=parse_scale(SCALE),
        relevant_from=1,
        judgements_wanted=2,
        added_at=now,
    )
    password_hash = hash_known_password(PASSWORD)
    for name, (role, team) in ROLES.items():
        accounts.add_user(
            session, name, password_hash=password_hash, administrator=role == Role.ORGANISER, added_at=now
        )
        members.add_member(session, SLUG, name, role, team=team, added_at=now)
    text = (HERE / "guidelines.md").read_text(encoding="utf-8")
    collection.set_guidelines(session, SLUG, text, made_by_id=None, made_at=now)


def _import_labels(session: Session, corpus: Sequence[PythonDocument], now: datetime) -> tuple[int, int]:
    """Import both labellings as far as they fit, and return the number of labels used and left out."""
    labels = shipped_labels()
    fitting = fitting_labels(labels, corpus, pools.pooled_docnos(session, SLUG))
    used = 0
    for index, judge in enumerate(LABELLINGS):
        rows = [f"{label.topic} 0 {label.docno} {label.grades[index]}\n" for label in fitting if label.grades[index]]
        if rows:
            file = InputFile(f"{judge}.qrels", "".join(rows).encode())
            checked = judgement_import.check_judgements(session, SLUG, file, unpacked_limit=UNPACKED_LIMIT)
            used += judgement_import.store_judgements(session, SLUG, checked, judge=judge, added_at=now).added
    return used, sum(grade != "" for label in labels for grade in label.grades) - used


def shipped_labels() -> list[Label]:
    """All labels that are shipped with the program."""
    lines = _shipped("labels.tsv").content.decode().splitlines()
    return [_label(line) for line in lines if not line.startswith("#")]


def fitting_labels(
    labels: Sequence[Label], corpus: Sequence[PythonDocument], pool: AbstractSet[tuple[str, str]]
) -> list[Label]:
    """The labels whose document is pooled and has, in this Python, exactly the labelled text."""
    hashes = {document.docno: text_hash(document.title, document.body) for document in corpus}
    return [
        label for label in labels if hashes.get(label.docno) == label.text_hash and (label.topic, label.docno) in pool
    ]


def _label(line: str) -> Label:
    topic, docno, hash_, *grades = line.split("\t")
    return Label(topic, docno, hash_, tuple(grades))


def _parsed(document: PythonDocument) -> ParsedDocument:
    return ParsedDocument(document.docno, document.title, document.body, None, "en", 1)


def _shipped(name: str) -> InputFile:
    return InputFile(name, (HERE / name).read_bytes())
