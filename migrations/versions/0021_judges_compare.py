"""Whether judges compare documents with their own judgements of similar ones."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Judges of existing collections may compare."""
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("judges_compare", sa.Boolean(), nullable=False, server_default=sa.true()))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.drop_column("judges_compare")
