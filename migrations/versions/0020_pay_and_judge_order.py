"""The pay of judges, and a secret of each collection that orders its judges in reports."""

from secrets import token_hex

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

COLLECTION = sa.table("collection", sa.column("id", sa.Integer()), sa.column("judge_order_key", sa.String()))
KEY_BYTES = 16


def upgrade() -> None:
    """Existing collections have no pay, and get a random key each."""
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("pay_per_hour", sa.Double(), nullable=True))
        table.add_column(sa.Column("pay_currency", sa.String(), nullable=False, server_default=""))
        table.add_column(sa.Column("judge_order_key", sa.String(), nullable=False, server_default=""))
    connection = op.get_bind()
    for id_ in connection.scalars(sa.select(COLLECTION.c.id)).all():
        key = token_hex(KEY_BYTES)
        connection.execute(sa.update(COLLECTION).where(COLLECTION.c.id == id_).values(judge_order_key=key))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.drop_column("judge_order_key")
        table.drop_column("pay_currency")
        table.drop_column("pay_per_hour")
