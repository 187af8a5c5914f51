"""The list of a corpus's valid docnos."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No collection has a list."""
    op.create_table(
        "docno_list",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("files", sa.String(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_docno_list_collection_id_collection")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_docno_list")),
        sa.UniqueConstraint("collection_id", name=op.f("uq_docno_list_collection_id")),
    )
    op.create_table(
        "docno_list_part",
        sa.Column("docno_list_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["docno_list_id"], ["docno_list.id"], name=op.f("fk_docno_list_part_docno_list_id_docno_list")
        ),
        sa.PrimaryKeyConstraint("docno_list_id", "number", name=op.f("pk_docno_list_part")),
    )


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM docno_list")):
        raise ConflictError("The tables stay as they were: the older ones have no place for lists of docnos.")
    op.drop_table("docno_list_part")
    op.drop_table("docno_list")
