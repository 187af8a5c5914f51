"""An index of a folder of JSON Lines: where each document begins, so that one is read without those before it.

It is a folder of its own. `index.json` says what was indexed; `hashes` has the hashes of all docnos in order, and
`places`, for each of them, the number of its file and the offset of its line, both as little-endian 64-bit numbers.
For a gzip file, `N.points` has restart points: the states of decompression every few mebibytes, so that a line is
reached from the nearest one.
"""

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from annotator.errors import NotFoundError
from annotator.evaluation.formats.document_formats import KEYS
from annotator.evaluation.formats.json_paths import parse_path, text_of_value
from annotator.files import GZIP_MAGIC

VERSION = 1
ABOUT, HASHES, PLACES = "index.json", "hashes", "places"
PATTERNS = ("*.jsonl", "*.json", "*.ndjson", "*.jsonl.gz", "*.json.gz", "*.ndjson.gz")
# A point takes 32 KiB; from the nearest one, a line is reached in about 4 ms.
BYTES_BETWEEN_POINTS = 2 << 20
OFFSET_BITS = 44
MOST_FILES = 1 << (64 - OFFSET_BITS)
BUFFER_BYTES = 1 << 16
BUFFER_OF_A_PASS = 1 << 22
LINES_AT_ONCE = 1 << 20
BUCKETS = 256
HASH_BYTES = 8
Numbers = NDArray[np.uint64]
Progress = Callable[[int, int], None]


class BrokenIndexError(Exception):
    """An index, or a file that was indexed, is not as it was; `file` is the name of that file, if it is one."""

    def __init__(self, file: str | None = None) -> None:
        super().__init__(file)
        self.file = file


@dataclass(frozen=True)
class IndexedFile:
    """A file as it was when it was indexed: its name in the folder, its size and its time in nanoseconds."""

    name: str
    size: int
    modified: int
    is_packed: bool


@dataclass(frozen=True)
class IndexSummary:
    """What an index has: documents, and lines that are none, with the first of them as FILE:LINE."""

    documents: int
    skipped: int
    first_skipped: str


def build_index(folder: Path, target: Path, docno_path: str, progress: Progress) -> IndexSummary:
    """Index the files of a folder into `target`, a new folder, in one pass that needs little memory.

    `docno_path` leads to the docno of a line; empty: the first of the usual keys that the first line of a file has.
    `progress` is called with the bytes of the files that were read, and of all. Raises `NotFoundError` when there are
    no files, no documents, or a gzip file and no package for restart points, and `OSError`.
    """
    files = [_indexed_file(folder, path) for path in _files_of(folder)]
    if not files:
        raise NotFoundError("The folder has no files of JSON Lines: %(names)s.", names=", ".join(PATTERNS))
    target.mkdir(parents=True)
    buckets = _Buckets(target)
    total, done, skipped = sum(file.size for file in files), 0, _Skipped()
    for number, file in enumerate(files):
        with open_lines(folder / file.name, is_packed=file.is_packed) as stream:
            at = _AtPlace(stream, file, lambda read, done=done: progress(done + read, total))  # type: ignore[misc]
            buckets.add(_lines_of(stream, number, _DocnoFinder(docno_path), file.name, skipped, at))
            if file.is_packed:
                cast("Any", stream).export_index(str(target / f"{number}.points"))
        done += file.size
        progress(done, total)
    documents = buckets.finish()
    if not documents:
        raise NotFoundError(
            "The folder has no documents: line %(line)s is no JSON object with a docno.", line=skipped.first or "1"
        )
    summary = IndexSummary(documents, skipped.count, skipped.first)
    about = {"version": VERSION, **asdict(summary), "files": [asdict(file) for file in files]}
    (target / ABOUT).write_text(json.dumps(about), encoding="utf-8")
    return summary


