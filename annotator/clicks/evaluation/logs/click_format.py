"""Reads click logs: many lines at once where nothing is unusual, line by line where something may be wrong."""

from collections.abc import Sequence
from itertools import chain

from annotator.clicks.evaluation.logs.click_log import ClickLog
from annotator.clicks.evaluation.logs.column_mapping import USUAL_MAPPING, LogMapping
from annotator.clicks.evaluation.logs.log_assembling import assembled
from annotator.clicks.evaluation.logs.log_coding import Coding
from annotator.clicks.evaluation.logs.log_files import FileReader
from annotator.clicks.evaluation.logs.log_rows import Collected
from annotator.clicks.evaluation.logs.log_sources import source_of
from annotator.clicks.evaluation.logs.log_stream import Advance, LogFile, chunks_of_log
from annotator.errors import FileRefusedError, Problems, Sentence

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
    """Read files, plain or gzip, as one log. `advance` is told of the files' bytes as they are read.

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

    Where the mapping drops bad lines they are noted too, and counted in the log that is returned. What is wrong with a
    file as a whole is never passed over. `unpacked_limit` is in bytes for each file.
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
    """What the files so far have said."""

    def __init__(self, mapping: LogMapping) -> None:
        self.coding = Coding()
        self.collected = Collected()
        self.problems = Problems()  # of whole files
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
