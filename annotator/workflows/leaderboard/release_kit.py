"""A finished collection as a kit to publish: topics, qrels, runs and scores by a kept version, with descriptions."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, Problems, Sentence
from annotator.evaluation.archives.bundle_format import entry_of
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.publishing import kit_files
from annotator.evaluation.publishing.citation import citation_cff, zenodo_json
from annotator.evaluation.publishing.croissant import croissant_json, run_fields
from annotator.evaluation.publishing.kit_facts import KitFacts, KitTask, datasheet, readme
from annotator.evaluation.publishing.kit_files import (
    Add,
    KitFile,
    Publication,
    WrittenFile,
    first_difference,
    json_bytes,
    kit_json,
    run_files,
    run_lines,
    score_files,
)
from annotator.evaluation.publishing.kit_reading import WrittenKit
from annotator.evaluation.publishing.loader import loader
from annotator.evaluation.publishing.veil import NO_VEIL, NameSearch, Veil, make_veil
from annotator.evaluation.qrels.consensus import judge_of
from annotator.evaluation.runs.rankings import decode_documents, decode_scores
from annotator.files import gunzipped
from annotator.spreadsheets import csv_text
from annotator.storage import ACCEPTED, KEPT, Document, PoolItem, QrelsVersion, RankedList, Run, Team, Topic
from annotator.storage import Collection as CollectionRow
from annotator.storage.collections.collection import find_collection, latest_guidelines, topic_ids
from annotator.storage.documents.documents import corpus, docnos_of, has_texts
from annotator.storage.pools.pools import sampled_pool
from annotator.storage.qrels.qrels_versions import kept_version
from annotator.storage.runs.sent_runs import SentRun
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.kit_facts import kit_facts
from annotator.workflows.leaderboard.kit_tasks import kit_tasks, tasks_json, tasks_of_runs, words_of_tasks
from annotator.workflows.leaderboard.leaderboard import build_leaderboard, scores_of_board
from annotator.workflows.leaderboard.overview_report import manifest_for_readers
from annotator.workflows.qrels.prels import export_prels
from annotator.workflows.qrels.qrels_versions import export_version
from annotator.workflows.runs.runs import list_runs
from annotator.workflows.topics.topics import list_topics, topics_jsonl

ONE_JUDGE = "one judge"
PACKED = ".gz"
SCORES_FORMAT = "csv"
DOCUMENTS_AT_ONCE = 1_000
# Fast enough for hundreds of runs; higher levels save a few percent.
GZIP_LEVEL = 6
NAMES_JUDGES = ("consensus_policy", "judge")


@dataclass(frozen=True)
class KitCounts:
    """What was written."""

    version: int  # of the qrels
    files: int
    topics: int
    grades: int
    runs: int
    documents: int  # with a text


def version_to_publish(session: Session, slug: str, number: int | None = None) -> int:
    """The kept version of the qrels whose grades a kit has: the given one, that of released scores, or the newest.

    Raises `NotFoundError` for an unknown version, and `ConflictError` when none is kept.
    """
    collection = find_collection(session, slug)
    number = number if number is not None else collection.scores_qrels_version
    if number is not None:
        return kept_version(session, collection.id, str(number)).number
    newest = select(QrelsVersion.number).where(QrelsVersion.collection_id == collection.id, KEPT)
    kept = session.scalar(newest.order_by(QrelsVersion.number.desc()).limit(1))
    if kept is None:
        raise ConflictError(
            "No version of the qrels is kept, and published scores refer to one: keep a version first, or release the "
            "scores by one."
        )
    return kept


def collection_veil(session: Session, slug: str) -> Veil:
    """The pseudonym of each team and tag of the collection, also of runs that are withdrawn.

    The key is stored with the collection and never leaves the database, so that pseudonyms stay the same.
    """
    collection = find_collection(session, slug)
    teams = session.scalars(select(Team.name).where(Team.collection_id == collection.id))
    tags = session.scalars(select(Run.tag).where(Run.collection_id == collection.id).distinct())
    return make_veil(collection.judge_order_key, teams, tags)


def veil_csv(veil: Veil) -> str:
    """The names and their pseudonyms, which organisers keep."""
    return csv_text(veil.table())


def write_kit(
    session: Session, publication: Publication, stream: BinaryIO, *, allowed: Collection[str] = ()
) -> KitCounts:
    """Write a zip archive with the folder SLUG, and read it back to look for veiled names.

    `allowed` are names that may occur in texts, being ordinary words there, as are those in keys and titles of tasks.
    Raises `NotFoundError` for an unknown
    version, `ConflictError` when texts are asked for and no document has one, and `FileRefusedError` when a file has a
    veiled name.
    """
    kit = _kit(session, publication)
    written: list[WrittenFile] = []
    with ZipFile(stream, "w") as archive:

        def add(file: KitFile) -> WrittenFile:
            written.append(_add(archive, f"{publication.slug}/{file.path}", file))
            return written[-1]

        kit.make(add)
    search = NameSearch(kit.veil.names.difference(allowed))
    _refuse_names(stream, publication.slug, search.without_words_of(words_of_tasks(kit.tasks)))
    return KitCounts(
        publication.version, len(written), kit.facts.topics, len(kit.qrels.splitlines()), len(kit.runs), kit.documents
    )


def _add(archive: ZipFile, name: str, file: KitFile) -> WrittenFile:
    entry = entry_of(name)
    digest, size = hashlib.sha256(), 0
    is_packed = file.path.endswith(PACKED)
    if is_packed:
        entry.compress_type = ZIP_STORED
    with archive.open(entry, "w", force_zip64=True) as part:
        for piece in _packed(file.pieces) if is_packed else file.pieces:
            part.write(piece)
            digest.update(piece)
            size += len(piece)
    return WrittenFile(file.path, digest.hexdigest(), size)


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as one gzip member without a time, so that the same content gives the same bytes."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _refuse_names(stream: BinaryIO, slug: str, search: NameSearch) -> None:
    """Raise `FileRefusedError` that names the files of the written archive with veiled names in them."""
    problems = Problems()
    with ZipFile(stream) as archive:
        for entry in archive.infolist():
            path = entry.filename.removeprefix(f"{slug}/")
            if path == kit_files.DOCUMENTS:  # texts of the corpus, which name no run
                continue
            with ExitStack() as opened:
                part = opened.enter_context(archive.open(entry))
                is_packed = path.endswith(PACKED)
                found = search.found(path, opened.enter_context(gzip.GzipFile(fileobj=part)) if is_packed else part)
            for name in found:
                problems.add(path, None, "The file would have the name “%(name)s” of a team or run.", name=name)
    if problems.total:
        raise FileRefusedError(
            problems,
            Sentence(
                "Nothing was published: files would have names that are to be replaced by pseudonyms. Change the "
                "texts, or allow the names that are ordinary words there."
            ),
        )


def check_kit(session: Session, slug: str, kit: WrittenKit) -> int:
    """Make the kit again from the database, and compare every file; returns their number.

    Raises `FileRefusedError` that names each file that differs, with its first line, and as `write_kit`;
    `ConflictError` for a kit of another collection, and as `WrittenKit.publication` for what is no kit.
    """
    publication = kit.publication()
    if publication.slug != slug:
        raise ConflictError(
            "The kit is of the collection “%(other)s”, not of “%(slug)s”.", other=publication.slug, slug=slug
        )
    problems, found, expected = Problems(), kit.paths(), set[str]()

    def add(file: KitFile) -> WrittenFile:
        expected.add(file.path)
        if file.path not in found:
            problems.add(file.path, None, "The file is missing.")
            return WrittenFile(file.path, "", 0)
        try:
            _compare(kit, file, problems)
            return kit.written(file.path)
        except OSError as error:
            problems.add(file.path, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
            return WrittenFile(file.path, "", 0)
        except zlib.error:  # damaged behind the first line that differs, which is named
            return WrittenFile(file.path, "", 0)

    _kit(session, publication).make(add)
    for path in sorted(found - expected):
        problems.add(path, None, "The kit has no such file: it was added.")
    if problems.total:
        raise FileRefusedError(
            problems, Sentence("Differences of the kit from the database: %(total)d.", {"total": problems.total})
        )
    return len(expected)


def _compare(kit: WrittenKit, file: KitFile, problems: Problems) -> None:
    pieces = kit.pieces(file.path)
    try:
        line = first_difference(gunzipped(pieces) if file.path.endswith(PACKED) else pieces, file.pieces)
    except (zlib.error, EOFError):
        problems.add(file.path, None, "The file is damaged: it cannot be unpacked.")
        return
    if line is not None:
        problems.add(file.path, line, "This line is not what the database gives now.")


def _kit(session: Session, publication: Publication) -> "_Kit":
    collection = find_collection(session, publication.slug)
    version = kept_version(session, collection.id, str(publication.version))
    kit = _Kit(session, publication, collection, version)
    if publication.with_texts and not has_texts(session, collection.id):
        raise ConflictError("No document of the collection has a text, so there are no texts to publish.")
    return kit


@dataclass(frozen=True)
class _Kit:
    """The content of a kit, read from the database."""

    session: Session
    publication: Publication
    collection: CollectionRow
    version: QrelsVersion

    @cached_property
    def veil(self) -> Veil:
        return collection_veil(self.session, self.collection.slug) if self.publication.veiled else NO_VEIL

    @cached_property
    def _kept(self) -> tuple[bytes, str]:
        kept = export_version(self.session, self.collection.slug, self.version.number)
        return kept.qrels, kept.manifest

    @property
    def qrels(self) -> bytes:
        return self._kept[0]

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        return self._veiled(manifest_for_readers(self._kept[1]))

    def _veiled(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest with pseudonyms in the settings of pools, which name runs."""
        written = dict(manifest)
        if "parameters" in written:
            written["parameters"] = self._settings(written["parameters"])
        if "pool_versions" in written:
            written["pool_versions"] = [
                {**pool, "parameters": self._settings(pool["parameters"])} for pool in written["pool_versions"]
            ]
        return written

    def _settings(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        veiled = {name: self.veil.parameters(value) for name, value in parameters.items()}
        # Their order would be that of the names.
        return {name: sorted(value) if name == "runs" else value for name, value in veiled.items()}

    @cached_property
    def prels(self) -> tuple[bytes, dict[str, Any]] | None:
        if sampled_pool(self.session, self.collection.id, up_to=self.version.pool_version) is None:
            return None
        try:
            made = export_prels(self.session, self.collection.slug, kept=self.version, made_at=self.publication.made_at)
        except ConflictError:  # the version has no grade of the sample
            return None
        manifest = {name: value for name, value in json.loads(made.manifest).items() if name not in NAMES_JUDGES}
        if judge_of(self.version.policy) is not None:
            manifest["consensus"] = self.manifest["consensus"]
        return made.prels, self._veiled({**manifest, "annotator": self.publication.program})

    @cached_property
    def guidelines(self) -> str:
        latest = latest_guidelines(self.session, self.collection.id)
        return "" if latest is None else latest.text

    @cached_property
    def runs(self) -> list[SentRun]:
        """The runs in force, by what they are called in the kit."""
        runs = list_runs(self.session, self.collection.slug)
        return sorted(runs, key=lambda run: natural_order(self.veil.run(run.tag)))

    @cached_property
    def tasks_of_runs(self) -> dict[int, str]:
        """Run id → key of its task, in a collection with several."""
        return tasks_of_runs(self.session, self.collection.id, {run.id for run in self.runs})

    @cached_property
    def tasks(self) -> list[KitTask]:
        return kit_tasks(self.session, self.collection.id, self.topics, self.tasks_of_runs.values())

    @cached_property
    def boards(self) -> dict[str, Leaderboard]:
        """The leaderboard of each task that has one, by its key."""
        found = {}
        for task in self.tasks if self.runs else ():
            try:
                found[task.key] = self._board(task.key)
            except ConflictError:  # no run, or no judged topic
                continue
        return found

    @cached_property
    def board(self) -> Leaderboard:
        return self._board()

    def _board(self, task: str | None = None) -> Leaderboard:
        """The leaderboard by the kept version, as it was kept, with published names and no judge's."""
        grades = GradesFrom(version=self.version.number, as_kept=True, task=task)
        board = build_leaderboard(self.session, self.collection.slug, self.publication.measures, grades=grades)
        rows = [
            replace(row, run=replace(row.run, tag=self.veil.run(row.tag), team=self.veil.team(row.team)))
            for row in board.rows
        ]
        policy = board.policy if judge_of(board.policy or "") is None else ONE_JUDGE
        return replace(board, policy=policy, rows=tuple(sorted(rows, key=lambda row: natural_order(row.tag))))

    @cached_property
    def topics(self) -> dict[int, str]:
        """Id → number of the accepted topics, in the order of their numbers."""
        numbers = topic_ids(self.session, self.collection.id, ACCEPTED)
        return {id_: number for number, id_ in sorted(numbers.items(), key=lambda one: natural_order(one[0]))}

    @cached_property
    def paths(self) -> list[str]:
        """The paths of all files but runs, in the order in which they are written."""
        has = {
            kit_files.PRELS: self.prels is not None,
            kit_files.PRELS_MANIFEST: self.prels is not None,
            kit_files.GUIDELINES: bool(self.guidelines),
            kit_files.DOCUMENTS: self.publication.with_texts,
            kit_files.TASKS: bool(self.tasks),
            kit_files.SCORES: bool(self.runs) and not self.tasks,
            kit_files.SCORES_BY_TOPIC: bool(self.runs) and not self.tasks,
        }
        return [path for path in kit_files.ABOUT if has.get(path, True)]

    @cached_property
    def documents(self) -> int:
        """How many texts are published."""
        if not self.publication.with_texts:
            return 0
        texts = select(func.count()).where(Document.collection_id == self.collection.id, Document.body.is_not(None))
        return self.session.scalars(texts).one()

    @cached_property
    def facts(self) -> KitFacts:
        return kit_facts(
            self.session,
            self.collection,
            self.publication,
            self.version,
            manifest=self.manifest,
            topics=len(self.topics),
            runs=self.runs,
            documents=self.documents,
            files=self.paths,
            tasks=self.tasks,
        )

    def make(self, add: Add) -> None:
        """Make all files, one after another; the last describes the others as they were written."""
        contents: Mapping[str, Callable[[], Iterator[bytes]]] = {
            kit_files.README: lambda: iter([readme(self.facts)]),
            kit_files.DATASHEET: lambda: iter([datasheet(self.facts)]),
            kit_files.TOPICS: lambda: iter([self._topics_jsonl().encode()]),
            kit_files.TASKS: lambda: iter([json_bytes(tasks_json(self.tasks))]),
            kit_files.QRELS: lambda: iter([self.qrels]),
            kit_files.QRELS_MANIFEST: lambda: iter([json_bytes(self.manifest)]),
            kit_files.PRELS: lambda: iter([self.prels[0] if self.prels else b""]),
            kit_files.PRELS_MANIFEST: lambda: iter([json_bytes(self.prels[1] if self.prels else {})]),
            kit_files.GUIDELINES: lambda: iter([self.guidelines.encode()]),
            kit_files.DOCNOS: self._docnos,
            kit_files.DOCUMENTS: self._texts,
            kit_files.RUNS: lambda: iter([self._runs_csv().encode()]),
            kit_files.SCORES: lambda: iter([scores_of_board(self.board, SCORES_FORMAT, per_topic=False)]),
            kit_files.SCORES_BY_TOPIC: lambda: iter([scores_of_board(self.board, SCORES_FORMAT, per_topic=True)]),
            kit_files.LOADER: lambda: iter([loader()]),
            kit_files.CITATION: lambda: iter([citation_cff(self.facts)]),
            kit_files.ZENODO: lambda: iter([zenodo_json(self.facts)]),
            kit_files.KIT: lambda: iter([kit_json(self.publication)]),
        }
        written = [add(KitFile(path, contents[path]())) for path in self.paths if path != kit_files.CROISSANT]
        written += map(add, self._score_files())
        written += map(add, self._run_files())
        add(KitFile(kit_files.CROISSANT, [croissant_json(self.facts, written, self._measures())]))

    def _measures(self) -> Sequence[str]:
        boards = list(self.boards.values()) if self.tasks else [self.board] if self.runs else []
        return boards[0].measures if boards else ()

    def _score_files(self) -> Iterator[KitFile]:
        """The scores of each task, over its topics and by topic."""
        for key, paths in score_files([task.key for task in self.tasks]).items():
            if key in self.boards:
                for path, per_topic in zip(paths, (False, True), strict=True):
                    yield KitFile(path, [scores_of_board(self.boards[key], SCORES_FORMAT, per_topic=per_topic)])

    def _topics_jsonl(self) -> str:
        return topics_jsonl(list_topics(self.session, self.collection.slug))

    def _docnos(self) -> Iterator[bytes]:
        """The docnos of the pool's documents in accepted topics, in byte order."""
        statement = (
            select(Document.docno)
            .join(PoolItem, PoolItem.document_id == Document.id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(Topic.collection_id == self.collection.id, ACCEPTED)
            .distinct()
        )
        docnos = iter(sorted(docno.encode() for (docno,) in fetch_rows(self.session, statement)))
        while some := list(islice(docnos, DOCUMENTS_AT_ONCE)):
            yield b"".join(docno + b"\n" for docno in some)

    def _texts(self) -> Iterator[bytes]:
        for text in corpus(self.session, self.collection.id):
            yield (json.dumps(text._asdict(), ensure_ascii=False) + "\n").encode()

    @cached_property
    def _paths_of_runs(self) -> dict[str, str]:
        return run_files([self.veil.run(run.tag) for run in self.runs])

    def _runs_csv(self) -> str:
        """The runs; descriptions are texts of participants, which may name them, and are published only with names."""
        fields = run_fields(has_tasks=bool(self.tasks))
        headings = [name for name, _ in fields] + ([] if self.publication.veiled else ["description"])
        rows: list[list[object]] = [
            [
                *(self.veil.run(run.tag), self.veil.team(run.team), run.run_type.value),
                *(self._paths_of_runs[self.veil.run(run.tag)], run.topics, run.retrieved),
                *([self.tasks_of_runs.get(run.id)] if self.tasks else []),
                *([] if self.publication.veiled else [run.description]),
            ]
            for run in self.runs
        ]
        return csv_text([headings, *rows])

    def _run_files(self) -> Iterator[KitFile]:
        docnos: dict[int, str] = {}
        for run in self.runs:
            tag = self.veil.run(run.tag)
            yield KitFile(self._paths_of_runs[tag], self._lists(run.id, tag, docnos))

    def _lists(self, run_id: int, tag: str, docnos: dict[int, str]) -> Iterator[bytes]:
        """The lists of a run for accepted topics; docnos that were read are kept for the next run."""
        rows = self.session.execute(
            select(RankedList.topic_id, RankedList.documents, RankedList.scores).where(RankedList.run_id == run_id)
        )
        lists = {topic: (documents, scores) for topic, documents, scores in rows if topic in self.topics}
        retrieved = {topic: decode_documents(documents).tolist() for topic, (documents, _) in lists.items()}
        docnos |= docnos_of(self.session, set().union(*retrieved.values()).difference(docnos))
        for topic, number in self.topics.items():
            if topic in lists:
                scores = decode_scores(lists[topic][1]).tolist()
                yield run_lines(tag, number, [docnos[document] for document in retrieved[topic]], scores)
