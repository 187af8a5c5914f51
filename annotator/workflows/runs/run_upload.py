"""Upload of run files: validate, then store files and ranked lists."""

import gzip
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, Problems, Sentence
from annotator.evaluation.costs.statements import Statement
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.runs.docno_lists import ReadDocnos
from annotator.evaluation.runs.ir_metadata import IrMetadata
from annotator.evaluation.runs.run_intake import DocumentIds, ReadRun, RunIntake, RunRules, checksum_of
from annotator.evaluation.runs.run_tags import Sender, SortedTags
from annotator.evaluation.runs.run_tasks import TaskRules, choose_task
from annotator.evaluation.runs.run_warnings import as_stored
from annotator.files import GZIP_MAGIC, InputFile
from annotator.storage import ACCEPTED, Collection, Database, Event, MailKind, Run, RunType
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.collections.collection import (
    find_open_collection,
    lock_open_collection,
    topic_ids,
)
from annotator.storage.documents import documents as document_rows
from annotator.storage.runs.questionnaires import carry_answers
from annotator.storage.runs.run_sources import note_fetched
from annotator.storage.runs.runs import RunDetails, add_files, add_ranked_lists, apply_details, carry_facts
from annotator.storage.runs.sent_runs import Receipt, sent_runs
from annotator.storage.runs.tasks import tasks_of
from annotator.storage.site.mail import Letter, queue_for_account
from annotator.storage.site.webhooks import announce
from annotator.workflows.documents.documents import DocumentImport, import_documents
from annotator.workflows.runs.questionnaires import answer_with_runs, foresee_answers
from annotator.workflows.runs.run_costs import state_with_runs
from annotator.workflows.runs.run_documents import add_missing_documents, documents_of
from annotator.workflows.runs.run_files import RunEntry, open_files
from annotator.workflows.runs.run_rules import sorted_tags, topics_for
from annotator.workflows.runs.runs import check_details, rankings_sent_twice
from annotator.workflows.runs.submissions import check_may_send, foresee_sending
from annotator.workflows.runs.tasks import task_rules
from annotator.workflows.topics.topics import numbers_by_query

PACKING = 1  # zlib's level: the default 6 takes four times as long for a run and saves a fourteenth
NO_DETAILS = RunDetails()


@dataclass(frozen=True, eq=False)
class CheckedRun(ReadRun):
    """A valid run, prepared as far as possible before it is stored."""

    file: InputFile
    sender: Sender
    checksum: str  # SHA-256 of the bytes as uploaded
    packed: bytes  # those bytes gzipped
    corrected_id: int | None  # id of the run it replaces
    documents: DocumentIds  # shared by all runs checked together
    greatest_document: int  # the greatest id of a document on the site when they were looked up
    details: RunDetails = NO_DETAILS  # of this run, in place of what all files share

    @property
    def corrects(self) -> bool:
        """Whether it replaces an earlier file."""
        return self.corrected_id is not None


@dataclass(frozen=True)
class Submission:
    """The sender of uploaded run files, details, costs and answers for all runs, and what is given for single files.

    `entries` are as many as the files, in their order, None for a file to be left out; without them, the metadata sent
    with the files count.
    """

    sender: Sender
    details: RunDetails
    costs: Sequence[Statement] = ()
    tag_from_file: bool = False
    entries: Sequence[RunEntry | None] | None = None
    answers: Mapping[str, object] = field(default_factory=dict)  # to the questionnaire, by key
    asked: int | None = None  # the version of the questionnaire that they answer, where it is known
    asked_task: str | None = None  # the task whose questionnaire it is

    @property
    def team(self) -> str | None:
        """The team of a participant, to whom the submission rules apply; None for an organiser."""
        return None if self.sender.organises else self.sender.team

    @property
    def must_answer(self) -> bool:
        """Whether required answers must be given; a corrected run has those of the run that it corrects."""
        return self.team is not None and not self.sender.replaces


