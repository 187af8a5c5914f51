"""E-mail that waits to be sent, and the addresses of accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has an address yet."""
    op.create_table(
        "mail",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("invitation_id", sa.Integer(), nullable=True),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("epoch", sa.String(), nullable=False),
        sa.Column("once", sa.String(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_mail_user_id_user")),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitation.id"], name=op.f("fk_mail_invitation_id_invitation"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail")),
        sa.UniqueConstraint("once", name=op.f("uq_mail_once")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_mail_user_id"), "mail", ["user_id"])
    op.create_index(op.f("ix_mail_invitation_id"), "mail", ["invitation_id"])
    op.create_index("ix_mail_next_at", "mail", ["next_at"])
    op.create_index("ix_mail_tried_at", "mail", ["tried_at"])
    op.create_table(
        "email_address",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("unwanted", sa.String(), nullable=False),
        sa.Column("new_address", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_email_address_user_id_user")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_email_address")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_email_address_fingerprint")),
    )
    op.create_index(op.f("ix_email_address_address"), "email_address", ["address"])


def downgrade() -> None:
    op.drop_table("email_address")
    op.drop_table("mail")
