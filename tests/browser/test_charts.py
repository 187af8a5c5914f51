"""Charts drawn from tables: what they show, how they look, and that the table stays."""

from typing import Any

import pytest
from browser.pages import sign_in
from browser.test_every_page import Watch
from build import SLUG
from playwright.sync_api import Page
from sqlalchemy import func, update

from annotator.storage import Database, Judgement

AGREEMENT = f"/collections/{SLUG}/agreement"
# Puts a table on the page, draws it, and tells what Chart.js was given.
DRAW = """async (table) => {
  const place = document.createElement("div");
  place.innerHTML = table;
  document.querySelector("main").append(place);
  const charts = await import(document.querySelector("script[type=module]").src);
  const figure = charts.draw(place.querySelector("table"));
  if (figure === null) return null;
  const canvas = figure.querySelector("canvas");
  const chart = Chart.getChart(canvas);
  const { type, options, data } = chart.config;
  return {
    type, lies: options.indexAxis, animation: options.animation, label: canvas.getAttribute("aria-label"),
    labels: data.labels ?? null, legend: options.plugins.legend.display, height: figure.clientHeight,
    bounds: ["x", "y"].map((axis) => [chart.scales[axis].min, chart.scales[axis].max]),
    titles: ["x", "y"].map((axis) => options.scales[axis].title.text),
    series: data.datasets.map((one) => ({
      name: one.label, values: one.data, dash: one.borderDash, point: one.pointStyle, shows: one.showLine,
      steps: one.stepped,
      fill: one.fill, colour: one.borderColor, pattern: one.backgroundColor instanceof CanvasPattern,
    })),
  };
}"""


@pytest.fixture
def agreement(page: Page, server: str) -> Page:
    page.emulate_media(reduced_motion="reduce")
    sign_in(page, server, "ola", AGREEMENT)
    return page


def draw(page: Page, table: str) -> Any:  # noqa: ANN401 - as JavaScript told it
    return page.evaluate(DRAW, table)


def table_of(kind: str, headings: str, *rows: str) -> str:
    head, body = f"<thead><tr>{headings}</tr></thead>", "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table {kind}><caption>A title</caption>{head}<tbody>{body}</tbody></table>"


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


def test_a_line_stands_at_numbers_with_a_band_and_gaps(agreement: Page) -> None:
    told = draw(
        agreement,
        table_of(
            'data-chart="line" data-up="Kappa" data-least="0" data-most="1"',
            '<th data-column="across">Documents</th><th data-column="up">one</th><th data-column="low">low</th>'
            '<th data-column="high">high</th><th data-column="up">two</th><th>not drawn</th>',
            '<td data-value="1000">1,000</td><td>0.5</td><td>0.4</td><td>0.6</td><td>none</td><td>9</td>',
            '<td data-value="2000">2,000</td><td>0.7</td><td>0.6</td><td>0.9</td><td>0.2</td><td>9</td>',
        ),
    )
    assert (told["type"], told["labels"], told["titles"]) == ("line", [], ["Documents", "Kappa"])
    assert [one["name"] for one in told["series"]] == ["one", None, None, "two"]
    assert told["series"][0]["values"] == [{"x": 1000, "y": 0.5}, {"x": 2000, "y": 0.7}]
    assert told["series"][3]["values"] == [{"x": 1000, "y": None}, {"x": 2000, "y": 0.2}]
    assert told["series"][1]["fill"] == "+1"
    assert (told["legend"], told["bounds"][1], told["label"]) == (True, [0, 1], "A title")


def test_series_differ_without_colour(agreement: Page) -> None:
    headings = '<th data-column="across">Run</th>' + "".join(f'<th data-column="up">{name}</th>' for name in "abcd")
    row = "<th>r</th>" + "<td>1</td>" * 4
    lines = draw(agreement, table_of('data-chart="line"', headings, row))["series"]
    assert len({(tuple(one["dash"]), one["point"]) for one in lines}) == 4
    bars = draw(agreement, table_of('data-chart="bar"', headings, row))["series"]
    assert [one["pattern"] for one in bars] == [False, True, True, True]
    assert len({one["colour"] for one in bars}) == 4


