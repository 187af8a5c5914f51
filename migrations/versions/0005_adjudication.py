"""Machine judges, what adjudicators see, disputed documents left out, versions of qrels and revisions of topics."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INDEXES = (
    ("ix_assignment_adjudication", "assignment", "pool_item_id", "purpose = 'adjudication'"),
    ("ix_judgement_replaces_id", "judgement", "replaces_id", "replaces_id IS NOT NULL"),
)


# The policies that the older tables' program knows, and what those by which adjudicators decide come to without any.
OLDER_POLICIES = ("majority", "median", "lowest", "highest")
ADJUDICATED_ELSE = "adjudicated-else-"


def upgrade() -> None:
    with op.batch_alter_table("user") as user:
        user.add_column(sa.Column("kind", sa.String(), nullable=False, server_default="person"))
        user.add_column(sa.Column("model", sa.String(), nullable=False, server_default=""))
        user.add_column(sa.Column("prompt", sa.String(), nullable=False, server_default=""))
        user.add_column(sa.Column("labelled_on", sa.Date(), nullable=True))
    with op.batch_alter_table("collection") as collection:
        for name in ("counts_machines", "shows_grades", "leaves_out_disputed"):
            collection.add_column(sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "topic_revision",
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_topic_revision_topic_id_topic")),
        sa.PrimaryKeyConstraint("topic_id", "judge_id", name=op.f("pk_topic_revision")),
    )
    for name, table, column, where in INDEXES:
        op.create_index(name, table, [column], sqlite_where=sa.text(where), postgresql_where=sa.text(where))
    op.create_table(
        "qrels_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("made_by_id", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_qrels_version_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["made_by_id"], ["user.id"], name=op.f("fk_qrels_version_made_by_id_user")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_qrels_version")),
        sa.UniqueConstraint("collection_id", "number", name=op.f("uq_qrels_version_collection_id_number")),
    )
    op.create_table(
        "qrels_grade",
        sa.Column("qrels_version_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_qrels_grade_document_id_document")),
        sa.ForeignKeyConstraint(
            ["qrels_version_id"], ["qrels_version.id"], name=op.f("fk_qrels_grade_qrels_version_id_qrels_version")
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_qrels_grade_topic_id_topic")),
        sa.PrimaryKeyConstraint("qrels_version_id", "topic_id", "document_id", name=op.f("pk_qrels_grade")),
    )


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when that would lose what people said or change what counts."""
    _refuse_what_older_tables_cannot_say()
    _let_judges_settle_alone()
    op.drop_table("qrels_grade")
    op.drop_table("qrels_version")
    for name, table, _, _ in INDEXES:
        op.drop_index(name, table)
    op.drop_table("topic_revision")
    with op.batch_alter_table("collection") as collection:
        for name in ("leaves_out_disputed", "shows_grades", "counts_machines"):
            collection.drop_column(name)
    with op.batch_alter_table("user") as user:
        for name in ("labelled_on", "prompt", "model", "kind"):
            user.drop_column(name)


def _refuse_what_older_tables_cannot_say() -> None:
    lost = [
        op.get_bind().scalar(sa.text(question))
        for question in (
            "SELECT count(*) FROM assignment WHERE purpose = 'adjudication'",
            "SELECT count(*) FROM membership WHERE role = 'adjudicator'",
            "SELECT count(*) FROM qrels_version",
            "SELECT count(*) FROM collection WHERE leaves_out_disputed",
            "SELECT count(*) FROM \"user\" WHERE kind <> 'person'",
        )
    ]
    if any(lost):
        raise ConflictError(
            "The tables stay as they were: the older ones have no place for adjudicators, machine judges and kept "
            "versions of the qrels, nor for leaving out documents in dispute."
        )
    known = {*OLDER_POLICIES, *(ADJUDICATED_ELSE + policy for policy in OLDER_POLICIES)}
    for slug, policy in op.get_bind().execute(sa.text("SELECT slug, consensus_policy FROM collection ORDER BY slug")):
        if policy not in known:
            raise ConflictError(
                "The tables stay as they were: the consensus policy of “%(slug)s” is %(policy)s, which the older "
                "program does not know; choose one of %(policies)s first.",
                slug=slug,
                policy=policy,
                policies=", ".join(OLDER_POLICIES),
            )


def _let_judges_settle_alone() -> None:
    """Nobody has decided anything, so that the rule for judges says the same as the one that hears adjudicators."""
    for policy in OLDER_POLICIES:
        op.get_bind().execute(
            sa.text("UPDATE collection SET consensus_policy = :rule WHERE consensus_policy = :adjudicated"),
            {"rule": policy, "adjudicated": ADJUDICATED_ELSE + policy},
        )
