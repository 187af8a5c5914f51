"""A site of real size to time pages on: 143 runs of 30 topics, 186,004 documents, and a collection of 300 topics.

Two collections are what TREC published, a third is made up, and three more have topics alone: no page may become slower
because other collections exist. What was published is not part of the repository. Its folder has to hold

    trec-covid-round1/   topics.xml, qrels.txt and runs/*.gz
    dl19-passage/        topics.tsv, qrels.txt, runs/*, passages.jsonl.gz (id, text) and llm/*.txt (qrels of machines)
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from random import Random

from annotator.settings import sqlite_url
from benchmarks.costs import Cost, cost_of_process
from benchmarks.served_site import KEY

COMMAND = (sys.executable, "-m", "annotator")
ORGANISER = "organiser"
PASSWORD = "correct horse battery staple 9"  # noqa: S105 - of accounts that exist in benchmarks alone
COVID, PASSAGES, WIDE = "covid", "dl19", "t300"
TIMED = (COVID, PASSAGES, WIDE)
SMALL = ("small1", "small2", "small3")
TOPICS, RUNS, LIST, DOCUMENTS, DEPTH = 300, 4, 100, 4_000, 10  # of the collection that is made up


class Site:
    """The database of a site that is being built by the product's own commands."""

    def __init__(self, path: Path) -> None:
        """Take the place of the database; files to import are written beside it."""
        self._folder = path.parent
        self._url = sqlite_url(path)

    def upgrade(self) -> None:
        """Make the tables, or bring them to this version."""
        self._run("database", "upgrade")

    def build(self, data: Path) -> None:
        """Fill it from the published files in this folder."""
        self._add(COVID, "0=No,1=Partially,2=Fully", 1)
        self._fill(COVID, data / "trec-covid-round1", "topics.xml", depth=7)
        self._add(PASSAGES, "0=Irrelevant,1=Related,2=Highly relevant,3=Perfect", 2)
        published = data / "dl19-passage"
        self._run("documents", "import", PASSAGES, self._documents(published / "passages.jsonl.gz"))
        self._fill(PASSAGES, published, "topics.tsv", depth=DEPTH)
        for labels in sorted((published / "llm").glob("*.txt")):
            name = "".join(letter if letter.isalnum() else "-" for letter in labels.stem)[:30]
            made_by = ("--judge", name, "--machine", "--model", "unknown", "--date", "2026-01-01")
            self._run("judgements", "import", PASSAGES, labels, "--add-to-pool", *made_by, may_be_refused=True)
        topics, runs, qrels = self._made_up()
        self._add(WIDE, "0=No,1=Yes", 1)
        self._run("topics", "import", WIDE, topics)
        self._run("runs", "import", WIDE, *runs)
        self._run("pool", "build", WIDE, "--depth", str(DEPTH))
        self._run("judgements", "import", WIDE, qrels, "--judge", "nist", "--add-to-pool")
        for slug in SMALL:
            self._add(slug, "0=No,1=Yes", 1)
            self._run("topics", "import", slug, topics)

    def add_organiser(self) -> None:
        """Add the account whose pages are timed."""
        password = self._written("password", PASSWORD + "\n")
        self._run("users", "add", ORGANISER, "--administrator", "--password-file", password, may_be_refused=True)
        for slug in TIMED:
            self._run("members", "add", slug, ORGANISER, "--role", "organiser", may_be_refused=True)

    def add_token(self) -> str:
        """Make a token for the account."""
        return self._run("tokens", "add", ORGANISER, "--name", "pages", "--scopes", "read,runs,organise").strip()

    def work(self) -> Cost:
        """Let a worker do what waits: what it costs, the start of the program included."""
        return cost_of_process(
            ["env", f"ANNOTATOR_SECRET_KEY={KEY}", *COMMAND, "--database", self._url, "worker", "--once"]
        )

    def _add(self, slug: str, scale: str, relevant_from: int) -> None:
        grades = ("--scale", scale, "--relevant-from", str(relevant_from))
        self._run("collections", "add", slug, "--title", slug.upper(), *grades)

    def _fill(self, slug: str, published: Path, topics: str, *, depth: int) -> None:
        self._run("topics", "import", slug, published / topics)
        for run in sorted((published / "runs").iterdir()):
            self._run("runs", "import", slug, run, may_be_refused=True)
        self._run("pool", "build", slug, "--depth", str(depth))
        judged = ("--judge", "nist", "--add-to-pool")
        self._run("judgements", "import", slug, published / "qrels.txt", *judged, may_be_refused=True)

    def _documents(self, passages: Path) -> Path:
        """The passages in the form of an import."""
        with gzip.open(passages, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        documents = [json.dumps({"docno": row["id"], "title": "", "body": row["text"]}) for row in rows]
        return self._written("documents.jsonl", "\n".join(documents) + "\n")

    def _made_up(self) -> tuple[Path, list[Path], Path]:
        """Topics, runs of random documents, and qrels of what is at their tops."""
        random = Random(3)  # noqa: S311 - nobody may not guess it
        topics = "".join(f"{topic}\tmade up topic number {topic}\n" for topic in range(1, TOPICS + 1))
        runs, judged = [], set()
        for run in range(RUNS):
            lines = []
            for topic in range(1, TOPICS + 1):
                retrieved = random.sample(range(DOCUMENTS), LIST)
                judged |= {(topic, document) for document in retrieved[:DEPTH]}
                lines += [f"{topic} Q0 d{one} {rank} {1000 - rank} run{run}" for rank, one in enumerate(retrieved, 1)]
            runs.append(self._written(f"made-up.run{run}", "\n".join(lines) + "\n"))
        grades = "".join(f"{topic} 0 d{one} {int(one % 10 in {3, 7})}\n" for topic, one in sorted(judged))
        return self._written("made-up.tsv", topics), runs, self._written("made-up.qrels", grades)

    def _written(self, name: str, text: str) -> Path:
        path = self._folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def _run(self, *words: str | Path, may_be_refused: bool = False) -> str:
        """Run a command of the product: what it prints. Published files have errors for which some runs are refused."""
        command = [*COMMAND, "--database", self._url, *map(str, words)]
        done = subprocess.run(  # noqa: S603 - our own command
            command, cwd=self._folder, capture_output=True, text=True, check=False
        )
        if done.returncode and not may_be_refused:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()[-500:]}")
        return done.stdout
