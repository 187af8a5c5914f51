"""What was deleted and can be restored, ids that are never given out twice, and indexes for taking rows out."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
# Tables whose rows are taken out and put back under their own ids.
NEVER_REUSED = ("topic", "pool", "pool_item", "assignment", "judgement")
# What refers to such rows: without an index each row that goes would have the whole table read.
INDEXES = (
    ("pool_item", "document_id", None),
    ("assignment", "pool_item_id", None),
    ("judgement", "assignment_id", None),
    ("judgement", "carried_from_id", "carried_from_id IS NOT NULL"),
    ("selection_event", "pool_item_id", None),
    ("selection_event", "seen_judgement_id", None),
    ("question", "pool_item_id", None),
    ("qrels_grade", "document_id", None),
)


def upgrade() -> None:
    _add_tables()
    with op.batch_alter_table("collection") as collection:
        collection.add_column(sa.Column("deleted_at", MOMENT, nullable=True))
    _rebuild(reuses_ids=False)
    for table, column, condition in INDEXES:
        where = None if condition is None else sa.text(condition)
        name = op.f(f"ix_{table}_{column}")
        op.create_index(name, table, [column], sqlite_where=where, postgresql_where=where)
    _put_last("ix_pool_item_second", "pool_item", "is_overlap AND taken < judgements_wanted")


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when what can still be restored would be lost."""
    waiting = "SELECT count(*) FROM deletion WHERE restored_at IS NULL AND removed_at IS NULL"
    if op.get_bind().scalar(sa.text(waiting)):
        raise ConflictError("The tables stay as they were: the older ones have no place for what was deleted.")
    for table, column, _ in reversed(INDEXES):
        op.drop_index(op.f(f"ix_{table}_{column}"), table_name=table)
    _rebuild(reuses_ids=True)
    with op.batch_alter_table("collection") as collection:
        collection.drop_column("deleted_at")
    for name in ("deleted_part", "deletion"):
        op.drop_table(name)


def _add_tables() -> None:
    op.create_table(
        "deletion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("deleted_by_id", sa.Integer(), nullable=True),
        sa.Column("deleted_at", MOMENT, nullable=False),
        sa.Column("restored_at", MOMENT, nullable=True),
        sa.Column("removed_at", MOMENT, nullable=True),
        _refers("deletion", "collection_id", "collection"),
        _refers("deletion", "deleted_by_id", "user"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deletion")),
    )
    op.create_index(op.f("ix_deletion_collection_id_kind"), "deletion", ["collection_id", "kind"])
    op.create_table(
        "deleted_part",
        sa.Column("deletion_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("column_name", sa.String(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        _refers("deleted_part", "deletion_id", "deletion"),
        sa.PrimaryKeyConstraint("deletion_id", "position", name=op.f("pk_deleted_part")),
    )


def _rebuild(*, reuses_ids: bool) -> None:
    """Have SQLite count ids for good, or no more, which takes a copy of each table; PostgreSQL always does."""
    if op.get_bind().dialect.name != "sqlite":
        return
    for name in NEVER_REUSED:
        with op.batch_alter_table(name, recreate="always", table_kwargs={"sqlite_autoincrement": not reuses_ids}):
            pass


def _put_last(name: str, table: str, condition: str) -> None:
    """Make an index once more: of two that serve a query alike SQLite takes the one that was made last."""
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index(name, table_name=table)
        op.create_index(name, table, ["topic_id", "priority"], sqlite_where=sa.text(condition))


def _refers(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}_{other}"))
