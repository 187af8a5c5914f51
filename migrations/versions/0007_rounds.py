"""Rounds of runs, when a document's text changed, and when a pooled document was put back to be judged anew."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "round",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("qrels_version_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_round_collection_id_collection")),
        sa.ForeignKeyConstraint(
            ["qrels_version_id"], ["qrels_version.id"], name=op.f("fk_round_qrels_version_id_qrels_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round")),
        sa.UniqueConstraint("collection_id", "number", name=op.f("uq_round_collection_id_number")),
    )
    with op.batch_alter_table("run") as run:
        run.add_column(sa.Column("round_id", sa.Integer(), nullable=True))
        run.create_foreign_key(op.f("fk_run_round_id_round"), "round", ["round_id"], ["id"])
    with op.batch_alter_table("document") as document:
        document.add_column(sa.Column("text_changed_at", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("pool_item") as pool_item:
        pool_item.add_column(sa.Column("requeued_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when rounds, or documents judged anew, would be forgotten."""
    for question in ("SELECT count(*) FROM round", "SELECT count(*) FROM pool_item WHERE requeued_at IS NOT NULL"):
        if op.get_bind().scalar(sa.text(question)):
            raise ConflictError(
                "The tables stay as they were: the older ones have no place for rounds of runs, nor for documents that "
                "were put back to be judged anew."
            )
    with op.batch_alter_table("pool_item") as pool_item:
        pool_item.drop_column("requeued_at")
    with op.batch_alter_table("document") as document:
        document.drop_column("text_changed_at")
    with op.batch_alter_table("run") as run:
        run.drop_constraint(op.f("fk_run_round_id_round"), type_="foreignkey")
        run.drop_column("round_id")
    op.drop_table("round")
