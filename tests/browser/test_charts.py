"""Pictures drawn from tables: what they show, how they look, what is saved, and that the table stays."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from browser.pages import sign_in
from browser.test_every_page import Watch
from build import SLUG
from playwright.sync_api import Locator, Page
from sqlalchemy import func, update

from annotator.storage import Database, Judgement

AGREEMENT = f"/collections/{SLUG}/agreement"
ROWS_TO_SEE = 143
# Puts a table on the page and draws it; whether there is a picture.
DRAW = """async (table) => {
  const place = document.createElement("section");
  place.innerHTML = table;
  document.querySelector("main").prepend(place);
  const charts = await import(document.querySelector("script[src*='charts.js']").src);
  return charts.draw(place.querySelector("table")) !== null;
}"""
SAVED = """async () => {
  const saving = await import(new URL("charts/saving.js", document.querySelector("script[src*='charts.js']").src));
  return [saving.svgText(document.querySelector(".chart")), saving.csvText(document.querySelector("main table"))];
}"""
ACROSS_UP = '<th data-column="across">Run</th><th data-column="up">AP</th>'
RANGED = ACROSS_UP + '<th data-column="low">low</th><th data-column="high">high</th>'
# Of every kind: the table's attributes, its headings, a row, and the marks to expect of every row.
KINDS = {
    "line": ('data-chart="line"', ACROSS_UP, "<td>{n}</td><td>0.{n}</td>", {"line": 1, "dot": 4}),
    "bar": ('data-chart="bar" data-lies', ACROSS_UP, "<th>run {n}</th><td>0.{n}</td>", {"bar": 4}),
    "points": ('data-chart="points"', RANGED, "<th>r{n}</th><td>0.{n}</td><td>0.1</td><td>0.9</td>", {"dot": 4}),
    "scatter": (
        'data-chart="scatter" data-diagonal',
        '<th data-column="name">Run</th><th data-column="across">AP</th><th data-column="up">RR</th>',
        "<th>run {n}</th><td>0.{n}</td><td>0.2</td>",
        {"dot": 4, "line": 1},
    ),
    "heat": (
        'data-chart="heat" data-middle="0.2" data-numbers',
        '<th>Run</th><th data-column="cell">t1</th><th data-column="cell">t2</th>',
        "<th>run {n}</th><td>0.{n}</td><td>0.1</td>",
        {"cell": 8},
    ),
    "slope": (
        'data-chart="slope" data-order="rank"',
        ACROSS_UP + '<th data-column="up">RR</th>',
        "<th>run {n}</th><td>{n}</td><td>{n}</td>",
        {"line": 4, "dot": 8},
    ),
    "box": (
        'data-chart="box"',
        '<th data-column="across">Topic</th>'
        + "".join(f'<th data-column="{role}">{role}</th>' for role in ("least", "first", "median", "third", "most")),
        "<td>{n}</td><td>0</td><td>0.1</td><td>0.{n}</td><td>0.6</td><td>1</td>",
        {"bar": 4, "rule": 4},
    ),
}


@pytest.fixture
def agreement(page: Page, server: str) -> Page:
    sign_in(page, server, "ola", AGREEMENT)
    return page


def table_of(attributes: str, headings: str, *rows: str) -> str:
    head, body = f"<thead><tr>{headings}</tr></thead>", "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table {attributes}><caption>A title</caption>{head}<tbody>{body}</tbody></table>"


def draw(page: Page, table: str) -> Locator:
    """Put the table first on the page; its picture."""
    assert page.evaluate(DRAW, table)
    picture = page.locator(".chart svg").first
    picture.scroll_into_view_if_needed()
    return picture


def texts(picture: Locator) -> list[str]:
    return picture.locator("text").all_text_contents()


def marks(picture: Locator, kind: str) -> int:
    """How many shapes of Plot's marks of a kind there are, such as `dot`."""
    return picture.locator(f":is(g[data-mark={kind}] > *, path[data-mark={kind}])").count()


def saved(page: Page) -> Any:  # noqa: ANN401 - as JavaScript returned it
    return page.evaluate(SAVED)


