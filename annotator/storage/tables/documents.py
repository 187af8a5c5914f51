"""Tables of documents and their indexed words."""

from datetime import datetime
from typing import cast

from sqlalchemy import (
    Connection,
    ForeignKey,
    Table,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base, ByteOrdered


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


def _make_index(_table: Table, connection: Connection, **_options: object) -> None:
    for statement in SQLITE_INDEX if connection.dialect.name == "sqlite" else POSTGRES_INDEX:
        connection.exec_driver_sql(statement)
