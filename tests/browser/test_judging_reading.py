"""Reading and marking: views of a document, words that are marked, sentences as evidence, finding in all of a text."""

import json

from browser.judging_screen import JUDGE, module, open_screen, press, saved, title
from browser.pages import eventually
from build import SLUG
from playwright.sync_api import Page, expect
from sqlalchemy import select

from annotator.files import InputFile
from annotator.storage import Database, Evidence, TopicMark
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.documents import documents

TOPIC = f"{JUDGE}/topics/2"
PAGE = "<b>Dogs</b><br>One dog. Two\ndogs run fast!<table><tr><td rowspan=2>E</td><td>1</td></tr></table>"
SENTENCES = "The first one.\nIt is short. 둘째 문장입니다. 셋째도 있다.\n\nA heading\n\nDogs  run."


def show(page: Page, server: str, served: Database, body: str) -> None:
    lines = json.dumps({"docno": "d10", "title": "The one", "body": body})
    with served.transaction() as session:
        read = documents.read_documents([InputFile("d.jsonl", lines.encode())], fields={}, unpacked_limit=1 << 24)
        documents.import_documents(session, SLUG, read)
    open_screen(page, server, TOPIC)
    if title(page) != "The one":
        press(page, "l")
    expect(page.locator("#document-title")).to_have_text("The one")


def test_a_document_is_shown_as_page_text_and_in_fixed_width(page: Page, server: str, served: Database) -> None:
    show(page, server, served, PAGE)
    body = page.locator("#body")
    expect(body.locator("td[rowspan='2']")).to_have_text("E")
    press(page, "v")
    expect(body.locator(".plain")).to_have_text(PAGE)
    press(page, "e")
    expect(page.locator("#toast")).to_contain_text("usual view")
    press(page, "v")
    expect(body.locator("> :first-child")).to_have_css("white-space", "pre")
    press(page, "v")
    expect(body.locator("b")).to_have_text("Dogs")
    press(page, "a")
    page.locator("[data-view='mono']").click()
    page.reload()
    expect(body.locator(".plain")).to_have_text(PAGE)
    expect(page.locator(".reading")).to_have_class("reading mono")


def test_a_document_without_anything_to_be_read_says_so_and_offers_its_text(
    page: Page, server: str, served: Database
) -> None:
    show(page, server, served, "<p><img src='x.png'></p><script>write()</script>")
    expect(page.locator("#empty")).to_contain_text("Nothing of this document can be shown.")
    page.locator("#show-source").click()
    expect(page.locator("#body")).to_contain_text("<img src='x.png'>")
    expect(page.locator("#empty")).to_be_hidden()


def test_words_of_the_topic_can_be_taken_off_and_put_back(page: Page, server: str, served: Database) -> None:
    show(page, server, served, "Big dogs, dogs run fast.")
    counts = page.locator("#marked li > span")
    expect(counts).to_have_text(["2"])
    press(page, "/")
    page.keyboard.type("dogs")
    press(page, "Enter")
    expect(page.locator("#toast")).to_have_text("“dogs” is marked already.")
    press(page, "/")
    page.keyboard.type("dogs run")
    press(page, "Enter")
    expect(counts).to_have_text(["1", "1"])
    page.get_by_role("button", name="No longer mark “dog”").click()
    expect(page.locator("#marked .off")).to_contain_text("dog")
    expect(counts).to_have_text(["1"])

    def kept() -> set[str]:
        with served.reading() as session:
            return set(session.scalars(select(TopicMark.words)))

    eventually(page, lambda: kept() == {"dogs run", "-dog"})
    page.reload()
    page.get_by_role("button", name="Mark “dog” again").click()
    expect(counts).to_have_text(["1", "1"])
    page.get_by_role("button", name="Highlight words").click()
    expect(page.locator("#marked li")).to_have_count(0)
    assert page.evaluate("() => [...CSS.highlights.keys()].filter((name) => /^mark-\\d/.test(name))") == []


