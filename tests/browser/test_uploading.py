"""Sending runs in a real browser: with a progress bar, by keyboard alone, on a phone, and without script."""

import io
import zipfile
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from build import NOW, SLUG, run_text
from playwright.sync_api import Browser, FilePayload, Page, ViewportSize, expect

from annotator.storage import Database
from annotator.workflows.runs.questionnaires import set_questionnaire
from annotator.workflows.runs.runs import list_runs

RUNS = f"/collections/{SLUG}/runs"
RECEIPT = "**/runs/receipt?at=*"
PHONE: ViewportSize = {"width": 390, "height": 844}


def run_file(tag: str, documents: int = 3) -> FilePayload:
    text = run_text(tag, {"1": [f"d{index:06}" for index in range(documents)]})
    return {"name": f"{tag}.run", "mimeType": "text/plain", "buffer": text}


def tags(database: Database) -> set[str]:
    """The runs that came by page."""
    with database.reading() as session:
        return {run.tag for run in list_runs(session, SLUG) if run.uploaded_by}


def open_form(page: Page) -> None:
    page.get_by_role("button", name="Upload runs").press("Enter")


def slow_down(page: Page, bytes_a_second: int) -> None:
    """Let files go up no faster than a poor line lets them."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_a_second},
    )


def note_what_is_told(page: Page) -> None:
    """Keep every sentence that a screen reader is told during an upload."""
    page.evaluate(
        """() => {
          window.told = [];
          const status = document.querySelector("form [role=status]");
          new MutationObserver(() => window.told.push(status.textContent)).observe(status, { childList: true });
          addEventListener("pagehide", () => sessionStorage.setItem("told", JSON.stringify(window.told)));
        }"""
    )


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, color_scheme="dark", locale="en")
    yield context.new_page()
    context.close()


def test_files_go_up_with_a_progress_bar_and_come_to_a_receipt(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "pat", RUNS)
    open_form(page)
    slow_down(page, 600_000)
    note_what_is_told(page)
    page.get_by_label("Files of runs").set_input_files([run_file("one", 12_000), run_file("two", 12_000)])
    page.get_by_role("button", name="Upload the runs").press("Enter")
    bar = page.get_by_role("progressbar", name="Upload")
    expect(bar).to_be_visible()
    expect(bar).not_to_have_attribute("value", "0")
    page.wait_for_url(RECEIPT)
    expect(page.get_by_text("has stored these runs: 2.")).to_be_visible()
    told = page.evaluate("JSON.parse(sessionStorage.getItem('told'))")
    # Every quarter at most, and never twice.
    assert told[0] == "Sending the files: 0 %"
    assert told[-2:] == ["The files have arrived and are being read. Please wait.", ""]
    assert len(told) == len(set(told)) <= 7
    assert tags(served) == {"one", "two"}


def test_problems_are_shown_in_place_as_without_script_and_can_be_mended(
    page: Page, browser: Browser, server: str, served: Database
) -> None:
    bad: FilePayload = {"name": "bad.run", "mimeType": "text/plain", "buffer": b"1 Q0 a 1 9 bad\n1 Q0 b 2 high bad\n"}
    plain = browser.new_context(java_script_enabled=False, locale="en").new_page()
    shown = []
    for each in (plain, page):
        sign_in(each, server, "pat", RUNS)
        open_form(each)
        each.get_by_label("Description").fill("as it was entered")
        each.get_by_label("Files of runs").set_input_files([bad, run_file("good")])
        each.get_by_role("button", name="Upload the runs").press("Enter")
        expect(each.get_by_role("alert")).to_contain_text("bad.run:2")
        expect(each.get_by_label("Description of bad.run")).to_have_value("as it was entered")
        shown.append(each.locator("main").inner_text())
    plain.context.close()
    assert shown[0] == shown[1]
    assert f"{RUNS}/uploads/" in page.url
    expect(page.get_by_role("alert")).to_be_focused()
    assert Axe().run(page).response["violations"] == []
    page.reload()  # the files are kept
    page.get_by_label("Store bad.run").uncheck()
    page.get_by_role("button", name="Store the ticked runs").press("Enter")
    page.wait_for_url(RECEIPT)
    assert tags(served) == {"good"}


def test_files_are_dropped_checked_edited_row_by_row_and_stored(page: Page, server: str, served: Database) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for tag in ("one", "two"):
            archive.writestr(f"{tag}.run", run_file(tag)["buffer"])
        archive.writestr("metadata.csv", "tag,team,type,priority,description\ntwo,blue,manual,2,by hand\n")
    sign_in(page, server, "ola", RUNS)
    open_form(page)
    page.get_by_label("Files of runs").set_input_files(run_file("three"))
    # The zip is dropped on the field and joins the file that was chosen.
    page.evaluate(
        """bytes => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], "all.zip"));
          document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer }));
        }""",
        list(content.getvalue()),
    )
    expect(page.get_by_text("Files chosen: 2")).to_be_visible()
    page.get_by_role("button", name="Check and edit").press("Enter")
    expect(page.get_by_text("No problems in these files. Nothing is stored yet.")).to_be_visible()
    expect(page.get_by_label("Team of two.run")).to_have_value("blue")
    expect(page.get_by_label("Priority of two.run")).to_have_value("2")
    assert tags(served) == set()
    page.get_by_label("Tag of one.run").fill("first")
    page.get_by_label("Team of one.run").fill("red")
    page.get_by_label("Store three.run").uncheck()
    page.get_by_role("button", name="Store the ticked runs").press("Enter")
    page.wait_for_url(RECEIPT)
    with served.reading() as session:
        sent = {run.tag: (run.team, run.priority) for run in list_runs(session, SLUG) if run.uploaded_by}
    assert sent == {"first": ("red", 1), "two": ("blue", 2)}


def test_an_upload_is_stopped_and_begun_again(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "pat", RUNS)
    open_form(page)
    slow_down(page, 20_000)
    page.get_by_label("Files of runs").set_input_files(run_file("one", 60_000))  # a minute
    send = page.get_by_role("button", name="Upload the runs")
    send.press("Enter")
    send.press("Enter")  # does nothing: one upload at a time
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Stop the upload").press("Enter")
    expect(page.get_by_text("You stopped the upload. Nothing was stored.")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_hidden()
    assert tags(served) == set()
    page.get_by_label("Files of runs").set_input_files(run_file("two"))
    send.press("Enter")
    page.wait_for_url(RECEIPT)
    assert tags(served) == {"two"}


def test_what_is_too_large_is_not_sent_and_a_broken_line_is_told(page: Page, server: str) -> None:
    sign_in(page, server, "pat", RUNS)
    open_form(page)
    page.get_by_label("Files of runs").set_input_files(run_file("one"))
    page.evaluate("document.querySelector('form[data-limit]').dataset.limit = 10")
    send = page.get_by_role("button", name="Upload the runs")
    send.press("Enter")
    expect(page.get_by_text("These files are larger than this server takes at once")).to_be_visible()
    page.evaluate("document.querySelector('form[data-limit]').dataset.limit = 1000000")
    page.context.set_offline(True)
    send.press("Enter")
    expect(page.get_by_text("The files did not arrive")).to_be_visible()
    page.context.set_offline(False)
    send.press("Enter")
    page.wait_for_url(RECEIPT)


def label_file(text: str) -> FilePayload:
    return {"name": "nist.qrels", "mimeType": "text/plain", "buffer": text.encode()}


def chosen_files(page: Page) -> list[str]:
    names: list[str] = page.get_by_label("File of labels").evaluate("input => [...input.files].map(file => file.name)")
    return names


def test_labels_that_were_refused_or_checked_stay_chosen_until_they_are_stored(page: Page, server: str) -> None:
    sign_in(page, server, "ola", f"/collections/{SLUG}/judgements")
    page.get_by_label("File of labels").set_input_files(label_file("1 0 d00 1\n1 0 nowhere 1\n"))
    page.get_by_label("Name of the judge").fill("nist")
    page.get_by_role("button", name="Check the labels").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("nist.qrels:2")
    assert chosen_files(page) == ["nist.qrels"]
    page.get_by_label("Add documents that are outside the pool").check()
    page.get_by_role("button", name="Check the labels").press("Enter")
    foreseen = page.get_by_role("group", name="Nothing is stored yet. This import would be:")
    expect(foreseen).to_be_focused()
    expect(foreseen).to_contain_text("Labels added: 2")
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Import the labels").press("Enter")
    expect(page.get_by_text("Labels added: 2, changed: 0")).to_be_visible()
    assert chosen_files(page) == []
    expect(page.get_by_role("button", name="Check the labels")).to_be_visible()


def test_who_was_signed_out_meanwhile_is_asked_to_sign_in(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "pat", RUNS)
    open_form(page)
    page.get_by_label("Files of runs").set_input_files(run_file("one"))
    page.context.clear_cookies()
    page.get_by_role("button", name="Upload the runs").press("Enter")
    page.get_by_role("link", name="Sign in").wait_for()
    assert tags(served) == set()


def test_runs_are_sent_from_a_phone_by_keyboard_alone(phone: Page, server: str, served: Database) -> None:
    with served.transaction() as session:
        set_questionnaire(session, SLUG, [], made_by_id=None, at=NOW)  # no question is between these fields
    sign_in(phone, server, "pat", RUNS)
    open_form(phone)
    phone.get_by_label("Files of runs").set_input_files(run_file("one"))
    phone.get_by_label("Files of runs").focus()
    for key in (
        "Tab",
        "Tab",
        "Tab",
        "Tab",
        "ArrowDown",
        "Tab",
        "2",
        "Tab",
        "b",
        "y",
        "Space",
        "h",
        "a",
        "n",
        "d",
        "Shift+Tab",
        "Shift+Tab",
        "Shift+Tab",
        "Enter",
    ):
        phone.keyboard.press(key)
    phone.wait_for_url(RECEIPT)
    width, room = phone.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width <= room
    with served.reading() as session:
        [sent] = [run for run in list_runs(session, SLUG) if run.tag == "one"]
    assert (sent.run_type, sent.priority, sent.description) == ("automatic", 2, "by hand")


def test_runs_are_sent_without_script(browser: Browser, server: str, served: Database) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en")
    page = context.new_page()
    sign_in(page, server, "pat", RUNS)
    open_form(page)
    page.get_by_label("Files of runs").set_input_files([run_file("one"), run_file("two")])
    page.get_by_role("button", name="Upload the runs").press("Enter")
    page.wait_for_url(RECEIPT)
    assert tags(served) == {"one", "two"}
    context.close()


def test_a_receipt_is_printed_without_the_frame_of_the_page(page: Page, server: str) -> None:
    sign_in(page, server, "pat", f"{RUNS}/receipt?tag=alpha")
    page.emulate_media(media="print")
    expect(page.get_by_text("SHA-256 of the file")).to_be_visible()
    for hidden in (page.get_by_role("navigation"), page.get_by_role("button"), page.get_by_role("contentinfo")):
        expect(hidden).to_have_count(0)
