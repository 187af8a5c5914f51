"""Opening the judging screen: when the document is shown, when keys act, and what is requested, cold and warm.

A real browser on the production server. "Cold" has nothing in its cache, "warm" has had the page open before. The
network adds the delay to each request; bytes are those of the bodies as compressed.

    python -m benchmarks.opening --delays 0 300
"""

import argparse
import shutil
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, CDPSession, sync_playwright

from annotator.settings import sqlite_url
from benchmarks.judging import server
from benchmarks.screen import BROWSER_ARGUMENTS, BROWSERS, SLUG, build, enter

DOCUMENTS = 30
# Notes when the document was painted first and when the screen began to listen to keys.
WATCH = """
new PerformanceObserver((list) => {
  window.shownAt = list.getEntriesByName("first-contentful-paint")[0]?.startTime ?? window.shownAt;
}).observe({ type: "paint", buffered: true });
new MutationObserver(() => {
  if (document.documentElement?.classList.contains("with-script")) window.actsAt ??= performance.now();
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["class"] });
"""


class Opening(NamedTuple):
    """Milliseconds from the answer's first byte, requests and bytes of one opening of the page."""

    shown: float
    acting: float
    requests: int
    scripts: int
    size: int


def main() -> None:
    """Open the screen several times with each delay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delays", nargs="+", type=int, default=[0, 300], help="milliseconds added by the network")
    parser.add_argument("--times", type=int, default=5, help="openings of which the median is shown")
    given = parser.parse_args()
    print(f"{'delay ms':>9}{'cache':>7}{'shown ms':>10}{'keys act':>10}{'requests':>10}{'scripts':>9}{'kB':>7}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "built.sqlite"
        build(sqlite_url(path), DOCUMENTS)
        chromium = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_ARGUMENTS)
        with server(path, 2) as port:
            for delay in given.delays:
                for is_warm in (False, True):
                    found = [opening(browser, port, delay, is_warm=is_warm) for _ in range(given.times)]
                    print(line(delay, is_warm=is_warm, found=found), flush=True)
        browser.close()


def opening(browser: Browser, port: int, delay: int, *, is_warm: bool) -> Opening:
    """One opening in a browser of its own, signed in before."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    page = context.new_page()
    enter(page, port)
    page.add_init_script(WATCH)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    if not is_warm:
        network.send("Network.clearBrowserCache")
    conditions = {"offline": False, "latency": delay, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", conditions)
    taken = watched(network)
    page.goto(f"http://127.0.0.1:{port}/collections/{SLUG}/judge/topics/1")
    page.wait_for_selector("html.with-script")
    page.wait_for_load_state("networkidle")
    shown, acting, began = page.evaluate(
        "[shownAt, actsAt, performance.getEntriesByType('navigation')[0].responseStart]"
    )
    result = Opening(shown - began, acting - began, *counted(taken))
    context.close()
    return result


def watched(network: CDPSession) -> dict[str, dict[str, Any]]:
    """What is known of each request from now on, by its id."""
    requests: dict[str, dict[str, Any]] = defaultdict(dict)
    network.on("Network.responseReceived", lambda event: requests[event["requestId"]].update(event["response"]))
    network.on("Network.requestServedFromCache", lambda event: requests[event["requestId"]].update(inMemory=True))
    network.on(
        "Network.loadingFinished",
        lambda event: requests[event["requestId"]].update(size=event["encodedDataLength"]),
    )
    return requests


def counted(requests: dict[str, dict[str, Any]]) -> tuple[int, int, int]:
    """Requests to the network, those for scripts, and bytes."""
    sent = [
        one
        for one in requests.values()
        if one.get("url", "").startswith("http") and not one.get("inMemory") and not one.get("fromDiskCache")
    ]
    scripts = sum(one["url"].partition("?")[0].endswith(".js") for one in sent)
    return len(sent), scripts, sum(int(one.get("size", 0)) for one in sent)


def line(delay: int, *, is_warm: bool, found: list[Opening]) -> str:
    """A line of the table, of medians."""
    shown, acting, requests, scripts, size = (statistics.median(values) for values in zip(*found, strict=True))
    cache = "warm" if is_warm else "cold"
    return f"{delay:>9}{cache:>7}{shown:>10.0f}{acting:>10.0f}{requests:>10.0f}{scripts:>9.0f}{size / 1000:>7.1f}"


if __name__ == "__main__":
    main()
