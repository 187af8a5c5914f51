"""The files that participants of a collection download, with their checksums: topics, docnos, released qrels, rules."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.runs.run_tags import Sender
from annotator.storage import Collection, CollectionState, ScoresShown, Topic
from annotator.storage.collections.collection import find_collection, latest_guidelines
from annotator.storage.documents.docno_lists import stored_list
from annotator.storage.documents.sources import find_source
from annotator.storage.qrels.qrels_versions import dropped_since, kept_version
from annotator.workflows.documents.docno_lists import export_docnos
from annotator.workflows.qrels.qrels_sharing import why_withheld
from annotator.workflows.qrels.qrels_versions import export_version
from annotator.workflows.runs.run_rules import rules_file
from annotator.workflows.runs.submissions import scores_seen
from annotator.workflows.runs.tasks import list_tasks
from annotator.workflows.topics.topics import accepted_topics, topics_jsonl

CHECKSUMS = "SHA256SUMS"
MOST_KEPT = 256


class SharedKind(StrEnum):
    """The content of a file."""

    TOPICS = "topics"
    TASK = "task-topics"
    DOCNOS = "docnos"
    QRELS = "qrels"
    RULES = "rules"
    GUIDELINES = "guidelines"
    CORPUS = "corpus"
    CHECKSUMS = "checksums"


# The actions of the audit log for downloading them.
EXPORTS: Mapping[SharedKind, str] = {SharedKind.DOCNOS: "docnos.export", SharedKind.QRELS: "qrels.export"}


@dataclass(frozen=True)
class Figures:
    """The lines, the bytes and the SHA-256 of a file; a last line without a newline counts."""

    lines: int
    size: int
    sha256: str


@dataclass(frozen=True)
class SharedFile:
    """A file: `task` is the key of the task whose topics it has, and `version` that of its qrels.

    `dropped_topics` are the topics in the qrels that are not scored, since they were dropped after the version was
    kept. Of a file that cannot be downloaded, `problem` is the reason, and it has no figures.
    """

    name: str
    kind: SharedKind
    figures: Figures | None
    task: str | None = None
    version: int | None = None
    problem: Sentence | None = None
    dropped_topics: tuple[str, ...] = ()

    def row(self) -> dict[str, object]:
        """The file as API and command list it."""
        figures = self.figures
        return {
            "name": self.name,
            "kind": self.kind.value,
            "task": self.task,
            "version": self.version,
            "lines": None if figures is None else figures.lines,
            "bytes": None if figures is None else figures.size,
            "sha256": None if figures is None else figures.sha256,
            "problem": None if self.problem is None else str(self.problem),
            "dropped_topics": list(self.dropped_topics),
        }


@dataclass(frozen=True)
class SharedFiles:
    """The files that a sender may download, and what a page says beside them.

    `docnos` are how many the list of valid docnos has, and `documents_of_source` those of the index of a source that is
    a folder; None without.
    """

    files: tuple[SharedFile, ...]
    corpus: str
    shares_docnos: bool
    shares_qrels: bool
    docnos: int | None
    has_source: bool
    documents_of_source: int | None


@dataclass(frozen=True)
class SharedContent:
    """The bytes of a file, in pieces that are read from the database one after the other."""

    name: str
    kind: SharedKind
    pieces: Iterable[bytes]
    version: int | None = None


class FigureMemory:
    """Cache of the figures of large files, by keys that determine their bytes."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Figures] = OrderedDict()

    def figures(self, key: Hashable, pieces: Callable[[], Iterable[bytes]]) -> Figures:
        """The figures of a file, which is read if the cache does not have them."""
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            # No lock is held while it is read: concurrent requests may both read it.
            found = figures_of(pieces())
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return found


@dataclass(frozen=True)
class _Source:
    """Where the bytes of a file come from; with a `key`, which determines them, their figures are cached."""

    name: str
    kind: SharedKind
    pieces: Callable[[], Iterable[bytes]]
    key: Hashable | None = None
    task: str | None = None
    version: int | None = None
    dropped_topics: tuple[str, ...] = ()


def figures_of(pieces: Iterable[bytes]) -> Figures:
    """The figures of these bytes."""
    checksum, lines, size, last = hashlib.sha256(), 0, 0, b"\n"
    for piece in pieces:
        if piece:
            checksum.update(piece)
            lines += piece.count(b"\n")
            size += len(piece)
            last = piece[-1:]
    return Figures(lines + (last != b"\n"), size, checksum.hexdigest())


def list_shared_files(
    session: Session, slug: str, sender: Sender, *, at: datetime, memory: FigureMemory | None = None
) -> SharedFiles:
    """The files that a team may download at this time; organisers see those for participants, with their own rules."""
    collection = find_collection(session, slug)
    memory = memory or FigureMemory()
    files = [_listed(one, memory) for one in _sources(session, collection, sender, at)]
    docnos, source = stored_list(session, collection.id), find_source(session, collection.id)
    return SharedFiles(
        files=tuple(files),
        corpus=collection.corpus,
        shares_docnos=collection.shares_docnos,
        shares_qrels=collection.shares_qrels,
        docnos=None if docnos is None else docnos.docnos,
        has_source=source is not None,
        documents_of_source=None if source is None else source.index_documents,
    )


