"""Submissions with a deadline and corrections, pools by strategy, topics on trial."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _make_quick_look()
    _make_stratum()
    _make_selection_event()
    _widen_collection()
    _widen_run()
    _widen_pool()
    with op.batch_alter_table("membership") as membership:
        membership.add_column(sa.Column("terms_accepted_at", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("topic") as topic:
        topic.add_column(sa.Column("state", sa.String(), nullable=False, server_default="accepted"))
        topic.add_column(sa.Column("reason", sa.String(), nullable=False, server_default=""))


def _make_quick_look() -> None:
    op.create_table(
        "quick_look",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("looks_relevant", sa.Boolean(), nullable=False),
        sa.Column("looked_by_id", sa.Integer(), nullable=False),
        sa.Column("looked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_quick_look_document_id_document")),
        sa.ForeignKeyConstraint(["looked_by_id"], ["user.id"], name=op.f("fk_quick_look_looked_by_id_user")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_quick_look_topic_id_topic")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quick_look")),
        sa.UniqueConstraint(
            "topic_id", "document_id", "looked_by_id", name=op.f("uq_quick_look_topic_id_document_id_looked_by_id")
        ),
    )


def _make_stratum() -> None:
    op.create_table(
        "stratum",
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rate", sa.Double(), nullable=False),
        sa.Column("drawn", sa.Integer(), nullable=False),
        sa.Column("documents", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_stratum_pool_id_pool")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_stratum_topic_id_topic")),
        sa.PrimaryKeyConstraint("pool_id", "topic_id", "number", name=op.f("pk_stratum")),
    )


def _make_selection_event() -> None:
    op.create_table(
        "selection_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("pool_item_id", sa.Integer(), nullable=False),
        sa.Column("seen_judgement_id", sa.Integer(), nullable=True),
        sa.Column("reason", sa.JSON(), nullable=False),
        sa.Column("chosen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_selection_event_pool_id_pool")),
        sa.ForeignKeyConstraint(
            ["pool_item_id"], ["pool_item.id"], name=op.f("fk_selection_event_pool_item_id_pool_item")
        ),
        sa.ForeignKeyConstraint(
            ["seen_judgement_id"], ["judgement.id"], name=op.f("fk_selection_event_seen_judgement_id_judgement")
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_selection_event_topic_id_topic")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_selection_event")),
        sa.UniqueConstraint("pool_id", "topic_id", "step", name=op.f("uq_selection_event_pool_id_topic_id_step")),
    )


def _widen_collection() -> None:
    with op.batch_alter_table("collection") as collection:
        collection.add_column(sa.Column("terms", sa.String(), nullable=False, server_default=""))
        collection.add_column(sa.Column("submissions_until", sa.DateTime(timezone=True), nullable=True))
        collection.add_column(sa.Column("scores_released_at", sa.DateTime(timezone=True), nullable=True))
        collection.add_column(sa.Column("most_documents", sa.Integer(), nullable=False, server_default="1000"))
        collection.add_column(sa.Column("judges_search", sa.Boolean(), nullable=False, server_default=sa.false()))


def _widen_run() -> None:
    with op.batch_alter_table("run") as run:
        run.add_column(sa.Column("run_type", sa.String(), nullable=False, server_default=""))
        run.add_column(sa.Column("priority", sa.Integer(), nullable=False, server_default="1"))
        run.add_column(sa.Column("warnings", sa.JSON(), nullable=False, server_default="[]"))
        run.add_column(sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True))
        run.add_column(sa.Column("withdrawn_by_id", sa.Integer(), nullable=True))
        run.add_column(sa.Column("withdrawn_by_team", sa.Boolean(), nullable=False, server_default=sa.false()))
        run.create_foreign_key(op.f("fk_run_withdrawn_by_id_user"), "user", ["withdrawn_by_id"], ["id"])
        run.add_column(sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=True))
        run.drop_constraint(op.f("uq_run_collection_id_tag"), type_="unique")
    op.create_index(
        "uq_run_tag",
        "run",
        ["collection_id", "tag"],
        unique=True,
        sqlite_where=sa.text("replaced_at IS NULL"),
        postgresql_where=sa.text("replaced_at IS NULL"),
    )


def _widen_pool() -> None:
    with op.batch_alter_table("pool") as pool:
        pool.add_column(sa.Column("showing", sa.String(), nullable=False, server_default="random"))
    with op.batch_alter_table("pool_item") as pool_item:
        pool_item.add_column(sa.Column("stratum", sa.Integer(), nullable=True))
        pool_item.add_column(sa.Column("rate", sa.Double(), nullable=True))
    op.create_index(op.f("ix_pool_item_first_pool_id"), "pool_item", ["first_pool_id"])
    with op.batch_alter_table("pool_run") as pool_run:
        pool_run.alter_column("depth", existing_type=sa.Integer(), nullable=True)
    with op.batch_alter_table("contribution") as contribution:
        contribution.add_column(sa.Column("searched_by_id", sa.Integer(), nullable=True))
        contribution.add_column(sa.Column("query", sa.String(), nullable=True))
        contribution.create_foreign_key(op.f("fk_contribution_searched_by_id_user"), "user", ["searched_by_id"], ["id"])


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when that would change what counts."""
    _refuse_what_older_tables_cannot_say()
    with op.batch_alter_table("topic") as topic:
        topic.drop_column("reason")
        topic.drop_column("state")
    with op.batch_alter_table("membership") as membership:
        membership.drop_column("terms_accepted_at")
    _narrow_pool()
    _narrow_run()
    with op.batch_alter_table("collection") as collection:
        for name in ("judges_search", "most_documents", "scores_released_at", "submissions_until", "terms"):
            collection.drop_column(name)
    for table in ("selection_event", "stratum", "quick_look"):
        op.drop_table(table)


