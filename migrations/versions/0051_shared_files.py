"""What participants load: where the documents are, and whether they get docnos and qrels; nothing is shared before."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

NAMES = ("corpus", "shares_docnos", "shares_qrels")


def upgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("corpus", sa.String(), nullable=False, server_default=""))
        table.add_column(sa.Column("shares_docnos", sa.Boolean(), nullable=False, server_default=sa.false()))
        table.add_column(sa.Column("shares_qrels", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        for name in NAMES:
            table.drop_column(name)
