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
    """The tables of a page: by the id of each, its rows of what `<data>` says exactly; all else is in `text`."""

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
        elif tag == "data" and self._rows:
            self._rows[-1].append(float(said["value"] or "nan"))

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
    rows = Tables(report(judged, *MEASURE_OPTIONS)).of["board"][1:]
    assert len(rows) == 2
    for shown, row in zip(rows, board["rows"], strict=True):
        assert shown == [
            number
            for measure in MEASURES
            for number in (row["values"][measure], *(row["intervals"][measure] or ()), row["judged"][measure])
        ]


def test_tests_quality_and_agreement_of_the_report_are_those_of_the_commands(judged: CommandLine) -> None:
    tables = Tables(report(judged, *MEASURE_OPTIONS)).of
    significance = json.loads(
        judged.done("significance", "show", "news", "-m", "AP", "--permutations", "0", "--format", "json")
    )
    assert tables["letters"][1:] == [known(one["mean"], one["low"], one["high"]) for one in significance["runs"]]
    quality = json.loads(judged.done("collections", "quality", "show", "news", "-m", "AP", "--format", "json"))
    assert tables["density"][1:] == [known(one["share"]) for one in quality["topics"]]
    assert tables["fewer"][1:] == [
        known(one["share"], one["tau"], one["least_tau"], one["greatest_tau"], one["tau_ap"])
        for one in quality["fewer"]
    ]
    agreement = json.loads(judged.done("agreement", "show", "news", "--by", "all", "--format", "json"))
    assert tables["agreement"][1:] == [
        known(one["value"], one["low"], one["high"], one["observed"], one["expected"]) for one in rows_of(agreement)
    ]


def rows_of(agreement: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    found: list[dict[str, Any]] = agreement["all"] if isinstance(agreement, dict) else agreement
    return found


def test_the_report_names_the_qrels_by_the_checksum_of_their_file(judged: CommandLine) -> None:
    checksum = hashlib.sha256(judged.done("qrels", "export", "news").encode()).hexdigest()
    judged.done("qrels", "keep", "news")
    assert f'"sha256": "{checksum}"' in report(judged).replace("&#34;", '"')
    judged.done("judgements", "import", "news", "-", "--judge", "eve", "--add-to-pool", given="2 0 z 1\n")
    kept, live = report(judged, "--qrels", "1"), report(judged)
    assert f"SHA-256 of the qrels: <code>{checksum}</code>" in kept
    assert checksum not in live
    assert "from version 1 of the qrels" in kept
    assert "not of version 1." in kept
    kept_board = json.loads(judged.done("leaderboard", "show", "news", "--qrels", "1", "--format", "json"))
    assert kept_board["fingerprint"] in kept


def test_the_report_asks_for_nothing_and_names_no_judge(judged: CommandLine) -> None:
    judged.done("collections", "set", "news", "--consensus", "judge:nist")
    page = report(judged)
    assert "<script" not in page
    assert re.findall(r'(?:src|href|action)="(?!#|data:,)[^"]*"', page) == []
    assert "url(" not in page
    assert "http" not in re.sub(r"<dl>.*?</dl>", "", page, flags=re.DOTALL)
    assert re.findall(r"\bnist\b|\beve\b", page) == []
    assert "judge 1 and judge 2" in page
    assert "The grades of one judge." in page
    assert all(f'<h2 id="{part}">' in page for part in ("task", "pool", "judges", "leaderboard", "manifest"))


def test_charts_have_a_title_axis_names_and_a_sentence(judged: CommandLine) -> None:
    page = report(judged, *MEASURE_OPTIONS)
    charts = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(charts) >= 3
    for chart in charts:
        title = re.search(r"<title id=[^>]*>([^<]+)</title>", chart)
        assert title is not None
        assert f"<strong>{title[1]}.</strong>" in chart
        assert "The numbers are in the table below." in chart
    assert ">AP</text>" in charts[0]
    assert ">Run</text>" in charts[0]
    assert ">alpha</text>" in charts[0]


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
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page
    assert "depth: 10; runs: alpha, beta" in page


def test_what_cannot_be_reported_is_refused(judged: CommandLine) -> None:
    assert judged.refused("report", "export", "news", "--qrels", "3") == ["There is no version 3 of these qrels."]
    assert judged.refused("report", "export", "news", "--qrels", "x") == [
        "“x” is neither the number of a version nor “live”."
    ]
    assert judged.refused("report", "export", "news", "-m", "Nonsense")[0].startswith("There is no measure")
    assert judged.refused("report", "export", "other") == ["There is no collection “other”."]
