"""What everybody may read of a collection without signing in; nothing, until organisers choose it."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

TEXTS = ("public_measures", "public_description", "public_citation", "public_allowed")


def upgrade() -> None:
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("public_scores", sa.String(), nullable=False, server_default="nothing"))
        table.add_column(sa.Column("public_veiled", sa.Boolean(), nullable=False, server_default=sa.true()))
        table.add_column(sa.Column("public_guidelines", sa.Boolean(), nullable=False, server_default=sa.false()))
        for name in TEXTS:
            table.add_column(sa.Column(name, sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("collection") as table:
        for name in (*TEXTS, "public_guidelines", "public_veiled", "public_scores"):
            table.drop_column(name)
