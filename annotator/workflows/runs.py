"""Runs: check files of them, store them whole, correct, withdraw and list them, give them back as they came."""

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Problems, Sentence
from annotator.evaluation.free_text import check_free_text
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.run_intake import DocumentIds, ReadRun, RunIntake, RunRules
from annotator.evaluation.run_tags import Sender as Sender  # for pages and commands, which import workflows
from annotator.evaluation.run_tags import TagHolder, sort_tags
from annotator.evaluation.run_warnings import as_stored, from_stored
from annotator.evaluation.unpacking import GZIP_MAGIC
from annotator.files import InputFile
from annotator.storage import ACCEPTED, Run, RunFile, RunType
from annotator.storage.accounts import find_or_add_team
from annotator.storage.collection import find_collection, find_open_collection, lock_open_collection, topic_ids
from annotator.storage.documents import add_documents, has_texts, stored_documents
from annotator.storage.runs import RunState, add_files, add_ranked_lists, find_run
from annotator.storage.sent_runs import SentRun, find_sent_run, sent_runs, size_as_sent

LONGEST_DESCRIPTION = 1_000
GREATEST_PRIORITY = 99
PACKING = 1  # zlib's level: its usual 6 takes four times as long for a run and saves a fourteenth


@dataclass(frozen=True)
class RunDetails:
    """What the file of a run does not say; None leaves a thing as it is, or unsaid of a new run.

    The priority is from 1, the first of the team's to be pooled, to 99; several runs may share one.
    """

    team: str | None = None
    description: str | None = None
    run_type: RunType | None = None
    priority: int | None = None


@dataclass(frozen=True, eq=False)
class CheckedRun(ReadRun):
    """A run that was read without a problem, with all that can be made ready before it is stored."""

    file: InputFile
    checksum: str  # SHA-256 of the bytes as they were sent
    packed: bytes  # those bytes gzipped
    corrected_id: int | None  # of the run whose place it takes
    documents: DocumentIds  # of all runs that were checked with it

    @property
    def corrects(self) -> bool:
        """Whether it takes the place of an earlier file."""
        return self.corrected_id is not None


@dataclass(frozen=True)
class Receipt(SentRun):
    """What was stored of one run, for whoever sent it."""

    bytes: int  # of the file as it was sent


@dataclass(frozen=True)
class RunView:
    """One file of a run, its warnings, and every file of the tag, oldest first."""

    row: SentRun
    warnings: tuple[Sentence, ...]
    versions: tuple[SentRun, ...]


def check_runs(
    session: Session,
    slug: str,
    files: Sequence[InputFile],
    *,
    sender: Sender,
    tag_from_file: bool = False,
    unpacked_limit: int,
) -> list[CheckedRun]:
    """Read files of runs against the collection and store nothing.

    With `tag_from_file` the file's name without its endings is the tag. Raises `FileRefusedError` with every problem
    of every file: its form, its topics, and tags taken or used twice.
    """
    collection = find_open_collection(session, slug)
    corrected, refused = sort_tags(sender, _tag_holders(session, collection.id))
    rules = RunRules(
        topics=frozenset(topic_ids(session, collection.id)),
        wanted_topics=frozenset(topic_ids(session, collection.id, ACCEPTED)),
        most_documents=collection.most_documents,
        unpacked_limit=unpacked_limit,
        tag_from_file=tag_from_file,
        refused_tags=refused,
    )
    intake = RunIntake(rules)
    read = [(file, run) for file in files if (run := intake.read(file.name, file.content)) is not None]
    intake.problems.refuse_if_any()
    documents = DocumentIds(intake.documents, corpus_is_loaded=has_texts(session, collection.id))
    _find_documents(session, collection.id, documents)
    return [_checked(file, run, corrected.get(run.parsed.tag), documents) for file, run in read]


