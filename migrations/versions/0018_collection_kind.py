"""The type of a collection: a shared task or a team comparison."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Existing collections become shared tasks."""
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("kind", sa.String(), nullable=False, server_default="shared-task"))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.drop_column("kind")
