"""The first documents of a run's ranked lists, in few rows, to plan pools from."""

import struct
from collections.abc import Iterable, Sequence
from itertools import groupby

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

TOP_BYTES, TOPICS_TOGETHER = 400, 64
PACKED = ("topics", "sizes", "documents")
RUN_TOPS = sa.table(
    "run_tops",
    sa.column("run_id", sa.Integer),
    sa.column("topic_group", sa.Integer),
    *(sa.column(name, sa.LargeBinary) for name in PACKED),
)


def upgrade() -> None:
    """Add the table and fill it from all ranked lists; fetching these takes about 10 microseconds each."""
    op.create_table(
        "run_tops",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("run_id", "topic_group")),
        *(sa.Column(name, sa.LargeBinary(), nullable=False) for name in PACKED),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_tops_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "topic_group", name=op.f("pk_run_tops")),
    )
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        # Numbers of documents hardly become smaller, and trying takes time at each import.
        for name in PACKED:
            op.execute(f"ALTER TABLE run_tops ALTER COLUMN {name} SET STORAGE EXTERNAL")
    tops = sa.text(
        f"SELECT topic_id, substr(documents, 1, {TOP_BYTES}) FROM ranked_list WHERE run_id = :run_id"  # noqa: S608 - a number of ours
        " ORDER BY topic_id"
    )
    for run_id in connection.scalars(sa.text("SELECT id FROM run ORDER BY id")).all():
        lists = [(int(topic), bytes(top)) for topic, top in connection.execute(tops, {"run_id": run_id})]
        rows = [
            {"run_id": run_id, "topic_group": group, **_packed(list(some))}
            for group, some in groupby(lists, key=lambda one: one[0] // TOPICS_TOGETHER)
        ]
        if rows:
            connection.execute(sa.insert(RUN_TOPS), rows)


def downgrade() -> None:
    op.drop_table("run_tops")


def _packed(lists: Sequence[tuple[int, bytes]]) -> dict[str, bytes]:
    """As the program packed them at that time."""
    topics, tops = [topic for topic, _ in lists], [top for _, top in lists]
    return {"topics": _integers(topics), "sizes": _integers(map(len, tops)), "documents": b"".join(tops)}


def _integers(numbers: Iterable[int]) -> bytes:
    return b"".join(struct.pack("<i", number) for number in numbers)
