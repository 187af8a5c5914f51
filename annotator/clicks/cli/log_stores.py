"""Click logs on the command line: their files and options, and their store, the local database or a site."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from annotator.cli.site.files import FILE, STANDARD_INPUT, read_files
from annotator.cli.site.installation import Installation, note
from annotator.cli.site.progress import steps_shown
from annotator.clicks.workflows import click_logs
from annotator.clicks.workflows.click_logs import (
    FIELDS,
    ComparisonWanted,
    LogFile,
    LogFindings,
    LogKind,
    LogMapping,
    LogRequest,
    LogView,
    findings_from_json,
    parse_mapping,
    size_of,
)
from annotator.clicks.workflows.clicks_and_judgements import (
    Report,
    TogetherRequest,
    pool_clicked,
    report_json,
    together_report,
)
from annotator.client import Site
from annotator.client.site import in_path
from annotator.files import InputFile

OPTIONS = (
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="OURS=THEIRS",
        help=f"The log's name of a column, such as user=visitor; repeatable. The columns: {', '.join(FIELDS)}.",
    ),
    click.option(
        "--event",
        "events",
        multiple=True,
        metavar="OURS=THEIRS",
        help="The log's name of an event, such as impression=view; repeatable.",
    ),
    click.option(
        "--click-column",
        metavar="NAME",
        help="Each line is a shown result, and this column is 1 if it was clicked, else 0.",
    ),
    click.option(
        "--variant-from-name", is_flag=True, help="Use the file name without .gz, .csv and the like as the variant."
    ),
    click.option("--drop-bad-lines", is_flag=True, help="Skip and count lines that cannot be read."),
)


@dataclass(frozen=True)
class GivenLog:
    """The files that make one log, and the mapping they are read with."""

    files: Sequence[LogFile]
    mapping: LogMapping
    paths: Sequence[str]

    @contextmanager
    def watched(self) -> Iterator[Callable[[int], None]]:
        """Yield the callback for the number of bytes read; on a terminal it draws a progress bar."""
        with steps_shown("Reading", sum(map(size_of, self.files))) as advance:
            yield advance


def describes_log(command: Callable[..., None]) -> Callable[..., None]:
    """Add the mapping options to a command and pass files and mapping as `log`; it must have an argument `logs`."""

    @wraps(command)
    def with_log(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        logs: Sequence[str],
        columns: Sequence[str],
        events: Sequence[str],
        click_column: str | None,
        variant_from_name: bool,
        drop_bad_lines: bool,
        **options: Any,  # noqa: ANN401 - passed on as given
    ) -> None:
        mapping = parse_mapping(
            columns,
            events,
            click_column=click_column,
            variant_from_name=variant_from_name,
            drops_bad_lines=drop_bad_lines,
        )
        command(*args, log=GivenLog(log_files(logs), mapping, logs), **options)

    described: Callable[..., None] = with_log
    for option in reversed(OPTIONS):
        described = option(described)
    return described


def reads_click_log(command: Callable[..., None]) -> Callable[..., None]:
    """Do as `describes_log`, and add the argument LOG..., one file or several that make one log."""
    argument = click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
    return argument(describes_log(command))


def log_files(paths: Sequence[str]) -> list[LogFile]:
    """Open the files under their paths as names; - is standard input."""
    if list(paths).count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be given once.")
    return [
        (path, sys.stdin.buffer) if path == STANDARD_INPUT else (click.format_filename(path), Path(path))
        for path in paths
    ]


@dataclass(frozen=True)
class AddedLog:
    """A stored log, with the run of each variant; None for a variant without one."""

    name: str
    kind: str
    runs: Mapping[str, str | None]
    lines: int
    dropped: int
    added_at: datetime


class StoredLogs:
    """Click logs in the database."""

    def __init__(self, installation: Installation) -> None:
        """Use the database of the installation."""
        self._database = installation.database

    def add(
        self,
        slug: str,
        log: GivenLog,
        name: str,
        wanted: ComparisonWanted,
        lists: InputFile | None,
        *,
        is_interleaved: bool,
    ) -> AddedLog:
        """Analyse the files and store the results."""
        asked = LogRequest(
            name=name,
            kind=LogKind.INTERLEAVING if is_interleaved or lists is not None else LogKind.COMPARISON,
            mapping=log.mapping,
            wanted=wanted,
            lists=None if lists is None else (lists.name, lists.content),
        )
        titles = self._database.read(click_logs.foresee_log, slug, name)
        with log.watched() as advance:
            studied = click_logs.study_log(log.files, asked, titles, advance=advance)
        with self._database.transaction() as session:
            stored = click_logs.store_log(session, slug, studied, by_id=None, at=datetime.now(UTC))
            note(session, "clicks.add", slug, subject=name, details={"sha256": stored.checksum})
        return _of_view(stored)

    def all(self, slug: str) -> list[AddedLog]:
        """List the logs, newest first."""
        with self._database.reading() as session:
            return list(map(_of_view, click_logs.list_logs(session, slug)))

    def findings(self, slug: str, name: str) -> LogFindings:
        """The results for one log."""
        with self._database.reading() as session:
            return click_logs.show_log(session, slug, name).findings

    def link(self, slug: str, name: str, runs: Mapping[str, str | None]) -> None:
        """Link variants to runs, by tag."""
        with self._database.transaction() as session:
            click_logs.link_variants(session, slug, name, runs)
            note(session, "clicks.link", slug, subject=name, details={"runs": runs})

    def remove(self, slug: str, name: str) -> None:
        """Remove a log."""
        with self._database.transaction() as session:
            click_logs.remove_log(session, slug, name)
            note(session, "clicks.remove", slug, subject=name)

    def together(self, slug: str, measures: Sequence[str], log: str | None) -> dict[str, Report]:
        """Return the comparison of clicks and judgements, by measure."""
        with self._database.reading() as session:
            found = [together_report(session, slug, TogetherRequest(measure, log)) for measure in measures]
        return {report.measure: report_json(report) for report in found}

    def pool(self, slug: str, measures: Sequence[str], log: str, clicked: Sequence[tuple[str, str]]) -> tuple[int, int]:
        """Add documents to the pool; returns its version and the number added."""
        del measures
        with self._database.transaction() as session:
            pooled = pool_clicked(session, slug, log=log, clicked=clicked, built_by_id=None, built_at=datetime.now(UTC))
            note(session, "pool.build", slug, subject=pooled.version, details={"log": log, "added": pooled.added})
        return pooled.version, pooled.added


class SiteLogs:
    """Click logs on a site, accessed through its API."""

    def __init__(self, site: Site) -> None:
        """Use this site."""
        self._site = site

    def add(
        self,
        slug: str,
        log: GivenLog,
        name: str,
        wanted: ComparisonWanted,
        lists: InputFile | None,
        *,
        is_interleaved: bool,
    ) -> AddedLog:
        """Send the files to the site, which analyses them."""
        files = [("log", file) for file in read_files(log.paths)]
        return _of_json(
            self._site.send_form(
                f"/collections/{slug}/click-logs",
                files + ([("lists", lists)] if lists is not None else []),
                name=name,
                kind=LogKind.INTERLEAVING.value if is_interleaved else None,
                variant=wanted.variants,
                column=[f"{ours}={theirs}" for ours, theirs in log.mapping.columns.items()],
                event=[f"{ours}={theirs}" for theirs, ours in log.mapping.events.items()],
                click_column=log.mapping.click_column,
                variant_from_name=log.mapping.variant_from_name,
                drop_bad_lines=log.mapping.drops_bad_lines,
                bootstrap=wanted.bootstraps,
                return_days=wanted.return_days,
                split=wanted.expected.first_share,
                without_bots=wanted.expected.leaves_bots_out,
            )
        )

    def all(self, slug: str) -> list[AddedLog]:
        """List the logs, newest first."""
        return list(map(_of_json, self._site.every(f"/collections/{slug}/click-logs")))

    def findings(self, slug: str, name: str) -> LogFindings:
        """The results for one log."""
        return findings_from_json(self._site.get(f"/collections/{slug}/click-logs/{in_path(name)}"))

    def link(self, slug: str, name: str, runs: Mapping[str, str | None]) -> None:
        """Link variants to runs, by tag."""
        self._site.patch(f"/collections/{slug}/click-logs/{in_path(name)}", {"runs": runs})

    def remove(self, slug: str, name: str) -> None:
        """Remove a log."""
        self._site.delete(f"/collections/{slug}/click-logs/{in_path(name)}")

    def together(self, slug: str, measures: Sequence[str], log: str | None) -> dict[str, Report]:
        """Return the comparison of clicks and judgements, by measure."""
        found = [self._site.get(f"/collections/{slug}/together", m=measure, log=log) for measure in measures]
        return {report["measure"]: report for report in found}

    def pool(self, slug: str, measures: Sequence[str], log: str, clicked: Sequence[tuple[str, str]]) -> tuple[int, int]:
        """Add documents to the pool; returns its version and the number added."""
        del clicked
        pooled = self._site.post(f"/collections/{slug}/together/pool", {"m": measures, "log": log})
        return pooled["version"], pooled["added"]


def _of_view(view: LogView) -> AddedLog:
    return AddedLog(view.name, view.kind.value, view.runs, view.lines, view.dropped, view.added_at)


def _of_json(log: Mapping[str, Any]) -> AddedLog:
    added_at = datetime.fromisoformat(log["added_at"])
    return AddedLog(log["name"], log["kind"], log["runs"], log["lines"], log["dropped"], added_at)
