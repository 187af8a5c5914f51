"""Questionnaires about runs, and the answers of teams."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing was asked before."""
    op.create_table(
        "questionnaire_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("questions", sa.JSON(), nullable=False),
        sa.Column("made_by_id", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        _refers("questionnaire_version", "collection_id", "collection"),
        _refers("questionnaire_version", "made_by_id", "user"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questionnaire_version")),
        sa.UniqueConstraint("collection_id", "number", name=op.f("uq_questionnaire_version_collection_id_number")),
    )
    key = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.create_table(
        "run_answer",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("questionnaire_version_id", sa.Integer(), nullable=False),
        sa.Column("question", key, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("answered_by_id", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        _refers("run_answer", "run_id", "run"),
        _refers("run_answer", "questionnaire_version_id", "questionnaire_version"),
        _refers("run_answer", "answered_by_id", "user"),
        sa.PrimaryKeyConstraint("run_id", "questionnaire_version_id", "question", name=op.f("pk_run_answer")),
    )


def downgrade() -> None:
    for question in ("SELECT count(*) FROM run_answer", "SELECT count(*) FROM questionnaire_version"):
        if op.get_bind().scalar(sa.text(question)):
            raise ConflictError("The tables stay as they were: the older ones have no place for a questionnaire.")
    for name in ("run_answer", "questionnaire_version"):
        op.drop_table(name)


def _refers(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}_{other}"))
