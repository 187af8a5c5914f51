"""Import of a collection from an archive: all or nothing, under ids of this site."""

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from sqlalchemy import Table, insert, select, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError, FileRefusedError, InvalidValueError
from annotator.evaluation.archives.bundle_format import Bundle, open_bundle, refuse_unknown_words
from annotator.evaluation.runs.rankings import Renumbering
from annotator.evaluation.search.search_text import indexed_words
from annotator.files import GZIP_MAGIC
from annotator.storage import Collection, Database, Run, User
from annotator.storage.collections.arrivals import Steps, importing_alone, remove_interrupted, seeing_import
from annotator.storage.collections.bundles import (
    COLLECTION,
    TABLES,
    USER,
    Ids,
    NewIds,
    link_rows,
    part_of,
    refer,
    refer_reason,
    store_batch,
)
from annotator.storage.collections.checking import examine_collection
from annotator.storage.collections.collection import refuse_unusable_slug
from annotator.storage.collections.plain_values import as_stored, for_driver
from annotator.storage.documents.documents import ROWS_AT_ONCE
from annotator.storage.documents.search import WordsToIndex, index_some, texts_of
from annotator.storage.people.accounts import new_user
from annotator.storage.runs.run_tops import add_tops, tops_in_lists
from annotator.storage.site.bulk_insert import ROW, Row, chunks, next_ids, weight_of, write_in_batches
from annotator.storage.site.schema import newest_version
from annotator.storage.site.transient_errors import stored_before_others
from annotator.storage.site.upkeep import Progress
from annotator.storage.tables.pools import Besides
from annotator.storage.tables.runs import RUN_FILES

# Ranked lists, samples and labels of machines contain document ids.
WITH_DOCUMENTS = {"machine_labels", "ranked_list", "stratum"}
SELECTION_EVENTS = "selection_event"  # whose reasons have ids of runs
PACKING = 6
# Storing one takes as long as some dozens of other rows.
WEIGHT_OF_AN_ACCOUNT = 5_000


@dataclass(frozen=True)
class ImportedCollection:
    """Result of an import: the short name, lines by part, and accounts that existed and that were created."""

    slug: str
    lines: Mapping[str, int]
    known: tuple[str, ...]
    made: tuple[str, ...]


def open_archive(name: str, stream: BinaryIO, *, limit: int) -> AbstractContextManager[Bundle]:
    """Open an archive after checking every byte against its manifest; raises as `open_bundle`."""
    return open_bundle(name, stream, limit=limit)


def import_archive(
    database: Database,
    bundle: Bundle,
    *,
    slug: str | None,
    at: datetime,
    compare: Callable[[Session, str], None] = lambda _session, _slug: None,
    conclude: Callable[[Session, ImportedCollection], None] = lambda _session, _done: None,
    progress: Progress | None = None,
) -> ImportedCollection:
    """Store everything of an archive, as `slug` or under its own short name.

    Rows are stored in short transactions, so that others can write in between, and stay invisible until the last one,
    which calls `conclude`. Before that, `compare` may inspect them and raise to reject the archive. An import that
    fails is removed; one whose process was killed is removed by the next import or by the worker.

    People are matched by name: an existing account is used, a missing one is created without a password; people of an
    archive with pseudonyms are never matched. Raises `FileRefusedError` for an inconsistent archive,
    `InvalidValueError` and `ConflictError` for an invalid or used short name, and `UpkeepError` while another import
    runs.
    """
    if str(bundle.manifest.get("tables")) > newest_version():
        raise bundle.refusal("The archive was made by a newer version of this program. Upgrade this one first.")
    preparing = database.preparing()
    with importing_alone(preparing):
        remove_interrupted(preparing)
        try:
            return _Import(database, bundle, at, progress).store(slug, compare, conclude)
        except BaseException as error:
            # Nothing can be removed on a full disk: the next import does it, or the worker.
            with suppress(BusyError, DBAPIError):
                remove_interrupted(preparing)
            if isinstance(error, IntegrityError | DataError):
                raise bundle.refusal(
                    "The parts of the archive do not fit together: %(reason)s", reason=error.orig
                ) from error
            raise


