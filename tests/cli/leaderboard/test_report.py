"""`annotator report export`: the page stands alone, and its numbers are those of the commands."""

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli.command_line import CommandLine, write_run
from kept import Kept

from annotator.storage import Database

NIST = "1 0 a 1\n1 0 b 0\n1 0 c 2\n1 0 d 1\n2 0 a 1\n2 0 e 0\n"
EVE = "1 0 a 1\n1 0 b 1\n1 0 c 2\n1 0 d 0\n2 0 a 1\n"
MEASURES = ("AP", "P@2")
MEASURE_OPTIONS = ("-m", "AP", "-m", "P@2")


class Tables(HTMLParser):
    """The tables of a page: by the id of each, its rows of what `data-value` says exactly."""

    def __init__(self, page: str) -> None:
        """Read a page."""
        super().__init__()
        self.of: dict[str, list[list[float]]] = {}
        self._rows: list[list[float]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "table":
            self._rows = self.of.setdefault(said.get("id") or "", [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"} and "data-value" in said and self._rows:
            self._rows[-1].append(float(said["data-value"] or "nan"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = []


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """Two judges over four documents of one topic and two of another."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "nist", given=NIST)
    command_line.done("judgements", "import", "news", "-", "--judge", "eve", given=EVE)


def report(line: CommandLine, *options: str) -> str:
    line.done("report", "export", "news", "-o", "report.html", *options)
    return Path("report.html").read_text(encoding="utf-8")


def known(*values: float | None) -> list[float]:
    """The values that a page shows as numbers."""
    return [value for value in values if value is not None]


def test_the_leaderboard_of_the_report_is_that_of_the_command(judged: CommandLine) -> None:
    board = json.loads(judged.done("leaderboard", "show", "news", *MEASURE_OPTIONS, "--format", "json"))
    tables = Tables(report(judged, *MEASURE_OPTIONS)).of
    assert len(tables["board"]) == 3
    for shown, row in zip(tables["board"][1:], board["rows"], strict=True):
        assert shown == [row["place"], *(row["values"][measure] for measure in MEASURES)]
    for shown, row in zip(tables["points"][1:], board["rows"], strict=True):
        assert shown == [row["values"]["AP"], *(row["intervals"]["AP"] or ()), 0]


def test_tests_quality_and_agreement_of_the_report_are_those_of_the_commands(judged: CommandLine) -> None:
    tables = Tables(report(judged, *MEASURE_OPTIONS)).of
    significance = json.loads(
        judged.done("significance", "show", "news", "-m", "AP", "--permutations", "0", "--format", "json")
    )
    assert [row[1:] for row in tables["letters"][1:]] == [known(one["mean"]) for one in significance["runs"]]
    quality = json.loads(judged.done("collections", "quality", "show", "news", "-m", "AP", "--format", "json"))
    assert [row[:1] for row in tables["density"][1:]] == [known(one["share"]) for one in quality["topics"]]
    assert [row[2:] for row in tables["fewer"][1:]] == [
        known(one["tau"], one["least_tau"], one["greatest_tau"], one["tau_ap"]) for one in quality["fewer"]
    ]
    agreement = json.loads(judged.done("agreement", "show", "news", "--by", "all", "--format", "json"))
    shown = [row for one in rows_of(agreement) if (row := known(one["value"], one["observed"], one["expected"]))]
    assert len(tables["agreement"][1:]) >= 4
    assert all(row in shown for row in tables["agreement"][1:])


def rows_of(agreement: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    found: list[dict[str, Any]] = agreement["all"] if isinstance(agreement, dict) else agreement
    return found


def test_the_report_names_the_qrels_by_the_checksum_of_their_file(judged: CommandLine) -> None:
    checksum = hashlib.sha256(judged.done("qrels", "export", "news").encode()).hexdigest()
    judged.done("qrels", "keep", "news")
    assert f'"sha256": "{checksum}"' in report(judged).replace("&#34;", '"')
    judged.done("judgements", "import", "news", "-", "--judge", "eve", "--add-to-pool", given="2 0 z 1\n")
    kept, live = report(judged, "--qrels", "1"), report(judged)
    assert f"SHA-256: <code>{checksum}</code>" in kept
    assert checksum not in live
    assert "Grades: version 1 of the qrels." in kept
    assert "not those of version 1." in kept
    kept_board = json.loads(judged.done("leaderboard", "show", "news", "--qrels", "1", "--format", "json"))
    assert kept_board["fingerprint"] in kept


def without_scripts(page: str) -> str:
    """The page without the libraries that draw its tables."""
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_the_report_asks_for_nothing_and_names_no_judge(judged: CommandLine) -> None:
    judged.done("judgements", "import", "news", "-", "--judge", "nist", "--add-to-pool", given="2 0 z 1\n")
    judged.done("collections", "set", "news", "--consensus", "judge:nist")
    page = report(judged)
    assert re.findall(r'<script(?! type="module")[^>]+>', page) == []
    page = without_scripts(page)
    assert re.findall(r'(?:src|href|action)="(?!#|data:,)[^"]*"', page) == []
    assert "url(" not in page
    assert "http" not in re.sub(r"<dl>.*?</dl>", "", page, flags=re.DOTALL)
    assert re.findall(r"\bnist\b|\beve\b", page) == []
    assert "judge 1, judge 2" in page
    assert "The grades of one judge." in page
    assert all(f'<h2 id="{part}">' in page for part in ("task", "pool", "judging", "leaderboard", "manifest"))


def test_every_figure_and_table_is_numbered_captioned_and_there_as_latex(judged: CommandLine) -> None:
    page = without_scripts(report(judged, *MEASURE_OPTIONS))
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(figures) >= 4
    for number, one in enumerate(figures, start=1):
        title = re.search(r'data-chart="\w+"[^>]* data-title="([^"]+)"', one)
        assert title is not None
        assert f"<strong>Figure {number}.</strong> {title[1]}." in one
    tables = re.findall(r"<strong>Table (\d+)\.</strong>", page)
    assert tables == [str(number) for number in range(1, len(tables) + 1)]
    assert page.count("<summary>LaTeX</summary>") == len(figures) + len(tables) == page.count("<table ")


def test_the_sections_and_the_language_can_be_chosen(judged: CommandLine) -> None:
    page = without_scripts(report(judged, "--section", "leaderboard", "--section", "task"))
    assert re.findall(r'<h2 id="(\w+)">', page) == ["task", "leaderboard"]
    korean = without_scripts(report(judged, "--report-language", "ko"))
    assert '<html lang="ko">' in korean
    assert "<strong>그림 1.</strong>" in korean
    assert "평가자 1, 평가자 2" in korean
    assert "Leaderboard" not in korean
    assert "%%" not in page + korean


def test_judging_effort_and_topics_are_of_every_judge_and_topic(judged: CommandLine) -> None:
    tables = Tables(report(judged, *MEASURE_OPTIONS)).of
    assert sorted(row[0] for row in tables["effort"][1:]) == [5, 6, 11]
    assert len(tables["spreads"]) == len(tables["best"]) == 3


def test_agreement_is_left_out_where_there_is_one_judge(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=NIST)
    page = report(pooled)
    assert "No document was graded by two judges" in page
    assert 'id="agreement"' not in page.replace('<h2 id="agreement">', "").replace('<h2 id="agreement"', "")


def test_a_report_stands_with_nothing_judged_one_run_or_one_judge(news: CommandLine) -> None:
    page = report(news)
    assert "Nothing is judged yet, so there is nothing to score against." in page
    assert "There is no pool." in page
    write_run("alpha", ["1 a", "1 b", "2 a"])
    news.done("runs", "import", "news", "alpha.run")
    news.done("pool", "build", "news", "--depth", "10")
    assert "Nothing is judged yet" in report(news)
    news.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n1 0 b 0\n")
    page = report(news)
    assert "There is one run only" in page
    assert "All grades are from one judge" in page


def test_the_report_tells_how_the_pool_was_made_and_escapes_what_it_shows(judged: CommandLine) -> None:
    judged.done("collections", "set", "news", "--title", "<script>alert(1)</script> & more")
    page = report(judged)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page
    assert "depth: 10; runs: alpha, beta" in page


def test_what_cannot_be_reported_is_refused(judged: CommandLine) -> None:
    assert judged.refused("report", "export", "news", "--qrels", "3") == ["There is no version 3 of these qrels."]
    assert judged.refused("report", "export", "news", "--qrels", "x") == [
        "“x” is neither the number of a version nor “live”."
    ]
    assert judged.refused("report", "export", "news", "-m", "Nonsense")[0].startswith("There is no measure")
    assert judged.refused("report", "export", "other") == ["There is no collection “other”."]
