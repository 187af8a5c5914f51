"""The files of a published kit: their names, what the kit says of itself, and the runs as files."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

KIT = "kit.json"
README = "README.md"
DATASHEET = "DATASHEET.md"
GUIDELINES = "guidelines.md"
TOPICS = "topics.jsonl"
TASKS = "tasks.json"
QRELS = "qrels.txt"
QRELS_MANIFEST = "qrels.manifest.json"
PRELS = "prels.txt"
PRELS_MANIFEST = "prels.manifest.json"
DOCNOS = "docnos.txt.gz"
DOCUMENTS = "documents.jsonl.gz"
RUNS = "runs.csv"
RUN_FOLDER = "runs"
SCORES = "scores.csv"
SCORES_BY_TOPIC = "scores_by_topic.csv"
# Of a collection with several tasks: a file for each.
SCORE_FOLDER, TOPIC_SCORE_FOLDER = "scores", "scores_by_topic"
CITATION = "CITATION.cff"
ZENODO = ".zenodo.json"
LOADER = "ir_datasets_loader.py"
CROISSANT = "metadata.json"

# What each file is, for readers of the kit.
ABOUT: Mapping[str, str] = {
    README: "what this is, and how it is read",
    DATASHEET: "how topics, pool and judgements came about",
    TOPICS: "the topics, a JSON object a line",
    TASKS: "the tasks: key, title, description, numbers of topics",
    QRELS: "the qrels: topic, 0, document, grade",
    QRELS_MANIFEST: "how the qrels were made: pool versions, scale, policy, counts, SHA-256",
    PRELS: "the qrels of the sample: topic, 0, document, stratum, grade; -1 is not drawn",
    PRELS_MANIFEST: "the strata of the sample and their probabilities",
    GUIDELINES: "the guidelines of the judges",
    DOCNOS: "the ids of all pooled documents",
    DOCUMENTS: "the documents that have a text, a JSON object a line",
    RUNS: "the runs: file, team, type, counts",
    SCORES: "the scores of each run, with intervals",
    SCORES_BY_TOPIC: "the scores of each run by topic",
    LOADER: "makes the collection known to ir_datasets",
    CITATION: "how to cite this",
    ZENODO: "metadata for Zenodo",
    KIT: "how this kit was made, for `annotator collections publish --check`",
    CROISSANT: "metadata of all files in the format Croissant, with SHA-256",
}
ABOUT_FOLDERS: Mapping[str, str] = {
    RUN_FOLDER: "a run: topic, Q0, document, rank, score, tag",
    SCORE_FOLDER: "the scores of each run of a task, with intervals",
    TOPIC_SCORE_FOLDER: "the scores of each run of a task by topic",
}
MEDIA: Mapping[str, str] = {
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".txt": "text/plain",
}
# Endings of files of columns, in which no text of a person is.
OF_COLUMNS = (".run.gz", QRELS, PRELS, DOCNOS)
FORMAT, VERSION = "annotator release kit", 1
UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
LONGEST_NAME = 80
FINGERPRINT_DIGITS = 12


@dataclass(frozen=True)
class Publication:
    """What is published, and what the organiser says about it; equal ones of one state give the same bytes.

    `measures` are those of the score files; `authors` are written as for a bibliography, “Family, Given” or the name of
    a group; the address is where the kit will be.
    """

    slug: str
    version: int  # of the qrels
    veiled: bool
    with_texts: bool
    measures: tuple[str, ...]
    authors: tuple[str, ...]
    licence: str
    address: str
    made_at: datetime
    program: str

    @property
    def noted(self) -> dict[str, int | bool]:
        """What the audit log records of it."""
        return {"version": self.version, "veiled": self.veiled, "texts": self.with_texts}


@dataclass(frozen=True)
class KitFile:
    """A file of the kit by its path, with `/`, and its content in pieces; a file that ends with .gz is packed later."""

    path: str
    pieces: Iterable[bytes]


@dataclass(frozen=True)
class WrittenFile:
    """A file as it was written: SHA-256 and size of its bytes."""

    path: str
    sha256: str
    size: int

    @property
    def media(self) -> str:
        """The media type."""
        return MEDIA[f".{self.path.rsplit('.', 1)[-1]}"]

    @property
    def about(self) -> str:
        """What it is, in words."""
        return ABOUT.get(self.path) or ABOUT_FOLDERS[self.path.partition("/")[0]]


# Takes a file of the kit, and returns what was written.
Add = Callable[[KitFile], WrittenFile]


def kit_json(publication: Publication) -> bytes:
    """What the kit says of itself, from which `--check` makes it again."""
    written = {**vars(publication), "made_at": publication.made_at.isoformat()}
    return json_bytes({"format": FORMAT, "format_version": VERSION, **written})


def read_kit_json(content: bytes) -> Publication | None:
    """The publication that `kit_json` wrote; None for anything else."""
    try:
        read = json.loads(content)
        if read.pop("format") != FORMAT or read.pop("format_version") != VERSION:
            return None
        return _publication(**read)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _publication(
    *,
    slug: str,
    version: int,
    veiled: bool,
    with_texts: bool,
    measures: list[str],
    authors: list[str],
    licence: str,
    address: str,
    made_at: str,
    program: str,
) -> Publication:
    """The publication of these values; raises `ValueError` for one of another type, or a time without a zone."""
    texts = (slug, licence, address, program, *measures, *authors)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("no text")
    if type(version) is not int or type(veiled) is not bool or type(with_texts) is not bool:
        raise ValueError("of another type")
    at = datetime.fromisoformat(made_at)
    if at.tzinfo is None:
        raise ValueError("no time zone")
    return Publication(
        slug, version, veiled, with_texts, tuple(measures), tuple(authors), licence, address, at, program
    )


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """JSON as all files of the kit have it."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def run_files(tags: Sequence[str]) -> dict[str, str]:
    """The path of each run's file by its tag; a tag may have characters that names of files cannot have."""
    return {tag: f"{RUN_FOLDER}/{name}.run.gz" for tag, name in _file_names(tags).items()}


