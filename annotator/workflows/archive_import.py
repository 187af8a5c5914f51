"""A collection out of an archive: whole or not at all, under ids of this site."""

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from sqlalchemy import Table, insert, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from annotator.errors import FileRefusedError, InvalidValueError
from annotator.evaluation.bundle_format import Bundle, open_bundle
from annotator.evaluation.consensus import parse_policy
from annotator.evaluation.costs.facts import Kind
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.online.kept_findings import are_findings
from annotator.evaluation.pooling import STRATEGIES
from annotator.evaluation.rankings import Renumbering
from annotator.evaluation.search_text import indexed_words
from annotator.evaluation.unpacking import GZIP_MAGIC
from annotator.storage import ClickLog, Document, FactColumn, Pool, Run, User
from annotator.storage.accounts import new_user
from annotator.storage.bundle_values import Row, as_stored
from annotator.storage.bundles import COLLECTION, TABLES, USER, Ids, next_ids, part_of, store_rows
from annotator.storage.checking import examine_collection
from annotator.storage.collection import refuse_unusable_slug
from annotator.storage.documents import ROWS_AT_ONCE
from annotator.storage.passing_faults import stored_before_others
from annotator.storage.pools import Besides
from annotator.storage.runs import RUN_FILES
from annotator.storage.schema import newest_version
from annotator.storage.search import index_documents

# Ranked lists and samples hold numbers of documents.
WITH_DOCUMENTS = {"ranked_list", "stratum"}
PACKING = 6


@dataclass(frozen=True)
class ImportedCollection:
    """What came in: the collection's short name, its lines by part, and whose accounts were here and were made."""

    slug: str
    lines: Mapping[str, int]
    known: tuple[str, ...]
    made: tuple[str, ...]


def open_archive(name: str, stream: BinaryIO, *, limit: int) -> AbstractContextManager[Bundle]:
    """Open an archive after every byte of it was compared with its manifest; raises what `open_bundle` does."""
    return open_bundle(name, stream, limit=limit)


def import_archive(session: Session, bundle: Bundle, *, slug: str | None, at: datetime) -> ImportedCollection:
    """Store everything of an archive, as `slug` or under its own short name.

    People are who they are by name: an account that is here is taken, another is made, without a password; but those
    of an archive with pseudonyms are nobody here. Raises `FileRefusedError` when the archive does not fit together,
    `InvalidValueError` and `ConflictError` for a short name that cannot be or is taken.
    """
    if str(bundle.manifest.get("tables")) > newest_version():
        raise bundle.refusal("The archive was made by a newer version of this program. Upgrade this one first.")
    try:
        return _Import(session, bundle, at).store(slug)
    except (IntegrityError, DataError) as error:
        raise bundle.refusal("The parts of the archive do not fit together: %(reason)s", reason=error.orig) from error