class _Import:
    """The state of one import."""

    def __init__(self, database: Database, bundle: Bundle, at: datetime, progress: Progress | None) -> None:
        self.final = database
        self.database = database.preparing()
        self.bundle = bundle
        self.at = at
        self.ids: Ids = {}
        self.lines: dict[str, int] = {}
        self.known: dict[int, str] = {}
        self.made: dict[int, str] = {}
        self.progress = Steps(bundle.manifest.get("lines"), progress)

    def store(
        self,
        wanted: str | None,
        compare: Callable[[Session, str], None],
        conclude: Callable[[Session, ImportedCollection], None],
    ) -> ImportedCollection:
        slug = self._collection(wanted)
        self._people()
        for table in TABLES:
            if table.name == RUN_FILES.name:
                write_in_batches(self.database, self._run_files(), self._store_files, weigh=weight_of)
            else:
                self._store(table)
        write_in_batches(self.database, self._tops(), self._store_tops, weigh=lambda one: ROW * len(one[1]))
        write_in_batches(self.database, self._texts(), index_some, weigh=lambda one: len(one.words))
        if self.bundle.manifest.get("lines") != self.lines:
            raise self.bundle.refusal("The archive has other numbers of lines than its manifest says.")
        with seeing_import(self.database, self.collection_id) as session:
            self._examine(session)
            compare(session, slug)
        done = ImportedCollection(slug, self.lines, tuple(self.known.values()), tuple(self.made.values()))
        self.final.attempt(partial(self._conclude, done=done, conclude=conclude))
        return done

    @property
    def collection_id(self) -> int:
        (id_,) = self.ids[COLLECTION.name].values()
        return id_

    def _conclude(
        self, session: Session, done: ImportedCollection, conclude: Callable[[Session, ImportedCollection], None]
    ) -> None:
        """Make the collection visible, in one transaction."""
        names = {
            id_: name
            for some in chunks(sorted(self.known))
            for id_, name in session.execute(select(User.id, User.name).where(User.id.in_(some)))
        }
        if names != self.known:
            # People erased meanwhile are still named in the imported rows.
            raise ConflictError("Another user changed the same data at this moment. Nothing was stored: try again.")
        session.execute(update(User).where(User.being_imported).values(being_imported=False))
        session.execute(update(Collection).where(Collection.id == self.collection_id).values(being_imported=False))
        conclude(session, done)

    def _store(self, table: Table) -> None:
        waiting: dict[int, Row] = {}
        count = 0
        converted = for_driver(self.database.engine.dialect, table)

        def store(session: Session, batch: Sequence[Row]) -> None:
            waiting.update((row["key"], row) for row in store_batch(session, table, batch, self.ids))

        def counted() -> Iterator[Row]:
            nonlocal count
            for row in self._renumbered(table, self._rows(table)):
                count += 1
                yield converted(refer(table, row, self.ids))
                self.progress.add()

        def link(session: Session, batch: Sequence[Row]) -> None:
            link_rows(session, table, batch, self.ids)

        try:
            write_in_batches(self.database, counted(), store, weigh=weight_of)
            write_in_batches(self.database, waiting.values(), link)
        except InvalidValueError as wrong:
            raise self._refusal(table, wrong) from wrong
        self._count(table, count)

    def _collection(self, wanted: str | None) -> str:
        rows = list(self._rows(COLLECTION))
        if len(rows) != 1:
            raise self.bundle.refusal("An archive has one collection, not %(count)d.", count=len(rows))
        (row,) = rows
        slug = str(wanted if wanted is not None else row["slug"])
        with self.database.transaction() as session:
            refuse_unusable_slug(session, slug)
            (new,) = next_ids(session, COLLECTION, 1)
            hidden = {**row, "id": new, "slug": slug, "deleted_at": None, "being_imported": True}
            with stored_before_others(session):
                session.execute(insert(COLLECTION), [hidden])
        self.ids[COLLECTION.name] = NewIds([(row["id"], new)])
        self._count(COLLECTION, 1)
        return slug

    def _people(self) -> None:
        rows = [
            self._read(USER, line, {**row, "name_key": "", "administrator": False, "added_at": self.at.isoformat()})
            for line, row in self.bundle.rows(part_of(USER))
        ]
        write_in_batches(self.database, list(enumerate(rows)), self._store_people, weigh=lambda _: WEIGHT_OF_AN_ACCOUNT)
        self._count(USER, len(rows))

    def _store_people(self, session: Session, batch: Sequence[tuple[int, Row]]) -> None:
        mapped = self.ids.setdefault(USER.name, NewIds())
        for place, row in batch:
            mapped.add(row["id"], self._person(session, row, place).id)

    def _person(self, session: Session, row: Row, place: int) -> User:
        name = str(row["name"])
        user = session.scalar(select(User).where(User.name == name))
        if user is not None and not self.bundle.manifest.get("pseudonyms"):
            if not user.being_imported:
                self.known[user.id] = name
            return user
        if user is not None:
            name = f"{name}-{place + 1}-{self.at:%Y%m%d%H%M%S}"
        with stored_before_others(session):
            user = new_user(
                session, name, password_hash=None, administrator=False, added_at=self.at, may_be_forgotten=True
            )
        user.being_imported = True
        for column in ("kind", "model", "prompt", "labelled_on"):
            setattr(user, column, row[column])
        session.flush()
        self.made[place] = name
        return user

    def _rows(self, table: Table) -> Iterator[Row]:
        for line, row in self.bundle.rows(part_of(table)):
            yield self._read(table, line, row)

    def _read(self, table: Table, line: int, row: dict[str, Any]) -> Row:
        try:
            told = as_stored(table, row)
            refuse_unknown_words(table.name, told, further_strategies=set(Besides))
        except InvalidValueError as wrong:
            raise self._refusal(table, wrong, line) from wrong
        return told

    def _refusal(self, table: Table, wrong: InvalidValueError, line: int | None = None) -> FileRefusedError:
        return self.bundle.refusal("In “%(part)s”: %(what)s", line, part=part_of(table), what=wrong)

    def _renumbered(self, table: Table, rows: Iterator[Row]) -> Iterator[Row]:
        if table.name == SELECTION_EVENTS:
            yield from ({**row, "reason": refer_reason(row["reason"], self.ids)} for row in rows)
            return
        if table.name not in WITH_DOCUMENTS:
            yield from rows
            return
        renumber: Callable[[bytes], bytes] = Renumbering(self.ids.get("document", NewIds()))
        for row in rows:
            try:
                row["documents"] = renumber(row["documents"])
            except ValueError as error:
                wrong = InvalidValueError("It has documents that are not there.")
                raise self._refusal(table, wrong) from error
            yield row

    def _run_files(self) -> Iterator[Row]:
        """The run files, each checked against the checksum in its receipt."""
        for old, new in self.ids.get("run", NewIds()).items():
            part = next((one for one in (f"runs/{old}.run", f"runs/{old}.run.gz") if self.bundle.has(one)), "")
            content = self.bundle.content(part or f"runs/{old}.run")
            with self.database.reading() as session:
                checksum = session.scalars(select(Run.checksum).where(Run.id == new)).one()
            if hashlib.sha256(content).hexdigest() != checksum:
                raise self.bundle.refusal("“%(part)s” is not the file that was sent.", part=part)
            is_packed = content.startswith(GZIP_MAGIC)
            packed = content if is_packed else gzip.compress(content, PACKING, mtime=0)
            yield {"run_id": new, "packed_here": not is_packed, "content": packed}

    def _store_files(self, session: Session, batch: Sequence[Row]) -> None:
        session.execute(insert(RUN_FILES), list(batch))

    def _tops(self) -> Iterator[tuple[int, list[tuple[int, bytes]]]]:
        """Each imported run with the tops of its ranked lists."""
        for run_id in self.ids.get("run", NewIds()).values():
            with self.database.reading() as session:
                tops = tops_in_lists(session, run_id)
            yield run_id, tops

    def _store_tops(self, session: Session, batch: Sequence[tuple[int, list[tuple[int, bytes]]]]) -> None:
        for run_id, tops in batch:
            add_tops(session, run_id, tops)

    def _texts(self) -> Iterator[WordsToIndex]:
        """The imported texts for the search index."""
        after = 0
        while True:
            with self.database.reading() as session:
                texts = texts_of(session, self.collection_id, after=after, most=ROWS_AT_ONCE)
            if not texts:
                return
            for one in texts:
                self.progress.add()
                yield WordsToIndex(one.id, one.collection_id, one.text_hash, indexed_words(one.title, one.body))
            after = texts[-1].id

    def _examine(self, session: Session) -> None:
        """Refuse rows that satisfy the database's constraints but would break the program."""
        found = examine_collection(session, self.collection_id)
        if found:
            raise self.bundle.refusal("The archive is not in order: %(found)s.", found="; ".join(map(str, found)))

    def _count(self, table: Table, count: int) -> None:
        self.lines[part_of(table)] = count
