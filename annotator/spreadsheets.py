"""Rows as CSV that a spreadsheet opens as text and numbers, and never runs."""

import csv
import io
from collections.abc import Iterable, Sequence

# What begins a formula, the wide signs of East Asian keyboards included, or is skipped in front of one.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_text(rows: Iterable[Sequence[object]], *, separator: str = ",") -> str:
    """Write rows, a heading being a row like the others; None is empty, numbers are exact.

    Text that begins like a formula gets an apostrophe in front, as OWASP's "CSV Injection" advises; -0.5 as a number
    does not. Carriage returns become line ends: bare ones would begin a row, for the csv module does not quote them.
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text
