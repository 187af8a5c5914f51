"""The report by page: the file is the command's, and what cannot be is refused."""

import re

from build import NOW, SLUG, labels
from visiting import Visit, words

from annotator.reporting import report_html
from annotator.storage import Database
from annotator.workflows.leaderboard.overview_report import OverviewRequest, overview_report


def test_an_organiser_gets_the_report_as_a_file(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
    page = words(ola.get(f"{news}/report"))
    assert "Judges are numbered; runs and teams are named." in page
    answer = ola.get(f"{news}/report.html?m=AP+P@1&qrels=live")
    assert answer.headers["Content-Disposition"] == f"attachment; filename={SLUG}-report.html"
    with database.reading() as session:
        same = report_html(
            overview_report(session, SLUG, OverviewRequest(("AP", "P@1")), made_at=NOW, version="0.1.0")
        ).decode()
    moments = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^ <&]*( UTC)?")
    assert moments.sub("", answer.text) == moments.sub("", same)
    assert ola.get(f"{news}/report.html?m=Nonsense").status_code == 422
    assert ola.get(f"{news}/report.html?part=nonsense").status_code == 422
    assert ola.get(f"{news}/report.html?language=xx").status_code == 422
    chosen = ola.get(f"{news}/report.html?part=task&part=pool&language=ko").text
    assert re.findall(r'<h2 id="(\w+)">', chosen) == ["task", "pool"]
    assert '<html lang="ko">' in chosen
    assert ola.get(f"{news}/report.html?qrels=7").status_code == 404
    assert ola.get(f"{news}/report.html?qrels=seven").status_code == 422


def test_the_same_state_moment_and_version_give_the_same_bytes(news: str, database: Database) -> None:
    assert news
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")

    def made() -> bytes:
        with database.reading() as session:
            return report_html(overview_report(session, SLUG, made_at=NOW, version="9.9"))

    first = made()
    assert made() == first
    assert b"made on 2026-03-01 09:00 UTC by annotator 9.9." in first
