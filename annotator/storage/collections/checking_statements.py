"""What must never be found in a database, each with the statement that counts it; the same words for both databases."""

CHECKS = {
    # Places of people: second showings, decisions and what is carried over take none, nor do machines.
    "Documents whose count of judges is wrong": """
        WITH given AS (SELECT assignment.pool_item_id, count(*) AS places
        FROM assignment JOIN "user" ON "user".id = assignment.judge_id
        WHERE assignment.state <> 'returned' AND assignment.purpose NOT IN ('re-shown', 'adjudication', 'carried')
            AND "user".kind = 'person'
        GROUP BY assignment.pool_item_id)
        SELECT count(*) FROM pool_item LEFT JOIN given ON given.pool_item_id = pool_item.id
        WHERE pool_item.taken <> coalesce(given.places, 0)
    """,
    "Assignments that are done without a judgement": """
        SELECT count(*) FROM assignment
        WHERE state = 'done' AND NOT EXISTS (SELECT 1 FROM judgement WHERE judgement.assignment_id = assignment.id)
    """,
    "Assignments that are judged and still in somebody's hands": """
        SELECT count(*) FROM assignment
        WHERE state IN ('live', 'later')
            AND EXISTS (SELECT 1 FROM judgement WHERE judgement.assignment_id = assignment.id)
    """,
    "Judgements that are not of their assignment": """
        SELECT count(*) FROM judgement JOIN assignment ON assignment.id = judgement.assignment_id
        WHERE assignment.pool_item_id <> judgement.pool_item_id OR assignment.judge_id <> judgement.judge_id
    """,
    # Item and judge have one judgement that counts. As two lists: to look for each judgement's other assignments took
    # minutes where one judge has thousands.
    "Judgements that count although their document was given back": """
        SELECT count(*) FROM (
            SELECT judgement.pool_item_id, judgement.judge_id
            FROM judgement JOIN assignment ON assignment.id = judgement.assignment_id
            WHERE judgement.current AND assignment.state = 'returned'
            EXCEPT
            SELECT pool_item_id, judge_id FROM assignment WHERE state <> 'returned'
        ) AS given_back
    """,
    "Judgements that count although a later one took their place": """
        SELECT count(*) FROM judgement
        WHERE current AND id IN (SELECT replaces_id FROM judgement WHERE replaces_id IS NOT NULL)
    """,
    "Judgements that are carried over to documents that repeat no other": """
        SELECT count(*) FROM judgement JOIN pool_item ON pool_item.id = judgement.pool_item_id
        WHERE judgement.current AND judgement.carried_from_id IS NOT NULL AND pool_item.duplicate_of_id IS NULL
    """,
    "Judgements with the id of another": "SELECT count(*) - count(DISTINCT client_id) FROM judgement",
    "Judgements with neither a grade nor a reason, or with both": """
        SELECT count(*) FROM judgement WHERE (grade IS NULL) = (cannot_judge IS NULL)
    """,
    "Judgements with a grade that is none of the scale": """
        SELECT count(*) FROM judgement
        JOIN pool_item ON pool_item.id = judgement.pool_item_id
        WHERE judgement.grade IS NOT NULL AND (pool_item.topic_id, judgement.grade) NOT IN (
            SELECT topic.id, grade.value FROM topic JOIN grade ON grade.collection_id = topic.collection_id
        )
    """,
    # Each judgement raises it at most once, and whoever raised it has judged.
    "Revisions of topics that no judgement explains": """
        SELECT count(*) FROM topic_revision LEFT JOIN (
            SELECT pool_item.topic_id, judgement.judge_id, count(*) AS said
            FROM judgement JOIN pool_item ON pool_item.id = judgement.pool_item_id
            GROUP BY pool_item.topic_id, judgement.judge_id
        ) AS given ON given.topic_id = topic_revision.topic_id AND given.judge_id = topic_revision.judge_id
        WHERE topic_revision.revision < 1
            OR (topic_revision.judge_id <> 0 AND topic_revision.revision > coalesce(given.said, 0))
    """,
    "Pooled documents of another collection than their topic": """
        SELECT count(*) FROM pool_item
        JOIN topic ON topic.id = pool_item.topic_id JOIN document ON document.id = pool_item.document_id
        WHERE topic.collection_id <> document.collection_id
    """,
    "Collections whose scores are released by a version of the qrels that is not there": """
        SELECT count(*) FROM collection
        WHERE scores_qrels_version IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM qrels_version
            WHERE qrels_version.collection_id = collection.id AND qrels_version.number = collection.scores_qrels_version
        )
    """,
    # Four bytes a document, eight a score.
    "Ranked lists with another number of scores than of documents": """
        SELECT count(*) FROM ranked_list WHERE length(documents) * 2 <> length(scores)
    """,
}

