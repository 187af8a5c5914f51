"""What participants see of the scores, once the moment for it has come."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# What older tables mean by released scores: a team's own runs beside the median and the best of all.
BESIDE = "beside"


def upgrade() -> None:
    with op.batch_alter_table("collection") as collection:
        collection.add_column(sa.Column("scores_shown", sa.String(), nullable=False, server_default=BESIDE))


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when participants would then see other scores than was decided."""
    chosen = op.get_bind().scalar(
        sa.text(
            "SELECT count(*) FROM collection WHERE scores_released_at IS NOT NULL "
            "AND (scores_shown <> 'beside' OR scores_released_at > CURRENT_TIMESTAMP)"
        )
    )
    if chosen:
        raise ConflictError(
            "The tables stay as they were: the older ones cannot say that participants see only their own scores, the "
            "whole leaderboard, or anything from a later moment on. Take the scores back first."
        )
    with op.batch_alter_table("collection") as collection:
        collection.drop_column("scores_shown")
