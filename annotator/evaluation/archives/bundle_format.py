"""The archive of a collection as a file: a zip of named parts and a manifest with the SHA-256 of each."""

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Self

from annotator.clicks.evaluation.logs.log_findings import are_findings
from annotator.errors import FileRefusedError, InvalidValueError, Problems
from annotator.evaluation.costs.facts import FactKind
from annotator.evaluation.formats.unpacking import LONGEST_SIGNATURE, ZIP_ARCHIVE, kind_of, kind_of_zip
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.pooling.strategies import STRATEGIES
from annotator.evaluation.qrels.consensus import parse_policy
from annotator.evaluation.runs.docno_lists import check_part
from annotator.evaluation.runs.questionnaires import AnswerKind, questions_of
from annotator.evaluation.runs.tag_rules import TagRule, check_team_rules

FORMAT = "annotator collection"
VERSION = 1
MANIFEST = "manifest.json"
LONGEST_MANIFEST = 64 << 20
PIECE_BYTES = 1 << 20
LONGEST_LINE = 256 << 20
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# Exceptions of zipfile and the decompressors for truncated or damaged data, and for a password.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    EOFError,
    RuntimeError,
    LookupError,
    ValueError,
)


def _refuse_constant(constant: str) -> None:
    """Refuse NaN and infinity, which JSON does not have."""
    raise ValueError(constant)


LINES = json.JSONDecoder(parse_constant=_refuse_constant)


