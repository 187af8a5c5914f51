"""Webhooks with their deliveries, and the topics that are known to be finished."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No collection has webhooks yet."""
    op.create_table(
        "webhook",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("events", sa.String(), nullable=False),
        sa.Column("made_by_id", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_webhook_collection_id_collection")),
        sa.ForeignKeyConstraint(["made_by_id"], ["user.id"], name=op.f("fk_webhook_made_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_webhook_collection_id"), "webhook", ["collection_id"])
    op.create_table(
        "webhook_delivery",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("happened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhook.id"], name=op.f("fk_webhook_delivery_webhook_id_webhook"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_delivery")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_webhook_delivery_webhook_id"), "webhook_delivery", ["webhook_id"])
    op.create_index("ix_webhook_delivery_next_at", "webhook_delivery", ["next_at"])
    op.create_table(
        "finished_topic",
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["topic_id"], ["topic.id"], name=op.f("fk_finished_topic_topic_id_topic"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("topic_id", name=op.f("pk_finished_topic")),
    )


def downgrade() -> None:
    op.drop_table("finished_topic")
    op.drop_table("webhook_delivery")
    op.drop_table("webhook")
