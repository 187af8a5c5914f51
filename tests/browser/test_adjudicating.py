"""An adjudicator at the judging screen, in a browser: the same keys, apart from the judges, blind to every byte."""

from browser.judging_screen import judge, listening, press, saved, title
from browser.pages import eventually, sign_in
from build import SLUG
from playwright.sync_api import Browser, Page, Response, expect
from sqlalchemy import select, update

from annotator.storage import Assignment, Collection, Database, Document, Judgement, PoolItem, Purpose
from annotator.storage.tables.judging import Evidence

ADJUDICATE = f"/collections/{SLUG}/adjudicate"
TOPIC = f"{ADJUDICATE}/topics/1"
# Of the two labellings, grades i % 2 of the documents 0 to 7 and i % 3 of 0 to 9, four differ: d02 (0 and 2), d03 and
# d04 (0 and 1), across the line of relevance, and d05 (1 and 2). So they come to who sees the grades, the middle two in
# this or the other order.
WORST, LAST = "Title of d02", "Title of d05"


def decided(database: Database) -> list[int | None]:
    """What was decided, in order, what was replaced included."""
    with database.reading() as session:
        statement = select(Judgement.grade).join(Assignment, Assignment.id == Judgement.assignment_id)
        return list(session.scalars(statement.where(Assignment.purpose == Purpose.ADJUDICATION).order_by(Judgement.id)))


def show_grades(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(shows_grades=True))


def open_as(page: Page, server: str, path: str = TOPIC) -> None:
    sign_in(page, server, "eve", path)
    listening(page)


def test_the_worst_come_first_and_each_key_decides(page: Page, server: str, served: Database) -> None:
    show_grades(served)
    sign_in(page, server, "eve", ADJUDICATE)
    page.get_by_role("link", name="Begin with topic 1: cats").press("Enter")
    listening(page)
    assert title(page) == WORST
    expect(page.locator("#position")).to_have_text("1 of 4")
    judge(page, "120")
    assert title(page) == LAST
    judge(page, "1")
    expect(page.locator("#over-title")).to_have_text("Nothing left for you in topic 1")
    saved(page)
    assert decided(served) == [1, 2, 0, 1]
    page.get_by_role("link", name="Other topics").click()
    expect(page.get_by_text("There are no disputes for you to decide now.")).to_be_visible()


def test_undo_later_and_cannot_judge_do_what_they_do_for_judges(page: Page, server: str, served: Database) -> None:
    open_as(page, server)
    first = title(page)
    judge(page, "1")
    press(page, "u")
    assert title(page) == first
    press(page, "2")
    press(page, "l")  # the second is put off
    press(page, "x", "b")
    judge(page, "2")
    saved(page)
    # What was put off comes back at the end.
    expect(page.locator("#document-title")).to_be_visible()
    judge(page, "0")
    saved(page)
    # The third is the withdrawal of the first.
    assert decided(served) == [1, None, 2, None, 2, 0]
    page.goto(f"{server}/collections/{SLUG}/judge/judged")
    expect(page.get_by_text("You decided this as an adjudicator.")).to_have_count(4)


def test_undo_goes_back_over_pages_to_decisions_alone(page: Page, server: str) -> None:
    open_as(page, server)
    first = title(page)
    judge(page, "1")
    saved(page)
    page.reload()
    listening(page)
    press(page, "ArrowLeft")
    expect(page.locator("#document-title")).to_have_text(first)
    expect(page.locator("#looking")).to_contain_text("You judged this document: Relevant.")


def test_what_is_judged_without_network_arrives_when_it_is_back(page: Page, server: str, served: Database) -> None:
    open_as(page, server)
    page.context.set_offline(True)
    judge(page, "12")
    expect(page.locator("#state")).to_contain_text("2 unsent")
    page.context.set_offline(False)
    saved(page)
    assert decided(served) == [1, 2]


def test_what_a_closed_tab_left_is_sent_from_the_list_of_topics(page: Page, server: str, served: Database) -> None:
    open_as(page, server)
    page.route("**/acts", lambda route: route.abort())
    judge(page, "2")
    expect(page.locator("#state")).to_contain_text("1 unsent")
    other = page.context.new_page()
    page.close(run_before_unload=False)
    other.goto(f"{server}{ADJUDICATE}")
    expect(other.locator("#leftovers")).to_be_hidden()
    other.wait_for_function("async () => (await indexedDB.databases()).length > 0")
    eventually(other, lambda: decided(served) != [])
    assert decided(served) == [2]


def test_no_byte_that_is_sent_tells_who_or_what(page: Page, server: str, served: Database) -> None:
    bodies: list[str] = []

    def keep(response: Response) -> None:
        if "/static/" not in response.url and response.status // 100 != 3:
            bodies.append(response.text())

    page.on("response", keep)
    open_as(page, server)
    judge(page, "12")
    press(page, "ArrowLeft")
    saved(page)
    page.goto(f"{server}{ADJUDICATE}")
    page.wait_for_load_state("networkidle")
    told = "\n".join(bodies)
    assert "Title of d02" in told
    for word in ("generous", "strict", "alpha", "beta", '"given":[', '"given": ['):
        assert word not in told
    assert decided(served)[0] == 1


def test_the_grades_are_beside_the_document_where_the_organiser_lets_them_be_seen(
    page: Page, server: str, served: Database
) -> None:
    show_grades(served)
    open_as(page, server)
    given = page.locator("#given")
    expect(given).to_have_text("Grades given: Not relevant, Highly relevant.")
    judge(page, "1")
    expect(given).to_have_text("Grades given: Not relevant, Relevant.")


def test_what_the_judges_wrote_stands_above_the_document_and_is_found_in_it(
    page: Page, server: str, served: Database
) -> None:
    with served.transaction() as session:
        item = select(PoolItem.id).join(Document, Document.id == PoolItem.document_id).where(Document.docno == "d02")
        differing = session.scalars(select(Judgement).where(Judgement.pool_item_id.in_(item)))
        for one in differing:
            one.note = f"Grade {one.grade} for good reasons."
            session.add(Evidence(judgement_id=one.id, start=14, end=27, text="tells of cats"))
        session.execute(update(Collection).values(shows_grades=True))
    open_as(page, server)
    notes = page.locator("#judges-notes")
    expect(notes.locator("#judges-notes-list > li")).to_have_count(2)
    expect(notes.locator(".decided")).to_have_count(2)
    expect(notes).to_contain_text("Grade 2 for good reasons.")
    assert page.evaluate("CSS.highlights.get('judges-evidence').size") == 2
    notes.get_by_role("button", name="tells of cats").first.click()
    assert page.evaluate("String([...CSS.highlights.get('mark-now')][0])") == "tells of cats"
    # They stay folded, and the next document has none.
    press(page, "j")
    expect(notes).not_to_have_attribute("open", "")
    judge(page, "1")
    expect(notes).to_be_hidden()
    saved(page)
    page.goto(f"{server}/collections/{SLUG}/judge/judged")
    page.get_by_role("link", name="Title of d02").click()
    listening(page)
    expect(notes).to_be_visible()
    expect(notes).not_to_have_attribute("open", "")
    press(page, "0")
    page.wait_for_url("**/judge/judged#row-*")
    eventually(page, lambda: decided(served) == [1, 0])


def test_without_script_a_button_decides(browser: Browser, server: str, served: Database) -> None:
    context = browser.new_context(locale="en", java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server, "eve", TOPIC)
    first = title(page)
    page.get_by_role("button", name="2 Highly relevant").click()
    page.wait_for_url(f"{server}{TOPIC}")
    assert title(page) != first
    assert decided(served) == [2]
    context.close()
