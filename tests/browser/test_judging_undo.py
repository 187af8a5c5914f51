"""Undo on the judging screen, over reloads and topics, and what the browser keeps: notes, refused judgements."""

import re

from browser.judging_screen import JUDGE, TOPIC, judge, listening, open_screen, press, saved, stored, title
from playwright.sync_api import Page, Route, expect

from annotator.storage import Database


def kept(database: Database) -> list[tuple[int | None, str | None, bool]]:
    """Grade, reason and whether it counts, of all that was stored from the screen."""
    return [(one.grade, one.cannot_judge, one.current) for one in stored(database)]


def test_undo_withdraws_judgement_after_judgement_and_redo_gives_them_again(
    page: Page, server: str, served: Database
) -> None:
    open_screen(page, server)
    titles = []
    for key in "21":
        titles.append(title(page))
        press(page, key)
    third = title(page)
    press(page, "u")
    assert title(page) == titles[1]
    assert page.locator("#position").inner_text() == "2 of 10"
    press(page, "u")
    assert title(page) == titles[0]
    saved(page)
    assert [one for one in kept(served) if one[2]] == []
    press(page, "Shift+U")
    assert title(page) == titles[1]
    press(page, "0")
    assert title(page) == third
    press(page, "Shift+U")
    expect(page.locator("#toast")).to_have_text("There is nothing to redo in this topic.")
    saved(page)
    assert kept(served) == [
        *((2, None, False), (1, None, False), (None, "withdrawn", False), (None, "withdrawn", False)),
        *((2, None, True), (0, None, True)),
    ]


def test_undo_of_a_changed_judgement_gives_the_earlier_one_back(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    first = title(page)
    judge(page, "21")
    press(page, "ArrowLeft", "ArrowLeft", "0", "u")
    assert title(page) == first
    expect(page.locator("[name=grade][aria-current=true]")).to_have_text("2 Highly relevant")
    saved(page)
    assert [one[0] for one in kept(served) if one[2]] == [1, 2]


def test_undo_goes_on_after_a_reload_and_into_the_topic_before(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    first = title(page)
    press(page, "2")
    saved(page)
    page.goto(f"{server}{JUDGE}/topics/2")
    listening(page)
    second = title(page)
    press(page, "1")
    saved(page)
    page.reload()
    listening(page)
    press(page, "u")
    expect(page.locator("#document-title")).to_have_text(second)
    saved(page)
    press(page, "u")
    page.wait_for_url(re.compile("/assignments/"))
    listening(page)
    expect(page.locator("#document-title")).to_have_text(first)
    assert [one for one in kept(served) if one[2]] == []
    press(page, "0")
    saved(page)
    assert [one[0] for one in kept(served) if one[2]] == [0]


def test_undo_of_a_changed_judgement_in_the_topic_before_gives_the_earlier_one_back(
    page: Page, server: str, served: Database
) -> None:
    open_screen(page, server)
    press(page, "2", "ArrowLeft", "0")
    saved(page)
    page.goto(f"{server}{JUDGE}/topics/2")
    listening(page)
    press(page, "u")
    page.wait_for_url(re.compile("/assignments/"))
    listening(page)
    expect(page.locator("[name=grade][aria-current=true]")).to_have_text("2 Highly relevant")
    assert [one[0] for one in kept(served) if one[2]] == [2]


def test_no_grade_is_taken_while_an_earlier_document_is_being_fetched(
    page: Page, server: str, served: Database
) -> None:
    open_screen(page, server)
    judge(page, "2")
    saved(page)
    page.reload()
    listening(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/assignments/*.json", hold)
    with page.expect_request("**/assignments/*.json"):
        press(page, "ArrowLeft", "0")
    assert page.locator("#position").inner_text() == "2 of 10"
    for route in held:
        route.continue_()
    expect(page.locator("#looking", has_text="You judged this document: Highly relevant.")).to_be_visible()
    press(page, "1")
    saved(page)
    assert [one[0] for one in kept(served)] == [2, 1]


def test_the_strip_shows_the_last_grades_and_leads_back_to_them(page: Page, server: str) -> None:
    open_screen(page, server)
    first = title(page)
    judge(page, "21x")
    press(page, "Escape")
    expect(page.locator("#recent button")).to_have_text(["2", "1"])
    page.locator("#recent button").first.click()
    assert title(page) == first
    expect(page.locator("#recent [aria-current=true]")).to_have_text("2")
    press(page, "w")
    assert title(page) == first
    expect(page.locator("#recent button")).to_have_text(["1"])
    saved(page)
    page.reload()
    listening(page)
    expect(page.locator("#recent button")).to_have_text(["1"])


def test_a_note_survives_the_tab(page: Page, server: str) -> None:
    open_screen(page, server)
    press(page, "n")
    page.keyboard.type("Half a thought")
    context = page.context
    page.close()
    other = context.new_page()
    other.goto(f"{server}{TOPIC}")
    listening(other)
    expect(other.locator("#note")).to_have_value("Half a thought")


def test_without_storage_the_screen_says_so_from_the_start_and_offline(page: Page, server: str) -> None:
    page.add_init_script("IDBFactory.prototype.open = () => { throw new Error('no'); }")
    open_screen(page, server)
    expect(page.locator("#not-kept")).to_contain_text("what is unsent is lost when this page is closed")
    page.context.set_offline(True)
    judge(page, "1")
    expect(page.locator("#trouble")).to_contain_text("Keep this page open")
    expect(page.locator("#not-kept")).to_be_visible()
    page.context.set_offline(False)
    saved(page)


def test_a_grade_for_a_document_that_is_not_the_assignments_is_refused_and_kept(
    page: Page, server: str, served: Database
) -> None:
    """As after a restore: the assignment is of another document now."""
    open_screen(page, server)
    page.evaluate("() => (window.before = document.getElementById('docno').textContent)")

    def wrong(route: Route) -> None:
        body = route.request.post_data or ""
        route.continue_(post_data=re.sub(r'"docno":"[^"]*"', '"docno":"another"', body))

    page.route("**/acts", wrong)
    press(page, "2")
    expect(page.get_by_role("button", name="1 judgement was refused")).to_be_visible()
    assert kept(served) == []
    page.get_by_role("button", name="1 judgement was refused").click()
    expect(page.locator("#refused-list")).to_contain_text("because the database was restored")
    page.unroute_all(behavior="wait")
    page.get_by_role("button", name="Send them again").click()
    saved(page)
    assert [one[0] for one in kept(served)] == [2]
