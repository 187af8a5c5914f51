"""How many training documents an attempt draws, and training answers that say why a document cannot be judged."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """An attempt of existing collections has every document, as before."""
    with op.batch_alter_table("collection") as table:
        table.add_column(sa.Column("training_size", sa.Integer(), nullable=True))
    with op.batch_alter_table("qualifying_answer") as table:
        table.alter_column("grade", existing_type=sa.Integer(), nullable=True)
        table.add_column(sa.Column("cannot_judge", sa.String(), nullable=True))


def downgrade() -> None:
    count = op.get_bind().scalar
    lost = (
        count(sa.text("SELECT count(*) FROM collection WHERE training_size IS NOT NULL")),
        count(sa.text("SELECT count(*) FROM qualifying_answer WHERE grade IS NULL")),
    )
    if any(lost):
        raise ConflictError(
            "The tables stay as they were: the older ones have no place for trainings of which an attempt has a part, "
            "nor for “cannot judge” in a training."
        )
    with op.batch_alter_table("qualifying_answer") as table:
        table.drop_column("cannot_judge")
        table.alter_column("grade", existing_type=sa.Integer(), nullable=False)
    with op.batch_alter_table("collection") as table:
        table.drop_column("training_size")
