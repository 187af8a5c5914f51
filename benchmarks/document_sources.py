"""How long a folder of JSON Lines takes to index, and how many pooled documents a second are fetched from a source.

Documents are as long as segments of MS MARCO v2.1. The folder has four files, plain and then gzipped; the address is a
server of this process, which answers from memory.

    python -m benchmarks.document_sources --documents 1000000 --pooled 10000
"""

import argparse
import gzip
import json
import random
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from typing import IO, cast

from annotator.evaluation.formats.source_answers import SourceOptions
from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.settings import sqlite_url
from annotator.storage import Database, Showing
from annotator.storage.collections.audit import Actor
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.site.schema import prepare_schema
from annotator.storage.tables.collections import Door
from annotator.worker.fetching import Fetching
from annotator.worker.folder_indexing import FolderIndexing
from annotator.workflows.collections import collection
from annotator.workflows.documents import sources
from annotator.workflows.documents.source_places import Reach, reach_of
from annotator.workflows.pools import pool_building
from annotator.workflows.runs import run_upload
from annotator.workflows.runs.run_upload import Submission
from annotator.workflows.topics import topics

SLUG = "msmarco"
HOST = "127.0.0.1"
FILES, TOPICS, WORDS = 4, 50, 120
LIMIT = 1 << 30


def main() -> None:
    """Print a line for each measurement."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--pooled", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for packed in (False, True):
            folder = Path(scratch, "gzip" if packed else "plain")
            write_folder(folder, given.documents, packed=packed)
            measure_folder(folder, given.documents, given.pooled)
        measure_address(Path(scratch), given.documents, given.pooled)


def docno_of(number: int) -> str:
    """A docno as those of segments."""
    return f"msmarco_v2.1_doc_{number % 60:02}_{number * 7919}#{number % 9}_{number}"


def lines(count: int, first: int, step: int) -> Iterator[bytes]:
    """Documents of a file as lines."""
    words = [f"w{number}" for number in range(5_000)]
    chance = random.Random(first)  # noqa: S311 - no secret
    for number in range(first, count, step):
        text = " ".join(chance.choices(words, k=WORDS))
        one = {
            "docid": docno_of(number),
            "url": f"https://example.org/{number}",
            "title": f"T{number}",
            "segment": text,
        }
        yield json.dumps(one).encode() + b"\n"


def write_folder(folder: Path, count: int, *, packed: bool) -> None:
    """Write the files of a folder."""
    folder.mkdir()
    for number in range(FILES):
        path = folder / f"part{number}.jsonl{'.gz' if packed else ''}"
        with cast("IO[bytes]", gzip.open(path, "wb", 6) if packed else path.open("wb")) as file:
            file.writelines(lines(count, number, FILES))


def pooled_collection(path: Path, documents: int, pooled: int) -> Database:
    """A database with a pool of documents of the corpus, none of which has a text."""
    database = Database(sqlite_url(path))
    prepare_schema(database)
    chance, at = random.Random(1), datetime.now(UTC)  # noqa: S311 - no secret
    chosen = chance.sample(range(documents), pooled)
    each = pooled // TOPICS
    run = "".join(
        f"{topic + 1} Q0 {docno_of(number)} {rank} {-rank} tag\n"
        for topic in range(TOPICS)
        for rank, number in enumerate(chosen[topic * each : (topic + 1) * each], start=1)
    )
    with database.transaction() as session:
        collection.add_collection(
            session,
            SLUG,
            title=SLUG,
            scale=parse_scale("0=no,1=yes"),
            relevant_from=1,
            judgements_wanted=1,
            added_at=at,
        )
        text = "".join(f"{topic + 1}\ttopic {topic}\n" for topic in range(TOPICS))
        topics.import_topics(
            session, SLUG, topics.read_topics([InputFile("t.tsv", text.encode())], unpacked_limit=LIMIT)
        )
    run_upload.upload(
        database,
        SLUG,
        [InputFile("run", run.encode())],
        Submission(Sender(None, organises=True), run_upload.NO_DETAILS),
        actor=Actor(Door.COMMAND, "benchmark"),
        at=at,
        noted_at=at,
        unpacked_limit=LIMIT,
    )
    with database.transaction() as session:
        request = PoolRequest("depth", {"depth": each}, None)
        pool_building.build_pool(session, SLUG, request, seed=1, showing=Showing.RANDOM, built_by_id=None, built_at=at)
    return database


def measure_folder(folder: Path, documents: int, pooled: int) -> None:
    """Index a folder, and fetch the pooled documents from it."""
    database = pooled_collection(folder.with_suffix(".sqlite"), documents, pooled)
    reach = reach_of(database, hosts=(), places=(), index_folder="")
    set_source(database, str(folder), reach)
    bytes_of_files = sum(path.stat().st_size for path in folder.iterdir())
    seconds = timed(FolderIndexing(database, reach).step)
    indexes = cast("Path", reach.indexes)
    size = sum(path.stat().st_size for path in indexes.rglob("*") if path.is_file())
    print(
        f"{folder.name}: {documents:,} documents, {bytes_of_files / 1e6:,.0f} MB, indexed in {seconds:.1f} s "
        f"({documents / seconds:,.0f} a second), index {size / 1e6:,.1f} MB"
    )
    report(folder.name, database, reach)


def measure_address(scratch: Path, documents: int, pooled: int) -> None:
    """Fetch the pooled documents from a local server."""
    body = " ".join(["word"] * WORDS)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # head and body in one packet

        def do_GET(self) -> None:
            sent = json.dumps({"title": "T", "segment": body}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    database = pooled_collection(scratch / "address.sqlite", documents, pooled)
    reach = Reach((HOST,))
    set_source(database, f"http://{HOST}:{server.server_port}/{{docno}}", reach)
    report("address", database, reach)
    server.shutdown()


def set_source(database: Database, location: str, reach: Reach) -> None:
    """Set the source as a command does."""
    with database.transaction() as session:
        sources.set_source(
            session,
            SLUG,
            location,
            SourceOptions(),
            reach=reach,
            by_id=None,
            by_command=True,
            at=datetime.now(UTC),
        )


def report(name: str, database: Database, reach: Reach) -> None:
    """Fetch everything, and print how fast it was."""
    fetching = Fetching(database, reach)

    def fetch() -> None:
        while fetching.step():
            pass

    seconds = timed(fetch)
    counts = database.read(sources.show_source, SLUG).counts
    print(f"{name}: fetched {counts.fetched:,} in {seconds:.1f} s ({counts.fetched / seconds:,.0f} a second); {counts}")
    database.close()


def timed(work: Callable[[], object]) -> float:
    """The seconds that something takes."""
    began = perf_counter()
    work()
    return perf_counter() - began


if __name__ == "__main__":
    main()
