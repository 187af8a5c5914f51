"""CSV that spreadsheets open as text and numbers, without running formulas; reasons for missing values in a cell."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

# Starts a formula (including full-width signs of East Asian keyboards), or is skipped before one.
FORMULA_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
# Where the locale's separator is a semicolon or a tab, a spreadsheet splits cells there, also within quotes: it
# recognises quotes only at the start of a line. A line end starts a line there.
FORMULA = re.compile(f"(?:^|(?<=[;\t\n]))(?=[{FORMULA_SIGNS}])|^(?=[\t\n])")
COMMA = ","
APOSTROPHE = "'"
REASONS = "reasons"  # the last column of rows with missing values


def csv_text(rows: Iterable[Sequence[object]], *, separator: str = COMMA, guard: str = APOSTROPHE) -> str:
    """Write rows, the heading included; None is empty, numbers have full precision.

    Text that starts like a formula is prefixed with `guard`: an apostrophe, as OWASP's "CSV Injection" advises, or a
    blank for a program that strips cells and would keep the apostrophe. A number such as -0.5 is not prefixed. Every
    cell of CSV is quoted, so that no line starts with a sign from a cell; with tabs, for programs that do not parse
    quotes, cells are quoted only where necessary. Carriage returns become line feeds.
    """
    out = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if separator == COMMA else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=separator, lineterminator="\n", quoting=quoting)
    writer.writerows([_harmless(cell, guard) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: object, guard: str) -> object:
    # Most text starts with a letter or digit, which is faster to check than to search.
    if not isinstance(cell, str) or cell.isalnum():
        return cell
    return FORMULA.sub(guard, cell.replace("\r\n", "\n").replace("\r", "\n"))


def reasons_of(missing: Mapping[str, object | None]) -> dict[str, str]:
    """The reason for each missing value, by name; names whose reason is None are omitted."""
    return {name: str(reason) for name, reason in missing.items() if reason is not None}


def in_one_cell(reasons: Mapping[str, str]) -> str:
    """Each distinct reason once, after the names of its values, as one text."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return " ".join(f"{', '.join(of_reason)}: {reason}" for reason, of_reason in names.items())
