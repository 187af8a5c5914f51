"""Where click logs of a collection are: in the database, or on a site that --site names; the same calls on both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotator.cli.remote.site import Site, in_path
from annotator.cli.site.files import read_files
from annotator.cli.site.installation import Installation, note
from annotator.clicks.cli.click_options import GivenLog
from annotator.clicks.workflows import click_logs
from annotator.clicks.workflows.click_logs import (
    ComparisonWanted,
    LogFindings,
    LogKind,
    LogRequest,
    LogView,
    findings_from_json,
)
from annotator.clicks.workflows.clicked_pool import pool_clicked
from annotator.clicks.workflows.clicks_and_judgements import Report, TogetherRequest, report_json, together_report
from annotator.files import InputFile


@dataclass(frozen=True)
class AddedLog:
    """A stored log, with the run of each variant, None where there is none."""

    name: str
    kind: str
    runs: Mapping[str, str | None]
    lines: int
    dropped: int
    added_at: datetime


class StoredLogs:
    """Click logs in the database."""

    def __init__(self, installation: Installation) -> None:
        """Work on the database of the installation."""
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
        with self._database.reading() as session:
            titles = click_logs.foresee_log(session, slug, name)
        with log.watched() as advance:
            studied = click_logs.study_log(log.files, asked, titles, advance=advance)
        with self._database.transaction() as session:
            stored = click_logs.store_log(session, slug, studied, by_id=None, at=datetime.now(UTC))
            note(session, "clicks.add", slug, subject=name, details={"sha256": stored.checksum})
        return _of_view(stored)

    def all(self, slug: str) -> list[AddedLog]:
        """Every log, newest first."""
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
        """The comparison of clicks and judgements, by measure."""
        with self._database.reading() as session:
            found = [together_report(session, slug, TogetherRequest(measure, log)) for measure in measures]
        return {report.measure: report_json(report) for report in found}

    def pool(self, slug: str, measures: Sequence[str], log: str, clicked: Sequence[tuple[str, str]]) -> tuple[int, int]:
        """Add documents to the pool; its version, and how many were added."""
        del measures
        with self._database.transaction() as session:
            pooled = pool_clicked(session, slug, log=log, clicked=clicked, built_by_id=None, built_at=datetime.now(UTC))
            note(session, "pool.build", slug, subject=pooled.version, details={"log": log, "added": pooled.added})
        return pooled.version, pooled.added


class SiteLogs:
    """Click logs on a site, through its API."""

    def __init__(self, site: Site) -> None:
        """Call this site."""
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
        """Send the files, which the site analyses."""
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
        """Every log, newest first."""
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
        """The comparison of clicks and judgements, by measure."""
        found = [self._site.get(f"/collections/{slug}/together", m=measure, log=log) for measure in measures]
        return {report["measure"]: report for report in found}

    def pool(self, slug: str, measures: Sequence[str], log: str, clicked: Sequence[tuple[str, str]]) -> tuple[int, int]:
        """Add documents to the pool; its version, and how many were added."""
        del clicked
        pooled = self._site.post(f"/collections/{slug}/together/pool", {"m": measures, "log": log})
        return pooled["version"], pooled["added"]


def _of_view(view: LogView) -> AddedLog:
    return AddedLog(view.name, view.kind.value, view.runs, view.lines, view.dropped, view.added_at)


def _of_json(log: Mapping[str, Any]) -> AddedLog:
    added_at = datetime.fromisoformat(log["added_at"])
    return AddedLog(log["name"], log["kind"], log["runs"], log["lines"], log["dropped"], added_at)