# The index of words keeps what it indexes in a table of its own there.
OF_SQLITE = {
    "Documents that the search does not find, or that are not there": """
        SELECT abs((SELECT count(*) FROM document_words) - (SELECT count(*) FROM document_words_index_docsize))
    """,
}

# What was judged by more people than want it: innocent when fewer are wanted than before, or when a file of labels came
# on top. Late judgements and what everybody sees are left out. That `taken` is right is looked for above.
REMARKS = {
    "Documents judged by more than are wanted now": """
        SELECT count(*) FROM pool_item
        WHERE NOT for_everyone AND taken > judgements_wanted AND judgements_wanted < taken - (
            SELECT count(DISTINCT judgement.assignment_id) FROM judgement
            WHERE judgement.pool_item_id = pool_item.id AND judgement.late
        )
    """,
}

# The tables that the statements read, each with the rows of one collection. SQLite takes a name within its own meaning
# for a circle unless the schema stands before it; to PostgreSQL it is the table.
_OF_COLLECTION = """
    WITH collection AS NOT MATERIALIZED (SELECT * FROM {schema}collection WHERE id {chosen}),
    topic AS NOT MATERIALIZED (SELECT * FROM {schema}topic WHERE collection_id {chosen}),
    pool_item AS NOT MATERIALIZED (
        SELECT * FROM {schema}pool_item WHERE topic_id IN (SELECT id FROM {schema}topic WHERE collection_id {chosen})
    ),
    assignment AS NOT MATERIALIZED (
        SELECT * FROM {schema}assignment WHERE pool_item_id IN (SELECT id FROM pool_item)
    ),
    judgement AS NOT MATERIALIZED (
        SELECT * FROM {schema}judgement WHERE pool_item_id IN (SELECT id FROM pool_item)
    ),
    topic_revision AS NOT MATERIALIZED (
        SELECT * FROM {schema}topic_revision WHERE topic_id IN (SELECT id FROM topic)
    ),
    ranked_list AS NOT MATERIALIZED (
        SELECT * FROM {schema}ranked_list WHERE run_id IN (SELECT id FROM run WHERE collection_id {chosen})
    )
"""


# What comes in batch by batch, or was left by an import that was interrupted, is out of order until it is whole.
_WHOLE = "IN (SELECT id FROM {schema}collection WHERE NOT being_imported)"


def within(check: str, dialect: str) -> str:
    """One of `CHECKS` about the collection of the number `:id` alone."""
    return _restricted(check, dialect, "= :id")


def among_whole(check: str, dialect: str) -> str:
    """One of `CHECKS` about all collections but those that are being imported."""
    return _restricted(check, dialect, _WHOLE)


def _restricted(check: str, dialect: str, chosen: str) -> str:
    schema = "main." if dialect == "sqlite" else ""
    parts = _OF_COLLECTION.format(schema=schema, chosen=chosen.format(schema=schema))
    own = check.strip()
    return f"{parts}, {own.removeprefix('WITH')}" if own.startswith("WITH") else f"{parts} {own}"
