"""The report on a collection as one self-contained HTML page with charts as inline SVG."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, floor, log10

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from annotator.errors import AnnotatorError
from annotator.installed import asset_folder
from annotator.workflows.agreement.agreement import By
from annotator.workflows.leaderboard.overview_report import OverviewReport
from annotator.workflows.leaderboard.reusability_report import QualityReport

TEMPLATE = "leaderboard/report/page.html"
# More pairs are illegible on paper; the command has all of them.
MOST_RUNS_IN_GRID = 30
MOST_PAIRS_OF_JUDGES = 60
WIDTH = 600
ROW = 20  # pixels from one row to the next
TOP, BOTTOM, RIGHT = 24, 46, 24
LETTER = 6.6  # approximate width of a letter of a name, in pixels
LONGEST_NAME = 34  # letters
PLOT_HEIGHT = 240
LEFT_OF_LINES = 62
WANTED_TICKS = 5
DASHES = ("", "7 4", "2 4")  # line styles, so that lines differ without colour
ENOUGH_POINTS_TO_MARK = 40  # markers of more points would blur the line


@dataclass(frozen=True)
class Tick:
    """A position on an axis and its label."""

    at: float
    text: str


@dataclass(frozen=True)
class RowMark:
    """A name with its value and the ends of its interval, if any."""

    name: str
    y: float
    x: float
    ends: tuple[float, float] | None


@dataclass(frozen=True)
class RowChart:
    """Names in rows, each with a value on a common scale, drawn as a bar or as a point in its interval."""

    title: str
    axis: str
    names: str  # what the names denote
    bars: bool
    rows: tuple[RowMark, ...]
    ticks: tuple[Tick, ...]
    left: float
    height: float
    width: float = WIDTH

    @property
    def foot(self) -> float:
        """The vertical position of the axis."""
        return self.height - BOTTOM


@dataclass(frozen=True)
class Line:
    """A line: its points in SVG syntax, and whether they have markers."""

    name: str
    points: tuple[tuple[float, float], ...]
    dash: str
    marked: bool


@dataclass(frozen=True)
class LineChart:
    """One or several lines over a numeric axis."""

    title: str
    across: str
    up: str
    lines: tuple[Line, ...]
    ticks_across: tuple[Tick, ...]
    ticks_up: tuple[Tick, ...]
    left: float = LEFT_OF_LINES
    height: float = PLOT_HEIGHT + TOP + BOTTOM
    width: float = WIDTH

    @property
    def foot(self) -> float:
        """The vertical position of the lower axis."""
        return self.height - BOTTOM


def row_chart(
    title: str,
    axis: str,
    names: str,
    rows: Sequence[tuple[str, float | None, tuple[float, float] | None]],
    *,
    bars: bool = False,
) -> RowChart | None:
    """A chart of names, values and intervals; names without a value are omitted, and None is returned if all are."""
    known = [(name, value, ends) for name, value, ends in rows if value is not None]
    if not known:
        return None
    edges = [0.0, *(edge for _, value, ends in known for edge in (value, *(ends or ())))]
    values = _ticks(min(edges), max(edges))
    left = 16 + LETTER * max(len(_short(name)) for name, _, _ in known)
    scale = _Scale(values[0], values[-1], left, WIDTH - RIGHT)
    return RowChart(
        *(title, axis, names, bars),
        tuple(
            RowMark(
                *(_short(name), TOP + ROW * (place + 0.5), scale.at(value)),
                None if ends is None else (scale.at(ends[0]), scale.at(ends[1])),
            )
            for place, (name, value, ends) in enumerate(known)
        ),
        tuple(Tick(scale.at(value), f"{value:g}") for value in values),
        left,
        TOP + ROW * len(known) + BOTTOM,
    )


def line_chart(
    title: str, across: str, up: str, lines: Sequence[tuple[str, Sequence[tuple[float, float | None]]]]
) -> LineChart | None:
    """A chart of lines by name, each of points (across, up); points without a value are omitted."""
    known = [(name, [(x, y) for x, y in points if y is not None]) for name, points in lines]
    known = [(name, points) for name, points in known if points]
    if not known:
        return None
    xs, ys = ([point[axis] for _, points in known for point in points] for axis in (0, 1))
    steps_across, steps_up = _ticks(min(0.0, *xs), max(xs)), _ticks(min(0.0, *ys), max(ys))
    scale_across = _Scale(steps_across[0], steps_across[-1], LEFT_OF_LINES, WIDTH - RIGHT)
    scale_up = _Scale(steps_up[0], steps_up[-1], TOP + PLOT_HEIGHT, TOP)
    return LineChart(
        *(title, across, up),
        tuple(
            Line(
                *(name, tuple((scale_across.at(x), scale_up.at(y)) for x, y in points)),
                *(DASHES[place % len(DASHES)], place == 0 and len(points) <= ENOUGH_POINTS_TO_MARK),
            )
            for place, (name, points) in enumerate(known)
        ),
        tuple(Tick(scale_across.at(value), f"{value:g}") for value in steps_across),
        tuple(Tick(scale_up.at(value), f"{value:g}") for value in steps_up),
    )


@dataclass(frozen=True)
class _Scale:
    """A linear scale that maps values from `least` to `most` to pixels."""

    least: float
    most: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value, rounded to a hundredth so that equal numbers give equal bytes on every machine."""
        return round(self.start + (value - self.least) / (self.most - self.least) * (self.end - self.start), 2)


