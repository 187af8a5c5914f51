"""Runs: list, show, change, withdraw and restore."""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError, Sentence
from annotator.evaluation.formats.identifiers import check_free_text, natural_order
from annotator.evaluation.runs.run_warnings import as_stored, from_stored, with_topics_counted
from annotator.files import InputFile
from annotator.storage import Run, RunFile
from annotator.storage.collections.collection import (
    find_collection,
)
from annotator.storage.runs.runs import RunDetails, apply_details, find_run
from annotator.storage.runs.sent_runs import Receipt, SentRun, find_sent_run, same_rankings, sent_runs, size_as_sent
from annotator.storage.tables.runs import RunState
from annotator.workflows.runs.run_rules import is_of_closed_round, refuse_to_restore
from annotator.workflows.runs.submissions import check_may_change, check_may_send
from annotator.workflows.runs.tasks import refuse_topics_outside, task_of_run, topics_in_task

LONGEST_DESCRIPTION = 1_000
GREATEST_PRIORITY = 99
# The ending of a file name, such as .txt.gz, and what file systems refuse in names.
ENDING = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,7}){1,2}$")
UNSAFE = re.compile(r"[^\w.+=@-]")


def list_runs(session: Session, slug: str, *, team: str | None = None, every: bool = False) -> list[SentRun]:
    """The active runs by tag, of all teams or of one; with `every` also withdrawn and replaced ones."""
    rows = [
        run
        for run in sent_runs(session, find_collection(session, slug).id)
        if (team is None or run.team == team) and (every or run.state == RunState.IN_FORCE)
    ]
    return sorted(rows, key=lambda run: (natural_order(run.tag), run.version))


def withdraw_run(
    session: Session, slug: str, tag: str, *, at: datetime, by_id: int | None = None, team: str | None = None
) -> bool:
    """Exclude a run from pooling and scoring; its contributions to a pool remain.

    With `team`, a participant of it withdraws one of its runs; otherwise an organiser does. Returns whether they can
    restore it: of a closed round only organisers can. Raises `ConflictError` when it is withdrawn already, and as
    `check_may_change`.
    """
    run = find_run(session, check_may_change(session, slug, by_id, team=team, at=at).id, tag, team=team)
    if run.state == RunState.WITHDRAWN:
        raise ConflictError("The run “%(tag)s” is withdrawn already.", tag=tag)
    run.withdrawn_at, run.withdrawn_by_id, run.withdrawn_by_team = at, by_id, team is not None
    return team is None or not is_of_closed_round(session, run)


def restore_run(
    session: Session, slug: str, tag: str, *, at: datetime, by_id: int | None = None, team: str | None = None
) -> None:
    """Make a withdrawn run active again; `ConflictError` when it was not withdrawn.

    With `team`, only one of its runs, for a participant who may send runs: raises as `check_may_send`,
    `NotAllowedError` when an organiser withdrew it or its round is closed, and `ConflictError` when the team has as
    many runs as it may have.
    """
    run = find_run(session, check_may_send(session, slug, by_id, team=team, at=at).id, tag, team=team)
    if run.state != RunState.WITHDRAWN:
        raise ConflictError("The run “%(tag)s” is not withdrawn.", tag=tag)
    if team is not None and not run.withdrawn_by_team:
        raise NotAllowedError("The organisers have withdrawn the run “%(tag)s”. Only they can restore it.", tag=tag)
    if team is not None:
        refuse_to_restore(session, run, team)
    run.withdrawn_at, run.withdrawn_by_id, run.withdrawn_by_team = None, None, False


def change_run(
    session: Session,
    slug: str,
    tag: str,
    *,
    details: RunDetails,
    at: datetime,
    by_id: int | None = None,
    team: str | None = None,
) -> None:
    """Change the details of a run's newest file; raises as `check_may_change`.

    With `team`, a participant of it changes one of its runs, whose team and task cannot change. Raises `ConflictError`
    for a task that does not have all its topics, and `NotFoundError` for an unknown one.
    """
    collection = check_may_change(session, slug, by_id, team=team, at=at)
    check_details(details)
    run = find_run(session, collection.id, tag, team=team)
    if details.task is not None and team is None:
        listed = refuse_topics_outside(session, run, details.task)
        if (task := task_of_run(session, run)) is None or task.key != details.task:
            counted = with_topics_counted(
                from_stored(run.warnings), listed, topics_in_task(session, slug, details.task)
            )
            run.warnings = as_stored(counted)
    apply_details(session, run, details if team is None else replace(details, team=None, task=None))