@dataclass(frozen=True)
class Brought:
    """What comes with runs that the site fetched itself: texts to be stored, and where they are from, for the audit.

    `source_id` is that of the source of runs, if they came from one.
    """

    texts: Sequence[ParsedDocument] = ()
    noted: Mapping[str, object] = field(default_factory=dict)
    source_id: int | None = None


NOTHING_BROUGHT = Brought()


@dataclass(frozen=True)
class Upload:
    """Stored runs with their receipts; by run id, the tags of other teams' runs with the same ranking.

    Rankings are compared only on request.
    """

    runs: list["CheckedRun"]
    receipts: list[Receipt]
    same: Mapping[int, Sequence[str]]
    texts: DocumentImport | None = None


@dataclass(frozen=True)
class CheckedFiles:
    """The valid runs, and the problems of the other files."""

    runs: list[CheckedRun]
    problems: Problems


def upload(
    database: Database,
    slug: str,
    files: Sequence[InputFile],
    submission: Submission,
    *,
    actor: Actor,
    at: datetime,
    noted_at: datetime,
    unpacked_limit: int,
    compares: bool = False,
    keep: bool = True,
    brought: Brought = NOTHING_BROUGHT,
) -> Upload:
    """Validate run files, without blocking other writers, and store all of them or none.

    `at` is the time of sending, `noted_at` that of the audit entry. With `compares` it also finds other teams' runs
    with the same ranking; without `keep` it is a dry run. Texts that are `brought` are imported in the same
    transaction. Raises `FileRefusedError` with every problem of every file, and as `check_may_send` and `store_runs`.
    """
    team, user_id = submission.team, actor.user_id
    with database.reading() as session:
        foresee_sending(session, slug, user_id, team=team, at=at)
        _foresee_answers(session, slug, submission)
        checked = _check_submission(session, slug, files, submission, unpacked_limit)
    with database.transaction(keep=keep) as session:
        check_may_send(session, slug, user_id, team=team, at=at)
        texts = None
        if brought.texts:
            # A worker indexes them: that would hold up other writers.
            texts = import_documents(session, slug, brought.texts, at=at, index_at_once=False)
            # The warnings about documents without a text are those of the corpus as it is now.
            checked = _check_submission(session, slug, files, submission, unpacked_limit)
            record_in(session, actor, "documents.import", slug, at=noted_at, details=vars(texts))
        receipts = store_runs(
            session, slug, checked.runs, details=submission.details, uploaded_by_id=user_id, uploaded_at=at
        )
        tags = {receipt.id: receipt.tag for receipt in receipts}
        state_with_runs(session, slug, tags.values(), submission.costs, at=at)
        _answer(session, slug, tags, submission, by_id=user_id, at=at)
        for receipt in receipts:
            details = {"sha256": receipt.checksum, **brought.noted}
            record_in(session, actor, "runs.import", slug, at=noted_at, subject=receipt.tag, details=details)
        note_fetched(session, brought.source_id, tags, at=at)
        same = rankings_sent_twice(session, slug) if compares else {}
    return Upload(checked.runs, receipts, same, texts)


def _foresee_answers(session: Session, slug: str, sent: Submission) -> None:
    foresee_answers(session, slug, sent.answers, requires=sent.must_answer, version=sent.asked, task=sent.asked_task)


def _answer(
    session: Session, slug: str, tags: Mapping[int, str], sent: Submission, *, by_id: int | None, at: datetime
) -> None:
    """Store the answers about runs that were just stored, {run id: tag}."""
    answer_with_runs(
        session,
        slug,
        tags,
        sent.answers,
        by_id=by_id,
        at=at,
        requires=sent.team is not None,
        version=sent.asked,
        task=sent.asked_task,
    )


def _check_submission(
    session: Session, slug: str, files: Sequence[InputFile], submission: Submission, unpacked_limit: int
) -> "CheckedFiles":
    """The valid runs of a submission; raises `FileRefusedError` when any has a problem."""
    checked = check_each_run(
        session,
        slug,
        files,
        sender=submission.sender,
        tag_from_file=submission.tag_from_file,
        unpacked_limit=unpacked_limit,
        shared=submission.details,
        entries=submission.entries,
    )
    checked.problems.refuse_if_any()
    return checked


