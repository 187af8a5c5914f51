"""What a site needs that runs for months: the log of deeds, tokens, invitations and long jobs."""

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)

# The log of deeds is only ever added to; all that may change of a line is the name of a person who was forgotten.
SQLITE_GUARDS = (
    """
    CREATE TRIGGER audit_event_stays BEFORE DELETE ON audit_event BEGIN
        SELECT RAISE(ABORT, 'the log of deeds is only ever added to');
    END
    """,
    """
    CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event WHEN NOT (
        new.id IS old.id AND new.at IS old.at AND new.user_id IS old.user_id AND new.door IS old.door
        AND new.collection_id IS old.collection_id AND new.action IS old.action AND new.details IS old.details
        AND (new.name IS old.name OR new.name GLOB 'forgotten-*')
        AND (new.subject IS old.subject OR new.subject GLOB 'forgotten-*')
    ) BEGIN
        SELECT RAISE(ABORT, 'the log of deeds is only ever added to');
    END
    """,
)
POSTGRES_GUARDS = (
    """
    CREATE FUNCTION audit_event_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the log of deeds is only ever added to';
    END
    $$
    """,
    """
    CREATE TRIGGER audit_event_stays BEFORE DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_refuses()
    """,
    """
    CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event FOR EACH ROW WHEN (NOT (
        new.id = old.id AND new.at = old.at AND new.user_id IS NOT DISTINCT FROM old.user_id AND new.door = old.door
        AND new.collection_id IS NOT DISTINCT FROM old.collection_id AND new.action = old.action
        AND new.details::text = old.details::text
        AND (new.name = old.name OR starts_with(new.name, 'forgotten-'))
        AND (new.subject = old.subject OR starts_with(new.subject, 'forgotten-'))
    )) EXECUTE FUNCTION audit_event_refuses()
    """,
)


def upgrade() -> None:
    op.create_table(
        "audit_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("door", sa.String(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        _refers("audit_event", "user_id", "user"),
        _refers("audit_event", "collection_id", "collection"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
    )
    op.create_index("ix_audit_event_collection_id_id", "audit_event", ["collection_id", "id"])
    for statement in SQLITE_GUARDS if _is_sqlite() else POSTGRES_GUARDS:
        op.execute(statement)
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=True),
        sa.Column("last_used_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        _refers("api_token", "user_id", "user"),
        _refers("api_token", "collection_id", "collection"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_api_token_fingerprint")),
    )
    op.create_index(op.f("ix_api_token_user_id"), "api_token", ["user_id"])
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=True),
        sa.Column("role", sa.String(), nullable=True),
        sa.Column("team", sa.String(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("made_by_id", sa.Integer(), nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT, nullable=True),
        sa.Column("used_by_id", sa.Integer(), nullable=True),
        sa.Column("withdrawn_at", MOMENT, nullable=True),
        _refers("invitation", "collection_id", "collection"),
        _refers("invitation", "user_id", "user"),
        _refers("invitation", "made_by_id", "user"),
        _refers("invitation", "used_by_id", "user"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_invitation_fingerprint")),
    )
    op.create_index(op.f("ix_invitation_collection_id"), "invitation", ["collection_id"])
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=True),
        sa.Column("asked_by_id", sa.Integer(), nullable=True),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("input", sa.LargeBinary(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("steps_done", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("alive_at", MOMENT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("output", sa.LargeBinary(), nullable=True),
        _refers("job", "collection_id", "collection"),
        _refers("job", "asked_by_id", "user"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    op.create_index(op.f("ix_job_collection_id"), "job", ["collection_id"])
    op.create_index("ix_job_state_id", "job", ["state", "id"])
    op.create_table(
        "attempts",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_attempts")),
    )
    op.create_table(
        "ended_session",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_ended_session")),
    )


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when the log of deeds would be lost, or observers have no place."""
    for question in ("SELECT count(*) FROM audit_event", "SELECT count(*) FROM membership WHERE role = 'observer'"):
        if op.get_bind().scalar(sa.text(question)):
            raise ConflictError(
                "The tables stay as they were: the older ones have no place for the log of deeds, nor for observers."
            )
    for name in ("ended_session", "attempts", "job", "invitation", "api_token", "audit_event"):
        op.drop_table(name)
    if not _is_sqlite():
        op.execute("DROP FUNCTION audit_event_refuses()")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _refers(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}_{other}"))
