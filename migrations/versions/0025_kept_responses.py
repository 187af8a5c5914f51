"""Requests with an Idempotency-Key, and what they were answered."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Earlier requests are not known."""
    op.create_table(
        "kept_response",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_kept_response")),
    )
    op.create_index(op.f("ix_kept_response_stored_at"), "kept_response", ["stored_at"])


def downgrade() -> None:
    op.drop_table("kept_response")
