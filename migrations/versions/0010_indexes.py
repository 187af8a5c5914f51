"""Indexes for what pages ask of one collection, so that others do not slow them down."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INDEXES = (("run", "collection_id"), ("run", "team_id"), ("pool_run", "run_id"), ("qualifying_item", "collection_id"))


def upgrade() -> None:
    for table, column in INDEXES:
        op.create_index(op.f(f"ix_{table}_{column}"), table, [column])
    besides = sa.text("purpose IN ('re-shown', 'adjudication')")
    op.create_index(
        "ix_assignment_besides", "assignment", ["pool_item_id"], sqlite_where=besides, postgresql_where=besides
    )


def downgrade() -> None:
    op.drop_index("ix_assignment_besides", table_name="assignment")
    for table, column in INDEXES:
        op.drop_index(op.f(f"ix_{table}_{column}"), table_name=table)
