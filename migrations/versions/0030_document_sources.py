"""Sources from which a worker fetches the texts of pooled documents, and what came of it."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No collection has a source yet."""
    op.create_table(
        "document_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("location", sa.String(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("by_command", sa.Boolean(), nullable=False),
        sa.Column("set_by_id", sa.Integer(), nullable=True),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("problem_values", sa.JSON(), nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("index_path", sa.String(), nullable=True),
        sa.Column("index_documents", sa.Integer(), nullable=True),
        sa.Column("indexed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lines_skipped", sa.Integer(), nullable=False),
        sa.Column("first_skipped", sa.String(), nullable=False),
        sa.Column("bytes_read", sa.BigInteger(), nullable=False),
        sa.Column("bytes_total", sa.BigInteger(), nullable=False),
        sa.Column("taken_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_document_source_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["set_by_id"], ["user.id"], name=op.f("fk_document_source_set_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_source")),
        sa.UniqueConstraint("collection_id", name=op.f("uq_document_source_collection_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "document_fetch",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("problem_values", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
            name=op.f("fk_document_fetch_document_id_document"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["document_source.id"],
            name=op.f("fk_document_fetch_source_id_document_source"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_document_fetch")),
    )
    op.create_index("ix_document_fetch_source_id_next_at", "document_fetch", ["source_id", "next_at"])


def downgrade() -> None:
    op.drop_table("document_fetch")
    op.drop_table("document_source")
