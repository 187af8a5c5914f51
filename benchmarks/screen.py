"""From a key to the next document painted: milliseconds in a real browser, against the production server.

Three hundred documents are judged with one key each: Python's own documentation, Korean texts, and one of 5 MB. The
time runs from the key's event to the first task after the frame in which the next document was painted. With a delay
added to all that the network does nothing should change, for the next documents are in the browser already. A press
that found no document, since the next ones were on their way, is counted as empty: none should be, at seven a second.

    python -m benchmarks.screen --delays 0 300
    python -m benchmarks.screen --delays 300 --presses 60 --pace 0.143
"""

import argparse
import math
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from playwright.sync_api import Browser, Page, sync_playwright

from annotator.demonstration.corpus import python_documents
from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.passwords import hash_password
from annotator.settings import sqlite_url
from annotator.storage import Database, Role
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.schema import prepare_schema
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents
from annotator.workflows.people import accounts, members
from annotator.workflows.pools import pool_building
from annotator.workflows.runs import run_upload
from annotator.workflows.topics import topics
from benchmarks.judging import server

SLUG = "screen"
PASSWORD = "as long as it needs to be"  # noqa: S105 - of nobody
TOPIC = "1\trun a function in another process and get its result, 고양이 보호\n"
LIMIT = 1 << 30
BYTES_OF_THE_LONGEST = 5_000_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run"]
SUBJECTS = ("서울시는", "연구팀은", "시민 단체는", "정부는", "한 고양이 보호소는", "지역 주민들은", "동물 병원은")
OBJECTS = (
    "길고양이 급식소를",
    "보호 사업을",
    "새로운 검색 기술을",
    "중성화 수술 지원을",
    "문서 평가 결과를",
    "공원의 쉼터를",
)
VERBS = (
    "내년부터 확대한다고 밝혔다.",
    "3월에 시작하기로 했다.",
    "꾸준히 관리해야 한다고 말했다.",
    "시민과 함께 살펴보았다.",
)

# Notes the time of each key before the page hears of it, and the time after the frame that shows what came of it.
WATCH = """
() => {
  window.taken = [];
  addEventListener("keydown", (event) => {
    const begun = event.timeStamp;
    const before = document.querySelector("#document-title").textContent;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const after = document.querySelector("#document-title").textContent;
        const isShown = !document.querySelector("#document").hidden;
        window.taken.push([performance.now() - begun, isShown && after !== before, !isShown]);
      };
      port2.postMessage(null);
    });
  }, { capture: true });
}
"""


def main() -> None:
    """Build the collection once, and judge a fresh copy of it with each delay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delays", nargs="+", type=int, default=[0, 300], help="milliseconds added by the network")
    parser.add_argument("--presses", type=int, default=300)
    parser.add_argument("--pace", type=float, default=0.2, help="seconds between two keys")
    given = parser.parse_args()
    print(f"{'delay ms':>9}{'presses':>9}{'p50 ms':>9}{'p95':>7}{'worst':>8}{'5 MB':>7}{'empty':>7}{'stored':>8}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        built = Path(folder) / "built.sqlite"
        build(sqlite_url(built), given.presses + 10)
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGUMENTS)
        for delay in given.delays:
            copy = Path(folder) / f"{delay}.sqlite"
            shutil.copy(built, copy)
            with server(copy, 2) as port:
                taken, longest, empty = judged(browser, port, delay, given.presses, given.pace)
            print(line(delay, taken, longest, empty, stored(copy)), flush=True)
        browser.close()


def judged(browser: Browser, port: int, delay: int, presses: int, pace: float) -> tuple[list[float], float, int]:
    """The milliseconds of each press, those until the longest document was shown, and how many presses were empty."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    page = context.new_page()
    enter(page, port)
    page.evaluate(WATCH)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": delay, "downloadThroughput": -1, "uploadThroughput": -1},
    )
    longest = -1
    for number in range(presses):
        begun = time.monotonic()
        page.keyboard.press(str(number % 3))
        if page.locator("#document-title").inner_text().startswith("The longest"):
            longest = number
        time.sleep(max(pace - (time.monotonic() - begun), 0))
    page.locator("#state", has_text="saved").wait_for()
    taken = page.evaluate("window.taken")
    context.close()
    if len(taken) != presses:
        raise RuntimeError("a key was not noticed")
    # A press within 120 ms of the last one is ignored as a bounce of the key, and measures nothing.
    shown = [milliseconds for milliseconds, has_changed, _ in taken if has_changed]
    empty = sum(is_empty for _, _, is_empty in taken)
    return shown, taken[longest][0] if longest >= 0 else math.nan, empty


