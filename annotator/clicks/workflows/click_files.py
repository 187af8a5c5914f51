"""Reads click logs from files, without any database, and says what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.clicks.evaluation.logs.click_format import UNREAD, read_click_log_into
from annotator.clicks.evaluation.logs.column_mapping import FIELDS as FIELDS  # for commands, which import workflows
from annotator.clicks.evaluation.logs.column_mapping import USUAL_MAPPING
from annotator.clicks.evaluation.logs.column_mapping import LogMapping as LogMapping
from annotator.clicks.evaluation.logs.column_mapping import parse_mapping as parse_mapping
from annotator.clicks.evaluation.logs.log_facts import LogFacts as LogFacts
from annotator.clicks.evaluation.logs.log_facts import VariantFacts as VariantFacts
from annotator.clicks.evaluation.logs.log_facts import facts_of
from annotator.clicks.evaluation.logs.log_stream import Advance
from annotator.clicks.evaluation.logs.log_stream import LogFile as LogFile
from annotator.clicks.evaluation.logs.log_stream import size_of as size_of
from annotator.errors import FileRefusedError, Problems, Sentence


@dataclass(frozen=True)
class CheckedLog:
    """What a log holds, and the bad lines that were left out of it."""

    facts: LogFacts
    bad_lines: Problems


def check_click_log(
    files: Sequence[LogFile], mapping: LogMapping = USUAL_MAPPING, *, advance: Advance = lambda _bytes: None
) -> CheckedLog:
    """Read files as one log; `advance` is told of their bytes as they are read.

    Raises `FileRefusedError` with every bad line unless the mapping drops them, and with what is wrong with a file as
    a whole.
    """
    problems = Problems()
    log = read_click_log_into(problems, files, mapping, advance=advance)
    if log is None:
        raise FileRefusedError(problems, Sentence(UNREAD, {"total": problems.total}))
    return CheckedLog(facts_of(log), problems)
