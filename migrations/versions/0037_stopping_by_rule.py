"""Decisions to stop judging a topic that a version of the pool takes by its stopping rule."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """People have taken all decisions so far."""
    with op.batch_alter_table("stopping_decision") as table:
        table.add_column(sa.Column("pool_id", sa.Integer(), nullable=True))
        table.create_foreign_key(op.f("fk_stopping_decision_pool_id_pool"), "pool", ["pool_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("stopping_decision") as table:
        table.drop_constraint(op.f("fk_stopping_decision_pool_id_pool"), type_="foreignkey")
        table.drop_column("pool_id")
