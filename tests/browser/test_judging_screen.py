"""What stands round the document on the judging screen: marks, evidence, notes; foreign texts, small windows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pytest
from browser.judging_screen import (
    JUDGE,
    TOPIC,
    faults,
    listening,
    open_screen,
    press,
    saved,
    stored,
    title,
    wait_out_a_bounce,
)
from browser.pages import eventually
from build import NOW, SLUG
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize, expect
from sqlalchemy import select

from annotator.files import InputFile
from annotator.storage import Database, Evidence, Question, TopicMark, TopicNote
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.documents import documents
from annotator.workflows.judging import questions

PHONE: ViewportSize = {"width": 390, "height": 844}
ENLARGED: ViewportSize = {"width": 320, "height": 256}
DESK: ViewportSize = {"width": 1280, "height": 900}
LONG = "\n\n".join(f"Paragraph {number} tells of cats in the garden. " + "word " * 60 for number in range(800))
TEXTS = {
    "d10": (
        "Ein Hund",
        "<p>Big dogs and <b>two dogs</b>, dogged.</p><script>x()</script><p onclick='x()'>개와 고양이</p>",
    ),
    "notext": ("مقال", "هذه وثيقة قصيرة تتحدث عن الكلاب.\nسطر ثان."),
}


@pytest.fixture
def with_texts(server: str, served: Database) -> str:
    """The server, whose topic of dogs has an HTML document with Korean in it, and an Arabic one."""
    _import(served, TEXTS)
    return server


def _import(database: Database, texts: dict[str, tuple[str, str]]) -> None:
    lines = [json.dumps({"docno": docno, "title": title, "body": body}) for docno, (title, body) in texts.items()]
    with database.transaction() as session:
        read = documents.read_documents(
            [InputFile("more.jsonl", "\n".join(lines).encode())], fields={}, unpacked_limit=1 << 24
        )
        documents.import_documents(session, SLUG, read)


@dataclass(frozen=True)
class Look:
    """How a judge sees the screen: 320 x 256 pixels are 400 % of a small window."""

    scheme: Literal["light", "dark"]
    size: ViewportSize
    forced_colours: Literal["active", "none"] = "none"
    language: str = "en"


LOOKS = {
    "light-desk": Look("light", DESK),
    "dark-phone": Look("dark", PHONE),
    "light-enlarged": Look("light", ENLARGED),
    "dark-enlarged": Look("dark", ENLARGED),
    "forced-colours-desk": Look("light", DESK, "active"),
    "forced-colours-phone": Look("dark", PHONE, "active"),
    "korean-desk": Look("dark", DESK, language="ko"),
    "korean-phone": Look("light", PHONE, language="ko"),
}


@pytest.fixture(params=LOOKS.values(), ids=list(LOOKS))
def watched(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page of either kind, and what the browser complains of on it."""
    look = request.param
    context = browser.new_context(
        color_scheme=look.scheme,
        viewport=look.size,
        forced_colors=look.forced_colours,
        locale=look.language,
        reduced_motion="reduce",  # a colour on its way to another has no contrast to be judged
    )
    page = context.new_page()
    complaints: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    def on_request(request: Request) -> None:
        if not request.url.startswith("http://127.0.0.1"):
            complaints.append(f"asks for {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", on_request)
    yield page, complaints
    context.close()


def test_the_screen_is_accessible_and_fits_in_all_its_states(watched: tuple[Page, list[str]], with_texts: str) -> None:
    page, complaints = watched
    open_screen(page, with_texts, f"{JUDGE}/topics/2")
    expect(page.locator("html")).to_have_attribute("lang", page.evaluate("navigator.language"))
    assert faults(page) == []
    press(page, "n")
    page.keyboard.type("A note")
    press(page, "Escape", "x")
    assert faults(page) == []
    for key in ("g", "a", "q", "y", "?", "Control+k"):
        press(page, key)
        expect(page.locator("dialog:popover-open, dialog[open]")).to_be_visible()
        assert faults(page) == [], key
        press(page, "Escape")
        expect(page.locator("dialog:popover-open, dialog[open]")).to_have_count(0)
    for opened, key in (("#finding", "f"), ("#similar", "c")):
        press(page, key)
        expect(page.locator(opened)).to_be_visible()
        assert faults(page) == [], key
        press(page, "Escape")
        expect(page.locator(opened)).to_be_hidden()
    press(page, "1", "ArrowLeft")
    assert faults(page) == []
    press(page, "Enter", "2")
    expect(page.locator("#over-links")).to_be_visible()
    assert faults(page) == []
    assert complaints == []