class BundleWriter:
    """Writes the parts of a bundle one after another, and then the manifest, without which it is not a bundle."""

    def __init__(self, stream: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED)
        self._parts: dict[str, dict[str, object]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._zip.close()

    def add(self, name: str, pieces: Iterator[bytes]) -> None:
        """Add a part from pieces of bytes."""
        checksum, size = hashlib.sha256(), 0
        with self._zip.open(entry_of(name), "w", force_zip64=True) as part:
            for piece in _joined(pieces):
                part.write(piece)
                checksum.update(piece)
                size += len(piece)
        self._parts[name] = {"sha256": checksum.hexdigest(), "bytes": size}

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write the manifest, with the fields of `about`."""
        manifest = {"format": FORMAT, "version": VERSION, **about, "files": self._parts}
        self._zip.writestr(entry_of(MANIFEST), json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of some size: lines are too short to be compressed one by one."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        if len(waiting) >= PIECE_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)


@dataclass(frozen=True)
class Bundle:
    """A bundle whose parts match its manifest byte for byte; nothing of it is ever written to a path."""

    name: str
    manifest: Mapping[str, Any]
    archive: zipfile.ZipFile

    def has(self, part: str) -> bool:
        """Whether there is a part of this name."""
        return part in self.manifest["files"]

    def content(self, part: str) -> bytes:
        """Return a whole part; raises `FileRefusedError` when there is none."""
        if not self.has(part):
            raise self.refusal("The archive has no part “%(part)s”.", part=part)
        return self.archive.read(part)

    def rows(self, part: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield line number and object of each line of a JSON Lines part; nothing for an absent part."""
        if not self.has(part):
            return
        with self.archive.open(part) as stream:
            for number, line in enumerate(stream, start=1):
                yield number, self._row(part, number, line)

    def _row(self, part: str, number: int, line: bytes) -> dict[str, Any]:
        try:
            row = LINES.decode(line.decode())
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise self.refusal("“%(part)s” has a line that is no JSON object.", number, part=part)
        return row

    def refusal(self, template: str, line: int | None = None, **values: object) -> FileRefusedError:
        """Return an error that refuses the bundle with this one problem."""
        return _refusal(self.name, template, line, **values)


@contextmanager
def open_bundle(name: str, stream: BinaryIO, *, limit: int) -> Iterator[Bundle]:
    """Open a bundle after comparing every byte with its manifest.

    Raises `FileRefusedError` for a file that is no bundle, is damaged, or is larger than `limit` bytes when unpacked.
    """
    try:
        archive = zipfile.ZipFile(stream)
    except DAMAGED as error:
        raise _no_zip(name, stream) from error
    with archive:
        try:
            manifest = _manifest(name, archive, limit)
            for entry in archive.infolist():
                if entry.filename != MANIFEST:
                    _compare(name, archive, entry, manifest["files"][entry.filename])
        except FileRefusedError:
            raise
        except DAMAGED as error:
            raise _refusal(name, "The archive is damaged: a part of it cannot be unpacked.") from error
        yield Bundle(name, manifest, archive)


def _manifest(name: str, archive: zipfile.ZipFile, limit: int) -> dict[str, Any]:
    """Read the manifest, and compare it with the archive's directory before any part is unpacked."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise _refusal(name, "The archive has two parts of one name.")
    if sum(entry.file_size for entry in entries.values()) > limit:
        raise _refusal(name, "Unpacked, the archive would be larger than %(limit)d bytes.", limit=limit)
    # Other compression methods may allocate gigabytes for a few bytes, and none of them is written here.
    if any(entry.compress_type not in METHODS for entry in entries.values()):
        raise _refusal(name, "The archive is compressed in a way that no archive of a collection is.")
    if MANIFEST not in entries or entries[MANIFEST].file_size > LONGEST_MANIFEST:
        raise _refusal(
            name,
            "This is no archive of a collection, but %(kind)s without a manifest.",
            kind=kind_of_zip("".join(entries).encode()),
        )
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except (ValueError, RecursionError):
        manifest = None
    if not _is_manifest(manifest):
        raise _refusal(name, "The manifest of the archive cannot be read.")
    if manifest["version"] != VERSION:
        raise _refusal(
            name, "The archive has the format %(format)s, which this program does not read.", format=manifest["version"]
        )
    if manifest["files"].keys() != entries.keys() - {MANIFEST}:
        raise _refusal(name, "The parts of the archive are not those that its manifest names.")
    found: dict[str, Any] = manifest
    return found


def _no_zip(name: str, stream: BinaryIO) -> FileRefusedError:
    stream.seek(0)
    kind = kind_of(stream.read(LONGEST_SIGNATURE))
    if kind is None or kind is ZIP_ARCHIVE:
        return _refusal(name, "This is no archive of a collection: it is no zip file, or it was cut off.")
    return _refusal(name, "This is no archive of a collection: the file is %(kind)s.", kind=kind)


def _is_manifest(manifest: object) -> bool:
    return (
        isinstance(manifest, dict)
        and manifest.get("format") == FORMAT
        and "version" in manifest
        and isinstance(manifest.get("files"), dict)
        and all(isinstance(part, dict) for part in manifest["files"].values())
    )


def _compare(name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, told: Mapping[str, object]) -> None:
    checksum, size, line = hashlib.sha256(), 0, 0
    with archive.open(entry) as part:
        while piece := part.read(PIECE_BYTES):
            checksum.update(piece)
            size += len(piece)
            line = len(piece) - 1 - piece.rfind(b"\n") if b"\n" in piece else line + len(piece)
            if line > LONGEST_LINE and entry.filename.endswith(".jsonl"):
                raise _refusal(name, "“%(part)s” has a line that is too long.", part=entry.filename)
    if (checksum.hexdigest(), size) != (told.get("sha256"), told.get("bytes")):
        raise _refusal(
            name, "“%(part)s” is not what the manifest says: it was changed or damaged.", part=entry.filename
        )


def entry_of(name: str) -> zipfile.ZipInfo:
    """A part of a zip archive without a timestamp, so that the same collection gives the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _refusal(name: str, template: str, line: int | None = None, **values: object) -> FileRefusedError:
    problems = Problems()
    problems.add(name, line, template, **values)
    return FileRefusedError(problems)


def refuse_unknown_words(table: str, row: Mapping[str, Any], *, further_strategies: AbstractSet[str]) -> None:
    """Raise `InvalidValueError` for a policy, strategy, kind, question or findings that this version does not know.

    So do docnos of a list that cannot be read, and rules for runs of teams that cannot be.

    `further_strategies` are names of pool sources besides those of `STRATEGIES`.
    """
    if table == "collection":
        parse_policy(str(row["consensus_policy"]))
        check_team_rules(TagRule(row["tag_start"], row["most_tag_characters"], row["plain_tags"]), row["most_runs"])
    if table == "pool" and row["strategy"] not in STRATEGIES.keys() | further_strategies:
        raise InvalidValueError("“%(column)s” has a value of the wrong type.", column="strategy")
    if table == "docno_list_part":
        check_part(row["count"], row["lines"])
    if table == "fact_column" and (row["kind"] not in set(FactKind) or row["better"] not in set(Better)):
        raise InvalidValueError("“%(column)s” has a value of the wrong type.", column="kind")
    if table == "questionnaire_version":
        questions_of(row["questions"])
    if table == "run_answer" and row["kind"] not in set(AnswerKind):
        raise InvalidValueError("“%(column)s” has a value of the wrong type.", column="kind")
    if table == "click_log" and not are_findings(row["options"], row["findings"]):
        raise InvalidValueError("“%(column)s” has a value of the wrong type.", column="findings")