def check_details(*several: RunDetails) -> None:
    """Raise `InvalidValueError` for invalid details of a run."""
    for details in several:
        check_free_text(details.description or "", LONGEST_DESCRIPTION)
        if details.priority is not None and not 1 <= details.priority <= GREATEST_PRIORITY:
            raise InvalidValueError(
                "A priority is a number from 1, the first to be pooled, to %(most)d, not %(given)d.",
                most=GREATEST_PRIORITY,
                given=details.priority,
            )


@dataclass(frozen=True)
class RunView:
    """One file of a run, its warnings, and every file of the tag, oldest first."""

    row: SentRun
    warnings: tuple[Sentence, ...]
    versions: tuple[SentRun, ...]


def receipt_of(
    session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None
) -> Receipt:
    """The issued receipt of a run's newest file, or of a version; with `team`, only for its runs."""
    run = find_sent_run(session, find_collection(session, slug).id, tag, version=version, team=team)
    sentences = from_stored(session.get_one(Run, run.id).warnings)
    return Receipt(**vars(run), bytes=size_as_sent(session, run.id), sentences=sentences)


def show_run(session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None) -> RunView:
    """A run's newest file, or a version, with its warnings; with `team`, only for its runs."""
    collection_id = find_collection(session, slug).id
    row = find_sent_run(session, collection_id, tag, version=version, team=team)
    versions = [run for run in sent_runs(session, collection_id, tag) if team is None or run.team == team]
    return RunView(row, from_stored(session.get_one(Run, row.id).warnings), tuple(versions))


def rankings_sent_twice(session: Session, slug: str) -> Mapping[int, Sequence[str]]:
    """Run id → tags of other teams' active runs with the same ranking; for organisers only.

    Rankings are the same if they have the same documents in the same order for the same topics, whatever the scores.
    """
    return same_rankings(session, find_collection(session, slug).id)


def original_file(
    session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None
) -> InputFile:
    """A run's newest file, or a version, byte for byte as uploaded; with `team`, only for its runs."""
    run = find_sent_run(session, find_collection(session, slug).id, tag, version=version, team=team)
    stored = session.get_one(RunFile, run.id)
    return InputFile(run.file_name, gzip.decompress(stored.content) if stored.packed_here else stored.content)


def write_run_files(session: Session, slug: str, stream: IO[bytes], *, team: str | None = None) -> None:
    """Write the file of each active run to a zip archive, byte for byte as uploaded; with `team`, only of its runs.

    Each is called by its tag, with the ending of its file. Raises `NotFoundError` where there is no run.
    """
    sent = list_runs(session, slug, team=team)
    if not sent:
        raise NotFoundError("There is no active run to download.")
    taken: set[str] = set()
    with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        for one in sent:
            name = _name_in_archive(one.tag, one.file_name, taken)
            file = original_file(session, slug, one.tag, team=team)
            # The time of upload, so that the same runs give the same archive.
            archive.writestr(ZipInfo(name, one.uploaded_at.timetuple()[:6]), file.content, ZIP_DEFLATED)


def _name_in_archive(tag: str, file_name: str, taken: set[str]) -> str:
    """A name that no file system refuses, and that no other file has, whatever the case."""
    ending = ENDING.search(file_name)
    stem = UNSAFE.sub("_", tag).lstrip(".") or "run"
    after = "" if ending is None or stem.endswith(ending[0]) else ending[0]
    names = chain([f"{stem}{after}"], (f"{stem}-{number}{after}" for number in count(2)))
    name = next(name for name in names if name.casefold() not in taken)
    taken.add(name.casefold())
    return name
