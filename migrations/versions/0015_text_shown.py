"""Which text of a document a judge was shown."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of what was drawn before nobody knows the text."""
    op.add_column("assignment", sa.Column("text_hash", sa.String(), nullable=True))


def downgrade() -> None:
    """Drop the column: moments then tell which judgements are of older texts, as before."""
    op.drop_column("assignment", "text_hash")
