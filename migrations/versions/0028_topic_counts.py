"""The progress of judging each topic, as a worker counts it."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A worker counts the topics again; until then they are counted for each reader."""
    op.create_table(
        "topic_counts",
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Integer(), nullable=False),
        sa.Column("remaining", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["topic_id"], ["topic.id"], name=op.f("fk_topic_counts_topic_id_topic"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("topic_id", name=op.f("pk_topic_counts")),
    )


def downgrade() -> None:
    op.drop_table("topic_counts")