def test_the_running_alpha_is_drawn_above_its_table(agreement: Page, server: str, served: Database) -> None:
    watch = Watch(agreement, server)
    with served.transaction() as session:  # as if the labels had been given on the screen
        session.execute(update(Judgement).values(client_id=func.replace(Judgement.client_id, "file-", "screen-")))
    agreement.reload()
    chart = agreement.get_by_role("img", name="Alpha as judging went on")
    chart.wait_for()
    assert chart.get_attribute("aria-describedby") == "running"
    assert agreement.locator("table#running tbody tr").count() == 8
    above, below = chart.bounding_box(), agreement.get_by_text("The chart as a table").bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    assert above["height"] > 200
    assert watch.complaints == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_title_and_its_rows_and_is_saved_as_valid_svg(
    agreement: Page, server: str, kind: str
) -> None:
    watch = Watch(agreement, server)
    attributes, headings, row, expected = KINDS[kind]
    picture = draw(agreement, table_of(attributes, headings, *(row.format(n=place) for place in range(1, 5))))
    assert picture.get_attribute("aria-label") == "A title"
    assert picture.get_attribute("role") == "img"
    assert {mark: marks(picture, mark) for mark in expected} == expected
    if kind not in {"line", "points", "box"}:
        assert {f"run {place}" for place in range(1, 5)} <= set(texts(picture))
    svg, csv = saved(agreement)
    root = ET.fromstring(svg)  # noqa: S314 - our own text
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "A title"
    for foreign in ("var(", "color-mix", "currentColor", "<style"):
        assert foreign not in svg
    assert csv.count("\n") == 5
    assert watch.complaints == []


def test_a_line_has_a_band_and_goes_on_over_gaps(agreement: Page) -> None:
    picture = draw(
        agreement,
        table_of(
            'data-chart="line" data-up="Kappa" data-least="0" data-most="1"',
            '<th data-column="across">Documents</th><th data-column="up">one</th><th data-column="low">low</th>'
            '<th data-column="high">high</th><th data-column="up">two</th><th>not drawn</th>',
            '<td data-value="1000">1,000</td><td>0.5</td><td>0.4</td><td>0.6</td><td>0.2</td><td>9</td>',
            '<td data-value="2000">2,000</td><td>0.7</td><td>0.6</td><td>0.9</td><td>none</td><td>9</td>',
            '<td data-value="3000">3,000</td><td>0.7</td><td>0.6</td><td>0.9</td><td>0.3</td><td>9</td>',
        ),
    )
    assert (marks(picture, "area"), marks(picture, "line"), marks(picture, "dot")) == (1, 2, 5)
    assert {"Documents", "Kappa", "one", "two", "1,000", "0", "1"} <= set(texts(picture))
    assert "not drawn" not in texts(picture)


def test_series_differ_without_colour(agreement: Page) -> None:
    headings = '<th data-column="across">Run</th>' + "".join(f'<th data-column="up">{name}</th>' for name in "abcd")
    rows = [f"<th>{place}</th>" + f"<td>{place}</td>" * 4 for place in (1, 2)]
    lines = draw(agreement, table_of('data-chart="line"', headings, *rows))
    dashes = lines.locator("g[data-mark=line]").evaluate_all(
        "lines => lines.map((line) => line.getAttribute('stroke-dasharray'))"
    )
    assert len(set(dashes)) == 4
    bars = draw(agreement, table_of('data-chart="bar"', headings, *rows))
    fills = bars.locator("g[data-mark=bar] rect").evaluate_all("bars => bars.map((bar) => bar.getAttribute('fill'))")
    assert len(set(fills)) == 4
    assert sum(fill.startswith("url(") for fill in fills) == 6


