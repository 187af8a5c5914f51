"""Pages of a site with thousands of small collections, beside the same pages of a site with one.

An organiser, a judge and a participant are members of every collection; an administrator of none. Each follows the
links from the first page, some deep, into one of the collections only. Printed for each address: milliseconds of the
processor with one collection and with all of them, best of three. Ends with 1 when a page takes more than it may.

    python -m benchmarks.many_collections --collections 2000
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from sqlalchemy import Table, text

from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.passwords import hash_password
from annotator.settings import sqlite_url
from annotator.storage import Database, Role
from annotator.storage.collections.bundles import CLIENT_ID, COLLECTION, TABLES, USER
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.schema import prepare_schema
from annotator.workflows.collections import collection
from annotator.workflows.people import accounts, members
from annotator.workflows.pools import pool_building
from annotator.workflows.runs import run_upload
from annotator.workflows.topics import topics
from benchmarks.judging_client import HOST, enter
from benchmarks.served_site import processes, site

PASSWORD = "as long as it needs to be"  # noqa: S105 - no secret
ROLES = {"organiser": Role.ORGANISER, "judge": Role.JUDGE, "participant": Role.PARTICIPANT}
ADMINISTRATOR = "administrator"
SLUG, APART = "c", 1_000  # ids of the copies
LIMIT = 1 << 20
LINK = re.compile(r'<a\b[^>]*?href="([^"#]+)', re.IGNORECASE)
NO_PAGE = re.compile(r"sign-out|download|export|/static/|/help|/docs|\.(?:csv|jsonl?|zip|tex|svg|txt)\b")
MOST_PAGES, REPEATED, DEEP = 150, 3, 3
SECONDS_TO_ANSWER = 300
# A page may take so much longer with all collections: the larger of the two, in milliseconds.
FACTOR, MORE = 1.5, 15


def main() -> None:
    """Build both sites, time their pages, and print those that differ most."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=int, default=2_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-many-") as name:
        one, many = (timed(Path(name) / f"{count}.sqlite", count) for count in (1, given.collections))
    rows = sorted(((one.get(key, (0, 0))[1], *many[key], *key) for key in many), key=lambda row: row[0] - row[2])
    slow = 0
    for before, status, after, who, path in rows:
        is_slow = after > max(before * FACTOR, before + MORE)
        slow += is_slow
        print(f"{before:8.1f} {after:8.1f} ms  {status} {who:14} {path} {'MISSED' if is_slow else ''}")
    print(f"{len(rows)} pages, {slow} of them slower with {given.collections} collections")
    sys.exit(bool(slow))


def timed(path: Path, count: int) -> dict[tuple[str, str], tuple[int, float]]:
    """(Account, address) → status and best milliseconds of the processor, on a site with so many collections."""
    build(path, count)
    found = {}
    with site(sqlite_url(path), path.parent, workers=1, with_worker=False) as (port, process):
        for name in (*ROLES, ADMINISTRATOR):
            connection = HTTPConnection(HOST, port, timeout=SECONDS_TO_ANSWER)
            headers = {"Cookie": enter(port, name, PASSWORD)}
            for address, status, took in visited(connection, headers, process):
                found[name, address] = status, took
    return found


def visited(connection: HTTPConnection, headers: dict[str, str], process: int) -> Iterator[tuple[str, int, float]]:
    """Every page within reach: its address, status and milliseconds."""
    waiting, known = [("/", 0)], {"/"}
    while waiting and len(known) < MOST_PAGES:
        address, depth = waiting.pop(0)
        best = float("inf")
        for _ in range(REPEATED):
            before = processor(process)
            connection.request("GET", address, headers=headers)
            answer = connection.getresponse()
            content = answer.read()
            best = min(best, processor(process) - before)
        yield address, answer.status, 1000 * best
        if depth < DEEP:
            further = answer.getheader("Location")
            for link in [further] if further else LINK.findall(content.decode(errors="replace")):
                target = urlsplit(urljoin(address, unescape(link))).path
                beside = target.startswith(("/collections/", "/http")) and not re.match(
                    rf"/collections/{SLUG}(?:/|$)", target
                )
                if target not in known and not beside and not NO_PAGE.search(target):
                    known.add(target)
                    waiting.append((target, depth + 1))


def processor(process: int) -> float:
    """Seconds that a process and its children have computed so far."""
    seconds = 0.0
    for one in processes(process):
        for task in Path(f"/proc/{one}/task").glob("*/schedstat"):
            seconds += int(task.read_text().split()[0]) / 1e9
    return seconds


def build(path: Path, count: int) -> None:
    """A collection with everything in small, and copies of it."""
    database = Database(sqlite_url(path))
    prepare_schema(database)
    now = datetime.now(UTC)
    with database.transaction() as session:
        scale = parse_scale("0=Not relevant,1=Relevant")
        collection.add_collection(session, SLUG, title="Small", scale=scale, relevant_from=1, added_at=now)
        hashed = hash_password(PASSWORD)
        accounts.add_user(session, ADMINISTRATOR, password_hash=hashed, administrator=True, added_at=now)
        for name, role in ROLES.items():
            accounts.add_user(session, name, password_hash=hashed, added_at=now)
            team = "team" if role is Role.PARTICIPANT else None
            members.add_member(session, SLUG, name, role, team=team, added_at=now)
        sent = InputFile("topics.tsv", b"1\tfirst\n2\tsecond\n")
        topics.import_topics(session, SLUG, topics.read_topics([sent], unpacked_limit=LIMIT))
        lines = "".join(f"{topic} Q0 d{one} {one} {9 - one} run\n" for topic in (1, 2) for one in range(5))
        run = [InputFile("run.txt", lines.encode())]
        checked = run_upload.check_runs(session, SLUG, run, sender=Sender(None, organises=True), unpacked_limit=LIMIT)
        run_upload.store_runs(session, SLUG, checked, details=RunDetails(None), uploaded_by_id=None, uploaded_at=now)
        pool_building.build_pool(
            session, SLUG, PoolRequest("depth", {"depth": 5}), seed=1, built_by_id=None, built_at=now
        )
        for table in (COLLECTION, *TABLES):
            session.execute(text(copying(table)), {"copies": count - 1})
    database.close()


def copying(table: Table) -> str:
    """The statement that copies the rows of a table for each further collection."""
    columns = [f'"{column.name}"' for column in table.columns]
    values = []
    for column in table.columns:
        targets = [link.column.table for link in column.foreign_keys]
        if (column.name == "id" and column.primary_key) or (targets and targets[0] is not USER):
            values.append(f'"{column.name}" + copy * {APART}')
        elif str(column) == "collection.slug" or column.name == CLIENT_ID:
            values.append(f'"{column.name}" || copy')
        else:
            values.append(f'"{column.name}"')
    numbers = "WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < :copies)"
    return (
        f'INSERT INTO "{table.name}" ({", ".join(columns)}) {numbers} '  # noqa: S608 - own names
        f'SELECT {", ".join(values)} FROM "{table.name}", copies WHERE :copies > 0'
    )


if __name__ == "__main__":
    main()
