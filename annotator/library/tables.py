"""Results as tables: printed briefly, shown in notebooks, and converted to frames, LaTeX and Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.printed_tables import latex_table, markdown_table

Cell = str | int | float | None
MOST_SHOWN = 20  # rows of a table in a terminal or notebook
DIGITS = 4


@dataclass(frozen=True, repr=False)
class Table:
    """Named columns and rows. A missing value is None; `notes` say why, and what else a reader should know."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Iterate over the rows, each by column name."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def column(self, name: str) -> list[Cell]:
        """Return a column; raises `InvalidValueError` for an unknown name."""
        if name not in self.columns:
            raise InvalidValueError(
                "There is no column %(name)s; the columns are: %(columns)s.", name=name, columns=", ".join(self.columns)
            )
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Return the rows, each by column name."""
        return list(self)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not required, so neither are its types
        """Return a `pandas.DataFrame`; raises `InvalidValueError` when pandas is not installed."""
        return _package("pandas").DataFrame(list(self.rows), columns=list(self.columns))

    def to_polars(self) -> Any:  # noqa: ANN401 - polars is not required, so neither are its types
        """Return a `polars.DataFrame`; raises `InvalidValueError` when polars is not installed."""
        return _package("polars").DataFrame(self._by_column(), strict=False)

    def to_latex(self, *, digits: int = DIGITS) -> str:
        """Return a tabular of booktabs, as the leaderboard's; numbers are rounded to so many digits."""
        return latex_table(self.columns, self._texts(digits), self._numbers)

    def to_markdown(self, *, digits: int = DIGITS) -> str:
        """Return a table for Markdown; numbers are rounded to so many digits."""
        return markdown_table(self.columns, self._texts(digits), self._numbers)

    def __repr__(self) -> str:
        """The first rows in columns of one width."""
        rows = [list(self.columns), *self._texts(DIGITS)[:MOST_SHOWN]]
        widths = [max(len(row[place]) for row in rows) for place in range(len(self.columns))]
        numbers = self._numbers
        lines = [
            "  ".join(
                text.rjust(width) if place in numbers else text.ljust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self._rest(), *self.notes])

    def _repr_html_(self) -> str:
        """The table in a notebook, numbers to the right, as in the terminal, whatever the notebook's own style."""
        numbers = self._numbers

        def row(cells: Sequence[str], tag: str) -> str:
            sides = ["right" if place in numbers else "left" for place in range(len(cells))]
            inside = "".join(
                f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>'
                for text, side in zip(cells, sides, strict=True)
            )
            return f"<tr>{inside}</tr>"

        rows = "".join(row(texts, "td") for texts in self._texts(DIGITS)[:MOST_SHOWN])
        below = "".join(f"<p>{escape(line)}</p>" for line in [*self._rest(), *self.notes])
        return f"<table><thead>{row(self.columns, 'th')}</thead><tbody>{rows}</tbody></table>{below}"

    def _rest(self) -> list[str]:
        left = len(self.rows) - MOST_SHOWN
        return [f"… and {left} more rows"] if left > 0 else []

    def _texts(self, digits: int) -> list[list[str]]:
        return [[_text(cell, digits) for cell in row] for row in self.rows]

    @property
    def _numbers(self) -> set[int]:
        """The places of the columns of numbers."""
        places = range(len(self.columns))
        return {place for place in places if any(isinstance(row[place], int | float) for row in self.rows)}

    def _by_column(self) -> Mapping[str, Sequence[Cell]]:
        return {name: [row[place] for row in self.rows] for place, name in enumerate(self.columns)}


def _text(cell: Cell, digits: int) -> str:
    if cell is None:
        return ""
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


def _package(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InvalidValueError("%(package)s is not installed: pip install %(package)s.", package=name) from None