def check_runs(
    session: Session,
    slug: str,
    files: Sequence[InputFile],
    *,
    sender: Sender,
    tag_from_file: bool = False,
    unpacked_limit: int,
) -> list[CheckedRun]:
    """Read and validate run files against the collection; stores nothing.

    With `tag_from_file` the file name without its extensions is the tag. Raises `FileRefusedError` with every problem
    of every file: its format, its topics, and tags in use or given twice.
    """
    checked = check_each_run(
        session, slug, files, sender=sender, tag_from_file=tag_from_file, unpacked_limit=unpacked_limit
    )
    checked.problems.refuse_if_any()
    return checked.runs


def check_each_run(
    session: Session,
    slug: str,
    files: Sequence[InputFile],
    *,
    sender: Sender,
    tag_from_file: bool = False,
    new_topics: frozenset[str] = frozenset(),
    unpacked_limit: int,
    shared: RunDetails = NO_DETAILS,
    entries: Sequence[RunEntry | None] | None = None,
    docnos: ReadDocnos | None = None,
) -> CheckedFiles:
    """Validate files as `check_runs`, and report on each of them; `shared` and `entries` as in a `Submission`.

    Zip archives are opened; problems of the archives and of metadata come first. `new_topics` will be stored before the
    runs. `docnos` count in place of the collection's list of valid docnos.
    """
    opened = open_files(files, unpacked_limit=unpacked_limit)
    given = opened.entries if entries is None else entries
    merged = [merge_details(sender, shared, entry.details) if entry else shared for entry in given]
    senders = [sender_of(sender, details) for details in merged]
    collection = find_open_collection(session, slug)
    tags = {one: sorted_tags(session, collection.id, one) for one in dict.fromkeys((sender, *senders))}
    topics = new_topics.union(topics_for(session, collection.id, sender))
    rules = _rules(session, collection, topics, new_topics, unpacked_limit)
    intake = RunIntake(replace(rules, tag_from_file=tag_from_file))
    if entries is None:
        intake.problems.add_all(opened.problems)
    read = [
        _Read(file, run, one, details)
        for file, entry, one, details in zip(opened.files, given, senders, merged, strict=True)
        if entry and (run := _taken(intake, file, entry, tags[one], details.task)) is not None
    ]
    greatest = document_rows.greatest_document(session)
    documents = documents_of(session, collection.id, intake, docnos)
    ready = [_checked(one, tags[one.sender].corrected.get(one.run.parsed.tag), documents, greatest) for one in read]
    return CheckedFiles(ready, intake.problems)


def _rules(
    session: Session,
    collection: Collection,
    topics: frozenset[str],
    new_topics: frozenset[str],
    unpacked_limit: int,
) -> RunRules:
    wanted = new_topics.union(topic_ids(session, collection.id, ACCEPTED))
    return RunRules(
        topics=topics,
        wanted_topics=wanted,
        most_documents=collection.most_documents,
        unpacked_limit=unpacked_limit,
        titles=numbers_by_query(session, collection.id),
        tasks=task_rules(session, collection, topics, wanted),
    )


def _taken(intake: RunIntake, file: InputFile, entry: RunEntry, tags: SortedTags, task: str | None) -> ReadRun | None:
    return intake.read(file.name, file.content, tag=entry.tag, tags=tags, input_format=file.input_format, task=task)


