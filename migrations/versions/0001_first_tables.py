"""The first tables: people, collections, runs, pools, judging."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "collection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("relevant_from", sa.Integer(), nullable=False),
        sa.Column("judgements_wanted", sa.Integer(), nullable=False),
        sa.Column("consensus_policy", sa.String(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection")),
        sa.UniqueConstraint("slug", name=op.f("uq_collection_slug")),
    )
    op.create_table(
        "user",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("administrator", sa.Boolean(), nullable=False),
        sa.Column("sign_in_generation", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user")),
        sa.UniqueConstraint("name", name=op.f("uq_user_name")),
        sa.UniqueConstraint("name_key", name=op.f("uq_user_name_key")),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("docno", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=True),
        sa.Column("url", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("text_hash", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_document_collection_id_collection")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("collection_id", "docno", name=op.f("uq_document_collection_id_docno")),
    )
    op.create_table(
        "grade",
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_grade_collection_id_collection")),
        sa.PrimaryKeyConstraint("collection_id", "value", name=op.f("pk_grade")),
    )
    op.create_table(
        "guideline_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("made_by_id", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_guideline_version_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["made_by_id"], ["user.id"], name=op.f("fk_guideline_version_made_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guideline_version")),
        sa.UniqueConstraint("collection_id", "number", name=op.f("uq_guideline_version_collection_id_number")),
    )
    op.create_table(
        "pool",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("strategy", sa.String(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("built_by_id", sa.Integer(), nullable=True),
        sa.Column("built_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["built_by_id"], ["user.id"], name=op.f("fk_pool_built_by_id_user")),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_pool_collection_id_collection")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool")),
        sa.UniqueConstraint("collection_id", "version", name=op.f("uq_pool_collection_id_version")),
    )
    op.create_table(
        "team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_team_collection_id_collection")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("collection_id", "name", name=op.f("uq_team_collection_id_name")),
    )
    op.create_table(
        "topic",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("narrative", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_topic_collection_id_collection")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic")),
        sa.UniqueConstraint("collection_id", "number", name=op.f("uq_topic_collection_id_number")),
    )
    op.create_table(
        "membership",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_membership_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_membership_team_id_team")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_membership_user_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_membership")),
        sa.UniqueConstraint("user_id", "collection_id", "role", name=op.f("uq_membership_user_id_collection_id_role")),
    )
    op.create_index(op.f("ix_membership_collection_id"), "membership", ["collection_id"], unique=False)

    op.create_table(
        "pool_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("first_pool_id", sa.Integer(), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("judgements_wanted", sa.Integer(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_pool_item_document_id_document")),
        sa.ForeignKeyConstraint(["first_pool_id"], ["pool.id"], name=op.f("fk_pool_item_first_pool_id_pool")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_pool_item_topic_id_topic")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool_item")),
        sa.UniqueConstraint("topic_id", "document_id", name=op.f("uq_pool_item_topic_id_document_id")),
    )
    op.create_index(
        "ix_pool_item_open",
        "pool_item",
        ["topic_id", "priority"],
        unique=False,
        sqlite_where=sa.text("taken < judgements_wanted"),
        postgresql_where=sa.text("taken < judgements_wanted"),
    )

    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("tag", sa.String(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("retrieved", sa.Integer(), nullable=False),
        sa.Column("uploaded_by_id", sa.Integer(), nullable=True),
        sa.Column("uploaded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collection.id"], name=op.f("fk_run_collection_id_collection")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_run_team_id_team")),
        sa.ForeignKeyConstraint(["uploaded_by_id"], ["user.id"], name=op.f("fk_run_uploaded_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("collection_id", "tag", name=op.f("uq_run_collection_id_tag")),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_item_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("drawn_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_assignment_judge_id_user")),
        sa.ForeignKeyConstraint(["pool_item_id"], ["pool_item.id"], name=op.f("fk_assignment_pool_item_id_pool_item")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
    )
    op.create_index("ix_assignment_judge", "assignment", ["judge_id", "state"], unique=False)
    op.create_index(
        "ix_assignment_lease",
        "assignment",
        ["lease_until"],
        unique=False,
        sqlite_where=sa.text("state = 'live'"),
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_index(
        "uq_assignment_held",
        "assignment",
        ["pool_item_id", "judge_id"],
        unique=True,
        sqlite_where=sa.text("state <> 'returned'"),
        postgresql_where=sa.text("state <> 'returned'"),
    )

    op.create_table(
        "contribution",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_item_id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("imported_from", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_contribution_pool_id_pool")),
        sa.ForeignKeyConstraint(
            ["pool_item_id"], ["pool_item.id"], name=op.f("fk_contribution_pool_item_id_pool_item")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_contribution_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contribution")),
    )
    op.create_index(op.f("ix_contribution_pool_item_id"), "contribution", ["pool_item_id"], unique=False)

    op.create_table(
        "pool_run",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_pool_run_pool_id_pool")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_pool_run_run_id_run")),
        sa.PrimaryKeyConstraint("pool_id", "run_id", name=op.f("pk_pool_run")),
    )
    op.create_table(
        "ranked_list",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("documents", sa.LargeBinary(), nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_ranked_list_run_id_run")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_ranked_list_topic_id_topic")),
        sa.PrimaryKeyConstraint("run_id", "topic_id", name=op.f("pk_ranked_list")),
    )
    op.create_table(
        "run_file",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("packed_here", sa.Boolean(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_file_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_file")),
    )
    op.create_table(
        "judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("pool_item_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("cannot_judge", sa.String(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("guideline_version_id", sa.Integer(), nullable=True),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("replaces_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_judgement_assignment_id_assignment")
        ),
        sa.ForeignKeyConstraint(
            ["guideline_version_id"],
            ["guideline_version.id"],
            name=op.f("fk_judgement_guideline_version_id_guideline_version"),
        ),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_judgement_judge_id_user")),
        sa.ForeignKeyConstraint(["pool_item_id"], ["pool_item.id"], name=op.f("fk_judgement_pool_item_id_pool_item")),
        sa.ForeignKeyConstraint(["replaces_id"], ["judgement.id"], name=op.f("fk_judgement_replaces_id_judgement")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement")),
        sa.UniqueConstraint("client_id", name=op.f("uq_judgement_client_id")),
    )
    op.create_index("ix_judgement_item", "judgement", ["pool_item_id", "judge_id"], unique=False)
    op.create_index("ix_judgement_judge", "judgement", ["judge_id", "current"], unique=False)
    op.create_index(
        "uq_judgement_current",
        "judgement",
        ["pool_item_id", "judge_id"],
        unique=True,
        sqlite_where=sa.text("current"),
        postgresql_where=sa.text("current"),
    )
    op.create_table(
        "label_file",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_label_file_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_label_file_judge_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_file")),
        sa.UniqueConstraint(
            "collection_id", "judge_id", "checksum", name=op.f("uq_label_file_collection_id_judge_id_checksum")
        ),
    )


def downgrade() -> None:
    op.drop_table("label_file")
    op.drop_table("judgement")
    op.drop_table("run_file")
    op.drop_table("ranked_list")
    op.drop_table("pool_run")
    op.drop_table("contribution")
    op.drop_table("assignment")
    op.drop_table("run")
    op.drop_table("pool_item")
    op.drop_table("membership")
    op.drop_table("topic")
    op.drop_table("team")
    op.drop_table("pool")
    op.drop_table("guideline_version")
    op.drop_table("grade")
    op.drop_table("document")
    op.drop_table("user")
    op.drop_table("collection")
