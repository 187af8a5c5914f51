"""The epoch of the database, a random value that a restore changes."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Every database begins with a value of its own."""
    table = op.create_table(
        "database_epoch",
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("value", name=op.f("pk_database_epoch")),
    )
    op.bulk_insert(table, [{"value": secrets.token_hex(8)}])


def downgrade() -> None:
    op.drop_table("database_epoch")
