"""Reads the lines of one file of a log, stretch by stretch."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from annotator.clicks.evaluation.logs.column_mapping import LogMapping, variant_of_name
from annotator.clicks.evaluation.logs.log_coding import Clocks, Coding
from annotator.clicks.evaluation.logs.log_columns import rows_of
from annotator.clicks.evaluation.logs.log_lines import LineReader
from annotator.clicks.evaluation.logs.log_records import Record
from annotator.clicks.evaluation.logs.log_rows import Rows
from annotator.clicks.evaluation.logs.log_sources import CsvSource, JsonSource
from annotator.errors import Problems
from annotator.evaluation.formats.table_tokens import UnusualError

MICROSECONDS = 1_000_000
PARTS = 16  # of a stretch in which something is unusual


class FileReader:
    """Reads a file; the coding is that of the whole log, and what is wrong with single lines is noted."""

    def __init__(
        self, source: CsvSource | JsonSource, mapping: LogMapping, coding: Coding, bad_lines: Problems
    ) -> None:
        """Begin with the first line of data."""
        self.lines = 0  # of data
        self.good_lines = 0
        self._source = source
        self._mapping = mapping
        self._coding = coding
        self._bad_lines = bad_lines
        self._events = mapping.event_names()
        self._clocks = Clocks()
        self._next_line = source.first_line
        self._said: set[str] = set()

    def rows(self, chunk: bytes) -> Iterator[Rows]:
        """Yield what whole lines say."""
        at_once = self._at_once(chunk)
        if at_once is not None:
            yield self._kept(at_once)
            return
        # What is unusual is seldom everywhere.
        for part in _parts(chunk):
            rows = self._at_once(part)
            if rows is None:
                rows = self._carefully(part)
            if rows is not None:
                yield self._kept(rows)

    def note_unsaid(self, problems: Problems) -> None:
        """Note columns that were named to be read, and of which no line says anything: the name may be wrong."""
        for field, column in self._mapping.columns.items():
            if field not in self._said:
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
        self._said.update(field for field, column in columns.items() if column.is_said.any())
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
            self._said.update(field for field, text in record.items() if text)
            yield line, record

    def _kept(self, rows: Rows) -> Rows:
        """Leave out what is wrong only beside other lines, and give the variant that the file has as a whole."""
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
    """Divide whole lines into some parts of about one length."""
    least, begin = len(chunk) // PARTS, 0
    while begin < len(chunk):
        end = chunk.find(b"\n", begin + least) + 1 or len(chunk)
        yield chunk[begin:end]
        begin = end