def test_bars_and_points_may_lie_and_grow_with_their_rows(agreement: Page) -> None:
    headings = '<th data-column="across">Run</th><th data-column="up">Mean</th><th data-column="low">l</th>'
    headings += '<th data-column="high">h</th>'
    rows = [f"<th>run {place}</th><td>0.{place}</td><td>0.1</td><td>1.5</td>" for place in range(1, 10)]
    few = draw(agreement, table_of('data-chart="points" data-lies data-up="AP"', headings, *rows[:3]))
    many = draw(agreement, table_of('data-chart="points" data-lies data-up="AP"', headings, *rows))
    assert (many["lies"], many["labels"][:2], many["series"][0]["shows"]) == ("y", ["run 1", "run 2"], False)
    assert many["height"] > few["height"]
    # The whiskers have room.
    assert many["bounds"][0][1] >= 1.5
    assert many["titles"] == ["AP", "Run"]


def test_scattered_points_have_names_and_follow_links(agreement: Page) -> None:
    headings = '<th data-column="name">Run</th><th data-column="across">AP</th><th data-column="up">RR</th>'
    rows = ['<th><a href="#there">alpha</a></th><td>0.5</td><td>0.5</td>', "<th>beta</th><td>0.1</td><td>0.9</td>"]
    told = draw(agreement, table_of('data-chart="scatter"', headings, *rows))
    assert told["series"][0]["values"] == [{"x": 0.5, "y": 0.5}, {"x": 0.1, "y": 0.9}]
    canvas = agreement.get_by_role("img", name="A title")
    canvas.scroll_into_view_if_needed()
    x, y = agreement.evaluate(
        "() => { const c = Chart.getChart(document.querySelector('[aria-label=\"A title\"]'));"
        " const { x, y } = c.getDatasetMeta(0).data[0]; return [x, y]; }"
    )
    canvas.click(position={"x": x, "y": y})
    agreement.wait_for_url("**#there")


def test_scattered_points_of_a_front_are_joined_by_steps_and_others_stand_alone(agreement: Page) -> None:
    headings = (
        '<th data-column="name">Run</th><th data-column="across">ms</th>'
        '<th data-column="up" data-join="before">Front</th><th data-column="up">Others</th>'
    )
    rows = ["<th>a</th><td>1</td><td>0.2</td><td></td>", "<th>b</th><td>2</td><td></td><td>0.1</td>"]
    told = draw(agreement, table_of('data-chart="scatter"', headings, *rows))
    assert [(one["shows"], one["steps"]) for one in told["series"]] == [(True, "before"), (False, False)]
    assert told["series"][0]["values"] == [{"x": 1, "y": 0.2}, {"x": 2, "y": None}]
    assert told["series"][0]["point"] != told["series"][1]["point"]


def test_a_table_without_rows_or_series_has_no_chart(agreement: Page) -> None:
    headings = '<th data-column="across">Run</th><th data-column="up">AP</th>'
    assert draw(agreement, table_of('data-chart="bar"', headings)) is None
    assert draw(agreement, table_of('data-chart="bar"', "<th>Run</th>", "<td>r</td>")) is None


def test_colours_follow_the_page_and_motion_the_reader(agreement: Page) -> None:
    headings = '<th data-column="across">Run</th><th data-column="up">AP</th>'
    table = table_of('data-chart="bar"', headings, "<th>r</th><td>1</td>")
    light = draw(agreement, table)
    assert light["animation"] is False
    agreement.emulate_media(color_scheme="dark", reduced_motion="no-preference")
    # What is there is drawn again.
    colour = "() => Chart.getChart(document.querySelector('[aria-label=\"A title\"]')).data.datasets[0].borderColor"
    agreement.wait_for_function(f"{colour} !== '{light['series'][0]['colour']}'")
    dark = draw(agreement, table)
    assert dark["series"][0]["colour"] == agreement.evaluate(colour)
    assert dark["animation"] == {"duration": 250}
