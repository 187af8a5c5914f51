"""The rule for tags of participants' runs and the most runs of a team; neither restricts before organisers set it."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

NAMES = ("tag_start", "most_tag_characters", "plain_tags", "most_runs")


def upgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("tag_start", sa.String(), nullable=False, server_default=""))
        table.add_column(sa.Column("most_tag_characters", sa.Integer(), nullable=False, server_default="128"))
        table.add_column(sa.Column("plain_tags", sa.Boolean(), nullable=False, server_default=sa.false()))
        table.add_column(sa.Column("most_runs", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        for name in NAMES:
            table.drop_column(name)
