"""The building blocks of the report: paragraphs, facts, tables and figures, and a table as LaTeX."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

LONGEST_TABLE = 45  # rows; LaTeX breaks longer ones over pages
DASH = "\u2013"
LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    DASH: "--",
    "▼": r"$\triangledown$",
    "○": r"$\circ$",
    "◆": r"$\diamond$",
    "…": r"\ldots{}",
}


@dataclass(frozen=True)
class Column:
    """A column's heading; `role` is what it is in a picture, such as `up`."""

    heading: str
    role: str | None = None
    is_number: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell's text, with the bare number where it shows one."""

    text: str
    value: float | None = None


NOTHING = Cell(DASH)


@dataclass(frozen=True)
class Table:
    """A table with its caption; `picture` has the `data-` attributes of a picture of it."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    picture: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """A figure when it is drawn, else a table."""
        return "figure" if self.picture else "table"

    @property
    def name_column(self) -> int:
        """The column that names the rows: the first that has no numbers."""
        return next((place for place, column in enumerate(self.columns) if not column.is_number), -1)

    @property
    def latex(self) -> str:
        """The table for a paper, with the rules of booktabs; a long one is a longtable."""
        columns = "".join("r" if column.is_number else "l" for column in self.columns)
        head = _line(column.heading for column in self.columns)
        body = [_line(cell.text for cell in row) for row in self.rows]
        caption = rf"\caption{{{escaped(self.caption)}}}\label{{tab:{self.name}}}"
        if len(self.rows) > LONGEST_TABLE:
            lines = [rf"\begin{{longtable}}{{{columns}}}", rf"{caption}\\", r"\toprule", head, r"\midrule\endhead"]
            return "\n".join([*lines, *body, r"\bottomrule", r"\end{longtable}"])
        lines = [r"\begin{table}", r"\centering", caption, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head]
        return "\n".join([*lines, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def escaped(text: str) -> str:
    """Text in which no sign means anything to LaTeX."""
    return "".join(LATEX.get(sign, sign) for sign in text)


def _line(texts: Iterable[str]) -> str:
    return " & ".join(escaped(text) for text in texts) + r" \\"


@dataclass(frozen=True)
class Text:
    """A paragraph, a notice, or the items of a list."""

    text: str | Sequence[str]
    kind: str = "text"


@dataclass(frozen=True)
class Facts:
    """Numbers with their names."""

    facts: Sequence[tuple[str, str]]
    kind: str = "facts"


@dataclass(frozen=True)
class Definitions:
    """Terms with their definitions."""

    terms: Sequence[tuple[str, str]]
    kind: str = "definitions"


@dataclass(frozen=True)
class Folded:
    """Long text of a program behind its title."""

    title: str
    text: str
    kind: str = "folded"


Block = Table | Text | Facts | Definitions | Folded


@dataclass(frozen=True)
class Section:
    """A section with its heading; `name` is its anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


def notice(text: str) -> Text:
    """A paragraph that stands out."""
    return Text(text, "notice")


def listed(items: Sequence[str]) -> Text:
    """A list, one item a line."""
    return Text(items, "list")


def count(number: int | None) -> Cell:
    """A count with thousands separated."""
    return NOTHING if number is None else Cell(f"{number:,}", number)


def figure(value: float | None, digits: int = 4) -> Cell:
    """A statistic."""
    return NOTHING if value is None else Cell(f"{value:z.{digits}f}", value)


def score(value: float) -> Cell:
    """A score as trec_eval prints it: counts as whole numbers."""
    return count(value) if isinstance(value, int) else figure(value)


def share(value: float | None) -> Cell:
    """A share in percent; 100.0 is all of it."""
    return NOTHING if value is None else Cell(f"{100 if value == 1 else min(100 * value, 99.9):.1f} %", value)


def interval(ends: tuple[float, float] | None) -> Cell:
    """Both ends of an interval in one cell."""
    return NOTHING if ends is None else Cell(f"{ends[0]:z.4f} {DASH} {ends[1]:z.4f}")