def store_runs(
    session: Session,
    slug: str,
    checked: Sequence[CheckedRun],
    *,
    details: RunDetails,
    uploaded_by_id: int | None,
    uploaded_at: datetime,
) -> list[Receipt]:
    """Store valid runs with files and ranked lists; a corrected run is kept but no longer active.

    Raises `FileRefusedError` when a tag was taken, a run withdrawn, or a topic removed since the check.
    """
    its_details = [merge_details(one.sender, details, one.details) for one in checked]
    check_details(details, *its_details)
    collection = lock_open_collection(session, slug)
    topics = topic_ids(session, collection.id)
    _check_fit(session, collection, checked)
    greatest = {run.documents: run.greatest_document for run in checked}
    documents = {one: add_missing_documents(session, collection.id, one, after) for one, after in greatest.items()}
    runs, task_ids = [], {task.key: task.id for task in tasks_of(session, collection.id)}
    for one, own in zip(checked, its_details, strict=True):
        run = _begun(session, one, uploaded_at)
        run.collection_id, run.uploaded_by_id, run.uploaded_at = collection.id, uploaded_by_id, uploaded_at
        apply_details(session, run, own, task_ids=task_ids)
        runs.append(run)
    session.add_all(runs)
    session.flush()
    run_ids = [run.id for run in runs]
    add_files(
        session,
        ((id_, one.packed is not one.file.content, one.packed) for id_, one in zip(run_ids, checked, strict=True)),
    )
    corrected = {one.corrected_id: id_ for id_, one in zip(run_ids, checked, strict=True) if one.corrected_id}
    carry_facts(session, corrected)
    carry_answers(session, corrected)
    lists = (
        (id_, topics[number], ids, scores)
        for id_, one in zip(run_ids, checked, strict=True)
        for number, ids, scores in documents[one.documents].packed_lists(one.parsed)
    )
    add_ranked_lists(session, lists)
    return _received(session, collection, dict(zip(run_ids, checked, strict=True)), uploaded_by_id, at=uploaded_at)


def _received(
    session: Session, collection: Collection, checked: Mapping[int, CheckedRun], by_id: int | None, *, at: datetime
) -> list[Receipt]:
    """The receipts of the stored runs, by id, which are announced to webhooks and e-mailed to the sender."""
    sent = {run.id: run for run in sent_runs(session, collection.id)}
    happened = [
        {"tag": run.tag, "version": run.version, "team": run.team, "sha256": run.checksum}
        for run in map(sent.__getitem__, checked)
    ]
    announce(session, collection.id, Event.RUN_RECEIVED, happened, at=at)
    receipt = {"title": collection.title, "slug": collection.slug, "at": at.isoformat(), "runs": happened}
    queue_for_account(session, by_id, Letter(MailKind.RECEIPT, receipt), at=at)
    return [
        Receipt(**vars(sent[id_]), bytes=len(one.file.content), sentences=one.warnings) for id_, one in checked.items()
    ]


@dataclass(frozen=True)
class _Read:
    """A file read without a problem, its sender and its details."""

    file: InputFile
    run: ReadRun
    sender: Sender
    details: RunDetails


def sender_of(sender: Sender, details: RunDetails) -> Sender:
    """The sender of one file: an organiser may send each for another team."""
    return replace(sender, team=details.team) if sender.organises and details.team else sender


def merge_details(sender: Sender, shared: RunDetails, own: RunDetails) -> RunDetails:
    """The details of one file: its own where they are given, else what all files share.

    The team of a participant is not theirs to choose.
    """
    chosen = own if sender.organises else replace(own, team=None)
    return RunDetails(
        **{name: value if value is not None else getattr(shared, name) for name, value in vars(chosen).items()}
    )


def _checked(one: _Read, corrected_id: int | None, documents: DocumentIds, greatest_document: int) -> CheckedRun:
    file, run = one.file, one.run
    is_packed = file.content.startswith(GZIP_MAGIC)
    return CheckedRun(
        file_name=file.name,
        parsed=run.parsed,
        warnings=(*run.warnings, *documents.warnings_of(run.parsed)),
        file=file,
        sender=one.sender,
        checksum=checksum_of(file.content),
        # The identical object if it was sent in that form.
        packed=file.content if is_packed else gzip.compress(file.content, PACKING, mtime=0),
        corrected_id=corrected_id,
        documents=documents,
        greatest_document=greatest_document,
        details=replace(_filled(one.details, run.metadata), task=run.task),
        metadata=run.metadata,
        task=run.task,
        read_as=run.read_as,
    )


