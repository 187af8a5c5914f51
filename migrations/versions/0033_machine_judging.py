"""Machine judges that this site runs, their runs, and the responses of models."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No machine judge is run by a site yet."""
    op.create_table(
        "machine_judge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_name", sa.String(), nullable=False),
        sa.Column("prompt", sa.String(), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("temperature", sa.Double(), nullable=False),
        sa.Column("text_tokens", sa.Integer(), nullable=False),
        sa.Column("answer_tokens", sa.Integer(), nullable=False),
        sa.Column("wants_probabilities", sa.Boolean(), nullable=False),
        sa.Column("parallel", sa.Integer(), nullable=False),
        sa.Column("price_sent", sa.Double(), nullable=True),
        sa.Column("price_received", sa.Double(), nullable=True),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("added_by_id", sa.Integer(), nullable=True),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_machine_judge_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_machine_judge_user_id_user")),
        sa.ForeignKeyConstraint(["added_by_id"], ["user.id"], name=op.f("fk_machine_judge_added_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machine_judge")),
        sa.UniqueConstraint(
            "collection_id", "name", "version", name=op.f("uq_machine_judge_collection_id_name_version")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_machine_judge_user_id"), "machine_judge", ["user_id"])
    op.create_table(
        "machine_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("machine_judge_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("scope", sa.JSON(), nullable=False),
        sa.Column("most_tokens", sa.BigInteger(), nullable=True),
        sa.Column("most_cost", sa.Double(), nullable=True),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("labelled", sa.Integer(), nullable=False),
        sa.Column("without_grade", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("tokens_sent", sa.BigInteger(), nullable=False),
        sa.Column("tokens_received", sa.BigInteger(), nullable=False),
        sa.Column("at_topic_id", sa.Integer(), nullable=False),
        sa.Column("at_document_id", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("problem_values", sa.JSON(), nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("taken_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("started_by_id", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["machine_judge_id"], ["machine_judge.id"], name=op.f("fk_machine_run_machine_judge_id_machine_judge")
        ),
        sa.ForeignKeyConstraint(["started_by_id"], ["user.id"], name=op.f("fk_machine_run_started_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machine_run")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_machine_run_machine_judge_id_id"), "machine_run", ["machine_judge_id", "id"])
    op.create_table(
        "machine_response",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("machine_judge_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("finish", sa.String(), nullable=False),
        sa.Column("probabilities", sa.JSON(), nullable=False),
        sa.Column("tokens_sent", sa.Integer(), nullable=False),
        sa.Column("tokens_received", sa.Integer(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_machine_response_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(
            ["machine_judge_id"], ["machine_judge.id"], name=op.f("fk_machine_response_machine_judge_id_machine_judge")
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_machine_response_topic_id_topic")),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_machine_response_document_id_document")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machine_response")),
        sa.UniqueConstraint(
            "collection_id", "request_digest", name=op.f("uq_machine_response_collection_id_request_digest")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_machine_response_document_id"), "machine_response", ["document_id"])
    op.create_index(op.f("ix_machine_response_machine_judge_id"), "machine_response", ["machine_judge_id"])
    op.create_index(op.f("ix_machine_response_topic_id"), "machine_response", ["topic_id"])
    op.create_table(
        "machine_outcome",
        sa.Column("machine_judge_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("problem_values", sa.JSON(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["machine_judge_id"], ["machine_judge.id"], name=op.f("fk_machine_outcome_machine_judge_id_machine_judge")
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_machine_outcome_topic_id_topic")),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_machine_outcome_document_id_document")),
        sa.PrimaryKeyConstraint("machine_judge_id", "topic_id", "document_id", name=op.f("pk_machine_outcome")),
    )
    op.create_index(op.f("ix_machine_outcome_document_id"), "machine_outcome", ["document_id"])


def downgrade() -> None:
    op.drop_table("machine_outcome")
    op.drop_table("machine_response")
    op.drop_table("machine_run")
    op.drop_table("machine_judge")