class OffsetIndex:
    """An index that is open for reading; raises `BrokenIndexError` when it is not whole."""

    def __init__(self, path: Path) -> None:
        """Open the index; its numbers stay on the disk."""
        self._path = path
        try:
            about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
            self._files = [IndexedFile(**file) for file in about["files"]]
            self._hashes = _mapped(path / HASHES)
            self._places = _mapped(path / PLACES)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BrokenIndexError from error
        if not len(self._hashes) == len(self._places) == about["documents"] or about["version"] != VERSION:
            raise BrokenIndexError

    def has(self, docnos: Sequence[str]) -> NDArray[np.bool_]:
        """Whether the index has each of the docnos, by their hashes of 64 bits."""
        hashes = np.array([_hash(docno.encode()) for docno in docnos], np.uint64)
        found = np.searchsorted(self._hashes, hashes)
        inside = found < len(self._hashes)
        listed = np.zeros(len(hashes), np.bool_)
        listed[inside] = self._hashes[found[inside]] == hashes[inside]
        return listed

    def lines(self, folder: Path, docnos: Iterable[str], most: int) -> Iterator[tuple[str, bytes]]:
        """Yield docno and line for each place that a docno may be at, file by file in their order.

        Of a line, at most `most` bytes and one more. Raises `BrokenIndexError` for a file that has changed since, and
        `OSError` for one that cannot be read.
        """
        places: dict[int, list[tuple[int, str]]] = {}
        for docno in docnos:
            for place in self._places_of(docno):
                places.setdefault(place >> OFFSET_BITS, []).append((place & ((1 << OFFSET_BITS) - 1), docno))
        for number, wanted in sorted(places.items()):
            file = self._files[number]
            self._refuse_changed(folder, file)
            points = self._path / f"{number}.points" if file.is_packed else None
            with open_lines(folder / file.name, is_packed=file.is_packed, points=points) as stream:
                for offset, docno in sorted(wanted):
                    stream.seek(offset)
                    yield docno, stream.readline(most + 1)

    def _places_of(self, docno: str) -> list[int]:
        hashed = np.uint64(_hash(docno.encode()))
        first, end = (int(np.searchsorted(self._hashes, hashed, side)) for side in ("left", "right"))
        return [int(place) for place in self._places[first:end]]

    def _refuse_changed(self, folder: Path, file: IndexedFile) -> None:
        try:
            is_same = _indexed_file(folder, folder / file.name) == file
        except FileNotFoundError as error:
            raise BrokenIndexError(file.name) from error
        if not is_same:
            raise BrokenIndexError(file.name)


def open_lines(path: Path, *, is_packed: bool, points: Path | None = None) -> IO[bytes]:
    """Open a file for reading at any place of its text; of a gzip file with restart points, or collecting them.

    Raises `NotFoundError` when the package that makes them is not installed, `BrokenIndexError` without the points.
    """
    if not is_packed:
        return path.open("rb", buffering=BUFFER_BYTES)
    try:
        indexed_gzip = import_module("indexed_gzip")
    except ModuleNotFoundError:
        raise NotFoundError(
            "Gzip files need the package indexed_gzip, which is not installed here: pip install indexed_gzip."
        ) from None
    if points is not None and not points.is_file():
        raise BrokenIndexError
    given = {} if points is None else {"index_file": str(points)}
    opened = indexed_gzip.IndexedGzipFile(
        str(path),
        spacing=BYTES_BETWEEN_POINTS,
        buffer_size=BUFFER_BYTES if given else BUFFER_OF_A_PASS,
        drop_handles=False,
        **given,
    )
    return cast("IO[bytes]", opened)


class _Skipped:
    """Counts lines that are no documents."""

    def __init__(self) -> None:
        self.count, self.first = 0, ""

    def add(self, name: str, line: int) -> None:
        self.count += 1
        self.first = self.first or f"{name}:{line}"


