"""Click logs in files, without a database; and those of a collection, stored as findings and linked to runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from annotator.clicks.evaluation.comparison.checks import (
    CHECK_TITLES as CHECK_TITLES,  # for pages, which import workflows
)
from annotator.clicks.evaluation.comparison.checks import (
    PAGES_AN_HOUR as PAGES_AN_HOUR,  # for commands, which import workflows
)
from annotator.clicks.evaluation.comparison.checks import CheckState as CheckState
from annotator.clicks.evaluation.comparison.checks import Expected as Expected
from annotator.clicks.evaluation.comparison.click_counts import clicks_by_position
from annotator.clicks.evaluation.comparison.comparison import USUAL_SEED as USUAL_SEED
from annotator.clicks.evaluation.comparison.comparison import USUAL_WANTED, compare_clicks
from annotator.clicks.evaluation.comparison.comparison import ClickComparison as ClickComparison
from annotator.clicks.evaluation.comparison.comparison import ComparisonWanted as ComparisonWanted
from annotator.clicks.evaluation.comparison.comparison import conclusion as conclusion
from annotator.clicks.evaluation.comparison.comparison import to_json as to_json
from annotator.clicks.evaluation.comparison.measure_rows import MEASURE_TITLES as MEASURE_TITLES
from annotator.clicks.evaluation.comparison.measure_rows import events_of, variants_of
from annotator.clicks.evaluation.comparison.measures import RETURN_DAYS as RETURN_DAYS
from annotator.clicks.evaluation.comparison.measures import ClickMeasure as ClickMeasure
from annotator.clicks.evaluation.comparison.tables import FINDING_TABLES as FINDING_TABLES
from annotator.clicks.evaluation.comparison.tables import ComparisonTable as ComparisonTable
from annotator.clicks.evaluation.comparison.tables import Table as Table
from annotator.clicks.evaluation.comparison.tables import finding_table as finding_table
from annotator.clicks.evaluation.comparison.tables import position_table
from annotator.clicks.evaluation.comparison.tables import table_of as table_of
from annotator.clicks.evaluation.interleaving.interleaving_scores import BALANCED_BIAS as BALANCED_BIAS
from annotator.clicks.evaluation.logs.click_format import UNREAD, read_click_log, read_click_log_into
from annotator.clicks.evaluation.logs.column_mapping import FIELDS as FIELDS
from annotator.clicks.evaluation.logs.column_mapping import USUAL_MAPPING
from annotator.clicks.evaluation.logs.column_mapping import LogMapping as LogMapping
from annotator.clicks.evaluation.logs.column_mapping import parse_mapping as parse_mapping
from annotator.clicks.evaluation.logs.log_findings import LogFacts as LogFacts
from annotator.clicks.evaluation.logs.log_findings import LogFindings as LogFindings
from annotator.clicks.evaluation.logs.log_findings import LogKind as LogKind
from annotator.clicks.evaluation.logs.log_findings import VariantFacts as VariantFacts
from annotator.clicks.evaluation.logs.log_findings import facts_of
from annotator.clicks.evaluation.logs.log_findings import findings_from_json as findings_from_json
from annotator.clicks.evaluation.logs.log_sources import Advance
from annotator.clicks.evaluation.logs.log_sources import LogFile as LogFile
from annotator.clicks.evaluation.logs.log_sources import size_of as size_of
from annotator.clicks.evaluation.logs.log_studying import LogRequest as LogRequest
from annotator.clicks.evaluation.logs.log_studying import StudiedLog as StudiedLog
from annotator.clicks.evaluation.logs.log_studying import study_log as study_log
from annotator.clicks.evaluation.logs.page_views import page_views
from annotator.clicks.storage.click_logs import (
    click_logs_of,
    find_click_log,
    runs_of_variants,
    tags_in_force,
    titles_of_topics,
)
from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotFoundError, Problems, Sentence
from annotator.storage import ClickLog, ClickVariant, User
from annotator.storage.collections.collection import find_collection, find_open_collection, lock_open_collection
from annotator.storage.runs.runs import find_run

LONGEST_NAME = 100


@dataclass(frozen=True)
class LogView:
    """A stored log with the run that each variant is linked to, None for unlinked ones."""

    name: str
    kind: LogKind
    files: tuple[str, ...]
    checksum: str
    runs: Mapping[str, str | None]
    lines: int
    dropped: int
    added_by: str | None
    added_at: datetime


@dataclass(frozen=True, eq=False)
class LogReport:
    """A log with its findings, and the runs to which its variants can be linked."""

    view: LogView
    findings: LogFindings
    tags: tuple[str, ...]


def foresee_log(session: Session, slug: str, name: str) -> dict[str, str]:
    """Check that a log of that name can be stored, and return the titles of the topics by number.

    Raises `InvalidValueError` for an invalid name, and `ConflictError` for a duplicate one or a closed collection.
    """
    collection = find_open_collection(session, slug)
    _refuse_unusable_name(session, collection.id, name)
    return titles_of_topics(session, collection.id)


def store_log(session: Session, slug: str, studied: StudiedLog, *, by_id: int | None, at: datetime) -> LogView:
    """Store the findings; a variant with the tag of an active run is linked to that run.

    Raises the errors of `foresee_log`.
    """
    collection = lock_open_collection(session, slug)
    _refuse_unusable_name(session, collection.id, studied.name)
    log = ClickLog(collection_id=collection.id, name=studied.name, checksum=studied.checksum, options=studied.options)
    log.findings, log.lines, log.dropped = studied.findings.to_json(), studied.lines, studied.findings.dropped
    log.added_by_id, log.added_at = by_id, at
    session.add(log)
    session.flush()
    tags = set(tags_in_force(session, collection.id))
    named = {variant: variant for variant in studied.findings.variants if variant in tags}
    _link(session, collection.id, log.id, named)
    [view] = _views(session, [log])
    return view


def list_logs(session: Session, slug: str) -> list[LogView]:
    """List the logs of the collection, newest first."""
    return _views(session, click_logs_of(session, find_collection(session, slug).id))


def show_log(session: Session, slug: str, name: str) -> LogReport:
    """Return a log with its findings; raises `NotFoundError` when there is none of that name."""
    collection = find_collection(session, slug)
    log = find_click_log(session, collection.id, name)
    [view] = _views(session, [log])
    return LogReport(view, findings_from_json(log.findings), tuple(tags_in_force(session, collection.id)))


def link_variants(session: Session, slug: str, name: str, runs: Mapping[str, str | None]) -> None:
    """Link each of these variants to the run of a tag, None for no run. Other variants do not change.

    Raises `NotFoundError` for an unknown log, variant or tag, `ConflictError` when the collection is closed.
    """
    collection = lock_open_collection(session, slug)
    log = find_click_log(session, collection.id, name)
    for variant in runs:
        if variant not in log.options["variants"]:
            raise NotFoundError("The log “%(name)s” has no variant “%(variant)s”.", name=name, variant=variant)
    named = ClickVariant.variant.in_(list(runs))
    session.execute(delete(ClickVariant).where(ClickVariant.click_log_id == log.id, named))
    _link(session, collection.id, log.id, {variant: tag for variant, tag in runs.items() if tag is not None})


def remove_log(session: Session, slug: str, name: str) -> None:
    """Delete a log with its findings; documents that it added to the pool stay there.

    Raises `NotFoundError` when there is none of that name, `ConflictError` when the collection is closed.
    """
    log = find_click_log(session, lock_open_collection(session, slug).id, name)
    session.execute(delete(ClickVariant).where(ClickVariant.click_log_id == log.id))
    session.delete(log)


def _refuse_unusable_name(session: Session, collection_id: int, name: str) -> None:
    if not (1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()):
        raise InvalidValueError(
            "A log needs a name of 1 to %(most)d characters, without blanks at its ends.", most=LONGEST_NAME
        )
    taken = select(ClickLog.id).where(ClickLog.collection_id == collection_id, ClickLog.name == name)
    if session.scalar(taken) is not None:
        raise ConflictError("There is a click log “%(name)s” already.", name=name)


def _link(session: Session, collection_id: int, log_id: int, runs: Mapping[str, str]) -> None:
    rows = [
        {"click_log_id": log_id, "variant": variant, "run_id": find_run(session, collection_id, tag).id}
        for variant, tag in runs.items()
    ]
    if rows:
        session.execute(insert(ClickVariant), rows)


def _views(session: Session, logs: Sequence[ClickLog]) -> list[LogView]:
    linked = runs_of_variants(session, [log.id for log in logs])
    people = {log.added_by_id for log in logs if log.added_by_id is not None}
    names = {id_: name for id_, name in session.execute(select(User.id, User.name).where(User.id.in_(people)))}
    return [
        LogView(
            name=log.name,
            kind=LogKind(log.options["kind"]),
            files=tuple(log.options["files"]),
            checksum=log.checksum,
            runs={variant: linked[log.id].get(variant) for variant in log.options["variants"]},
            lines=log.lines,
            dropped=log.dropped,
            added_by=names.get(log.added_by_id or 0),
            added_at=log.added_at,
        )
        for log in logs
    ]


@dataclass(frozen=True)
class CheckedLog:
    """The contents of a log, and the bad lines that were left out."""

    facts: LogFacts
    bad_lines: Problems


def check_click_log(
    files: Sequence[LogFile], mapping: LogMapping = USUAL_MAPPING, *, advance: Advance = lambda _bytes: None
) -> CheckedLog:
    """Read files as one log; `advance` is called with the numbers of bytes read.

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
    """Compare two variants of the log in these files; `advance` is called with the numbers of bytes read.

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
