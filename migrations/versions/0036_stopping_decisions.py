"""Decisions of organisers to stop judging topics."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has decided anything yet."""
    op.create_table(
        "stopping_decision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("stops", sa.Boolean(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("relevant", sa.Integer(), nullable=False),
        sa.Column("recall", sa.Double(), nullable=True),
        sa.Column("recall_low", sa.Double(), nullable=True),
        sa.Column("recall_high", sa.Double(), nullable=True),
        sa.Column("decided_by_id", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_stopping_decision_topic_id_topic")),
        sa.ForeignKeyConstraint(["decided_by_id"], ["user.id"], name=op.f("fk_stopping_decision_decided_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stopping_decision")),
    )
    op.create_index(op.f("ix_stopping_decision_topic_id"), "stopping_decision", ["topic_id"])


def downgrade() -> None:
    op.drop_table("stopping_decision")