def store_runs(
    session: Session,
    slug: str,
    checked: Sequence[CheckedRun],
    *,
    details: RunDetails,
    uploaded_by_id: int | None,
    uploaded_at: datetime,
) -> list[Receipt]:
    """Store checked runs whole, files and ranked lists; a run that one of them corrects is kept and counts no more.

    Raises `FileRefusedError` when a tag was taken, or a topic went, between the check and now.
    """
    _check_details(details)
    collection = lock_open_collection(session, slug)
    topics = topic_ids(session, collection.id)
    _check_fit(session, collection.id, topics, checked)
    documents = {one: _all_added(session, collection.id, one) for one in {run.documents for run in checked}}
    runs = []
    for one in checked:
        run = _corrected(session, one, uploaded_at)
        run.collection_id = collection.id
        run.file_name = PurePath(one.file_name).name
        run.checksum = one.checksum
        run.retrieved = one.parsed.retrieved
        run.warnings = as_stored(one.warnings)
        run.uploaded_by_id, run.uploaded_at = uploaded_by_id, uploaded_at
        _apply(session, run, details)
        runs.append(run)
    session.add_all(runs)
    session.flush()
    run_ids = [run.id for run in runs]
    add_files(
        session,
        ((id_, one.packed is not one.file.content, one.packed) for id_, one in zip(run_ids, checked, strict=True)),
    )
    lists = (
        (id_, topics[number], ids, scores)
        for id_, one in zip(run_ids, checked, strict=True)
        for number, ids, scores in documents[one.documents].packed_lists(one.parsed)
    )
    add_ranked_lists(session, lists)
    sent = {run.id: run for run in sent_runs(session, collection.id)}
    return [Receipt(**vars(sent[id_]), bytes=len(one.file.content)) for id_, one in zip(run_ids, checked, strict=True)]


def receipt_of(
    session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None
) -> Receipt:
    """The receipt of a run's newest file, or of one of its versions, as it was given out; with `team`, only theirs."""
    run = find_sent_run(session, find_collection(session, slug).id, tag, version=version, team=team)
    return Receipt(**vars(run), bytes=size_as_sent(session, run.id))


def list_runs(session: Session, slug: str, *, team: str | None = None, every: bool = False) -> list[SentRun]:
    """The runs in force by tag, of all teams or of one; with `every` also those that were withdrawn or replaced."""
    rows = [
        run
        for run in sent_runs(session, find_collection(session, slug).id)
        if (team is None or run.team == team) and (every or run.state == RunState.IN_FORCE)
    ]
    return sorted(rows, key=lambda run: (natural_order(run.tag), run.version))


def show_run(session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None) -> RunView:
    """A run's newest file, or one of its versions, with its warnings; with `team`, only theirs."""
    collection_id = find_collection(session, slug).id
    row = find_sent_run(session, collection_id, tag, version=version, team=team)
    versions = [run for run in sent_runs(session, collection_id, tag) if team is None or run.team == team]
    return RunView(row, from_stored(session.get_one(Run, row.id).warnings), tuple(versions))


def original_file(
    session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None
) -> InputFile:
    """A run's newest file, or one of its versions, byte for byte as it was sent; with `team`, only theirs."""
    run = find_sent_run(session, find_collection(session, slug).id, tag, version=version, team=team)
    stored = session.get_one(RunFile, run.id)
    return InputFile(run.file_name, gzip.decompress(stored.content) if stored.packed_here else stored.content)


def withdraw_run(session: Session, slug: str, tag: str, *, at: datetime, team: str | None = None) -> None:
    """Neither pool nor score a run any more; what it gave to a pool stays there. With `team`, only one of theirs.

    Raises `ConflictError` when it is withdrawn already.
    """
    run = find_run(session, lock_open_collection(session, slug).id, tag, team=team)
    if run.state == RunState.WITHDRAWN:
        raise ConflictError("The run “%(tag)s” is withdrawn already.", tag=tag)
    run.withdrawn_at = at


def restore_run(session: Session, slug: str, tag: str, *, team: str | None = None) -> None:
    """Let a withdrawn run count again; `ConflictError` when it was not withdrawn. With `team`, only one of theirs."""
    run = find_run(session, lock_open_collection(session, slug).id, tag, team=team)
    if run.state != RunState.WITHDRAWN:
        raise ConflictError("The run “%(tag)s” is not withdrawn.", tag=tag)
    run.withdrawn_at = None