def test_the_screen_is_accessible_without_a_network(watched: tuple[Page, list[str]], with_texts: str) -> None:
    page, _ = watched
    open_screen(page, with_texts)
    page.context.set_offline(offline=True)
    press(page, "1")
    expect(page.locator("#trouble")).to_be_visible()
    assert faults(page) == []


def test_grades_are_for_thumbs_on_a_phone(browser: Browser, server: str, served: Database) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, locale="en")
    page = context.new_page()
    open_screen(page, server)
    assert page.locator("#document-title").bounding_box()["y"] < 250  # type: ignore[index]  # it is there
    for value in (2, 0):
        button = page.locator(f"[name=grade][value='{value}']")
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 48
        assert box["width"] >= 100
        assert box["y"] > PHONE["height"] / 2
        button.tap()
        wait_out_a_bounce(page)
    expect(page.locator("#topic")).not_to_have_attribute("open")
    eventually(page, lambda: [one.grade for one in stored(served)] == [2, 0])
    # An unfolded topic stays so.
    page.locator("#topic > summary").tap()
    page.reload()
    expect(page.locator("#topic")).to_have_attribute("open", "")
    context.close()


def marks(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(TopicMark.words)))


def test_words_are_marked_counted_and_found_without_touching_the_document(
    page: Page, with_texts: str, served: Database
) -> None:
    open_screen(page, with_texts, f"{JUDGE}/topics/2")
    if title(page) != "Ein Hund":
        press(page, "l")
    body = page.locator("#body")
    before = body.inner_html()
    assert "script" not in before
    assert "onclick" not in before
    press(page, "/")
    page.keyboard.type("고양")
    press(page, "Enter", "/")
    page.keyboard.type("dogged")
    press(page, "Enter", "Escape")
    marked = """() => [...CSS.highlights].filter(([name]) => /^mark-\\d/.test(name))
        .map(([name, ranges]) => [name, ...[...ranges].map(String)])"""
    assert page.evaluate(marked) == [["mark-0", "dogs", "dogs"], ["mark-2", "dogged"], ["mark-1", "고양"]]
    assert page.locator("#marked li > span").all_inner_texts() == ["2", "1", "1"]
    now = "() => String([...CSS.highlights.get('mark-now')])"
    for key, word in (("]", "dogs"), ("]", "dogs"), ("]", "dogged"), ("[", "dogs"), ("[", "dogs"), ("[", "dogs")):
        press(page, key)
        assert page.evaluate(now) == word
    assert body.inner_html() == before
    page.get_by_role("button", name="No longer mark “dogged”").click()
    saved(page)
    expect(page.locator("#marked li")).to_have_count(2)
    eventually(page, lambda: marks(served) == ["고양"])
    page.reload()
    listening(page)
    assert page.locator("#marked li").count() == 2


def test_selected_text_is_kept_with_the_judgement(page: Page, with_texts: str, served: Database) -> None:
    open_screen(page, with_texts, f"{JUDGE}/topics/2")
    if title(page) != "Ein Hund":
        press(page, "l")
    page.evaluate("""() => getSelection().selectAllChildren(document.querySelector("#body b"))""")
    press(page, "e")
    expect(page.locator("#evidence q")).to_have_text(["two dogs"])
    assert page.evaluate("() => [...CSS.highlights.get('evidence')].map(String)") == ["two dogs"]
    press(page, "2")
    expect(page.locator("#evidence")).to_be_hidden()
    saved(page)
    with served.reading() as session:
        kept = session.execute(select(Evidence.start, Evidence.end, Evidence.text)).all()
    assert kept == [(13, 21, "two dogs")]
    press(page, "ArrowLeft")
    expect(page.locator("#evidence q")).to_have_text(["two dogs"])
    page.get_by_role("button", name="Remove the passage “two dogs”").click()
    press(page, "1")
    saved(page)
    [_, latest] = stored(served)
    with served.reading() as session:
        assert session.scalars(select(Evidence.id).where(Evidence.judgement_id == latest.id)).all() == []


