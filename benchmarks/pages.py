"""Every page that an organiser's pages link to, timed on a site of real size, after a start of the server and again.

Each page counts once, with what the first link to it asks for; files, and what changes something, are left out. A page
that is linked to in one collection is timed in the others, too: where a collection is large its reports are computed by
a worker, and the page with a button that has one computed links nowhere. Such pages are marked, for their time says
nothing of the report.
Cold is the first request of a page after the server has started, warm the best of three more. The
processor's time is that of the processes that answer, which other work on the machine disturbs less; with
`--by processor` the limits are for that. Ends with 1 when a page misses a limit.

    python -m benchmarks.pages --data ../shared/data --keep site.sqlite
    python -m benchmarks.pages --kept site.sqlite --show 20 --by processor
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection
from itertools import islice
from os import sysconf
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from annotator.settings import sqlite_url
from benchmarks.judging_client import HOST, OK, enter
from benchmarks.pages_site import ORGANISER, PASSWORD, TIMED, Site
from benchmarks.served_site import processes, site

SECONDS_TO_ANSWER = 120
WARM, COLD = 300.0, 1500.0  # milliseconds
REPEATED = 3
LINK = re.compile(r'<a\b[^>]*?href="([^"#]+)', re.IGNORECASE)
NO_PAGE = re.compile(r"download|export|sign-out|\.(?:csv|jsonl?|zip|tex|svg|txt)\b|/file\b")
COMPUTED_BY_WORKER = re.compile(r'<form method="post" action="/collections/[^"/]+/jobs"')
NOT_FOUND = 404
FROM_EACH = 3  # further pages, of those that only one page links to
MILLISECONDS = 1000
TICKS = sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Took:
    """Milliseconds of one request: as somebody waits for it, and of the processor."""

    wall: float
    processor: float


@dataclass
class Page:
    """What came of one page."""

    path: str
    status: int
    cold: Took
    is_offer: bool = False  # to have the page computed
    warm: list[Took] = field(default_factory=list)

    def cells(self, by: str) -> tuple[float, float]:
        """Milliseconds warm and cold, by the clock or by the processor."""
        return min(getattr(took, by) for took in self.warm), getattr(self.cold, by)

    def is_slow(self, by: str) -> bool:
        """Whether it misses a limit."""
        warm, cold = self.cells(by)
        return warm > WARM or cold > COLD


class Reader:
    """A browser of a signed-in organiser, on one connection, beside the server's processes."""

    def __init__(self, port: int, process: int) -> None:
        """Sign in."""
        self._connection = HTTPConnection(HOST, port, timeout=SECONDS_TO_ANSWER)
        self._cookie = enter(port, ORGANISER, PASSWORD)
        self._process = process

    def get(self, path: str) -> tuple[Page, list[str]]:
        """Request a page: what it took, and the addresses that it links to."""
        spent, start = self._processor(), time.perf_counter()
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        content = answer.read()
        took = Took((time.perf_counter() - start) * MILLISECONDS, (self._processor() - spent) * MILLISECONDS)
        is_page = answer.status == OK and (answer.getheader("Content-Type") or "").startswith("text/html")
        text = content.decode() if is_page else ""
        links, is_offer = LINK.findall(text), COMPUTED_BY_WORKER.search(text) is not None
        return Page(path, answer.status, took, is_offer), [urljoin(path, unescape(link)) for link in links]

    def _processor(self) -> float:
        """Seconds of processor that the processes have taken so far."""
        return sum(map(_seconds_of, processes(self._process)))


def main() -> None:
    """Build the site or take it as it was kept, time its pages, and print the slowest."""
    given = arguments()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "site.sqlite"
        built = Site(path)
        if given.kept:
            shutil.copyfile(given.kept, path)
        built.upgrade()
        if given.data:
            built.build(given.data.resolve())
        built.add_organiser()
        if given.keep:
            shutil.copyfile(path, given.keep)
        with site(sqlite_url(path), path.parent, workers=1, with_worker=False) as (port, process):
            reader = Reader(port, process)
            visited = {slug: list(visit(reader, slug)) for slug in TIMED}
            pages = [page for slug in TIMED for page in (*visited[slug], *visit_missing(reader, slug, visited))]
            for page in pages:
                page.warm += [reader.get(page.path)[0].cold for _ in range(REPEATED)]
    sys.exit(report(pages, given.by, given.show))


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, help="the folder of published files to build the site from")
    source.add_argument("--kept", type=Path, help="a database that was built before; a copy of it is served")
    parser.add_argument("--keep", type=Path, help="where to leave the database for --kept")
    parser.add_argument("--by", choices=("wall", "processor"), default="wall", help="whose time the limits are for")
    parser.add_argument("--show", type=int, default=40, help="how many pages to list [40]")
    return parser.parse_args()


def visit(reader: Reader, slug: str) -> Iterator[Page]:
    """Every page that the collection's overview links to, and some that these link to, each for the first time."""
    overview = f"/collections/{slug}"
    page, links = reader.get(overview)
    yield page
    first = pages_of(slug, links)
    further: dict[str, str] = {}
    for target in first.values():
        page, links = reader.get(target)
        yield page
        new = {path: link for path, link in pages_of(slug, links).items() if path not in first}
        further = dict(islice(new.items(), FROM_EACH)) | further
    for target in further.values():
        yield reader.get(target)[0]


def visit_missing(reader: Reader, slug: str, visited: dict[str, list[Page]]) -> Iterator[Page]:
    """The pages that other collections link to and this one does not, as far as it has them."""
    here = {_beneath(page.path) for page in visited[slug]}
    elsewhere = (_beneath(page.path) for pages in visited.values() for page in pages if "?" not in page.path)
    for path in dict.fromkeys(elsewhere):
        if path not in here:
            page, _ = reader.get(f"/collections/{slug}/{path}")
            if page.status != NOT_FOUND:
                yield page


def pages_of(slug: str, links: Iterable[str]) -> dict[str, str]:
    """Those of the links that lead to pages of the collection, the first to each, by its path."""
    found: dict[str, str] = {}
    for link in links:
        path = urlsplit(link).path
        if path.startswith(f"/collections/{slug}/") and not NO_PAGE.search(path):
            found.setdefault(path, link)
    return found


def report(pages: list[Page], by: str, show: int) -> bool:
    """Print the slowest pages; whether one misses a limit, or is none."""
    for page in sorted(pages, key=lambda page: page.cells(by), reverse=True)[:show]:
        figures = [number for way in ("wall", "processor") for number in page.cells(way)]
        warm, cold, spent_warm, spent_cold = (f"{number:6.0f}" for number in figures)
        mark = "MISSED" if page.is_slow(by) else "(computed by the worker)" if page.is_offer else ""
        print(
            f"{warm} ms warm {cold} cold; processor {spent_warm} warm {spent_cold} cold  "
            f"{page.status} {page.path} {mark}"
        )
    slow, broken = [page for page in pages if page.is_slow(by)], [page for page in pages if page.status != OK]
    offers = sum(page.is_offer for page in pages)
    print(
        f"{len(pages)} pages, {offers} of them computed by the worker; "
        f"{len(slow)} take over {WARM:.0f} ms warm or {COLD:.0f} cold; {len(broken)} do not open"
    )
    return bool(slow or broken)


def _beneath(path: str) -> str:
    """The path of a page within its collection, without what is asked for."""
    return urlsplit(path).path.removeprefix("/collections/").partition("/")[2]


def _seconds_of(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