def change_run(session: Session, slug: str, tag: str, *, details: RunDetails, team: str | None = None) -> None:
    """Change what is said of a run's newest file. With `team`, only one of theirs, and it stays theirs."""
    _check_details(details)
    run = find_run(session, lock_open_collection(session, slug).id, tag, team=team)
    _apply(session, run, details if team is None else replace(details, team=None))


def _checked(file: InputFile, run: ReadRun, corrected_id: int | None, documents: DocumentIds) -> CheckedRun:
    is_packed = file.content.startswith(GZIP_MAGIC)
    return CheckedRun(
        file_name=file.name,
        parsed=run.parsed,
        warnings=(*run.warnings, *documents.warnings_of(run.parsed)),
        file=file,
        checksum=hashlib.sha256(file.content).hexdigest(),
        # The very same object when it was sent so.
        packed=file.content if is_packed else gzip.compress(file.content, PACKING, mtime=0),
        corrected_id=corrected_id,
        documents=documents,
    )


def _tag_holders(session: Session, collection_id: int) -> list[TagHolder]:
    return [
        TagHolder(run.tag, run.id, run.team, run.state == RunState.WITHDRAWN)
        for run in sent_runs(session, collection_id)
        if run.state != RunState.REPLACED
    ]


def _find_documents(session: Session, collection_id: int, documents: DocumentIds) -> None:
    """Learn the ids of those that have a row."""
    count, docnos = documents.missing_count, (docnos for _, docnos in documents.missing())
    for rows in stored_documents(session, collection_id, count, docnos, with_text=documents.corpus_is_loaded):
        documents.take(rows)


def _all_added(session: Session, collection_id: int, checked: DocumentIds) -> DocumentIds:
    """Make rows for the documents that have none yet; what the check found stays as it was, if this is undone."""
    documents = checked.copy()
    _find_documents(session, collection_id, documents)
    for numbers, docnos in documents.missing():
        documents.give(numbers, add_documents(session, collection_id, docnos))
    return documents


def _check_fit(session: Session, collection_id: int, topics: Mapping[str, int], checked: Sequence[CheckedRun]) -> None:
    holders = {holder.tag: holder.run_id for holder in _tag_holders(session, collection_id)}
    problems = Problems()
    for run in checked:
        if holders.get(run.parsed.tag) != run.corrected_id:
            problems.add(run.file_name, None, "The tag %(tag)s is taken by another run.", tag=run.parsed.tag)
        for number in set(run.parsed.topics).difference(topics):
            problems.add(run.file_name, None, "There is no topic %(number)s any more.", number=number)
    problems.refuse_if_any()


def _corrected(session: Session, checked: CheckedRun, at: datetime) -> Run:
    """Begin a run; what is known of the one that it corrects goes over to it."""
    if checked.corrected_id is None:
        return Run(tag=checked.parsed.tag, team_id=None, description="", run_type=RunType.UNKNOWN, priority=1)
    old = session.get_one(Run, checked.corrected_id)
    old.replaced_at = at
    session.flush()  # before the new one takes the tag
    return Run(
        tag=old.tag, team_id=old.team_id, description=old.description, run_type=old.run_type, priority=old.priority
    )


def _apply(session: Session, run: Run, details: RunDetails) -> None:
    """Put what is given on the row."""
    if details.team is not None:
        run.team_id = find_or_add_team(session, run.collection_id, details.team).id
    if details.description is not None:
        run.description = details.description
    if details.run_type is not None:
        run.run_type = details.run_type
    if details.priority is not None:
        run.priority = details.priority


def _check_details(details: RunDetails) -> None:
    check_free_text(details.description or "", LONGEST_DESCRIPTION)
    if details.priority is not None and not 1 <= details.priority <= GREATEST_PRIORITY:
        raise InvalidValueError(
            "A priority is a number from 1, the first to be pooled, to %(most)d, not %(given)d.",
            most=GREATEST_PRIORITY,
            given=details.priority,
        )
