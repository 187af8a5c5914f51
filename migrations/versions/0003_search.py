"""The words that documents are found by, and the index over them, also of the documents that are there already."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from annotator.evaluation.search.search_text import indexed_words

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

AT_ONCE = 500

SQLITE_INDEX = (
    """
    CREATE VIRTUAL TABLE document_words_index
    USING fts5(words, content='document_words', content_rowid='document_id', tokenize='ascii')
    """,
    """
    CREATE TRIGGER document_words_index_deleted AFTER DELETE ON document_words BEGIN
        INSERT INTO document_words_index(document_words_index, rowid, words)
        VALUES ('delete', old.document_id, old.words);
    END
    """,
)
POSTGRES_INDEX = (
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
)


def upgrade() -> None:
    words = op.create_table(
        "document_words",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_document_words_document_id_document")),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_document_words")),
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in () if is_sqlite else POSTGRES_INDEX:
        op.execute(statement)
    for batch in _words_of_what_is_there():
        op.get_bind().execute(words.insert(), batch)
    if is_sqlite:
        for statement in SQLITE_INDEX:
            op.execute(statement)
        op.execute("INSERT INTO document_words_index(document_words_index) VALUES ('rebuild')")
    else:
        op.execute("CREATE INDEX document_words_index ON document_words USING gin (vector)")


def _words_of_what_is_there() -> Iterator[list[dict[str, int | str]]]:
    document = sa.table("document", sa.column("id"), sa.column("title"), sa.column("body"))
    after = 0
    while True:
        rows = op.get_bind().execute(
            sa.select(document.c.id, document.c.title, document.c.body)
            .where(document.c.body.is_not(None), document.c.id > after)
            .order_by(document.c.id)
            .limit(AT_ONCE)
        )
        batch = [{"document_id": id_, "words": indexed_words(title, body)} for id_, title, body in rows]
        if not batch:
            return
        yield batch
        after = int(batch[-1]["document_id"])


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE document_words_index")
    op.drop_table("document_words")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION document_words_vector(text)")
