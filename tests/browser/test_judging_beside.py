"""What stands beside the document on the judging screen: own pace, own similar judgements."""

import json

import pytest
from browser.judging_screen import JUDGE, TOPIC, faults, judge, listening, open_screen, press, saved
from build import SLUG
from playwright.sync_api import Page, expect

from annotator.files import InputFile
from annotator.storage import Database
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.documents import documents

SAME = "The cat sat on the mat. It slept for the whole of a long day in the sun. "


@pytest.fixture
def alike(server: str, served: Database) -> str:
    """The server, where all documents are alike but for their last sentence."""
    lines = [
        json.dumps({"docno": docno, "title": f"Cat {docno}", "body": f"{SAME}Number {docno} ends so."})
        for docno in (f"d{number:02}" for number in range(10))
    ]
    with served.transaction() as session:
        file = InputFile("more.jsonl", "\n".join(lines).encode())
        documents.import_documents(session, SLUG, documents.read_documents([file], fields={}, unpacked_limit=1 << 24))
    return server


def test_a_key_opens_ones_own_similar_judgements_and_they_follow_the_document(page: Page, alike: str) -> None:
    open_screen(page, alike)
    press(page, "c")
    panel = page.locator("#similar")
    expect(panel).to_contain_text("You have judged no similar document in this topic.")
    first = page.locator("#document-title").inner_text()
    judge(page, "1")
    saved(page)
    expect(page.locator("#document-title")).not_to_have_text(first)
    press(page, "c", "c")
    expect(panel.locator("#similar-list > li")).to_have_count(1)
    expect(panel.locator("#similar-list")).to_contain_text(first)
    expect(panel.locator("#similar-list .own-decision").first).to_contain_text("alike")
    expect(panel.locator(".sentences").last).to_contain_text("ends so.")
    expect(panel.locator("#relevant-list > li")).to_have_count(1)
    # It closes, and the keys go on grading all the while.
    press(page, "Escape")
    expect(panel).to_be_hidden()
    expect(page.locator("#document")).to_be_focused()


def test_comparing_can_be_switched_off_by_the_organiser(page: Page, server: str, served: Database) -> None:
    with served.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_compare=False))
    open_screen(page, server)
    press(page, "c")
    expect(page.locator("#similar")).to_have_count(0)
    expect(page.locator("#similar-open")).to_have_count(0)


def test_the_pace_has_a_target_and_can_be_switched_off(page: Page, server: str) -> None:
    open_screen(page, server)
    judge(page, "1")
    saved(page)
    press(page, "y")
    expect(page.locator("#pace-today")).to_have_text("1 document")
    page.locator("#pace-target").fill("20")
    page.locator("#pace-target").blur()
    expect(page.locator("#pace-today")).to_have_text("1 of 20 documents")
    expect(page.locator("#pace-words")).to_contain_text("1 of 20 today")
    expect(page.locator("#own-grades-rows tr")).not_to_have_count(0)
    page.locator("#pace-shown").uncheck()
    expect(page.locator("#pace-words")).to_have_text("")
    page.reload()
    listening(page)
    press(page, "y")
    expect(page.locator("#pace-today")).to_have_text("1 of 20 documents")
    expect(page.locator("#pace-words")).to_have_text("")


def test_what_stands_beside_is_accessible_and_fits(screen: Page, alike: str) -> None:
    open_screen(screen, alike, f"{JUDGE}/topics/1")
    judge(screen, "1")
    saved(screen)
    press(screen, "c")
    expect(screen.locator("#similar-list > li")).to_have_count(1)
    assert faults(screen) == []
    press(screen, "Escape", "y")
    expect(screen.locator("#pace-today")).to_have_text("1 document")
    assert faults(screen) == []
    assert TOPIC in screen.url
