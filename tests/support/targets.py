"""Which target of the Makefile runs a test, by its folder, its file and its database.

`make test` runs what has no target of its own; `make test-all` runs everything.
"""

from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from thorough import IS_THOROUGH

BROWSER, POSTGRES, SLOW = "browser", "postgres", "slow"
TARGETS = (BROWSER, POSTGRES, SLOW)
MARKERS = (
    f"{BROWSER}: looks at pages in a real browser; make test-browser",
    f"{POSTGRES}: is done on PostgreSQL as it is on SQLite; make test-postgres",
    f"{SLOW}: starts servers and workers, or builds much; make test-slow",
)
# Real servers, workers and commands; databases of every earlier version; the demonstration; whatever the OpenAPI
# document allows; a client that is generated from it; pages after pages that are looked through for one word.
SLOW_FOLDERS = {"faults", "worker", "demonstration"}
SLOW_FILES = (
    *("/test_wheel.py", "/test_upgrades.py", "/test_migrations.py", "/test_audit_migration.py"),
    *("/cli/serving/test_serve.py", "/cli/site/test_interrupting.py", "/cli/site/test_new_databases.py"),
    *("/api/test_generated_client.py", "/api/test_schema.py"),
    *("/people/test_planted_name.py", "/judging/test_queue_of_many.py"),
)

# On PostgreSQL one in so many is done, and all in a thorough run: each is done on SQLite. A checksum of its name
# chooses, so that every process chooses the same.
ONE_IN = {
    # Pages and the door for programs have no SQL: the workflows have it that they call.
    "web": 6,
    "api": 6,
    # Every migration is gone through from the earliest ones; each step is also taken from its own version on SQLite.
    "test_upgrades.py": 3,
    # Most workflows write their statements once for both databases: a sample tells whether PostgreSQL takes them.
    "workflows": 4,
}
# These are always done on both, for there the two differ.
ALWAYS_ON_POSTGRES = {
    "web": {"test_throttle.py"},
    "api": {"test_judging.py"},
    "workflows": {
        # In what they lock and whom they let wait, ...
        *("test_at_once.py", "test_adjudicators_at_once.py", "test_desk_at_once.py", "test_places_at_once.py"),
        *("test_places_of_machines.py", "test_live_leaderboard.py", "test_queue.py", "test_queue_of_many.py"),
        *("test_judging.py", "test_judging_turn.py", "test_recording.py", "test_judge_desk.py", "test_adjudication.py"),
        # ... in how they find words, ...
        *("test_search.py", "test_search_adding.py", "test_indexing.py", "test_corpus.py", "test_changed_documents.py"),
        # ... in their order of texts, and in statements that compute or are written for each of them.
        *("test_duplicates.py", "test_near_duplicates.py", "test_settled_alike.py", "test_archive.py"),
        *("test_revisions.py", "test_erasure.py", "test_audit.py"),
    },
}
# Such tests among the others say so in their names.
OF_SEVERAL_AT_ONCE = ("at_once", "while", "wait", "each_other", "lock")


def folders_of(item: pytest.Item) -> tuple[str, ...]:
    """The folders of the tests that a test is in."""
    return _folders_of_file(item.path)


@cache  # asked several times of each of eleven thousand tests
def _folders_of_file(path: Path) -> tuple[str, ...]:
    return path.parent.relative_to(Path(__file__).parents[1]).parts


def target_of(item: pytest.Item) -> str | None:
    """The one target of a test; None where that is `make test`."""
    folders = folders_of(item)
    if "browser" in folders:
        return BROWSER
    if not SLOW_FOLDERS.isdisjoint(folders) or _is_slow_elsewhere(item):
        return SLOW
    # What several do at once differs between the two databases: it is in everybody's test.
    is_at_once = "at_once" in item.path.name or "at_once" in item.name
    return POSTGRES if _is_on_postgres(item) and not is_at_once else None


def _is_slow_elsewhere(item: pytest.Item) -> bool:
    return _is_slow_file(item.path) or item.get_closest_marker("process") is not None


@cache
def _is_slow_file(path: Path) -> bool:
    return path.as_posix().endswith(SLOW_FILES)


def mark_targets(items: list[pytest.Item]) -> None:
    """Mark each test with its target."""
    for item in items:
        target = target_of(item)
        if target is not None:
            item.add_marker(target)


def rule_against(item: pytest.Item) -> str | None:
    """The rule that leaves a test out on PostgreSQL; None for most, and for all in a thorough run."""
    folder = next(iter(folders_of(item)), item.path.name)
    is_always_done = item.path.name in ALWAYS_ON_POSTGRES.get(folder, ()) or any(
        word in item.name for word in OF_SEVERAL_AT_ONCE
    )
    one_in = 1 if IS_THOROUGH else ONE_IN.get(folder, 1)
    if "[postgres" not in item.name or is_always_done or crc32(item.name.encode()) % one_in == 0:
        return None
    return f"{folder} on PostgreSQL, all but one in {one_in}"


def who_does(item: pytest.Item) -> str:
    """How a test is run that is left out."""
    rule = rule_against(item)
    target = target_of(item)
    if rule is not None:
        return f"{rule}; ANNOTATOR_THOROUGH=1 does them"
    return "make test does them" if target is None else f"make test-{target} does them"


def _is_on_postgres(item: pytest.Item) -> bool:
    return "[postgres" in item.name or "postgres_url" in getattr(item, "fixturenames", ())
