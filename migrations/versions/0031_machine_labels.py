"""The labels of machines, packed by topic, also those of documents outside the pool."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

PACKED = ("documents", "grades", "confidences", "probabilities")


def upgrade() -> None:
    """Labels that were imported before stay judgements, beside which packed ones are read."""
    op.create_table(
        "machine_labels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("label_file_id", sa.Integer(), nullable=True),
        sa.Column("labelled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("documents", sa.LargeBinary(), nullable=False),
        sa.Column("grades", sa.LargeBinary(), nullable=False),
        sa.Column("confidences", sa.LargeBinary(), nullable=True),
        sa.Column("probabilities", sa.LargeBinary(), nullable=True),
        sa.Column("outside", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_machine_labels_judge_id_user")),
        sa.ForeignKeyConstraint(
            ["label_file_id"], ["label_file.id"], name=op.f("fk_machine_labels_label_file_id_label_file")
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_machine_labels_topic_id_topic")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machine_labels")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_machine_labels_topic_id_judge_id", "machine_labels", ["topic_id", "judge_id"])
    op.create_index(op.f("ix_machine_labels_judge_id"), "machine_labels", ["judge_id"])
    op.create_index(op.f("ix_machine_labels_label_file_id"), "machine_labels", ["label_file_id"])
    if op.get_bind().dialect.name == "postgresql":
        # Uncompressed: nearly random bytes cost more time than compression saves.
        for name in PACKED:
            op.execute(f"ALTER TABLE machine_labels ALTER COLUMN {name} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("machine_labels")
