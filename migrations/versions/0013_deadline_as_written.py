"""How a deadline was written, with its zone."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of the deadlines that there are only the moment is known."""
    with op.batch_alter_table("collection") as collection:
        collection.add_column(sa.Column("submissions_until_written", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop the column: the moments of the deadlines stay."""
    with op.batch_alter_table("collection") as collection:
        collection.drop_column("submissions_until_written")
