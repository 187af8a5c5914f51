"""Two ways of judging, second opinions, test questions, a training, notes, questions, and what a judge put off."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b, sha256
from typing import Any

import sqlalchemy as sa
from alembic import op

from annotator.errors import ConflictError

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

AT_ONCE = 1_000
HELD = "state <> 'returned'"


def upgrade() -> None:
    _widen_collection()
    _widen_pool_item()
    _widen_assignment()
    _widen_judgement()
    _make_notes()
    _make_question()
    _make_qualifying()
    _hash_texts_alone()


def _widen_collection() -> None:
    with op.batch_alter_table("collection") as collection:
        collection.add_column(sa.Column("judging_mode", sa.String(), nullable=False, server_default="shared"))
        for name in ("overlap_share", "common_items", "reshow_share"):
            collection.add_column(sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
        collection.add_column(sa.Column("pass_mark", sa.Integer(), nullable=True))
    with op.batch_alter_table("membership") as membership:
        membership.add_column(sa.Column("guidelines_accepted", sa.Integer(), nullable=True))
    with op.batch_alter_table("topic") as topic:
        topic.add_column(sa.Column("owner_id", sa.Integer(), nullable=True))
        topic.create_foreign_key(op.f("fk_topic_owner_id_user"), "user", ["owner_id"], ["id"])


def _widen_pool_item() -> None:
    with op.batch_alter_table("pool_item") as pool_item:
        pool_item.add_column(sa.Column("lot", sa.Integer(), nullable=False, server_default="0"))
        pool_item.add_column(sa.Column("is_overlap", sa.Boolean(), nullable=False, server_default=sa.false()))
        pool_item.add_column(sa.Column("for_everyone", sa.Boolean(), nullable=False, server_default=sa.false()))
        pool_item.add_column(sa.Column("known_grade", sa.Integer(), nullable=True))
        pool_item.add_column(sa.Column("duplicate_of_id", sa.Integer(), nullable=True))
        pool_item.create_foreign_key(
            op.f("fk_pool_item_duplicate_of_id_pool_item"), "pool_item", ["duplicate_of_id"], ["id"]
        )
    op.create_index(
        "ix_pool_item_for_everyone",
        "pool_item",
        ["topic_id", "priority"],
        sqlite_where=sa.text("for_everyone"),
        postgresql_where=sa.text("for_everyone"),
    )
    op.create_index(
        "ix_pool_item_duplicate_of_id",
        "pool_item",
        ["duplicate_of_id"],
        sqlite_where=sa.text("duplicate_of_id IS NOT NULL"),
        postgresql_where=sa.text("duplicate_of_id IS NOT NULL"),
    )
    op.create_index(
        "ix_pool_item_second",
        "pool_item",
        ["topic_id", "priority"],
        sqlite_where=sa.text("is_overlap AND taken < judgements_wanted"),
        postgresql_where=sa.text("is_overlap AND taken < judgements_wanted"),
    )
    _draw_lots()


def _draw_lots() -> None:
    """Give the items that are there the lots that they would have got when they joined the pool."""
    item = sa.table("pool_item", sa.column("id", sa.Integer), sa.column("lot", sa.Integer))
    statement = sa.update(item).where(item.c.id == sa.bindparam("item")).values(lot=sa.bindparam("drawn"))
    for rows in _items():
        drawn = [{"item": row.id, "drawn": _lot(row.seed, row.number, row.docno)} for row in rows]
        op.get_bind().execute(statement, drawn)


def _items() -> Iterator[Sequence[sa.Row[Any]]]:
    after = 0
    page = sa.text(
        "SELECT pool_item.id, pool.seed, topic.number, document.docno FROM pool_item "
        "JOIN pool ON pool.id = pool_item.first_pool_id JOIN topic ON topic.id = pool_item.topic_id "
        "JOIN document ON document.id = pool_item.document_id "
        "WHERE pool_item.id > :after ORDER BY pool_item.id LIMIT :count"
    )
    while rows := op.get_bind().execute(page, {"after": after, "count": AT_ONCE}).all():
        yield rows
        after = rows[-1].id


def _lot(seed: int, topic: str, docno: str) -> int:
    digest = blake2b(f"{seed}\0{topic}\0{docno}\0lot".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def _widen_assignment() -> None:
    op.drop_index("uq_assignment_held", "assignment")
    op.drop_index("ix_assignment_lease", "assignment")
    with op.batch_alter_table("assignment") as assignment:
        assignment.add_column(sa.Column("purpose", sa.String(), nullable=False, server_default="first"))
        assignment.add_column(sa.Column("put_off_at", sa.DateTime(timezone=True), nullable=True))
    for name, kind in (("uq_assignment_held", "<>"), ("uq_assignment_reshown", "=")):
        where = sa.text(f"{HELD} AND purpose {kind} 're-shown'")
        op.create_index(
            name, "assignment", ["pool_item_id", "judge_id"], unique=True, sqlite_where=where, postgresql_where=where
        )
    _index_leases("state IN ('live', 'later')")


def _index_leases(held: str) -> None:
    where = sa.text(held)
    op.create_index("ix_assignment_lease", "assignment", ["lease_until"], sqlite_where=where, postgresql_where=where)


def _widen_judgement() -> None:
    with op.batch_alter_table("judgement") as judgement:
        judgement.add_column(sa.Column("tab", sa.String(), nullable=False, server_default=""))
        judgement.add_column(sa.Column("sequence", sa.Integer(), nullable=True))
        judgement.add_column(sa.Column("received_at", sa.DateTime(timezone=True), nullable=True))
        judgement.add_column(sa.Column("carried_from_id", sa.Integer(), nullable=True))
        judgement.create_foreign_key(
            op.f("fk_judgement_carried_from_id_judgement"), "judgement", ["carried_from_id"], ["id"]
        )
    op.execute("UPDATE judgement SET received_at = judged_at")
    with op.batch_alter_table("judgement") as judgement:
        judgement.alter_column("received_at", existing_type=sa.DateTime(timezone=True), nullable=False)
    op.create_table(
        "evidence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judgement_id", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["judgement_id"], ["judgement.id"], name=op.f("fk_evidence_judgement_id_judgement")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evidence")),
    )
    op.create_index(op.f("ix_evidence_judgement_id"), "evidence", ["judgement_id"])


def _make_notes() -> None:
    op.create_table(
        "topic_note",
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_topic_note_judge_id_user")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_topic_note_topic_id_topic")),
        sa.PrimaryKeyConstraint("topic_id", "judge_id", name=op.f("pk_topic_note")),
    )
    op.create_table(
        "topic_mark",
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_topic_mark_judge_id_user")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_topic_mark_topic_id_topic")),
        sa.PrimaryKeyConstraint("topic_id", "judge_id", "words", name=op.f("pk_topic_mark")),
    )


def _make_question() -> None:
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=True),
        sa.Column("pool_item_id", sa.Integer(), nullable=True),
        sa.Column("asked_by_id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.String(), nullable=False, server_default=""),
        sa.Column("answered_by_id", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["answered_by_id"], ["user.id"], name=op.f("fk_question_answered_by_id_user")),
        sa.ForeignKeyConstraint(["asked_by_id"], ["user.id"], name=op.f("fk_question_asked_by_id_user")),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_question_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["pool_item_id"], ["pool_item.id"], name=op.f("fk_question_pool_item_id_pool_item")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_question_topic_id_topic")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
        sa.UniqueConstraint("client_id", name=op.f("uq_question_client_id")),
    )
    op.create_index(op.f("ix_question_collection_id"), "question", ["collection_id"])


def _make_qualifying() -> None:
    op.create_table(
        "qualifying_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("topic_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("known_grade", sa.Integer(), nullable=False),
        sa.Column("explanation", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collection.id"], name=op.f("fk_qualifying_item_collection_id_collection")
        ),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], name=op.f("fk_qualifying_item_document_id_document")),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_qualifying_item_topic_id_topic")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_qualifying_item")),
        sa.UniqueConstraint("topic_id", "document_id", name=op.f("uq_qualifying_item_topic_id_document_id")),
    )
    op.create_table(
        "qualifying_answer",
        sa.Column("qualifying_item_id", sa.Integer(), nullable=False),
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["user.id"], name=op.f("fk_qualifying_answer_judge_id_user")),
        sa.ForeignKeyConstraint(
            ["qualifying_item_id"],
            ["qualifying_item.id"],
            name=op.f("fk_qualifying_answer_qualifying_item_id_qualifying_item"),
        ),
        sa.PrimaryKeyConstraint("qualifying_item_id", "judge_id", "attempt", name=op.f("pk_qualifying_answer")),
    )


def _hash_texts_alone() -> None:
    """The hash was of the address and the language, too, which documents of the same text may differ in."""
    document = sa.table("document", sa.column("id", sa.Integer), sa.column("text_hash", sa.String))
    statement = sa.update(document).where(document.c.id == sa.bindparam("row")).values(text_hash=sa.bindparam("hash"))
    page = sa.text(
        "SELECT id, title, body FROM document WHERE id > :after AND text_hash IS NOT NULL ORDER BY id LIMIT :count"
    )
    after = 0
    while rows := op.get_bind().execute(page, {"after": after, "count": AT_ONCE}).all():
        hashes = [{"row": row.id, "hash": sha256(f"{row.title}\0{row.body}".encode()).hexdigest()} for row in rows]
        op.get_bind().execute(statement, hashes)
        after = rows[-1].id


def downgrade() -> None:
    """Changes nothing and raises `ConflictError` when that would lose what people said or change what counts."""
    _refuse_what_older_tables_cannot_say()
    for table in ("qualifying_answer", "qualifying_item", "question", "topic_mark", "topic_note", "evidence"):
        op.drop_table(table)
    with op.batch_alter_table("judgement") as judgement:
        judgement.drop_constraint(op.f("fk_judgement_carried_from_id_judgement"), type_="foreignkey")
        for name in ("carried_from_id", "received_at", "sequence", "tab"):
            judgement.drop_column(name)
    _narrow_assignment()
    op.drop_index("ix_pool_item_second", "pool_item")
    op.drop_index("ix_pool_item_duplicate_of_id", "pool_item")
    op.drop_index("ix_pool_item_for_everyone", "pool_item")
    with op.batch_alter_table("pool_item") as pool_item:
        pool_item.drop_constraint(op.f("fk_pool_item_duplicate_of_id_pool_item"), type_="foreignkey")
        for name in ("duplicate_of_id", "known_grade", "for_everyone", "is_overlap", "lot"):
            pool_item.drop_column(name)
    with op.batch_alter_table("topic") as topic:
        topic.drop_constraint(op.f("fk_topic_owner_id_user"), type_="foreignkey")
        topic.drop_column("owner_id")
    with op.batch_alter_table("membership") as membership:
        membership.drop_column("guidelines_accepted")
    with op.batch_alter_table("collection") as collection:
        for name in ("pass_mark", "reshow_share", "common_items", "overlap_share", "judging_mode"):
            collection.drop_column(name)


def _narrow_assignment() -> None:
    for name in ("ix_assignment_lease", "uq_assignment_reshown", "uq_assignment_held"):
        op.drop_index(name, "assignment")
    op.execute("UPDATE assignment SET state = 'live' WHERE state = 'later'")
    with op.batch_alter_table("assignment") as assignment:
        assignment.drop_column("put_off_at")
        assignment.drop_column("purpose")
    where = sa.text(HELD)
    op.create_index(
        "uq_assignment_held",
        "assignment",
        ["pool_item_id", "judge_id"],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )
    _index_leases("state = 'live'")


def _refuse_what_older_tables_cannot_say() -> None:
    """They know of no second showing and no duplicates, and have no place for notes, questions and trainings."""
    count = op.get_bind().scalar
    lost = [
        count(sa.text("SELECT count(*) FROM assignment WHERE purpose IN ('re-shown', 'carried')")),
        count(
            sa.text("SELECT count(*) FROM pool_item WHERE duplicate_of_id IS NOT NULL OR for_everyone OR is_overlap")
        ),
        count(sa.text("SELECT count(*) FROM topic WHERE owner_id IS NOT NULL")),
        *(
            count(sa.text(f"SELECT count(*) FROM {table}"))  # noqa: S608 - the names are ours
            for table in ("evidence", "topic_note", "topic_mark", "question", "qualifying_item")
        ),
    ]
    if any(lost):
        raise ConflictError(
            "The tables stay as they were: the older ones have no place for owners of topics, for documents that were "
            "shown again, carry the grade of another or want further judges, nor for evidence, notes, marked words, "
            "questions and trainings."
        )
