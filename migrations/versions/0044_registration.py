"""Until when participants may register teams by themselves, and up to how many teams; not before organisers open it."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("registration_until", sa.DateTime(timezone=True), nullable=True))
        table.add_column(sa.Column("most_teams", sa.Integer(), nullable=False, server_default="100"))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.drop_column("most_teams")
        table.drop_column("registration_until")
