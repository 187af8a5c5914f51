"""The report as one value: what its readers may not learn from it."""

import hashlib
import io
import json
import zipfile

from build import NOW, SLUG, labels, pooled_news
from sqlalchemy import update

from annotator.storage import Collection, Database
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.leaderboard.overview_report import OverviewReport, OverviewRequest, overview_report

JUDGES = ("ada", "bea", "cem", "dov", "eli", "fay")


def report_with_key(database: Database, key: str) -> OverviewReport:
    with database.transaction() as session:
        session.execute(update(Collection).values(judge_order_key=key))
    with database.reading() as session:
        return overview_report(session, SLUG, OverviewRequest(("AP",)), made_at=NOW, version="0.1.0")


def test_judges_are_numbered_by_a_secret_that_no_archive_contains(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        for judge in JUDGES:
            labels(session, judge, "1 0 a 1\n")
    one, again, other = (report_with_key(database, key) for key in ("one", "one", "other"))
    assert one.judges == again.judges
    assert one.judges != other.judges
    assert one.manifest["sha256"] == other.manifest["sha256"]
    salted = sorted(JUDGES, key=lambda name: hashlib.sha256(f"{one.manifest['sha256']} {name}".encode()).hexdigest())
    assert list(salted) != sorted(JUDGES, key=lambda name: one.judges[name])
    file = io.BytesIO()
    with database.reading() as session:
        write_archive(session, SLUG, file, Archiving(NOW, "0.1.0", None))
    with zipfile.ZipFile(file) as archive:
        (row,) = [json.loads(archive.read(name)) for name in archive.namelist() if name.endswith("collections.jsonl")]
    assert "judge_order_key" not in row
    assert row["slug"] == SLUG