def _ticks(least: float, most: float) -> list[float]:
    """Round values at equal steps that cover both ends."""
    if least == most:
        most = least + 1
    rough = (most - least) / WANTED_TICKS
    size = 10.0 ** floor(log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough * (1 - 1e-9))
    first, last = floor(least / step + 1e-9), ceil(most / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def report_html(report: OverviewReport) -> bytes:
    """Render the page; equal reports give equal bytes."""
    significance = None if isinstance(report.significance, AnnotatorError) else report.significance
    html = (
        _environment()
        .get_template(TEMPLATE)
        .render(
            report=report,
            board=None if isinstance(report.board, AnnotatorError) else report.board,
            significance=significance,
            quality=None if isinstance(report.quality, AnnotatorError) else report.quality,
            grid=range(min(len(significance.tags), MOST_RUNS_IN_GRID)) if significance else (),
            charts=_charts(report),
            of_all=report.agreement.table(By.ALL),
            pairs=report.agreement.pairs[:MOST_PAIRS_OF_JUDGES],
            in_full=json.dumps(report.manifest, ensure_ascii=False, indent=2, sort_keys=True),
        )
    )
    return html.encode()


@cache
def _environment() -> Environment:
    """The Jinja environment with the templates of the pages and autoescaping."""
    return Environment(
        loader=FileSystemLoader(asset_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _charts(report: OverviewReport) -> dict[str, RowChart | LineChart | None]:
    charts: dict[str, RowChart | LineChart | None] = {}
    if not isinstance(report.board, AnnotatorError):
        measure = report.board.measures[0]
        means = [(row.tag, row.values[0], row.intervals[0]) for row in report.board.rows]
        points = [(tag, value, interval.bounds if interval else None) for tag, value, interval in means]
        charts["board"] = row_chart(f"{measure} of every run", measure, "Run", points)
    if not isinstance(report.quality, AnnotatorError):
        charts |= _of_quality(report.quality)
    return charts


def _of_quality(quality: QualityReport) -> Iterator[tuple[str, RowChart | LineChart | None]]:
    density, growth, ablation = quality.density, quality.growth, quality.ablation
    shares = [(one.topic.number, one.share.value, None) for one in density.topics]
    percents = [(number, None if share is None else 100 * share, ends) for number, share, ends in shares]
    title = "Relevant share of what is judged, by topic"
    yield "density", row_chart(title, "Relevant (%)", "Topic", percents, bars=True)
    if growth.fitted is not None:
        found = [(float(depth), float(new)) for depth, new in enumerate(growth.new, start=1)]
        curve = [(float(depth), new) for depth, new in enumerate(growth.fitted, start=1)]
        title = "New relevant documents by the depth of the pool"
        lines = [("found", found), ("by the curve", curve)]
        yield "growth", line_chart(title, "Depth of the pool", "New relevant documents", lines)
    if ablation is not None:
        parts = {"mean": "tau", "least": "least_tau", "greatest": "greatest_tau"}
        taus: list[tuple[str, list[tuple[float, float | None]]]] = [
            (name, [(100 * step.share, getattr(step, part).value) for step in ablation.steps])
            for name, part in parts.items()
        ]
        title = f"Kendall's tau with the ranking by all judgements ({quality.measure})"
        yield "fewer", line_chart(title, "Share of the judgements (%)", "Kendall's tau", taus)