def score_files(keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The paths of the scores of each task by its key: those of the runs, and those of the runs by topic."""
    return {
        key: (f"{SCORE_FOLDER}/{name}.csv", f"{TOPIC_SCORE_FOLDER}/{name}.csv")
        for key, name in _file_names(keys).items()
    }


def _file_names(given: Sequence[str]) -> dict[str, str]:
    """A name of a file for each; they differ also where a file system does not tell upper and lower case apart."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for one in given:
        name = plain = UNSAFE.sub("_", one)[:LONGEST_NAME]
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        names[one] = name
    return names


def run_lines(tag: str, topic: str, docnos: Sequence[str], scores: Sequence[float]) -> bytes:
    """A ranked list as lines of a run, best first; scores keep every digit, so that it is scored as it was."""
    rows = enumerate(zip(docnos, scores, strict=True), start=1)
    return "".join(f"{topic} Q0 {docno} {rank} {score!r} {tag}\n" for rank, (docno, score) in rows).encode()


def checksum_of(pieces: Iterable[bytes]) -> tuple[str, int]:
    """SHA-256 and number of bytes."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def first_difference(found: Iterable[bytes], expected: Iterable[bytes]) -> int | None:
    """The number of the first line in which two contents differ, from 1; None when they are the same.

    Pieces need not end with lines.
    """
    given, wanted = _filled(found), _filled(expected)
    line = 1
    one, other = b"", b""
    while True:
        one = one or next(given, b"")
        other = other or next(wanted, b"")
        size = min(len(one), len(other))
        if one[:size] != other[:size]:
            at = next(place for place in range(size) if one[place] != other[place])
            return line + one.count(b"\n", 0, at)
        if not size:
            return None if one == other else line
        line += one.count(b"\n", 0, size)
        one, other = one[size:], other[size:]


def _filled(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return (piece for piece in pieces if piece)
