"""What stands beside the judged measures: what each system costs, and what users clicked."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
BYTE_ORDERED = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    _add_costs()
    _add_clicks()


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when what was stated or counted would be lost."""
    _refuse_to_lose_costs()
    _refuse_to_lose_clicks()
    _drop_costs()
    _drop_clicks()


def _add_costs() -> None:
    op.create_table(
        "fact_column",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("better", sa.String(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        _refers("fact_column", "collection_id", "collection"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fact_column")),
        sa.UniqueConstraint("collection_id", "key", name=op.f("uq_fact_column_collection_id_key")),
    )
    op.create_table(
        "run_fact",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("fact", BYTE_ORDERED, nullable=False),
        sa.Column("detail", BYTE_ORDERED, nullable=False),
        sa.Column("number", sa.Double(), nullable=True),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("stated_at", MOMENT, nullable=False),
        _refers("run_fact", "run_id", "run"),
        sa.PrimaryKeyConstraint("run_id", "fact", "detail", name=op.f("pk_run_fact")),
    )


def _refuse_to_lose_costs() -> None:
    for question in ("SELECT count(*) FROM run_fact", "SELECT count(*) FROM fact_column"):
        if op.get_bind().scalar(sa.text(question)):
            raise ConflictError("The tables stay as they were: the older ones have no place for what systems cost.")


def _drop_costs() -> None:
    for name in ("run_fact", "fact_column"):
        op.drop_table(name)


def _add_clicks() -> None:
    op.create_table(
        "click_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("checksum", sa.String(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("dropped", sa.Integer(), nullable=False),
        sa.Column("added_by_id", sa.Integer(), nullable=True),
        sa.Column("added_at", MOMENT, nullable=False),
        _refers("click_log", "collection_id", "collection"),
        _refers("click_log", "added_by_id", "user"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_click_log")),
        sa.UniqueConstraint("collection_id", "name", name=op.f("uq_click_log_collection_id_name")),
    )
    op.create_table(
        "click_variant",
        sa.Column("click_log_id", sa.Integer(), nullable=False),
        sa.Column("variant", BYTE_ORDERED, nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        _refers("click_variant", "click_log_id", "click_log"),
        _refers("click_variant", "run_id", "run"),
        sa.PrimaryKeyConstraint("click_log_id", "variant", name=op.f("pk_click_variant")),
    )


def _refuse_to_lose_clicks() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM click_log")):
        raise ConflictError("The tables stay as they were: the older ones have no place for what click logs tell.")


def _drop_clicks() -> None:
    for name in ("click_variant", "click_log"):
        op.drop_table(name)


def _refers(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}_{other}"))