def test_the_longest_phrase_is_marked(page: Page, server: str) -> None:
    page.goto(f"{server}/sign-in")
    found = module(
        page,
        "marks",
        """({ patternOf, occurrences, typed }) => {
          const root = document.createElement("p");
          root.textContent = "flow field, flows; as a field";
          const words = [{ text: "flow", kind: "prefix" }, typed("flow field"), typed("a")];
          return occurrences(patternOf(words), [root]).map(({ word, range }) => [word, String(range)]);
        }""",
    )
    assert found == [[1, "flow field"], [0, "flows"], [2, "a"]]


def test_sentences_are_chosen_and_kept_by_keys_alone(page: Page, server: str, served: Database) -> None:
    show(page, server, served, SENTENCES)
    chosen = "() => getSelection().toString()"
    press(page, "e")
    assert page.evaluate(chosen) == "The first one."
    press(page, "ArrowDown", "Shift+ArrowDown")
    assert page.evaluate(chosen) == "It is short. 둘째 문장입니다."
    press(page, "Enter")
    assert page.evaluate(chosen) == "셋째도 있다."
    press(page, "ArrowUp", "ArrowUp", "e", "Escape")
    assert page.evaluate(chosen) == ""
    expect(page.locator("#evidence q")).to_have_text(["It is short. 둘째 문장입니다."])
    page.evaluate("""() => {
      const text = document.querySelector("#body .plain").firstChild;
      getSelection().setBaseAndExtent(text, 5, text, 20);  // from “irst” to “is”, less a letter
    }""")
    press(page, "e")
    whole = "first one.\nIt is short. 둘째 문장입니다."
    assert page.locator("#evidence q").all_text_contents() == [whole]
    press(page, "1")
    saved(page)
    with served.reading() as session:
        [(start, end, text)] = session.execute(select(Evidence.start, Evidence.end, Evidence.text)).all()
    assert (text, SENTENCES[start:end]) == (whole, whole)
    page.evaluate("() => getSelection().selectAllChildren(document.querySelector('#document-title'))")
    press(page, "e")
    expect(page.locator("#toast")).to_have_text("Passages are kept from the text, not from the title.")


def test_words_are_found_in_parts_that_are_not_loaded_and_the_end_is_a_key_away(
    page: Page, server: str, served: Database
) -> None:
    filler = ("word " * 100 + "\n\n") * 130
    show(page, server, served, f"A needle here.\n\n{filler * 4}Another Needle there.\n\n{filler * 2}The end.")
    press(page, "f")
    page.keyboard.type("needle")
    press(page, "Enter")
    expect(page.locator("#find-state")).to_have_text("1 of 2")
    press(page, "Enter")
    expect(page.locator("#find-state")).to_have_text("2 of 2")
    assert page.evaluate("() => String([...CSS.highlights.get('mark-now')])") == "Needle"
    press(page, "Escape")
    expect(page.locator("#find")).to_be_hidden()
    press(page, "End")
    expect(page.locator("#body")).to_contain_text("The end.")
    expect(page.locator("#more")).to_be_hidden()


def test_escape_leaves_the_note_of_the_topic_where_no_document_is_left(page: Page, server: str) -> None:
    open_screen(page, server, TOPIC)
    press(page, "1")
    expect(page.locator("#document")).to_be_visible()
    press(page, "1")
    expect(page.locator("#over-title")).to_contain_text("Nothing left")
    press(page, "t")
    page.keyboard.type("abc")
    press(page, "Escape")
    expect(page.locator("#topic-note")).not_to_be_focused()
    expect(page.locator("#topic-note")).to_have_value("abc")


def test_the_screen_judges_without_highlighting_where_the_organisers_switched_it_off(
    page: Page, server: str, served: Database
) -> None:
    with served.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_highlight=False))
    open_screen(page, server)
    expect(page.locator("#marking-on")).to_have_count(0)
    assert page.evaluate("[...CSS.highlights.keys()].filter((name) => name.startsWith('mark'))") == []
    press(page, "/", "]", "1")
    saved(page)
    expect(page.locator("#recent > li")).to_have_count(1)
