"""The table of what was timed: ours, the peer's, how many times as fast, and what was to be reached."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.costs import Cost

HEADINGS = ("work", "annotator", "processor", "peer", "", "processor", "result", "needed", "goal", "")


@dataclass(frozen=True)
class Row:
    """One line of it, as it is printed."""

    cells: tuple[str, ...]

    @classmethod
    def of_speed(
        cls, work: str, ours: Cost, peer: str, theirs: Cost, least: float | None = None, goal: float | None = None
    ) -> "Row":
        """Compare seconds: the result is how many times as fast as the peer we are."""
        ratio = theirs.wall / ours.wall
        verdict = _verdict(reached=ratio >= least, at_goal=goal is not None and ratio >= goal) if least else ""
        cells = (work, *_seconds(ours), peer, *_seconds(theirs), _times(ratio), _times(least), _times(goal), verdict)
        return cls(cells)

    @classmethod
    def of_latency(cls, work: str, ours: Cost, most: float, goal: float) -> "Row":
        """Compare our seconds with what they may be."""
        verdict = _verdict(reached=ours.wall <= most, at_goal=ours.wall <= goal)
        found = (_milliseconds(seconds) for seconds in (ours.wall, most, goal))
        return cls((work, *_seconds(ours), "", "", "", *found, verdict))

    @classmethod
    def of_memory(cls, work: str, ours: float, peer: str, theirs: float, most: float) -> "Row":
        """Compare our megabytes with what they may be."""
        verdict = _verdict(reached=ours < most, at_goal=False)
        cells = (work, _megabytes(ours), "", peer, _megabytes(theirs), "", _megabytes(ours), _megabytes(most), "")
        return cls((*cells, verdict))


def table(rows: Iterable[Row]) -> str:
    """Set the rows below one another, under their headings."""
    lines = [HEADINGS, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _verdict(*, reached: bool, at_goal: bool) -> str:
    if at_goal:
        return "goal reached"
    return "reached" if reached else "MISSED"


def _seconds(cost: Cost) -> tuple[str, str]:
    return f"{cost.wall:.4f} s", f"{cost.processor:.4f} s"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f} x"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _megabytes(amount: float) -> str:
    return f"{amount:.0f} MB"