def enter(page: Page, port: int) -> None:
    """Sign in, and open the topic."""
    address = f"http://127.0.0.1:{port}"
    page.goto(f"{address}/sign-in?next=/collections/{SLUG}/judge/topics/1")
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("html.with-script")


def line(delay: int, taken: list[float], longest: float, empty: int, stored: int) -> str:
    """A line of the table."""
    ordered = sorted(taken)
    p50, p95, worst = (ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.5, 0.95, 1))
    return f"{delay:>9}{len(taken):>9}{p50:>9.1f}{p95:>7.1f}{worst:>8.1f}{longest:>7.1f}{empty:>7}{stored:>8}"


def stored(path: Path) -> int:
    """How many judgements the database has."""
    database = Database(sqlite_url(path))
    with database.engine.connect() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM judgement").scalar_one()
    database.close()
    return int(count)


def build(url: str, items: int) -> None:
    """Fill an empty database: one topic with so many documents, shown in the order of the run."""
    database = Database(url)
    prepare_schema(database)
    now = datetime.now(UTC)
    texts = shown_texts(items)
    with database.transaction() as session:
        collection.add_collection(
            session,
            SLUG,
            title="The screen",
            scale=parse_scale("0=Not relevant,1=Relevant,2=Highly relevant"),
            relevant_from=1,
            added_at=now,
        )
        accounts.add_user(session, "jo", password_hash=hash_password(PASSWORD), added_at=now)
        members.add_member(session, SLUG, "jo", Role.JUDGE, added_at=now)
        read_topics = topics.read_topics([InputFile("topics.tsv", TOPIC.encode())], unpacked_limit=LIMIT)
        topics.import_topics(session, SLUG, read_topics)
        lines = "".join(f"{docno}\t{title}\t{text}\n" for docno, (title, text) in texts.items())
        read = documents.read_documents([InputFile("texts.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
        documents.import_documents(session, SLUG, read)
        ranked = "".join(f"1 Q0 {docno} 1 {items - rank} run\n" for rank, docno in enumerate(texts))
        sent = [InputFile("run.txt", ranked.encode())]
        checked = run_upload.check_runs(session, SLUG, sent, sender=Sender(None, organises=True), unpacked_limit=LIMIT)
        run_upload.store_runs(session, SLUG, checked, details=RunDetails(None), uploaded_by_id=None, uploaded_at=now)
        request = PoolRequest("depth", {"depth": items})
        pool_building.build_pool(session, SLUG, request, seed=1, built_by_id=None, built_at=now)
    database.close()


def shown_texts(items: int) -> dict[str, tuple[str, str]]:
    """Docno → title and text on one line, each title its own."""
    random = Random(1)  # noqa: S311 - the same texts each time
    english = random.sample([one for one in python_documents() if len(one.body) > 300], items - items // 5 - 1)  # noqa: PLR2004
    texts = {f"py{number}": (f"{one.title} {number}", one.body) for number, one in enumerate(english)}
    texts |= {f"ko{number}": (f"기사 {number}", korean(random)) for number in range(items // 5)}
    sentence = "It runs the function in another process, and hands its result back to the caller. "
    texts["longest"] = ("The longest", sentence * (BYTES_OF_THE_LONGEST // len(sentence)))
    return {docno: (title, " ".join(text.split())) for docno, (title, text) in texts.items()}


def korean(random: Random) -> str:
    """A short article."""
    return " ".join(f"{random.choice(SUBJECTS)} {random.choice(OBJECTS)} {random.choice(VERBS)}" for _ in range(40))


if __name__ == "__main__":
    main()
