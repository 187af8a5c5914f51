"""Click logs in files, read without any database: what they hold, and two variants of a search compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.clicks.evaluation.comparison.checks import (
    PAGES_AN_HOUR as PAGES_AN_HOUR,  # for commands, which import workflows
)
from annotator.clicks.evaluation.comparison.checks import Expected as Expected
from annotator.clicks.evaluation.comparison.click_counts import clicks_by_position
from annotator.clicks.evaluation.comparison.comparison import USUAL_SEED as USUAL_SEED
from annotator.clicks.evaluation.comparison.comparison import USUAL_WANTED, compare_clicks
from annotator.clicks.evaluation.comparison.comparison import ClickComparison as ClickComparison
from annotator.clicks.evaluation.comparison.comparison import ComparisonWanted as ComparisonWanted
from annotator.clicks.evaluation.comparison.comparison import conclusion as conclusion
from annotator.clicks.evaluation.comparison.comparison import to_json as to_json
from annotator.clicks.evaluation.comparison.measures import RETURN_DAYS as RETURN_DAYS
from annotator.clicks.evaluation.comparison.tables import ComparisonTable as ComparisonTable
from annotator.clicks.evaluation.comparison.tables import Table, position_table
from annotator.clicks.evaluation.comparison.tables import table_of as table_of
from annotator.clicks.evaluation.comparison.two_variants import events_of, variants_of
from annotator.clicks.evaluation.logs.click_format import UNREAD, read_click_log, read_click_log_into
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
from annotator.clicks.evaluation.logs.page_views import page_views
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


def compare_log_files(
    files: Sequence[LogFile],
    mapping: LogMapping = USUAL_MAPPING,
    wanted: ComparisonWanted = USUAL_WANTED,
    *,
    advance: Advance = lambda _bytes: None,
) -> ClickComparison:
    """Compare two variants of the log that files make together; `advance` is told of their bytes as they are read.

    Raises `FileRefusedError` with every bad line, and what `compare_clicks` raises.
    """
    wanted.check()
    return compare_clicks(read_click_log(files, mapping, advance=advance), wanted)


def positions_of_log_files(
    files: Sequence[LogFile], mapping: LogMapping = USUAL_MAPPING, *, advance: Advance = lambda _bytes: None
) -> Table:
    """Count clicks by position, for every variant of the log; headings and rows.

    Raises `FileRefusedError` with every bad line, and `InvalidValueError` where the log names no variant.
    """
    log = read_click_log(files, mapping, advance=advance)
    names = tuple(variants_of(log))
    return position_table(clicks_by_position(page_views(events_of(log, names)), names))
