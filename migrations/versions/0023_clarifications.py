"""Public answers and clarifications of the organisers, and who has seen them."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No answer that exists becomes public."""
    op.create_table(
        "clarification",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("published_by_id", sa.Integer(), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_clarification_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_clarification_topic_id_topic")),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name=op.f("fk_clarification_question_id_question")),
        sa.ForeignKeyConstraint(["published_by_id"], ["user.id"], name=op.f("fk_clarification_published_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clarification")),
        sa.UniqueConstraint("question_id", name=op.f("uq_clarification_question_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_clarification_collection_id"), "clarification", ["collection_id"])
    op.create_index(op.f("ix_clarification_topic_id"), "clarification", ["topic_id"])
    op.create_table(
        "clarification_seen",
        sa.Column("clarification_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["clarification_id"],
            ["clarification.id"],
            name=op.f("fk_clarification_seen_clarification_id_clarification"),
        ),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_clarification_seen_judge_id_user")),
        sa.PrimaryKeyConstraint("clarification_id", "judge_id", name=op.f("pk_clarification_seen")),
    )


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM clarification")):
        raise ConflictError("The tables stay as they were: the older ones have no place for clarifications.")
    op.drop_table("clarification_seen")
    op.drop_table("clarification")
