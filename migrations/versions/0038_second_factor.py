"""Second factors of accounts, and their recovery codes."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has a second factor yet."""
    op.create_table(
        "second_factor",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_second_factor_user_id_user")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_second_factor")),
    )
    op.create_table(
        "recovery_code",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_recovery_code_user_id_user")),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_recovery_code")),
    )
    op.create_index(op.f("ix_recovery_code_user_id"), "recovery_code", ["user_id"])


def downgrade() -> None:
    op.drop_table("recovery_code")
    op.drop_table("second_factor")
