"""Whether a passkey's device checked who used it when it was made; of earlier passkeys that is not known."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("passkey") as table:
        table.add_column(sa.Column("verified", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("passkey") as table:
        table.alter_column("verified", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("passkey") as table:
        table.drop_column("verified")
