"""Tables in a real browser: sorted, filtered, paged, their columns chosen, by mouse and keyboard, in the address."""

from pathlib import Path

import pytest
from browser.pages import sign_in
from browser.test_every_page import AXE, PHONE, Watch, faults_of
from build import PASSWORD, SLUG
from playwright.sync_api import Browser, Locator, Page, expect

RUNS = f"/collections/{SLUG}/runs"
# Puts a table of made-up runs on a page that has the component, as the server would have sent it.
SHOW = """async ([count, attributes]) => {
  const rows = Array.from({ length: count }, (_, index) => {
    const [tag, team] = [`run-${index + 1}-with-a-name-of-many-letters`, `team ${index % 3}`];
    const value = index % 7 === 3 ? "-" : ((index * 37) % count) * 1000;
    const written = value.toLocaleString("en");
    return `<tr><th scope="row"><a href="#${index}">${tag}</a></th><td>${team}</td>
      <td class="number" data-value="${value}">${written}</td><td>${index % 2 ? "yes" : "no"}</td></tr>`;
  });
  document.querySelector("main").innerHTML = `<h1>Made up</h1>
    <div class="scrolling" role="region" tabindex="0" aria-label="Made up">
    <table data-table="made-up" ${attributes}><caption>Made up</caption><thead><tr>
    <th scope="col" data-key="run" data-short>Run</th><th scope="col" data-key="team" data-filter>Team</th>
    <th scope="col" class="number" data-key="size">Size</th><th scope="col" data-chosen="no">Odd</th>
    </tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
  window.changes = [];
  document.addEventListener("table:changed", (event) => window.changes.push(event.detail.rows.length));
  const { enhance } = await import(document.querySelector('script[src*="/tables.js"]').src);
  enhance(document.querySelector("main"));
}"""


@pytest.fixture
def runs(page: Page, server: str) -> Page:
    sign_in(page, server, "ola", RUNS)
    return page


def show(page: Page, count: int = 20, attributes: str = "") -> Locator:
    page.evaluate(SHOW, [count, attributes])
    return page.locator("tbody tr:visible")


def column(page: Page, index: int) -> list[str]:
    return [text.strip() for text in page.locator(f"tbody tr:visible > :nth-child({index})").all_text_contents()]


def test_a_heading_sorts_numbers_from_the_highest_and_turns_at_the_second_click(runs: Page) -> None:
    show(runs)
    button = runs.get_by_role("button", name="Size")
    button.click()
    numbers = column(runs, 3)
    given = [int(each.replace(",", "")) for each in numbers if each != "-"]
    assert given == sorted(given, reverse=True)
    assert numbers[-3:] == ["-"] * 3
    expect(runs.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "descending")
    button.press("Enter")
    assert [int(each.replace(",", "")) for each in column(runs, 3)[:-3]] == given[::-1]
    assert column(runs, 3)[-3:] == ["-"] * 3
    expect(runs.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "ascending")


def test_names_are_sorted_by_the_numbers_in_them(runs: Page) -> None:
    show(runs, 12)
    runs.get_by_role("button", name="Size").click()
    runs.get_by_role("button", name="Run", exact=True).click()
    assert [tag.split("-")[1] for tag in column(runs, 1)] == [str(number) for number in range(1, 13)]


def test_rows_are_filtered_while_typing_and_their_number_is_announced(runs: Page) -> None:
    rows = show(runs)
    status = runs.locator(".table-bar [role=status]")
    expect(status).to_have_text("20 of 20 rows")
    runs.get_by_role("searchbox", name="Filter rows").press_sequentially("no RUN-1")
    expect(status).to_have_text("6 of 20 rows")
    expect(rows).to_have_count(6)
    assert all("run-1" in tag for tag in column(runs, 1))
    assert runs.evaluate("changes.at(-1)") == 6


def test_a_column_offers_its_values_to_choose_from(runs: Page) -> None:
    rows = show(runs)
    teams = runs.get_by_role("combobox", name="Team")
    assert teams.locator("option").all_text_contents() == ["Team: all", "team 0", "team 1", "team 2"]
    teams.select_option("team 2")
    expect(rows).to_have_count(6)
    assert set(column(runs, 2)) == {"team 2"}


def test_sort_and_filters_stand_in_the_address_and_come_back(runs: Page, server: str) -> None:
    runs.goto(f"{server}{RUNS}?show=all")
    show(runs)
    runs.get_by_role("button", name="Size").click()
    runs.get_by_role("button", name="Size").click()
    runs.get_by_role("searchbox").fill("run-1")
    runs.get_by_role("combobox", name="Team").select_option("team 1")
    before = column(runs, 1)
    assert runs.url == f"{server}{RUNS}?show=all&sort=size&order=ascending&q=run-1&filter.team=team+1"
    show(runs)
    assert column(runs, 1) == before
    runs.get_by_role("searchbox").fill("")
    runs.get_by_role("combobox", name="Team").select_option("")
    assert runs.url == f"{server}{RUNS}?show=all&sort=size&order=ascending"