def test_bars_are_stacked_and_signed(agreement: Page) -> None:
    headings = ACROSS_UP + '<th data-column="up">RR</th>'
    stacked = draw(agreement, table_of('data-chart="bar" data-stacked', headings, "<th>r</th><td>2</td><td>3</td>"))
    tops = stacked.locator("g[data-mark=bar] rect").evaluate_all("bars => bars.map((bar) => bar.getBBox())")
    boxes = stacked.locator("g[data-mark=bar] rect").evaluate_all(
        "bars => bars.map((bar) => [bar.y.baseVal.value, bar.height.baseVal.value, bar.x.baseVal.value])"
    )
    assert len(tops) == 2
    assert boxes[1][0] + boxes[1][1] == pytest.approx(boxes[0][0])
    assert boxes[0][2] == boxes[1][2]
    signed = draw(
        agreement, table_of('data-chart="bar" data-signed', ACROSS_UP, "<th>r</th><td>2</td>", "<th>s</th><td>-1</td>")
    )
    fills = signed.locator("g[data-mark=bar] rect").evaluate_all("bars => bars.map((bar) => bar.getAttribute('fill'))")
    assert fills[0] != fills[1]


def test_rows_that_lie_make_the_picture_higher_and_have_a_reference(agreement: Page) -> None:
    rows = [f"<th>run {place}</th><td>0.{place}</td><td>0.1</td><td>1.5</td>" for place in range(1, 10)]
    few = draw(agreement, table_of('data-chart="points" data-lies data-up="AP"', RANGED, *rows[:3])).bounding_box()
    reference = 'data-reference="0.3" data-reference-name="baseline bm25"'
    picture = draw(agreement, table_of(f'data-chart="points" data-lies data-up="AP" {reference}', RANGED, *rows))
    many = picture.bounding_box()
    assert few is not None
    assert many is not None
    assert many["height"] > few["height"]
    assert {"run 1", "run 9", "AP", "baseline bm25", "1.4"} <= set(texts(picture))


def test_a_point_is_hollow_where_the_table_says_so(agreement: Page) -> None:
    headings = ACROSS_UP + '<th data-column="hollow">unjudged</th>'
    rows = ["<th>a</th><td>0.1</td><td>0</td>", "<th>b</th><td>0.2</td><td>1</td>"]
    picture = draw(agreement, table_of('data-chart="points" data-lies', headings, *rows))
    fills = picture.locator("g[data-mark=dot] path, g[data-mark=dot] circle").evaluate_all(
        "dots => dots.map((dot) => dot.getAttribute('fill'))"
    )
    assert fills == ["var(--chart-1)", "var(--chart-ground)"]


def test_a_click_on_a_point_follows_the_link_of_its_row(agreement: Page) -> None:
    headings = '<th data-column="name">Run</th><th data-column="across">AP</th><th data-column="up">RR</th>'
    rows = ['<th><a href="#there">alpha</a></th><td>0.5</td><td>0.5</td>', "<th>beta</th><td>0.1</td><td>0.9</td>"]
    picture = draw(agreement, table_of('data-chart="scatter"', headings, *rows))
    dot = picture.locator("g[data-mark=dot] > *").first
    dot.hover()
    assert "alpha" in "".join(picture.locator(".chart-tip text").all_text_contents())
    dot.click()
    agreement.wait_for_url("**#there")


def test_a_click_on_a_cell_follows_the_link_of_the_cell(agreement: Page) -> None:
    headings = '<th>Run</th><th data-column="cell">t1</th><th data-column="cell">t2</th>'
    row = '<th><a href="#run">a</a></th><td>0.1</td><td><a href="#cell">0.5</a></td>'
    picture = draw(agreement, table_of('data-chart="heat"', headings, row))
    picture.locator("g[data-mark=cell] rect").nth(1).click()
    agreement.wait_for_url("**#cell")