class _DocnoFinder:
    """Finds the docno of a line; where its key is the first of the line, without parsing the rest."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._quick: re.Pattern[bytes] | None = None
        self._has_looked = False

    def find(self, line: bytes) -> bytes | None:
        if self._quick is not None and (found := self._quick.match(line)):
            return found[1]
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not self._has_looked and isinstance(record, Mapping):
            self._look(record)
        text = next(map(text_of_value, parse_path(self._path).values(record)), None) if self._path else None
        return text.encode(errors="replace") if text else None

    def _look(self, record: Mapping[str, object]) -> None:
        """Choose the key by the first record."""
        self._path = self._path or next((key for key in KEYS["docno"] if key in record), "")
        self._has_looked = bool(self._path)
        if re.fullmatch(r"\w+", self._path, re.ASCII):
            self._quick = re.compile(rb'\s*\{\s*"%s"\s*:\s*"([^"\\\x00-\x1f]+)"' % self._path.encode())


class _AtPlace:
    """Reports how much of a file was read, at times."""

    def __init__(self, stream: IO[bytes], file: IndexedFile, report: Callable[[int], None]) -> None:
        self._raw = getattr(stream, "fileobj", None)
        self._stream, self._file, self._report = stream, file, report

    def __call__(self, offset: int) -> None:
        # The place in a gzip file is its handle's: nothing else says how much of it was unpacked.
        packed = self._raw() if callable(self._raw) else None
        self._report(min(packed.tell() if packed is not None else offset, self._file.size))


def _lines_of(
    stream: IO[bytes], number: int, finder: _DocnoFinder, name: str, skipped: _Skipped, at: _AtPlace
) -> Iterator[tuple[int, int]]:
    """Yield hash and place of each document of a file."""
    offset, base = 0, number << OFFSET_BITS
    for line_number, line in enumerate(stream, start=1):
        docno = finder.find(line)
        if docno:
            yield _hash(docno), base | offset
        elif line.strip():
            skipped.add(name, line_number)
        offset += len(line)
        if not line_number % 20_000:
            at(offset)


class _Buckets:
    """Sorts any number of hashes with little memory: by their first byte into files, and each of these by itself."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._hashes, self._places = array("Q"), array("Q")

    def add(self, found: Iterable[tuple[int, int]]) -> None:
        for hashed, place in found:
            self._hashes.append(hashed)
            self._places.append(place)
            if len(self._hashes) >= LINES_AT_ONCE:
                self._spill()

    def finish(self) -> int:
        """Write the sorted files, and return the number of their entries."""
        self._spill()
        count = 0
        with (self._target / HASHES).open("wb") as hashes, (self._target / PLACES).open("wb") as places:
            for bucket in range(BUCKETS):
                path = self._bucket(bucket)
                if not path.exists():
                    continue
                both = np.fromfile(path, np.dtype("<u8")).reshape(-1, 2)
                both = both[np.argsort(both[:, 0], kind="stable")]
                hashes.write(np.ascontiguousarray(both[:, 0]).tobytes())
                places.write(np.ascontiguousarray(both[:, 1]).tobytes())
                count += len(both)
                path.unlink()
        return count

    def _spill(self) -> None:
        both = np.stack((np.array(self._hashes, np.uint64), np.array(self._places, np.uint64)), axis=1)
        firsts = (both[:, 0] >> np.uint64(56)).astype(np.intp)
        order = np.argsort(firsts, kind="stable")
        both, bounds = both[order], np.searchsorted(firsts[order], np.arange(BUCKETS + 1))
        for bucket in np.flatnonzero(np.diff(bounds)).tolist():
            with self._bucket(bucket).open("ab") as file:
                file.write(both[bounds[bucket] : bounds[bucket + 1]].astype("<u8").tobytes())
        self._hashes, self._places = array("Q"), array("Q")

    def _bucket(self, number: int) -> Path:
        return self._target / f"{number:02x}.bucket"


def _files_of(folder: Path) -> list[Path]:
    found = {path for pattern in PATTERNS for path in folder.rglob(pattern) if path.is_file()}
    return sorted(found)[:MOST_FILES]


def _indexed_file(folder: Path, path: Path) -> IndexedFile:
    about = path.stat()
    with path.open("rb") as file:
        is_packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return IndexedFile(path.relative_to(folder).as_posix(), about.st_size, about.st_mtime_ns, is_packed)


def _hash(docno: bytes) -> int:
    return int.from_bytes(blake2b(docno, digest_size=HASH_BYTES).digest(), "little")


def _mapped(path: Path) -> Numbers:
    return np.memmap(path, np.dtype("<u8"), mode="r")
