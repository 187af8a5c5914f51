"""The task of the runs of a source."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run_source", sa.Column("task", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("run_source", "task")
