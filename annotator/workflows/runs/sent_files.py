"""What was sent: receipts, warnings, and the files as they came."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.runs.run_warnings import from_stored
from annotator.files import InputFile
from annotator.storage import Run, RunFile
from annotator.storage.collections.collection import find_collection
from annotator.storage.runs.sent_runs import Receipt, SentRun, find_sent_run, same_rankings, sent_runs, size_as_sent


@dataclass(frozen=True)
class RunView:
    """One file of a run, its warnings, and every file of the tag, oldest first."""

    row: SentRun
    warnings: tuple[Sentence, ...]
    versions: tuple[SentRun, ...]


def receipt_of(
    session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None
) -> Receipt:
    """The receipt of a run's newest file, or of one of its versions, as it was given out; with `team`, only theirs."""
    run = find_sent_run(session, find_collection(session, slug).id, tag, version=version, team=team)
    sentences = from_stored(session.get_one(Run, run.id).warnings)
    return Receipt(**vars(run), bytes=size_as_sent(session, run.id), sentences=sentences)


def show_run(session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None) -> RunView:
    """A run's newest file, or one of its versions, with its warnings; with `team`, only theirs."""
    collection_id = find_collection(session, slug).id
    row = find_sent_run(session, collection_id, tag, version=version, team=team)
    versions = [run for run in sent_runs(session, collection_id, tag) if team is None or run.team == team]
    return RunView(row, from_stored(session.get_one(Run, row.id).warnings), tuple(versions))


def rankings_sent_twice(session: Session, slug: str) -> Mapping[int, Sequence[str]]:
    """By run id, the tags of other teams' runs in force that have the same ranking, which organisers alone may learn.

    The same ranking is the same documents in the same order for the same topics, whatever the scores are.
    """
    return same_rankings(session, find_collection(session, slug).id)


def original_file(
    session: Session, slug: str, tag: str, *, version: int | None = None, team: str | None = None
) -> InputFile:
    """A run's newest file, or one of its versions, byte for byte as it was sent; with `team`, only theirs."""
    run = find_sent_run(session, find_collection(session, slug).id, tag, version=version, team=team)
    stored = session.get_one(RunFile, run.id)
    return InputFile(run.file_name, gzip.decompress(stored.content) if stored.packed_here else stored.content)
