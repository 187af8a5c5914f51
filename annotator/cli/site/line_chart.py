"""Line charts as SVG files for papers and slides; lines differ by colour, dash and marker; no scripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# Okabe and Ito's palette, safe for colour-blind readers; without yellow, which is illegible on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
DASHES = ("", "6 3", "2 2")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, KEY = 440, 360, 70, 50, 50, 220
GAP = 20
LINES_OF_GRID = 5


@dataclass(frozen=True)
class Line:
    """A line: a value for each position on the horizontal axis, None where it has none."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Chart:
    """Lines over one axis with tick labels; values lie between `low` and 1."""

    title: str
    axis: str
    marks: Sequence[float]
    lines: Sequence[Line]
    low: float = 0.0

    def x(self, mark: float) -> float:
        """The horizontal coordinate of a position."""
        return LEFT + WIDTH * mark / max(self.marks)

    def y(self, value: float) -> float:
        """The vertical coordinate of a value."""
        return TOP + HEIGHT * (1 - value) / (1 - self.low)


def svg_of(charts: Sequence[Chart], description: str) -> str:
    """Draw charts with the same lines side by side, with one legend."""
    step = LEFT + WIDTH + GAP
    width, height = step * len(charts) + KEY, TOP + HEIGHT + BOTTOM
    names = [line.name for line in charts[0].lines]
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(' · '.join(chart.title for chart in charts))}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for place, chart in enumerate(charts):
        parts += [f'<g transform="translate({place * step} 0)">', *_frame(chart), *_lines(chart), "</g>"]
    parts += [f'<g transform="translate({len(charts) * step + 20} {TOP})">', *_key(names), "</g>", "</svg>"]
    return "\n".join(parts) + "\n"


def _frame(chart: Chart) -> list[str]:
    bottom, right = TOP + HEIGHT, LEFT + WIDTH
    parts = [f'<text x="{LEFT}" y="{TOP - 20}" font-weight="bold">{escape(chart.title)}</text>']
    for line in range(LINES_OF_GRID + 1):
        value = chart.low + (1 - chart.low) * line / LINES_OF_GRID
        y = chart.y(value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for mark in chart.marks:
        x = chart.x(mark)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{mark:.0%}</text>')
    parts.append(f'<text x="{LEFT + WIDTH / 2}" y="{bottom + 40}" text-anchor="middle">{escape(chart.axis)}</text>')
    return parts


def _lines(chart: Chart) -> list[str]:
    parts: list[str] = []
    for number, line in enumerate(chart.lines):
        drawn = [(mark, value) for mark, value in zip(chart.marks, line.values, strict=True) if value is not None]
        points = [(chart.x(mark), chart.y(max(value, chart.low))) for mark, value in drawn]
        if points:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            parts.append(f'<path d="M{path}" {_stroke(number)}><title>{escape(line.name)}</title></path>')
            parts += [_dot(number, x, y) for x, y in points]
    return parts


def _key(names: Sequence[str]) -> list[str]:
    parts: list[str] = []
    for number, name in enumerate(names):
        y = 20 * number
        parts += [f'<path d="M0 {y}H30" {_stroke(number)}/>', _dot(number, 15, y)]
        parts.append(f'<text x="38" y="{y + 4}">{escape(name)}</text>')
    return parts


def _stroke(number: int) -> str:
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2"{dashed}'


def _dot(number: int, x: float, y: float) -> str:
    colour = COLOURS[number % len(COLOURS)]
    match number % 3:
        case 0:
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
        case 1:
            return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
        case _:
            return f'<path d="M{x:.1f} {y - 4:.1f}l4 7h-8z" fill="{colour}"/>'