def _refuse_what_older_tables_cannot_say() -> None:
    """They know no state of a topic or run: all of them would count."""
    count = op.get_bind().scalar
    topics = count(sa.text("SELECT count(*) FROM topic WHERE state <> 'accepted'"))
    runs = count(sa.text("SELECT count(*) FROM run WHERE withdrawn_at IS NOT NULL OR replaced_at IS NOT NULL"))
    if topics or runs:
        raise ConflictError(
            "The tables stay as they were: in the older ones %(topics)d draft or dropped topics and %(runs)d withdrawn "
            "or corrected runs would count.",
            topics=topics,
            runs=runs,
        )


def _narrow_pool() -> None:
    with op.batch_alter_table("contribution") as contribution:
        contribution.drop_constraint(op.f("fk_contribution_searched_by_id_user"), type_="foreignkey")
        contribution.drop_column("query")
        contribution.drop_column("searched_by_id")
    op.execute("UPDATE pool_run SET depth = 0 WHERE depth IS NULL")
    with op.batch_alter_table("pool_run") as pool_run:
        pool_run.alter_column("depth", existing_type=sa.Integer(), nullable=False)
    op.drop_index(op.f("ix_pool_item_first_pool_id"), table_name="pool_item")
    with op.batch_alter_table("pool_item") as pool_item:
        pool_item.drop_column("rate")
        pool_item.drop_column("stratum")
    with op.batch_alter_table("pool") as pool:
        pool.drop_column("showing")


def _narrow_run() -> None:
    op.drop_index("uq_run_tag", table_name="run")
    with op.batch_alter_table("run") as run:
        run.create_unique_constraint(op.f("uq_run_collection_id_tag"), ["collection_id", "tag"])
        run.drop_constraint(op.f("fk_run_withdrawn_by_id_user"), type_="foreignkey")
        for name in (
            *("replaced_at", "withdrawn_by_team", "withdrawn_by_id", "withdrawn_at"),
            *("warnings", "priority", "run_type"),
        ):
            run.drop_column(name)
