"""Reader of click logs: vectorised for ordinary lines, line by line where something may be wrong."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from annotator.clicks.evaluation.logs.click_log import ClickLog
from annotator.clicks.evaluation.logs.column_mapping import USUAL_MAPPING, LogMapping, variant_of_name
from annotator.clicks.evaluation.logs.log_assembling import assembled
from annotator.clicks.evaluation.logs.log_columns import LineReader, rows_of
from annotator.clicks.evaluation.logs.log_rows import Clocks, Coding, Collected, Rows
from annotator.clicks.evaluation.logs.log_sources import (
    Advance,
    CsvSource,
    JsonSource,
    LogFile,
    Record,
    chunks_of_log,
    source_of,
)
from annotator.errors import FileRefusedError, Problems, Sentence
from annotator.evaluation.formats.table_tokens import UnusualError

MICROSECONDS = 1_000_000
PARTS = 16  # into which a chunk with an unusual line is split


class FileReader:
    """Reads one file; the coding is shared by all files of the log, and problems of single lines are noted."""

    def __init__(
        self, source: CsvSource | JsonSource, mapping: LogMapping, coding: Coding, bad_lines: Problems
    ) -> None:
        self.lines = 0  # lines of data
        self.good_lines = 0
        self._source = source
        self._mapping = mapping
        self._coding = coding
        self._bad_lines = bad_lines
        self._events = mapping.event_names()
        self._clocks = Clocks()
        self._next_line = source.first_line
        self._present_fields: set[str] = set()

    def rows(self, chunk: bytes) -> Iterator[Rows]:
        """Yield the rows of whole lines."""
        at_once = self._at_once(chunk)
        if at_once is not None:
            yield self._kept(at_once)
            return
        # Unusual lines are usually few.
        for part in _parts(chunk):
            rows = self._at_once(part)
            if rows is None:
                rows = self._carefully(part)
            if rows is not None:
                yield self._kept(rows)

    def note_unsaid(self, problems: Problems) -> None:
        """Note mapped columns that are empty on every line: the name may be wrong."""
        for field, column in self._mapping.columns.items():
            if field not in self._present_fields:
                problems.add(
                    self._source.name,
                    None,
                    "No line has a value of “%(column)s”, which is to be read as %(field)s.",
                    column=column,
                    field=field,
                )

    def _at_once(self, chunk: bytes) -> Rows | None:
        try:
            columns = self._source.columns(chunk)
            count = next(iter(columns.values())).starts.size
            lines = np.arange(self._next_line, self._next_line + count)
            rows = rows_of(columns, lines, self._coding, self._events)
        except UnusualError:
            return None
        self._present_fields.update(field for field, column in columns.items() if column.is_present.any())
        self.lines += count
        self._next_line += count
        return rows

    def _carefully(self, chunk: bytes) -> Rows | None:
        reader = LineReader(self._source.name, self._coding, self._events, self._bad_lines)
        records = self._source.records(chunk, self._next_line, self._bad_lines)
        rows = reader.rows(self._noticed(records))
        lines = chunk.split(b"\n")[:-1]
        self.lines += sum(1 for line in lines if line.strip())
        self._next_line += len(lines)
        return rows

    def _noticed(self, records: Iterable[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
        for line, record in records:
            self._present_fields.update(field for field, text in record.items() if text)
            yield line, record

    def _kept(self, rows: Rows) -> Rows:
        """Leave out rows that conflict with other lines, and set the variant if the file has one as a whole."""
        rows = self._without_clock_set_back(rows)
        self.good_lines += int(np.count_nonzero(np.diff(rows.line, prepend=0)))
        if not self._mapping.variant_from_name:
            return rows
        code = self._coding.variants.code_of(variant_of_name(self._source.name).encode())
        return replace(rows, variant=np.full(rows.line.size, code, np.int32))

    def _without_clock_set_back(self, rows: Rows) -> Rows:
        back = self._clocks.set_back(rows)
        bad = np.flatnonzero(back)
        for line, microseconds in zip(rows.line[bad].tolist(), back[bad].tolist(), strict=True):
            self._bad_lines.add(
                self._source.name,
                line,
                "The clock goes backwards: the time is %(seconds)s s before that of the line above of its session.",
                seconds=f"{microseconds / MICROSECONDS:g}",
            )
        return rows.kept(~np.isin(rows.line, rows.line[bad])) if bad.size else rows


def _parts(chunk: bytes) -> Iterator[bytes]:
    """Split whole lines into parts of about equal length."""
    least, begin = len(chunk) // PARTS, 0
    while begin < len(chunk):
        end = chunk.find(b"\n", begin + least) + 1 or len(chunk)
        yield chunk[begin:end]
        begin = end


UNREAD = (
    "The log was not read. Problems found: %(total)d. Lines that cannot be read may be left out and counted instead."
)


def read_click_log(
    files: Sequence[LogFile],
    mapping: LogMapping = USUAL_MAPPING,
    *,
    advance: Advance = lambda _bytes: None,
    unpacked_limit: int | None = None,
) -> ClickLog:
    """Read files, plain or gzip, as one log. `advance` is called with the numbers of bytes read.

    Raises `FileRefusedError` with what `read_click_log_into` notes.
    """
    problems = Problems()
    log = read_click_log_into(problems, files, mapping, advance=advance, unpacked_limit=unpacked_limit)
    if log is None:
        raise FileRefusedError(problems, Sentence(UNREAD, {"total": problems.total}))
    return log


def read_click_log_into(
    problems: Problems,
    files: Sequence[LogFile],
    mapping: LogMapping = USUAL_MAPPING,
    *,
    advance: Advance = lambda _bytes: None,
    unpacked_limit: int | None = None,
) -> ClickLog | None:
    """Do as `read_click_log`, but note every bad line and return None instead of raising.

    If the mapping drops bad lines they are noted also, and counted in the returned log. Problems of a
    file as a whole are never ignored. `unpacked_limit` is in bytes for each file.
    """
    reading = _Reading(mapping)
    for file in files:
        reading.take_file(file, advance, unpacked_limit)
    is_whole = not reading.problems.total and (mapping.drops_bad_lines or not reading.bad_lines.total)
    if is_whole and not reading.collected.count:
        reading.problems.add(files[0][0], None, "The file has no line of data.")
    problems.add_all(reading.problems)
    problems.add_all(reading.bad_lines)
    if not is_whole or not reading.collected.count:
        return None
    return assembled(
        reading.collected,
        reading.coding,
        bad_lines=reading.lines - reading.good_lines,
        lines=reading.lines,
        is_line_a_result=mapping.click_column is not None,
    )


class _Reading:
    """The data read from the files so far."""

    def __init__(self, mapping: LogMapping) -> None:
        self.coding = Coding()
        self.collected = Collected()
        self.problems = Problems()  # problems of whole files
        self.bad_lines = Problems()
        self.lines = 0
        self.good_lines = 0
        self._mapping = mapping

    def take_file(self, file: LogFile, advance: Advance, unpacked_limit: int | None) -> None:
        chunks = chunks_of_log(file, self.problems, advance, unpacked_limit)
        found = source_of(file[0], next(chunks, b""), self._mapping, self.problems)
        if found is None:
            return
        source, first = found
        part = FileReader(source, self._mapping, self.coding, self.bad_lines)
        for chunk in chain((first,), chunks):
            if chunk:
                self.collected.take(part.rows(chunk))
        part.note_unsaid(self.problems)
        self.lines += part.lines
        self.good_lines += part.good_lines
