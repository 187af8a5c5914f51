"""An index of the pool items with overlap, which exports of qrels count."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

OVERLAP = sa.text("is_overlap")


def upgrade() -> None:
    op.create_index("ix_pool_item_overlap", "pool_item", ["topic_id"], sqlite_where=OVERLAP, postgresql_where=OVERLAP)


def downgrade() -> None:
    op.drop_index("ix_pool_item_overlap", table_name="pool_item")
