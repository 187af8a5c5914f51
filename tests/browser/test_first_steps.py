"""The first hour in a real browser: from nothing to a sentence about two systems, and a finished task in one drop."""

import io
import zipfile

from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from playwright.sync_api import FilePayload, Page, expect

QUERIES = [f"query {number}" for number in range(1, 41)]
FOUND = {"alpha": ("b", "c", "a"), "beta": ("a", "b", "c")}  # only a is relevant


def result_list(system: str, queries: list[str]) -> FilePayload:
    rows = [f"{query},{docno}{query[6:]}" for query in queries for docno in FOUND[system]]
    text = "\n".join(["query,document", *rows])
    return {"name": f"{system}.csv", "mimeType": "text/csv", "buffer": text.encode()}


def qrels() -> bytes:
    lines = [f"{number} 0 {docno}{number} {int(docno == 'a')}" for number in range(1, 41) for docno in "abc"]
    # On every third topic another document is the relevant one.
    lines = [
        line[:-1] + "1" if line.split()[2].startswith("b") and int(line.split()[0]) % 3 == 0 else line for line in lines
    ]
    return "\n".join(lines).encode()


def start(page: Page, server: str, title: str, have: str = "queries") -> None:
    """Create a collection, and arrive at its first step."""
    sign_in(page, server, "ola", "/collections")
    page.get_by_role("link", name="New collection").click()
    page.get_by_label("Title").fill(title)
    page.locator("input[value=comparison]").check()
    page.locator(f"input[value={have}]").check()
    page.get_by_role("button", name="Create the collection").click()


def test_a_team_comes_from_nothing_to_a_sentence_about_two_systems(page: Page, server: str) -> None:
    start(page, server, "Shop search")
    page.get_by_label("Queries").fill("\n".join(QUERIES))
    page.get_by_role("button", name="Save and continue").click()
    # One of the queries is unknown: the page names file and line, and nothing is stored.
    wrong = result_list("beta", [*QUERIES, "query 99"])
    page.get_by_label("Result lists", exact=True).set_input_files([result_list("alpha", QUERIES), wrong])
    page.get_by_role("button", name="Save and continue").click()
    expect(page.get_by_role("alert")).to_contain_text("beta.csv:122 There is no topic with the query “query 99”.")
    # Leave, and resume from the overview.
    page.goto(f"{server}/collections/shop-search")
    page.get_by_role("listitem").filter(has_text="Upload the runs").get_by_role("link").click()
    page.get_by_label("Result lists", exact=True).set_input_files([result_list(one, QUERIES) for one in FOUND])
    page.get_by_role("button", name="Save and continue").click()
    expect(page.get_by_text("Depth 5: 120 documents")).to_be_visible()
    page.get_by_role("button", name="Build this pool and continue").click()
    page.get_by_role("link", name="Import judgements").click()
    file: FilePayload = {"name": "labels.qrels", "mimeType": "text/plain", "buffer": qrels()}
    page.get_by_label("Topics, qrels and runs").set_input_files([file])
    page.get_by_role("button", name="Import and show the leaderboard").click()
    expect(page.locator(".conclusion")).to_contain_text("nDCG@10: beta leads by")
    expect(page.locator(".conclusion")).to_contain_text("p < 0.001): significant. Of 40 topics beta wins")
    expect(page.get_by_role("heading", name="beta is most ahead")).to_be_visible()
    assert Axe().run(page).violations_count == 0


def test_a_finished_task_in_one_drop_shows_its_leaderboard(page: Page, server: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("task/topics.tsv", "".join(f"{n}\t{query}\n" for n, query in enumerate(QUERIES, start=1)))
        for system in FOUND:
            archive.writestr(f"task/{system}.csv", result_list(system, QUERIES)["buffer"])
        archive.writestr("task/task.qrels", qrels())
    start(page, server, "Last year", have="task")
    broken: FilePayload = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"These are notes.\n"}
    page.get_by_label("Topics, qrels and runs").set_input_files([broken])
    page.get_by_role("button", name="Import and show the leaderboard").click()
    expect(page.get_by_role("alert")).to_contain_text("notes.txt The file is neither topics nor qrels")
    file: FilePayload = {"name": "task.zip", "mimeType": "application/zip", "buffer": stream.getvalue()}
    page.get_by_label("Topics, qrels and runs").set_input_files([file])
    page.get_by_role("button", name="Import and show the leaderboard").click()
    page.wait_for_url("**/collections/last-year/leaderboard")
    expect(page.get_by_role("table").get_by_role("row").filter(has_text="beta")).to_be_visible()
