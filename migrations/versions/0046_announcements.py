"""Announcements of the organisers, and questions of participants beside those of judges."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Every question so far is one of a judge."""
    with op.batch_alter_table("question") as table:
        table.add_column(sa.Column("team_id", sa.Integer(), nullable=True))
        table.add_column(sa.Column("run_id", sa.Integer(), nullable=True))
        table.create_foreign_key(op.f("fk_question_team_id_team"), "team", ["team_id"], ["id"])
        table.create_foreign_key(op.f("fk_question_run_id_run"), "run", ["run_id"], ["id"])
        table.create_index(op.f("ix_question_team_id"), ["team_id"])
        table.create_index(op.f("ix_question_run_id"), ["run_id"])
    op.create_table(
        "announcement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("for_everyone", sa.Boolean(), nullable=False),
        sa.Column("published_by_id", sa.Integer(), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_announcement_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name=op.f("fk_announcement_question_id_question")),
        sa.ForeignKeyConstraint(["published_by_id"], ["user.id"], name=op.f("fk_announcement_published_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcement")),
        sa.UniqueConstraint("question_id", name=op.f("uq_announcement_question_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_announcement_collection_id"), "announcement", ["collection_id"])


def downgrade() -> None:
    """Without announcements; questions of participants, which were none before, go with them."""
    op.drop_table("announcement")
    op.execute("DELETE FROM question WHERE team_id IS NOT NULL")
    with op.batch_alter_table("question") as table:
        table.drop_index(op.f("ix_question_run_id"))
        table.drop_index(op.f("ix_question_team_id"))
        table.drop_constraint(op.f("fk_question_run_id_run"), type_="foreignkey")
        table.drop_constraint(op.f("fk_question_team_id_team"), type_="foreignkey")
        table.drop_column("run_id")
        table.drop_column("team_id")
