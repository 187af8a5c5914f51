"""What a judge wrote, put off or was refused on the judging screen comes back: by undo, over a reload, in two tabs."""

import json

from browser.judging_screen import TOPIC, judge, listening, open_screen, press, saved, stored, title
from playwright.sync_api import Page, Route, expect
from sqlalchemy import select

from annotator.storage import Database, Evidence

SELECT = """() => {
  const range = document.createRange();
  const text = document.createTreeWalker(document.querySelector("#body"), NodeFilter.SHOW_TEXT).nextNode();
  range.setStart(text, 0);
  range.setEnd(text, 4);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def keep_evidence(page: Page) -> None:
    """Select the first characters of the document and keep them."""
    page.evaluate(SELECT)
    press(page, "e")


def write_note(page: Page, words: str) -> None:
    """Write on the note that is there, and leave it."""
    press(page, "n")
    page.keyboard.type(words)
    press(page, "Escape")


def passages(database: Database) -> list[int]:
    """The judgements that have evidence."""
    with database.reading() as session:
        return list(session.scalars(select(Evidence.judgement_id)))


def refuse_all(route: Route) -> None:
    """Answer as a server that stores nothing of what was sent."""
    sent = json.loads(route.request.post_data or "")
    response = route.fetch(post_data=json.dumps({**sent, "acts": []}))
    refused = [{"id": act["id"], "status": 422, "sentence": "No such grade."} for act in sent["acts"]]
    route.fulfill(response=response, json={**response.json(), "refused": refused})


def test_a_note_typed_before_later_is_there_when_the_document_comes_again(
    page: Page, server: str, served: Database
) -> None:
    open_screen(page, server)
    first = title(page)
    write_note(page, "Half read")
    keep_evidence(page)
    press(page, "l")
    judge(page, "111111111")
    expect(page.locator("#document-title")).to_have_text(first)
    assert page.get_by_label("Note", exact=True).input_value() == "Half read"
    expect(page.locator("#evidence q")).to_have_count(1)
    press(page, "2")
    saved(page)
    last = stored(served)[-1]
    assert (last.note, passages(served)) == ("Half read", [last.id])


def test_evidence_that_is_not_stored_yet_survives_undo_and_a_reload(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "1")
    keep_evidence(page)
    expect(page.locator("#evidence q")).to_have_count(1)
    press(page, "ArrowLeft")
    expect(page.locator("#evidence q")).to_have_count(0)
    press(page, "Enter")
    expect(page.locator("#evidence q")).to_have_count(1)
    saved(page)
    page.reload()
    listening(page)
    expect(page.locator("#evidence q")).to_have_count(1)
    press(page, "2")
    expect(page.locator("#evidence q")).to_have_count(0)
    saved(page)
    assert passages(served) == [stored(served)[-1].id]


def test_what_is_written_while_looking_back_is_stored_with_the_same_grade(
    page: Page, server: str, served: Database
) -> None:
    open_screen(page, server)
    titles = []
    for key in "210":
        titles.append(title(page))
        press(page, key)
    fourth = title(page)
    press(page, "ArrowLeft", "ArrowLeft")
    write_note(page, "Why not")
    press(page, "ArrowLeft")  # it is stored, and the way back goes on from where it was
    assert title(page) == titles[0]
    keep_evidence(page)
    press(page, "Enter")
    assert title(page) == fourth
    press(page, "ArrowLeft", "Enter")  # nothing new was written
    saved(page)
    latest = [(one.grade, one.note) for one in stored(served)[3:]]
    assert latest == [(1, "Why not"), (2, "")]
    assert passages(served) == [stored(served)[-1].id]
    press(page, "ArrowLeft")
    assert title(page) == titles[2]


def test_refused_documents_come_back(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    page.route("**/acts", refuse_all)
    judge(page, "11111111")
    expect(page.get_by_role("button", name="8 judgements were refused")).to_be_visible()
    page.unroute_all(behavior="wait")
    judge(page, "2222222222")
    expect(page.get_by_role("heading", name="Nothing left for you in topic 1")).to_be_visible()
    expect(page.locator("#state")).to_have_text("8 unsent")
    assert [one.grade for one in stored(served)] == [2] * 10


def test_what_is_put_off_in_one_tab_comes_again_in_the_other(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    other = page.context.new_page()
    other.goto(f"{server}{TOPIC}")
    listening(other)
    first = title(page)
    assert title(other) == first
    press(page, "l")
    saved(page)
    expect(other.locator("#document-title")).not_to_have_text(first)
    page.close()
    judge(other, "111111111")
    expect(other.locator("#document-title")).to_have_text(first)
    press(other, "2")
    saved(other)
    assert [one.grade for one in stored(served)] == [1] * 9 + [2]
