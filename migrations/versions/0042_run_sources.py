"""Sources of runs, and the runs that came from them."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Runs that were fetched before belong to no source."""
    op.create_table(
        "run_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("name", "endpoint", "query", "dialect")),
        sa.Column("paths", sa.JSON(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("with_texts", sa.Boolean(), nullable=False),
        sa.Column("tag", sa.String(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("run_type", sa.String(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fetched", sa.Integer(), nullable=False),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("problem_values", sa.JSON(), nullable=False),
        sa.Column("set_by_id", sa.Integer(), nullable=True),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        _refers("run_source", "collection_id", "collection"),
        _refers("run_source", "team_id", "team"),
        _refers("run_source", "set_by_id", "user"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_source")),
        sa.UniqueConstraint("collection_id", "name", name=op.f("uq_run_source_collection_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_run_source_due_at", "run_source", ["due_at"])
    op.create_table(
        "fetched_run",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        _refers("fetched_run", "run_id", "run", ondelete="CASCADE"),
        _refers("fetched_run", "source_id", "run_source", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_fetched_run")),
    )
    op.create_index(op.f("ix_fetched_run_source_id"), "fetched_run", ["source_id"])


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM run_source")):
        raise ConflictError("The tables stay as they were: the older ones have no place for a source of runs.")
    for name in ("fetched_run", "run_source"):
        op.drop_table(name)


def _refers(table: str, column: str, other: str, ondelete: str | None = None) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete=ondelete)