def _filled(details: RunDetails, metadata: IrMetadata) -> RunDetails:
    """The details, where nothing is given with those in the header of the file."""
    run_type = details.run_type
    if run_type is None and metadata.is_automatic is not None:
        run_type = RunType.AUTOMATIC if metadata.is_automatic else RunType.MANUAL
    return replace(details, description=details.description or metadata.description, run_type=run_type)


def _check_fit(session: Session, collection: Collection, checked: Sequence[CheckedRun]) -> None:
    """Raise `FileRefusedError` for what the sender may no longer do since the check."""
    senders = {run.sender for run in checked}
    tags = {sender: sorted_tags(session, collection.id, sender) for sender in senders}
    topics = {sender: topics_for(session, collection.id, sender) for sender in senders}
    tasks = {sender: task_rules(session, collection, topics[sender], ()) for sender in senders}
    new: Counter[tuple[Sender, str | None]] = Counter()
    problems = Problems()
    for run in checked:
        sender, tag = run.sender, tags[run.sender].stored(run.parsed.tag)
        try:
            task = choose_task(tasks[sender], run.task, tag, tags[sender])
        except InvalidValueError as error:
            problems.add(run.file_name, None, error.sentence.template, **error.sentence.values)
            continue
        of_sender = tags[sender] if task is None else tags[sender].for_task(task.key, task.most_runs)
        refusal = of_sender.refusal(tag) or (task.refusal_of_format(run.read_as) if task is not None else None)
        if refusal is None and (run.corrected_id is None or of_sender.joins(tag)):
            new[sender, run.task] += 1
            refusal = of_sender.refusal_of_new(new[sender, run.task])
        if refusal is None and of_sender.corrected.get(tag) != run.corrected_id:
            refusal = _changed_since(tag, is_there=tag in of_sender.corrected)
        if refusal is not None:
            problems.add(run.file_name, None, refusal.template, **refusal.values)
        _note_topics(run, task, topics[sender], problems)
    problems.refuse_if_any()


def _note_topics(run: CheckedRun, task: TaskRules | None, topics: Mapping[str, int], problems: Problems) -> None:
    """Note topics of a run that its task, or the collection, does not have any more."""
    for number in set(run.parsed.topics).difference(topics if task is None else task.topics):
        if task is None:
            problems.add(run.file_name, None, "There is no topic %(number)s any more.", number=number)
        else:
            problems.add(
                run.file_name,
                None,
                "The task %(task)s does not have the topic %(number)s any more.",
                task=task.key,
                number=number,
            )


def _changed_since(tag: str, *, is_there: bool) -> Sentence:
    """What became of the sender's own run with this tag since the check."""
    if is_there:
        return Sentence(
            "Another file of the run %(tag)s was stored while this one was checked. Send this one again to replace it.",
            {"tag": tag},
        )
    return Sentence(
        "The run %(tag)s, which this file replaces, is not there any more. Send the file again.", {"tag": tag}
    )


def _begun(session: Session, checked: CheckedRun, at: datetime) -> Run:
    """Insert the run; metadata of the run that it corrects is copied."""
    run = Run(tag=checked.parsed.tag, team_id=None, description="", run_type=RunType.UNKNOWN, priority=1)
    run.file_name, run.checksum = PurePath(checked.file_name).name, checked.checksum
    run.retrieved, run.warnings = checked.parsed.retrieved, as_stored(checked.warnings)
    if checked.corrected_id is not None:
        old = session.get_one(Run, checked.corrected_id)
        old.replaced_at = at
        session.flush()  # before the new one takes the tag
        run.team_id, run.description = old.team_id, old.description
        run.run_type, run.priority = old.run_type, old.priority
        run.round_id, run.task_id = old.round_id, old.task_id
    return run
