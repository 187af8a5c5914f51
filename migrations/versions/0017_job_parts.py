"""The files of jobs in parts."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

PART_BYTES = 1 << 20
JOB = sa.table("job", sa.column("id", sa.Integer), sa.column("input", sa.LargeBinary))
PART = sa.table(
    "job_part",
    sa.column("job_id", sa.Integer),
    sa.column("number", sa.Integer),
    sa.column("content", sa.LargeBinary),
)


def upgrade() -> None:
    """Divide the files that are there."""
    op.create_table(
        "job_part",
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_part_job_id_job"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_job_part")),
    )
    connection = op.get_bind()
    for id_ in connection.scalars(sa.select(JOB.c.id).where(JOB.c.input.is_not(None))).all():
        content = connection.scalars(sa.select(JOB.c.input).where(JOB.c.id == id_)).one()
        for number, begin in enumerate(range(0, len(content), PART_BYTES)):
            part = bytes(content[begin : begin + PART_BYTES])
            connection.execute(sa.insert(PART).values(job_id=id_, number=number, content=part))
    with op.batch_alter_table("job") as job:
        job.drop_column("input")


def downgrade() -> None:
    """Put the files together; what is still being stored, which nobody was promised, goes."""
    connection = op.get_bind()
    connection.execute(sa.text("DELETE FROM job_part WHERE job_id IN (SELECT id FROM job WHERE state = 'arriving')"))
    connection.execute(sa.text("DELETE FROM job WHERE state = 'arriving'"))
    with op.batch_alter_table("job") as job:
        job.add_column(sa.Column("input", sa.LargeBinary(), nullable=True))
    # What came without a file had an empty one until it was done.
    connection.execute(sa.text("UPDATE job SET input = :empty WHERE state IN ('waiting', 'running')"), {"empty": b""})
    for id_ in connection.scalars(sa.select(PART.c.job_id).distinct()).all():
        parts = sa.select(PART.c.content).where(PART.c.job_id == id_).order_by(PART.c.number)
        content = b"".join(bytes(part) for part in connection.scalars(parts))
        connection.execute(sa.update(JOB).where(JOB.c.id == id_).values(input=content))
    op.drop_table("job_part")
