"""`remove` and `deletions` by command: asked for with numbers, restored by number."""

from datetime import UTC, datetime, timedelta

from cli.command_line import CommandLine
from sqlalchemy import update

from annotator.settings import Settings
from annotator.storage import Database, Deletion
from annotator.worker.working import Worker

LABELS = "1 0 a 1\n1 0 b 0\n"


def test_a_version_of_the_pool_is_deleted_with_yes_and_restored(pooled: CommandLine) -> None:
    effect, refusal = pooled.refused("pool", "remove", "news", "1")
    assert effect == "This deletes version 1 of the pool: documents: 6."
    assert refusal == "Nothing was done: confirm it with --yes."
    pooled.done("pool", "remove", "news", "1", "--yes")
    assert pooled.done("documents", "missing", "list", "news", "--format", "csv").splitlines()[1:] == []
    [row] = pooled.table("deletions", "list", "news")
    assert row[:3] == ["1", "pool", "1"]
    assert pooled.talk("deletions", "restore", "news", "1") == "Restored: pool.\n"
    assert len(pooled.table("documents", "missing", "list", "news")) == 5
    assert pooled.table("deletions", "list", "news") == []


def test_a_wrong_import_of_labels_is_taken_back(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=LABELS)
    [row] = pooled.table("judgements", "imports", "list", "news")
    assert row[:2] == ["1", "nist"]
    pooled.done("judgements", "remove", "news", "1", "--yes")
    assert len(pooled.done("judgements", "export", "news", "--format", "csv").splitlines()) == 1
    pooled.done("deletions", "restore", "news", "1")
    assert len(pooled.done("judgements", "export", "news", "--format", "csv").splitlines()) == 3


def test_a_judged_topic_goes_when_its_number_is_typed(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=LABELS)
    *_, refusal = pooled.refused("topics", "remove", "news", "1", "--yes")
    assert refusal == "Nothing was done: confirm it with --confirm 1."
    *_, refusal = pooled.refused("topics", "remove", "news", "1", "--confirm", "2")
    assert refusal == "To confirm, type “1”. Nothing was deleted."
    pooled.done("topics", "remove", "news", "1", "--confirm", "1")
    assert [number for number, *_ in pooled.table("topics", "list", "news")] == ["2"]


def test_documents_are_named_or_listed_in_a_file(pooled: CommandLine) -> None:
    texts = "".join(f'{{"docno": "{docno}", "body": "Text."}}\n' for docno in "abc")
    pooled.done("documents", "import", "news", "-", given=texts)
    pooled.done("documents", "remove", "news", "a", "--yes")
    pooled.done("documents", "remove", "news", "--file", "-", "--yes", given="b\nc\n")
    assert len(pooled.table("documents", "missing", "list", "news")) == 5


def test_a_collection_goes_and_comes_back(pooled: CommandLine) -> None:
    pooled.refused("collections", "remove", "news")
    pooled.done("collections", "remove", "news", "--confirm", "news")
    assert pooled.table("collections", "list") == []
    [refusal] = pooled.refused("collections", "add", "news", "--title", "Another", "--scale", "0=No,1=Yes")
    assert "can still be restored" in refusal
    assert [row[0] for row in pooled.table("deletions", "list")] == ["news"]
    pooled.done("collections", "restore", "news")
    assert [row[0] for row in pooled.table("collections", "list")] == ["news"]


def test_what_was_purged_is_gone_and_the_name_is_free(pooled: CommandLine) -> None:
    pooled.done("collections", "remove", "news", "--confirm", "news")
    assert pooled.talk("deletions", "purge", "--days", "0", "--yes").endswith("Removed for good: 1.\n")
    pooled.refused("collections", "restore", "news")
    pooled.done("collections", "add", "news", "--title", "Another", "--scale", "0=No,1=Yes")
    assert "deletions.add" in pooled.done("audit", "list")
    pooled.done("database", "check")


def test_what_was_deleted_is_restored_in_a_copy_of_the_site(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=LABELS)
    pooled.done("topics", "remove", "news", "2", "--yes")
    pooled.done("database", "copy", pooled.url, "sqlite:///copy.sqlite")
    copy = CommandLine("sqlite:///copy.sqlite")
    # Its ids are no other topic's there either.
    copy.done("topics", "import", "news", "-", given="3\tthird topic\n")
    copy.done("deletions", "restore", "news", "1")
    assert [number for number, *_ in copy.table("topics", "list", "news")] == ["1", "2", "3"]
    copy.done("database", "check")


def test_the_worker_removes_what_is_too_old(pooled: CommandLine) -> None:
    pooled.done("topics", "remove", "news", "2", "--yes")
    Worker(Settings(secret_key="of the tests", database_url=pooled.url)).work(only_what_waits=True)
    assert len(pooled.table("deletions", "list", "news")) == 1
    with Database(pooled.url).transaction() as session:
        session.execute(update(Deletion).values(deleted_at=datetime.now(UTC) - timedelta(days=31)))
    Worker(Settings(secret_key="of the tests", database_url=pooled.url)).work(only_what_waits=True)
    assert pooled.table("deletions", "list", "news") == []
    pooled.refused("deletions", "restore", "news", "1")
