"""Whether words are highlighted in the documents that judges read."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Words stay highlighted in existing collections."""
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("judges_highlight", sa.Boolean(), nullable=False, server_default=sa.true()))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.drop_column("judges_highlight")