def test_chosen_columns_are_remembered_by_the_name_of_the_table(runs: Page) -> None:
    show(runs)
    expect(runs.get_by_role("columnheader", name="Odd")).to_be_hidden()
    runs.get_by_text("Columns", exact=True).click()
    runs.get_by_role("checkbox", name="Odd").check()
    runs.get_by_role("checkbox", name="Team").uncheck()
    expect(runs.get_by_role("checkbox", name="Run")).to_have_count(0)
    runs.keyboard.press("Escape")
    expect(runs.get_by_role("checkbox", name="Odd")).to_be_hidden()
    show(runs)
    expect(runs.get_by_role("columnheader", name="Odd")).to_be_visible()
    expect(runs.get_by_role("columnheader", name="Team")).to_be_hidden()
    expect(runs.get_by_role("cell", name="team 0")).to_have_count(0)


def test_more_than_200_rows_come_in_pages(runs: Page) -> None:
    rows = show(runs, 450)
    expect(rows).to_have_count(200)
    pages = runs.get_by_role("navigation", name="Pages of the table")
    expect(pages).to_contain_text("1 to 200 of 450")
    pages.get_by_role("button", name="Next").press("Enter")
    pages.get_by_role("button", name="Next").press("Enter")
    expect(rows).to_have_count(50)
    expect(pages).to_contain_text("401 to 450 of 450")
    expect(pages.get_by_role("button", name="Next")).to_be_disabled()
    expect(pages.get_by_role("button", name="Previous")).to_be_focused()
    runs.get_by_role("combobox", name="Team").select_option("team 0")
    expect(rows).to_have_count(150)
    expect(pages).to_be_hidden()
    assert runs.evaluate("changes.at(-1)") == 150


def test_headings_and_names_stay_in_view_and_the_page_keeps_its_width(runs: Page) -> None:
    show(runs, 150)
    region = runs.get_by_role("region", name="Made up")
    box = region.bounding_box()
    assert box is not None
    assert box["height"] < 900
    region.evaluate("region => region.scrollTop = 2000")
    heading = runs.get_by_role("columnheader", name="Size").bounding_box()
    assert heading is not None
    assert abs(heading["y"] - box["y"]) <= 2
    runs.set_viewport_size(PHONE)
    region.evaluate("region => region.scrollLeft = 500")
    name = runs.locator("tbody tr th").first.bounding_box()
    outer = region.bounding_box()
    assert name is not None
    assert outer is not None
    assert abs(name["x"] - outer["x"]) <= 2
    assert runs.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert runs.locator("tbody tr").first.evaluate("row => row.offsetHeight") <= 52


def test_a_row_is_32_pixels_high(runs: Page) -> None:
    show(runs)
    assert runs.locator("tbody tr").nth(3).evaluate("row => row.offsetHeight") <= 33


def test_a_long_name_is_shortened_in_the_middle_and_stays_whole_for_a_screen_reader(runs: Page) -> None:
    show(runs)
    whole = "run-1-with-a-name-of-many-letters"
    link = runs.get_by_role("link", name=whole, exact=True)
    expect(link).to_have_text(whole)
    expect(link.locator(".long")).to_have_attribute("title", whole)
    assert link.locator(".long > span").all_text_contents() == [whole[:-9], whole[-9:]]


def test_the_rows_shown_are_taken_away(runs: Page, tmp_path: Path) -> None:
    runs.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(runs, 12)
    runs.get_by_role("combobox", name="Team").select_option("team 1")
    runs.get_by_role("button", name="Copy").click()
    expect(runs.locator(".table-bar [role=status]")).to_have_text("Copied: 4 rows")
    copied = runs.evaluate("navigator.clipboard.readText()")
    assert copied.split("\n")[:2] == ["Run\tTeam\tSize", "run-2-with-a-name-of-many-letters\tteam 1\t1000"]
    with runs.expect_download() as download:
        runs.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "made-up.csv")
    assert download.value.suggested_filename == "made-up.csv"
    assert (tmp_path / "made-up.csv").read_text().splitlines()[1] == "run-2-with-a-name-of-many-letters,team 1,1000"


def test_cells_that_a_spreadsheet_would_compute_are_quoted(runs: Page) -> None:
    module = "document.querySelector('script[src*=\"/tables.js\"]').src.replace('tables.js', 'table_cells.js')"
    csv = f"import({module}).then(({{ asCsv }}) => asCsv([['=1+1', '-0.5', 'a,b', 'say \"x\"']]))"
    assert runs.evaluate(csv) == '\'=1+1,-0.5,"a,b","say ""x"""\r\n'


def test_the_component_has_no_accessibility_violation_and_breaks_no_policy(runs: Page, server: str) -> None:
    watch = Watch(runs, server)
    runs.reload()
    show(runs, 250)
    runs.evaluate(AXE)
    assert faults_of(runs, "table") == []
    runs.get_by_text("Columns", exact=True).click()
    assert faults_of(runs, "table with its columns") == []
    assert watch.complaints == []


def test_without_script_the_runs_are_readable(browser: Browser, server: str) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en")
    page = context.new_page()
    page.goto(f"{server}/sign-in")
    page.get_by_label("Name").fill("ola")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{server}{RUNS}")
    expect(page.get_by_role("row")).not_to_have_count(0)
    expect(page.get_by_role("link", name="alpha", exact=True)).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_count(0)
    context.close()
