"""Tasks of a collection, each with topics, rules and a questionnaire of its own."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

OF_A_TASK = ("run", "questionnaire_version")


def upgrade() -> None:
    """Every collection so far is a single task."""
    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("key", "title", "description")),
        sa.Column("every_topic", sa.Boolean(), nullable=False),
        sa.Column("run_formats", sa.JSON(), nullable=False),
        sa.Column("most_documents", sa.Integer(), nullable=True),
        sa.Column("most_runs", sa.Integer(), nullable=True),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_task_collection_id_collection")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("collection_id", "key", name=op.f("uq_task_collection_id_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "task_topic",
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_task_topic_task_id_task")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_task_topic_topic_id_topic")),
        sa.PrimaryKeyConstraint("task_id", "topic_id", name=op.f("pk_task_topic")),
    )
    op.create_index(op.f("ix_task_topic_topic_id"), "task_topic", ["topic_id"])
    for name in OF_A_TASK:
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("task_id", sa.Integer(), nullable=True))
            table.create_foreign_key(op.f(f"fk_{name}_task_id_task"), "task", ["task_id"], ["id"])
            table.create_index(op.f(f"ix_{name}_task_id"), ["task_id"])


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM task")):
        raise ConflictError("The tables stay as they were: the older ones have no place for a task.")
    for name in reversed(OF_A_TASK):
        with op.batch_alter_table(name) as table:
            table.drop_index(op.f(f"ix_{name}_task_id"))
            table.drop_constraint(op.f(f"fk_{name}_task_id_task"), type_="foreignkey")
            table.drop_column("task_id")
    for name in ("task_topic", "task"):
        op.drop_table(name)