def test_a_front_is_joined_and_groups_have_their_own_symbols(agreement: Page) -> None:
    headings = (
        '<th data-column="name">Run</th><th data-column="across">ms</th>'
        '<th data-column="up" data-join="before">Front</th><th data-column="up">Others</th>'
    )
    rows = ["<th>a</th><td>1</td><td>0.2</td><td></td>", "<th>b</th><td>2</td><td></td><td>0.1</td>"]
    assert marks(draw(agreement, table_of('data-chart="scatter"', headings, *rows)), "line") == 1
    grouped = '<th data-column="across">AP</th><th data-column="up">RR</th><th data-column="group">Team</th>'
    rows = ["<td>0.1</td><td>0.2</td><td>cats</td>", "<td>0.3</td><td>0.2</td><td>dogs</td>"]
    picture = draw(agreement, table_of('data-chart="scatter"', grouped, *rows))
    shapes = picture.locator("g[data-mark=dot] path").evaluate_all("dots => dots.map((dot) => dot.getAttribute('d'))")
    assert len(set(shapes)) == 2
    assert {"cats", "dogs"} <= set(texts(picture))


def test_a_table_without_rows_or_series_has_no_picture(agreement: Page) -> None:
    assert not agreement.evaluate(DRAW, table_of('data-chart="bar"', ACROSS_UP))
    assert not agreement.evaluate(DRAW, table_of('data-chart="bar"', "<th>Run</th>", "<td>r</td>"))


def test_hidden_rows_leave_the_picture_when_the_table_says_it_changed(agreement: Page) -> None:
    rows = ["<th>alpha</th><td>0.5</td>", "<th>beta</th><td>0.1</td>"]
    picture = draw(agreement, table_of('data-chart="bar" data-lies', ACROSS_UP, *rows))
    assert marks(picture, "bar") == 2
    agreement.evaluate("""() => {
        const table = document.querySelector("main table");
        table.tBodies[0].rows[0].hidden = true;
        table.dispatchEvent(new CustomEvent("table:changed", { bubbles: true }));
    }""")
    assert marks(picture, "bar") == 1
    assert "alpha" not in texts(picture)


def test_rows_of_other_pages_of_a_table_are_drawn_and_saved(agreement: Page) -> None:
    rows = ["<th>alpha</th><td>0.5</td>", "<th>beta</th><td>0.1</td>"]
    picture = draw(agreement, table_of('data-chart="bar" data-lies', ACROSS_UP, *rows))
    agreement.evaluate("""() => {
        const table = document.querySelector("main table");
        const rows = [...table.tBodies[0].rows].reverse();
        rows[0].hidden = true;
        table.dispatchEvent(new CustomEvent("table:changed", { bubbles: true, detail: { rows } }));
    }""")
    assert [text for text in texts(picture) if text in {"alpha", "beta"}] == ["beta", "alpha"]
    with agreement.expect_download() as download:
        agreement.get_by_role("button", name="CSV: A title").click()
    assert download.value.path().read_text() == '"Run","AP"\n"beta","0.1"\n"alpha","0.5"\n'


def test_what_is_saved_has_the_colours_of_paper_and_csv_runs_no_formula(agreement: Page) -> None:
    rows = ['<th>=1+1</th><td data-value="-0.5">minus 0.5</td>']
    draw(agreement, table_of('data-chart="bar"', ACROSS_UP, *rows))
    light, csv = saved(agreement)
    assert csv == '"Run","AP"\n"\'=1+1","-0.5"\n'
    agreement.emulate_media(color_scheme="dark")
    assert saved(agreement)[0] == light
    for kind in ("SVG", "PNG", "CSV"):
        with agreement.expect_download() as download:
            agreement.get_by_role("button", name=f"{kind}: A title").click()
        assert download.value.suggested_filename == f"a-title.{kind.lower()}"
        assert download.value.path().stat().st_size > 0


def test_many_rows_fit_a_phone_in_their_own_region(agreement: Page) -> None:
    agreement.set_viewport_size({"width": 390, "height": 800})
    headings = "<th>Run</th>" + "".join(f'<th data-column="cell">{topic}</th>' for topic in range(30))
    rows = [f"<th>run {place}</th>" + "<td>0.1</td>" * 30 for place in range(ROWS_TO_SEE)]
    picture = draw(agreement, table_of('data-chart="heat" data-least="0" data-most="1" id="wide"', headings, *rows))
    assert marks(picture, "cell") == ROWS_TO_SEE * 30
    agreement.evaluate("document.getElementById('wide').remove()")
    assert agreement.evaluate("document.documentElement.scrollWidth") <= 390
