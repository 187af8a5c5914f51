"""Collections and accounts that nobody finds while their archive comes in."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

TABLES = ("collection", "user")


def upgrade() -> None:
    for name in TABLES:
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("being_imported", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` while an import would become visible half done."""
    for name in TABLES:
        if op.get_bind().scalar(sa.text(f'SELECT count(*) FROM "{name}" WHERE being_imported')):  # noqa: S608 - ours
            raise ConflictError(
                "The tables stay as they were: an import is at work or was interrupted. Let it end, or import again."
            )
    for name in TABLES:
        with op.batch_alter_table(name) as table:
            table.drop_column("being_imported")
