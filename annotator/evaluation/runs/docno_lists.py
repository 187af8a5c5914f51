"""The list of a corpus's valid docnos: read from files, packed, and compared with the documents of runs."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.docno_formats import DOCNO_FORMATS, PLAIN, docno_lines, end_of_heading
from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES, SPLITTING, check_docno
from annotator.evaluation.formats.input_formats import choose
from annotator.evaluation.formats.table_tokens import (
    BACK,
    FRONT,
    NEWLINE,
    UnusualError,
    Words,
    tokens_of,
    words_of,
    words_of_docnos,
)
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.runs.docno_numbers import DocnoNumbers
from annotator.files import InputFile

DOCNOS_OF_A_PART = 1 << 16  # a million docnos in byte order take four to five megabytes, and half a second to compare
LONGEST_PART = DOCNOS_OF_A_PART * (MAX_IDENTIFIER_BYTES + 1)
CHUNK_BYTES = 1 << 21


@dataclass(frozen=True)
class PackedDocnos:
    """A part of a list: so many docnos as lines, compressed by zlib."""

    count: int
    lines: bytes


@dataclass(frozen=True)
class ReadDocnos:
    """The distinct docnos of files, in the order of their first occurrence, and how many were repeated."""

    parts: tuple[PackedDocnos, ...]
    repeated: int

    @property
    def count(self) -> int:
        """The number of distinct docnos."""
        return sum(part.count for part in self.parts)

    @property
    def packed_lines(self) -> list[bytes]:
        """The packed lines of all parts."""
        return [part.lines for part in self.parts]


def read_docnos(files: Sequence[InputFile], *, unpacked_limit: int) -> ReadDocnos:
    """Read the docnos of files; `FileRefusedError` lists every problem of any of them."""
    problems, numbers, given = Problems(), DocnoNumbers(), 0
    for file in files:
        text = unpack_into(problems, file.name, file.content, unpacked_limit)
        if text is None:
            continue
        before, first = problems.total, given
        for words in _words_in(file, text, problems):
            numbers.numbers_of(words)
            given += len(words)
        if given == first and problems.total == before:
            problems.add(file.name, None, "The file has no docno.")
    problems.refuse_if_any()
    return ReadDocnos(tuple(_packed(numbers)), given - numbers.count)


def lines_of(part: bytes) -> bytes:
    """The docnos of a part, one a line; raises `InvalidValueError` for a damaged part."""
    unpacking = zlib.decompressobj()
    try:
        lines = unpacking.decompress(part, LONGEST_PART)
    except zlib.error:
        lines = b""
    if not lines.endswith(b"\n") or not unpacking.eof:
        raise InvalidValueError("A part of the list of docnos is damaged.")
    return lines


def check_part(count: int, part: bytes) -> None:
    """Raise `InvalidValueError` unless a part has so many docnos, each valid."""
    try:
        docnos = lines_of(part).decode().split("\n")[:-1]
    except UnicodeDecodeError:
        docnos = []
    are_valid = all(docno and len(docno.encode()) <= MAX_IDENTIFIER_BYTES for docno in docnos)
    if len(docnos) != count or not 0 < count <= DOCNOS_OF_A_PART or not are_valid or SPLITTING.search("".join(docnos)):
        raise InvalidValueError("A part of the list of docnos is damaged.")


def are_listed(documents: DocnoNumbers, parts: Iterable[bytes]) -> NDArray[np.bool_]:
    """Return for each document, by its number, whether a list with these parts has it."""
    listed = np.zeros(documents.count, np.bool_)
    for part in parts:
        found = documents.find_words(_words_of_lines(lines_of(part)))
        listed[found[found >= 0]] = True
    return listed


def _words_in(file: InputFile, text: bytes, problems: Problems) -> Iterator[Words]:
    """The docnos of a file in batches, as `words_of` gathers them; notes problems, and leaves out wrong docnos."""
    format_ = choose(DOCNO_FORMATS, text, file.input_format)
    if format_.name == PLAIN:
        yield from _words_of_plain(file.name, text, problems)
    elif format_.read is not None:
        read = cast("Iterable[tuple[int, str]]", format_.read(file.name, text, problems))
        yield from _valid_words(file.name, read, problems)


def _words_of_plain(name: str, text: bytes, problems: Problems) -> Iterator[Words]:
    """Gather one word a line, line by line only in chunks with unusual lines."""
    start = end_of_heading(text)
    while start < len(text):
        end = text.rfind(b"\n", start, start + CHUNK_BYTES) + 1 or len(text)
        try:
            yield from _words_of_chunk(text[start:end])
        except UnusualError:
            yield from _valid_words(name, docno_lines(text, start, end), problems)
        start = end


def _words_of_chunk(chunk: bytes) -> list[Words]:
    if chunk.startswith(b"#") or b"\n#" in chunk:
        raise UnusualError  # a docno here, with which comments begin in other files
    tokens = tokens_of(chunk, 1)
    return [words_of(tokens.data, *tokens.column(0))] if len(tokens.starts) else []


def _valid_words(name: str, docnos: Iterable[tuple[int, str]], problems: Problems) -> Iterator[Words]:
    valid = (docno.encode() for line, docno in docnos if check_docno(problems, name, line, docno))
    while batch := list(islice(valid, DOCNOS_OF_A_PART)):
        yield words_of_docnos(np.array(batch, np.bytes_))


def _packed(numbers: DocnoNumbers) -> Iterator[PackedDocnos]:
    for start in range(0, numbers.count, DOCNOS_OF_A_PART):
        some = np.arange(start, min(start + DOCNOS_OF_A_PART, numbers.count), dtype=np.int32)
        lines = "".join(f"{docno}\n" for docno in numbers.docnos_of(some))
        yield PackedDocnos(some.size, zlib.compress(lines.encode()))


def _words_of_lines(lines: bytes) -> Words:
    data = np.frombuffer(b"".join((FRONT, lines, BACK)), np.uint8)
    ends = np.flatnonzero(data[len(FRONT) : len(FRONT) + len(lines)] == NEWLINE) + len(FRONT)
    starts = np.concatenate(([len(FRONT)], ends[:-1] + 1))
    return words_of(data, starts, ends)
