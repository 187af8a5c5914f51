"""Documents and their words."""

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
    # This index alone answers docno → id, so that a look-up of a corpus never reads its texts.
    __table_args__ = (UniqueConstraint("collection_id", "docno"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    docno: Mapped[str] = mapped_column(ByteOrdered)
    title: Mapped[str] = mapped_column(default="")
    body: Mapped[str | None]
    url: Mapped[str | None]
    language: Mapped[str | None]
    text_hash: Mapped[str | None]
    # When another text took the place of the one it had; None also when an organiser let the judgements stand.
    text_changed_at: Mapped[datetime | None]


# Many rows go in through the table itself: the mapped class costs ten times as much a row.
DOCUMENTS = cast("Table", Document.__table__)


# The migrations make the same by their own words. Everything here that `DocumentWords` does not describe bears the
# name `document_words_index`, or is the column `document_words.vector`; migrations/env.py leaves it out of account.
SQLITE_INDEX = (
    # The words stand in the table, not in the index a second time. `ascii` parts at blanks and leaves our words alone.
    """
    CREATE VIRTUAL TABLE document_words_index
    USING fts5(words, content='document_words', content_rowid='document_id', tokenize='ascii')
    """,
    # There is none for new rows: each would be a segment of its own in the index, at four times the cost.
    """
    CREATE TRIGGER document_words_index_deleted AFTER DELETE ON document_words BEGIN
        INSERT INTO document_words_index(document_words_index, rowid, words)
        VALUES ('delete', old.document_id, old.words);
    END
    """,
)


POSTGRES_INDEX = (
    # Our words as they are: the parser behind to_tsvector would take some of them apart, each locale in its own way.
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
    """The words of a document that has text, with blanks between them, in the form in which queries ask for them."""

    __tablename__ = "document_words"

    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), primary_key=True)
    words: Mapped[str]


WORDS = cast("Table", DocumentWords.__table__)


def _make_index(_table: Table, connection: Connection, **_options: object) -> None:
    for statement in SQLITE_INDEX if connection.dialect.name == "sqlite" else POSTGRES_INDEX:
        connection.exec_driver_sql(statement)
