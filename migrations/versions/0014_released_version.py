"""The kept version of the qrels that released scores are computed from."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("collection") as collection:
        collection.add_column(sa.Column("scores_qrels_version", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when participants would then see other scores than were released."""
    released = op.get_bind().scalar(
        sa.text(
            "SELECT count(*) FROM collection WHERE scores_released_at IS NOT NULL AND scores_qrels_version IS NOT NULL"
        )
    )
    if released:
        raise ConflictError(
            "The tables stay as they were: in the older ones released scores follow the grades of the moment, not a "
            "kept version of the qrels. Take the scores back first."
        )
    with op.batch_alter_table("collection") as collection:
        collection.drop_column("scores_qrels_version")
