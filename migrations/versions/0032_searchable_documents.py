"""Which documents the search index in a folder has, on sites that have one."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Without rows: where a folder is set, a worker indexes the documents."""
    op.create_table(
        "searchable_document",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
            name=op.f("fk_searchable_document_document_id_document"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_searchable_document")),
    )


def downgrade() -> None:
    op.drop_table("searchable_document")