def test_texts_run_the_way_their_language_does(page: Page, with_texts: str) -> None:
    open_screen(page, with_texts, f"{JUDGE}/topics/2")
    if title(page) != "مقال":
        press(page, "l")
    assert page.evaluate("() => getComputedStyle(document.querySelector('#body')).direction") == "rtl"
    assert page.locator("#body").inner_text().split("\n") == TEXTS["notext"][1].split("\n")


def test_a_long_document_comes_part_by_part_as_one_reads(page: Page, server: str, served: Database) -> None:
    _import(served, {"d10": ("A long one", LONG)})
    open_screen(page, server, f"{JUDGE}/topics/2")
    if title(page) != "A long one":
        press(page, "l")
    text = page.locator("#body")
    assert len(text.inner_text()) < len(LONG) / 2
    expect(page.locator("#more")).to_contain_text("Part 1 of")
    more = page.locator("#more")

    def is_read() -> bool:
        page.mouse.wheel(0, 1_000_000)
        return more.is_hidden()

    eventually(page, is_read)
    assert page.evaluate("() => document.querySelector('#body').textContent") == LONG
    press(page, "1")
    expect(page.locator("#document-title")).not_to_have_text("A long one")
    assert page.evaluate("scrollY") == 0


def test_notes_and_questions_stay_with_the_topic(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "t")
    page.keyboard.type("Cats in pictures count.")
    press(page, "Escape")
    expect(page.locator("#topic-note-state")).to_have_text("saved")
    press(page, "q")
    page.keyboard.type("Do lions count?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Do lions count?")).to_be_visible()
    press(page, "Escape")
    with served.transaction() as session:
        assert session.scalars(select(TopicNote.text)).all() == ["Cats in pictures count."]
        question = session.scalars(select(Question).where(Question.text == "Do lions count?")).one()
        questions.answer(session, SLUG, question.id, "They do.", answered_by_id=None, answered_at=NOW)
    press(page, "1")
    expect(page.locator("#answers")).to_have_text("1 new answer")
    press(page, "q")
    expect(page.get_by_text("They do.")).to_be_visible()
    expect(page.locator("#answers")).to_be_hidden()
    page.reload()
    listening(page)
    assert page.locator("#topic-note").input_value() == "Cats in pictures count."


def test_text_size_and_width_stay(page: Page, server: str) -> None:
    open_screen(page, server)
    style = "() => [getComputedStyle(document.querySelector('#document')).fontSize]"
    before = page.evaluate(style)
    press(page, "a")
    page.get_by_role("button", name="Larger").click()
    page.get_by_role("button", name="wide").click()
    after = page.evaluate(style)
    assert after != before
    page.goto(f"{server}{TOPIC}")
    listening(page)
    assert page.evaluate(style) == after
    expect(page.locator("[data-width='2']")).to_have_attribute("aria-pressed", "true")


def test_from_a_search_one_document_is_judged_and_then_back(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "1")
    saved(page)
    [first] = stored(served)
    search = f"/collections/{SLUG}/search?topic=1%26q=cats"
    with served.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_search=True))
    page.goto(f"{server}{JUDGE}/assignments/{first.assignment_id}?back={search}")
    listening(page)
    press(page, "2")
    expect(page.get_by_role("searchbox")).to_be_visible()
    assert [(one.grade, one.current) for one in stored(served)] == [(1, False), (2, True)]


def test_what_a_page_could_not_send_is_sent_from_the_page_of_topics(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    page.route("**/acts", lambda route: route.abort())
    press(page, "2", "1")
    expect(page.locator("#state")).to_have_text("2 unsent")
    expect(page.locator("#trouble")).to_contain_text("The server does not answer.")
    assert stored(served) == []
    other = page.context.new_page()
    with other.expect_response("**/acts") as sent:
        other.goto(f"{server}{JUDGE}")
    assert len(sent.value.json()["acknowledged"]) == 2
    expect(other.locator("#leftovers")).to_be_hidden()
    assert [one.grade for one in stored(served)] == [2, 1]
    saved(page)  # it was told by the other page
