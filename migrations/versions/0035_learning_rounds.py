"""Rounds of training of a classifier, from which the strategy `cal` chooses documents."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "learning_round",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("seen_judgement_id", sa.Integer(), nullable=False),
        sa.Column("judgements", sa.Integer(), nullable=False),
        sa.Column("basis", sa.JSON(), nullable=False),
        sa.Column("training_hash", sa.String(), nullable=False),
        sa.Column("documents", sa.LargeBinary(), nullable=False),
        sa.Column("trained_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["pool.id"], name=op.f("fk_learning_round_pool_id_pool"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["topic_id"], ["topic.id"], name=op.f("fk_learning_round_topic_id_topic"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pool_id", "topic_id", name=op.f("pk_learning_round")),
    )
    op.create_index(op.f("ix_learning_round_topic_id"), "learning_round", ["topic_id"])
    if op.get_bind().dialect.name == "postgresql":
        # Uncompressed: nearly random bytes cost more time than compression saves.
        op.execute("ALTER TABLE learning_round ALTER COLUMN documents SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("learning_round")
