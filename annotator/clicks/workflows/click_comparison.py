"""Two variants of a search compared by a click log in files, without any database."""

from collections.abc import Sequence

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
from annotator.clicks.evaluation.logs.click_format import read_click_log
from annotator.clicks.evaluation.logs.column_mapping import USUAL_MAPPING, LogMapping
from annotator.clicks.evaluation.logs.log_stream import Advance, LogFile
from annotator.clicks.evaluation.logs.page_views import page_views


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
