"""Stepping through a list on the judging screen: the arrows, the way back, and an adjudicator's decisions."""

from browser.judging_screen import listening, press, title
from browser.pages import eventually, sign_in
from browser.test_adjudicating import decided, show_grades
from build import SLUG, labels
from playwright.sync_api import Page, Request, expect

from annotator.storage import Database

HERE = f"/collections/{SLUG}"


def open_as(page: Page, server: str, who: str, path: str) -> None:
    sign_in(page, server, who, f"{HERE}/{path}")
    listening(page)


def test_an_organiser_steps_through_disagreements_by_the_arrows_and_fetches_only_neighbours(
    page: Page, server: str, served: Database
) -> None:
    fetched: list[str] = []

    def keep(request: Request) -> None:
        if "disagreements.json" in request.url:
            fetched.append(request.url)

    page.on("request", keep)
    sign_in(page, server, "ola", f"{HERE}/disagreements?across=1")
    page.get_by_role("link", name="Step through").click()
    listening(page)
    expect(page.locator("#position")).to_have_text("1 of 3")
    assert title(page) == "Title of d02"
    judgements = page.locator("#judges-notes-list > li")
    expect(judgements).to_contain_text(["strictMar", "generousMar"])
    expect(judgements).to_contain_text(["Not relevant", "Highly relevant"])
    eventually(page, lambda: len(fetched) == 1)
    press(page, "ArrowRight")
    expect(page.locator("#position")).to_have_text("2 of 3")
    expect(page.locator("#document-title")).not_to_have_text("Title of d02")
    expect(page.locator("#document")).to_be_focused()
    eventually(page, lambda: len(fetched) == 2)
    press(page, "ArrowRight", "ArrowRight")
    expect(page.locator("#toast")).to_have_text("This is the last document.")
    last = title(page)
    # The address is that of the document on the screen, and a digit does nothing.
    press(page, "2")
    page.reload()
    listening(page)
    expect(page.locator("#position")).to_have_text("3 of 3")
    assert title(page) == last
    press(page, "ArrowLeft", "ArrowLeft", "ArrowLeft")
    expect(page.locator("#position")).to_have_text("1 of 3")
    # Escape leaves a field first.
    press(page, "f")
    expect(page.locator("#find")).to_be_focused()
    press(page, "Escape", "Escape")
    page.wait_for_url(f"{server}{HERE}/disagreements?across=1&page=1#card-1")
    assert decided(served) == []


def test_the_topic_and_its_marked_words_follow_the_document(page: Page, server: str, served: Database) -> None:
    with served.transaction() as session:
        labels(session, "strict", "2 0 d10 1\n", name="more.txt")
    open_as(page, server, "ola", "review/judge?judge=strict")
    expect(page.locator("#topic-label")).to_have_text("Topic 2")
    expect(page.locator("#marked li")).to_contain_text(["dog"])
    press(page, "ArrowRight")
    expect(page.locator("#topic-label")).to_have_text("Topic 1")
    expect(page.locator("#topic-title")).to_have_text("cats")
    expect(page.locator("#topic-text")).to_contain_text("Which documents tell of cats?")
    expect(page.locator("#marked li")).to_contain_text(["cat"])


def test_an_adjudicator_decides_by_digits_and_goes_on(page: Page, server: str, served: Database) -> None:
    show_grades(served)
    sign_in(page, server, "eve", f"{HERE}/adjudicate")
    page.get_by_role("link", name="Step through the documents in dispute").click()
    listening(page)
    expect(page.locator("#given")).to_have_text("Grades given: Not relevant, Highly relevant.")
    press(page, "n")
    page.keyboard.type("Both are wrong.")
    press(page, "Escape", "1")
    expect(page.locator("#position")).to_have_text("2 of 4")
    expect(page.locator("#note")).to_have_value("")
    expect(page.locator("#toast")).to_have_text("Decided: d02 is Relevant.")
    press(page, "ArrowLeft")
    expect(page.locator("#position")).to_have_text("1 of 4")
    expect(page.locator(".grades .chosen")).to_contain_text("Relevant")
    expect(page.locator("#note")).to_have_value("Both are wrong.")
    assert decided(served) == [1]
    press(page, "2")
    eventually(page, lambda: decided(served) == [1, 2])
    press(page, "Escape")
    page.wait_for_url(f"{server}{HERE}/adjudicate")
