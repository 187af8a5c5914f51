"""Tables of documents and their indexed words, of the list of valid docnos, and of the source of texts."""

from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    Connection,
    ForeignKey,
    Index,
    Table,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, ByteOrdered


class Document(Base):
    __tablename__ = "document"
    # The index covers docno → id, so that look-ups never read texts.
    __table_args__ = (UniqueConstraint("collection_id", "docno"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    docno: Mapped[str] = mapped_column(ByteOrdered)
    title: Mapped[str] = mapped_column(default="")
    body: Mapped[str | None]
    url: Mapped[str | None]
    language: Mapped[str | None]
    text_hash: Mapped[str | None]
    # When the text was replaced by another; None also after an organiser kept the judgements as they are.
    text_changed_at: Mapped[datetime | None]


# Core table for bulk inserts: the mapped class costs ten times as much per row.
DOCUMENTS = cast("Table", Document.__table__)


class DocnoList(Base):
    """The docnos of a corpus, whose documents need not be stored."""

    __tablename__ = "docno_list"

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), unique=True)
    # Names of the files that it was read from, comma-separated.
    files: Mapped[str]
    imported_at: Mapped[datetime]


class DocnoListPart(Base):
    __tablename__ = "docno_list_part"

    docno_list_id: Mapped[int] = mapped_column(ForeignKey("docno_list.id"), primary_key=True)
    # Numbered from 0 in the list's order.
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    count: Mapped[int]
    # One docno a line, compressed by zlib: a row for each of ten million docnos would take twenty times as much.
    lines: Mapped[bytes]


DOCNO_LIST_PARTS = cast("Table", DocnoListPart.__table__)


class SourceKind(StrEnum):
    """Where the texts of a source are."""

    ADDRESS = "address"
    FOLDER = "folder"
    DATASET = "dataset"


class DocumentSource(Base):
    """Where a worker fetches the texts of pooled documents from."""

    __tablename__ = "document_source"
    __table_args__ = NEVER_REUSED

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), unique=True)
    # Raised when it is set again, so that nothing is recorded of what was begun before.
    revision: Mapped[int] = mapped_column(default=1)
    # A `SourceKind`, and the template of the address, the folder, or the name of the data set.
    kind: Mapped[str]
    location: Mapped[str]
    options: Mapped[dict[str, Any]]
    # Commands at the server may name any folder.
    by_command: Mapped[bool]
    set_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    set_at: Mapped[datetime]
    # How often in a row it gave nothing at all, why, as a template in English with its values, and until when it is
    # not asked.
    failures: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(default="")
    problem_values: Mapped[dict[str, Any]] = mapped_column(default=dict)
    paused_until: Mapped[datetime | None]
    # Of a folder: where its index is, how many documents that has, how many lines are none with the first of them, how
    # many bytes of all were read for it, and until when a worker that builds it is left alone.
    index_path: Mapped[str | None]
    index_documents: Mapped[int | None]
    indexed_at: Mapped[datetime | None]
    lines_skipped: Mapped[int] = mapped_column(default=0)
    first_skipped: Mapped[str] = mapped_column(default="")
    bytes_read: Mapped[int] = mapped_column(BigInteger, default=0)
    bytes_total: Mapped[int] = mapped_column(BigInteger, default=0)
    taken_until: Mapped[datetime | None]


class DocumentFetch(Base):
    """A document whose text is fetched from the source, or was, or cannot be."""

    __tablename__ = "document_fetch"
    __table_args__ = (Index("ix_document_fetch_source_id_next_at", "source_id", "next_at"),)

    document_id: Mapped[int] = mapped_column(ForeignKey("document.id", ondelete="CASCADE"), primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("document_source.id", ondelete="CASCADE"))
    attempts: Mapped[int] = mapped_column(default=0)
    # When it is tried next; None when it was fetched or given up.
    next_at: Mapped[datetime | None]
    tried_at: Mapped[datetime | None]
    fetched_at: Mapped[datetime | None]
    # Of the last attempt: what went wrong, as a template in English with its values; empty when nothing did.
    problem: Mapped[str] = mapped_column(default="")
    problem_values: Mapped[dict[str, Any]] = mapped_column(default=dict)


# Copied in the migrations. Objects that `DocumentWords` does not declare are named `document_words_index` or are the
# column `document_words.vector`; migrations/env.py ignores them.
SQLITE_INDEX = (
    # External content: the words are not stored twice. `ascii` splits at blanks and leaves our tokens unchanged.
    """
    CREATE VIRTUAL TABLE document_words_index
    USING fts5(words, content='document_words', content_rowid='document_id', tokenize='ascii')
    """,
    # No insert trigger: each new row would be an index segment of its own, at four times the cost.
    """
    CREATE TRIGGER document_words_index_deleted AFTER DELETE ON document_words BEGIN
        INSERT INTO document_words_index(document_words_index, rowid, words)
        VALUES ('delete', old.document_id, old.words);
    END
    """,
)


POSTGRES_INDEX = (
    # Our tokens unchanged: the parser of to_tsvector would split some of them, depending on the locale.
    """
    CREATE FUNCTION document_words_vector(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT string_agg('''' || word || ''':' || places, ' ')::tsvector
        FROM (
            SELECT word, string_agg(place::text, ',') AS places
            FROM unnest(string_to_array(words, ' ')) WITH ORDINALITY AS each(word, place)
            GROUP BY word
        ) AS lexemes
    $$
    """,
    """
    ALTER TABLE document_words
    ADD COLUMN vector tsvector GENERATED ALWAYS AS (document_words_vector(words)) STORED
    """,
    "CREATE INDEX document_words_index ON document_words USING gin (vector)",
)


class DocumentWords(Base):
    """Blank-separated tokens of a document with a text, normalised in the same way as queries."""

    __tablename__ = "document_words"

    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), primary_key=True)
    words: Mapped[str]


WORDS = cast("Table", DocumentWords.__table__)


class SearchableDocument(Base):
    """A document whose present text is in the search index in a folder, on a site that has one."""

    __tablename__ = "searchable_document"

    document_id: Mapped[int] = mapped_column(ForeignKey("document.id", ondelete="CASCADE"), primary_key=True)


SEARCHABLE = cast("Table", SearchableDocument.__table__)


def _make_index(_table: Table, connection: Connection, **_options: object) -> None:
    for statement in SQLITE_INDEX if connection.dialect.name == "sqlite" else POSTGRES_INDEX:
        connection.exec_driver_sql(statement)