def _listed(source: _Source, memory: FigureMemory) -> SharedFile:
    figures, problem = None, None
    try:
        figures = figures_of(source.pieces()) if source.key is None else memory.figures(source.key, source.pieces)
    except (ConflictError, InvalidValueError) as error:  # withheld, not to be made again, or damaged
        problem = error.sentence
    return SharedFile(source.name, source.kind, figures, source.task, source.version, problem, source.dropped_topics)


def checksums_of(files: Iterable[SharedFile]) -> str:
    """Their SHA-256 as `sha256sum --check` reads them, the same for each team.

    Without files that cannot be downloaded, and without the rules, which differ by team and with each upload.
    """
    lines = ((one.name, one.figures) for one in files if one.kind is not SharedKind.RULES)
    return "".join(f"{figures.sha256}  {name}\n" for name, figures in lines if figures is not None)


def shared_file(
    session: Session, slug: str, name: str, sender: Sender, *, at: datetime, memory: FigureMemory | None = None
) -> SharedContent:
    """A file of those that `list_shared_files` lists, or their checksums.

    Raises `NotFoundError` for any other name, and `ConflictError` for qrels that are withheld or whose bytes cannot be
    made again. The pieces are read while the session is open.
    """
    if name == CHECKSUMS:
        found = list_shared_files(session, slug, sender, at=at, memory=memory)
        return SharedContent(name, SharedKind.CHECKSUMS, [checksums_of(found.files).encode()])
    for one in _sources(session, find_collection(session, slug), sender, at):
        if one.name == name:
            return SharedContent(name, one.kind, one.pieces(), one.version)
    raise NotFoundError("There is no such file, or you may not download it.")


def _sources(session: Session, collection: Collection, sender: Sender, at: datetime) -> Iterator[_Source]:
    slug = collection.slug
    yield from _topic_sources(session, slug)
    docnos = stored_list(session, collection.id)
    if collection.shares_docnos and docnos is not None:
        yield _Source(
            "docnos.txt", SharedKind.DOCNOS, lambda: export_docnos(session, slug), ("docnos", collection.id, docnos)
        )
    if (number := _released_version(collection, at)) is not None:
        yield _qrels(session, collection, number, at)
    yield _Source("run-rules.json", SharedKind.RULES, lambda: [rules_file(session, slug, sender)])
    guidelines = latest_guidelines(session, collection.id)
    if guidelines is not None:
        yield _Source("guidelines.md", SharedKind.GUIDELINES, lambda: [_as_lines(guidelines.text)])
    if collection.corpus:
        yield _Source("corpus.txt", SharedKind.CORPUS, lambda: [_as_lines(collection.corpus)])


def _qrels(session: Session, collection: Collection, number: int, at: datetime) -> _Source:
    withheld = why_withheld(
        number,
        closed=collection.state == CollectionState.CLOSED,
        until=collection.submissions_until,
        written=collection.submissions_until_written,
        at=at,
    )

    def pieces() -> list[bytes]:
        if withheld is not None:
            raise ConflictError(withheld.template, **withheld.values)
        return [export_version(session, collection.slug, number).qrels]

    kept = kept_version(session, collection.id, str(number))
    # Once a minute they are made again, which shows whether they still can be.
    key = None if withheld else ("qrels", collection.id, kept.fingerprint, at.replace(second=0, microsecond=0))
    dropped = tuple(sorted(dropped_since(session, kept), key=natural_order))
    return _Source(f"qrels-{number}.txt", SharedKind.QRELS, pieces, key, version=number, dropped_topics=dropped)


def _topic_sources(session: Session, slug: str) -> Iterator[_Source]:
    """The accepted topics, of all and of each task; none while there is no topic."""
    # Of topics that are drafts or were dropped, participants download nothing.
    rows = accepted_topics(session, slug)
    if not rows:
        return
    yield _Source("topics.jsonl", SharedKind.TOPICS, partial(_topics, rows))
    for task in list_tasks(session, slug):
        own = set(task.topics)
        of_task = [row for row in rows if row.number in own]
        yield _Source(f"topics-{task.key}.jsonl", SharedKind.TASK, partial(_topics, of_task), task=task.key)


def _topics(rows: Sequence[Topic]) -> list[bytes]:
    return [topics_jsonl(rows).encode()]


def _released_version(collection: Collection, at: datetime) -> int | None:
    """The version of the qrels that participants may download: that of the scores which they see at this time."""
    seen = scores_seen(collection.scores_released_at, ScoresShown(collection.scores_shown), at=at)
    return collection.scores_qrels_version if collection.shares_qrels and seen is not ScoresShown.NOTHING else None


def _as_lines(text: str) -> bytes:
    return (text if text.endswith("\n") else text + "\n").encode()
