"""Rows as CSV that a spreadsheet opens as text and numbers, and never runs."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Literal

# What begins a formula, the wide signs of East Asian keyboards included, or is skipped in front of one.
FORMULA_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
# Where the machine's own separator is a semicolon or a tab, a spreadsheet takes what follows one for a cell, also
# within quotes: only a cell that begins its line is read as quoted then. A line end begins a line there.
FORMULA = re.compile(f"(?:^|(?<=[;\t\n]))(?=[{FORMULA_SIGNS}])|^(?=[\t\n])")
COMMA = ","


def csv_text(rows: Iterable[Sequence[object]], *, separator: str = COMMA) -> str:
    """Write rows, a heading being a row like the others; None is empty, numbers are exact.

    Text that begins like a formula gets an apostrophe in front, as OWASP's "CSV Injection" advises; -0.5 as a number
    does not. Every cell of CSV is quoted, so that a line never begins with a sign of its own; what is separated by
    tabs is for programs that know no quotes, and is quoted where it must be. Carriage returns become line ends.
    """
    out = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if separator == COMMA else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=separator, lineterminator="\n", quoting=quoting)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: object) -> object:
    # Most text is letters and digits, none of which begins a formula: it is spared the search, which takes longer.
    if not isinstance(cell, str) or cell.isalnum():
        return cell
    return FORMULA.sub("'", cell.replace("\r\n", "\n").replace("\r", "\n"))
