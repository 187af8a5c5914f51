"""Every page that an organiser's pages link to, timed on a site of real size, after a start of the server and again.

Each page counts once, with what the first link to it asks for; what changes something is left out. A page that is
linked to in one collection is timed in the others, too. No link leads to the plans of a pool by other strategies than
the usual one, nor to what programs read: these are added, and so are the files that the pages link to, for which the
limit of a cold page is the only one.
Where a collection is large its reports are computed by a worker. Such pages are marked, for their time says nothing of
the report; each is left to a worker, whose processor time, less that of its start, is printed.
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
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from annotator.evaluation.pooling.strategies import STRATEGIES
from annotator.settings import sqlite_url
from benchmarks.judging_client import OK
from benchmarks.pages_reader import COLD, WARM, Page, Reader
from benchmarks.pages_site import TIMED, Site
from benchmarks.served_site import site

REPEATED = 3
FILE = re.compile(r"download|export|\.(?:csv|jsonl?|zip|tex|svg|txt)\b|/(?:file|manifest|prels|infap)\b")
NO_PAGE = re.compile(rf"sign-out|{FILE.pattern}")
NOT_FOUND = 404
FROM_EACH = 3  # further pages and files, of those that only one page links to


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
        token = built.add_token()
        with site(sqlite_url(path), path.parent, workers=1, with_worker=False) as (port, process):
            reader = Reader(port, process, token)
            pages = list(every_page(reader))
            for page in pages:
                page.warm += [reader.get(page.path)[0].cold for _ in range(REPEATED)]
            report_jobs(built, reader, [page for page in pages if page.offer is not None])
    sys.exit(report(pages, given.by, given.show))


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, help="the folder of published files to build the site from")
    source.add_argument("--kept", type=Path, help="a database that was built before; a copy of it is served")
    parser.add_argument("--keep", type=Path, help="where to leave the database for --kept")
    parser.add_argument("--by", choices=("wall", "processor"), default="wall", help="whose time the limits are for")
    parser.add_argument("--show", type=int, default=40, help="how many pages to list [40]")
    return parser.parse_args()


def every_page(reader: Reader) -> Iterator[Page]:
    """Every page and file of the collections, each for the first time."""
    links: dict[str, list[str]] = {slug: [] for slug in TIMED}
    visited = {slug: list(visit(reader, slug, links[slug])) for slug in TIMED}
    for slug in TIMED:
        yield from visited[slug]
        yield from visit_missing(reader, slug, visited)
        plans = (f"/collections/{slug}/pool/plan?strategy={name}" for name in STRATEGIES)
        for path in (*plans, *reader.api_paths(slug), *dict.fromkeys(links[slug])):
            page, _ = reader.get(path)
            if page.status == OK or path in links[slug]:
                yield page


def visit(reader: Reader, slug: str, files: list[str]) -> Iterator[Page]:
    """Every page that the collection's overview links to, and some that these link to, each for the first time.

    What they link to that is a file is added to `files`.
    """
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
        files += islice(of_collection(slug, filter(FILE.search, links)).values(), FROM_EACH)
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
    return of_collection(slug, (link for link in links if not NO_PAGE.search(urlsplit(link).path)))


def of_collection(slug: str, links: Iterable[str]) -> dict[str, str]:
    """Those of the links that lead into the collection, the first to each address, by its path."""
    found: dict[str, str] = {}
    for link in links:
        path = urlsplit(link).path
        if path.startswith(f"/collections/{slug}/"):
            found.setdefault(path, link)
    return found


def report_jobs(built: Site, reader: Reader, pages: list[Page]) -> None:
    """Have the pages computed that are left to a worker, one after the other, and print what each costs."""
    start = built.work()
    for page in pages:
        reader.have_computed(page)
        cost = built.work()
        print(
            f"{cost.wall - start.wall:6.1f} s; processor {cost.processor - start.processor:6.1f} s  "
            f"{page.path} computed by the worker"
        )


def report(pages: list[Page], by: str, show: int) -> bool:
    """Print the slowest pages; whether one misses a limit, or is none."""
    for page in sorted(pages, key=lambda page: page.cells(by), reverse=True)[:show]:
        figures = [number for way in ("wall", "processor") for number in page.cells(way)]
        warm, cold, spent_warm, spent_cold = (f"{number:6.0f}" for number in figures)
        kind = f"({page.size // 1024} KiB)" if page.is_file else "" if page.offer is None else "(an offer)"
        print(
            f"{warm} ms warm {cold} cold; processor {spent_warm} warm {spent_cold} cold  "
            f"{page.status} {page.path} {kind} {'MISSED' if page.is_slow(by) else ''}"
        )
    slow, broken = [page for page in pages if page.is_slow(by)], [page for page in pages if page.status != OK]
    offers, files = sum(page.offer is not None for page in pages), sum(page.is_file for page in pages)
    print(
        f"{len(pages)} pages, {files} of them files and {offers} computed by the worker; {len(slow)} take over "
        f"{WARM:.0f} ms warm, or {COLD:.0f} as a file, or {COLD:.0f} cold; {len(broken)} do not open"
    )
    return bool(slow or broken)


def _beneath(path: str) -> str:
    """The path of a page within its collection, without what is asked for."""
    return urlsplit(path).path.removeprefix("/collections/").partition("/")[2]


if __name__ == "__main__":
    main()