class _Import:
    """One archive on its way in."""

    def __init__(self, session: Session, bundle: Bundle, at: datetime) -> None:
        self.session = session
        self.bundle = bundle
        self.at = at
        self.ids: Ids = {}
        self.lines: dict[str, int] = {}
        self.known: list[str] = []
        self.made: list[str] = []

    def store(self, wanted: str | None) -> ImportedCollection:
        slug = self._collection(wanted)
        self._people()
        for table in TABLES:
            if table.name == RUN_FILES.name:
                self._run_files()
            else:
                self._store(table)
        self._index()
        if self.bundle.manifest.get("lines") != self.lines:
            raise self.bundle.refusal("The archive has other numbers of lines than its manifest says.")
        self._examine()
        return ImportedCollection(slug, self.lines, tuple(self.known), tuple(self.made))

    def _store(self, table: Table) -> None:
        rows = self._renumbered(table, self._rows(table))
        try:
            self._count(table, store_rows(self.session, table, rows, self.ids))
        except InvalidValueError as wrong:
            raise self._refusal(table, wrong) from wrong

    def _collection(self, wanted: str | None) -> str:
        rows = list(self._rows(COLLECTION))
        if len(rows) != 1:
            raise self.bundle.refusal("An archive has one collection, not %(count)d.", count=len(rows))
        (row,) = rows
        slug = str(wanted if wanted is not None else row["slug"])
        refuse_unusable_slug(self.session, slug)
        (new,) = next_ids(self.session, COLLECTION, 1)
        self.ids[COLLECTION.name] = {row["id"]: new}
        with stored_before_others(self.session):
            self.session.execute(insert(COLLECTION), [{**row, "id": new, "slug": slug}])
        self._count(COLLECTION, 1)
        return slug

    def _people(self) -> None:
        mapped = self.ids.setdefault(USER.name, {})
        count = 0
        for line, row in self.bundle.rows(part_of(USER)):
            count += 1
            told = self._read(
                USER, line, {**row, "name_key": "", "administrator": False, "added_at": self.at.isoformat()}
            )
            mapped[told["id"]] = self._person(told).id
        self._count(USER, count)

    def _person(self, row: Row) -> User:
        name = str(row["name"])
        user = self.session.scalar(select(User).where(User.name == name))
        if user is not None and not self.bundle.manifest.get("pseudonyms"):
            self.known.append(name)
            return user
        if user is not None:
            name = f"{name}-{len(self.made) + 1}-{self.at:%Y%m%d%H%M%S}"
        with stored_before_others(self.session):
            user = new_user(
                self.session, name, password_hash=None, administrator=False, added_at=self.at, may_be_forgotten=True
            )
        user.kind, user.model, user.prompt, user.labelled_on = (
            row["kind"],
            row["model"],
            row["prompt"],
            row["labelled_on"],
        )
        self.session.flush()
        self.made.append(name)
        return user

    def _rows(self, table: Table) -> Iterator[Row]:
        for line, row in self.bundle.rows(part_of(table)):
            yield self._read(table, line, row)

    def _read(self, table: Table, line: int, row: dict[str, Any]) -> Row:
        try:
            told = as_stored(table, row)
            _refuse_unknown_words(table, told)
        except InvalidValueError as wrong:
            raise self._refusal(table, wrong, line) from wrong
        return told

    def _refusal(self, table: Table, wrong: InvalidValueError, line: int | None = None) -> FileRefusedError:
        return self.bundle.refusal("In “%(part)s”: %(what)s", line, part=part_of(table), what=wrong)

    def _renumbered(self, table: Table, rows: Iterator[Row]) -> Iterator[Row]:
        if table.name not in WITH_DOCUMENTS:
            yield from rows
            return
        renumber: Callable[[bytes], bytes] = Renumbering(self.ids.get("document", {}))
        for row in rows:
            try:
                row["documents"] = renumber(row["documents"])
            except ValueError as error:
                wrong = InvalidValueError("It has documents that are not there.")
                raise self._refusal(table, wrong) from error
            yield row

    def _run_files(self) -> None:
        """The files, each compared with the checksum that its receipt tells."""
        for old, new in self.ids.get("run", {}).items():
            part = next((one for one in (f"runs/{old}.run", f"runs/{old}.run.gz") if self.bundle.has(one)), "")
            content = self.bundle.content(part or f"runs/{old}.run")
            checksum = self.session.scalars(select(Run.checksum).where(Run.id == new)).one()
            if hashlib.sha256(content).hexdigest() != checksum:
                raise self.bundle.refusal("“%(part)s” is not the file that was sent.", part=part)
            is_packed = content.startswith(GZIP_MAGIC)
            packed = content if is_packed else gzip.compress(content, PACKING, mtime=0)
            values = {"run_id": new, "packed_here": not is_packed, "content": packed}
            self.session.execute(insert(RUN_FILES), [values])

    def _index(self) -> None:
        """Make the search index over the texts that came in."""
        (collection_id,) = self.ids[COLLECTION.name].values()
        texts = self.session.execute(
            select(Document.id, Document.title, Document.body)
            .where(Document.collection_id == collection_id, Document.body.is_not(None))
            .execution_options(yield_per=ROWS_AT_ONCE)
        )
        index_documents(self.session, ((id_, indexed_words(title, body or "")) for id_, title, body in texts))

    def _examine(self) -> None:
        """Refuse what the database itself would take and the rest of the program would stumble over."""
        (collection_id,) = self.ids[COLLECTION.name].values()
        self.session.flush()
        found = examine_collection(self.session, collection_id)
        if found:
            raise self.bundle.refusal("The archive is not in order: %(found)s.", found="; ".join(map(str, found)))

    def _count(self, table: Table, count: int) -> None:
        self.lines[part_of(table)] = count


def _refuse_unknown_words(table: Table, row: Row) -> None:
    """Refuse by `InvalidValueError` what this program does not know: a policy, a strategy, a kind, findings."""
    if table is COLLECTION:
        parse_policy(str(row["consensus_policy"]))
    if table.name == Pool.__tablename__ and row["strategy"] not in {*STRATEGIES, *Besides}:
        raise InvalidValueError("“%(column)s” is not of its kind.", column=Pool.strategy.key)
    is_column = table.name == FactColumn.__tablename__
    if is_column and (row["kind"] not in set(Kind) or row["better"] not in set(Better)):
        raise InvalidValueError("“%(column)s” is not of its kind.", column=FactColumn.kind.key)
    if table.name == ClickLog.__tablename__ and not are_findings(row["options"], row["findings"]):
        raise InvalidValueError("“%(column)s” is not of its kind.", column=ClickLog.findings.key)
