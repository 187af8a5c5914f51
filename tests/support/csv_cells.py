"""CSV as a test writes it down: quoted where it must be, where ours quotes every cell."""

import csv
import io


def unquoted(text: str) -> str:
    """The same cells with no more quotes than they need."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(csv.reader(io.StringIO(text, newline="")))
    return out.getvalue()
