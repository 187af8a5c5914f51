"""Files of people to invite: comma-separated, with a heading of name, role and team."""

import csv
import io
from dataclasses import dataclass

from annotator.errors import Problems
from annotator.evaluation.formats.identifiers import UNSTORABLE
from annotator.evaluation.formats.table_lines import counted_fields

NEEDED = {"name", "role"}
KNOWN = {*NEEDED, "team"}
SEPARATORS = ",;\t"
MOST_PEOPLE = 5_000


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A person with a role as written; `team` is empty without one. `line` counts from 1."""

    name: str
    role: str
    team: str
    line: int


def parse_people(name: str, text: bytes, problems: Problems) -> list[PersonRow]:
    """Read the valid rows, in the file's order, and note every problem with its line.

    `text` is what `unpack` returns. The separator is a comma, semicolon or tab, as in the heading; empty lines are
    skipped.
    """
    before = problems.total
    content = text.decode()
    separator = _separator(content.partition("\n")[0])
    # Keep line ends: a quoted field may contain one, which is noted below, as no name has one.
    lines = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    rows: list[PersonRow] = []
    try:
        heading = [field.strip().casefold() for field in next(lines, [])]
        if not _is_heading(name, heading, problems):
            return []
        for fields in lines:
            if any(field.strip() for field in fields):
                row = _row(name, lines.line_num, heading, fields, problems)
                rows += [row] if row else []
    except csv.Error as error:
        problems.add(
            name, max(lines.line_num, 1), "The line is no comma-separated text: %(reason)s.", reason=str(error)
        )
        return []
    if not rows and problems.total == before:
        problems.add(name, None, "The file has no line of data.")
    if len(rows) > MOST_PEOPLE:
        problems.add(name, None, "The file has more than %(most)d people. Split it.", most=MOST_PEOPLE)
    return rows


def _separator(heading: str) -> str:
    return max(SEPARATORS, key=heading.count)


def _is_heading(name: str, heading: list[str], problems: Problems) -> bool:
    if NEEDED <= set(heading) <= KNOWN and len(set(heading)) == len(heading):
        return True
    problems.add(
        name, 1, "The first line names the columns: name, role and, where there are participants, team, each once."
    )
    return False


def _row(name: str, line: int, heading: list[str], fields: list[str], problems: Problems) -> PersonRow | None:
    if len(fields) > len(heading) or UNSTORABLE.search("".join(fields)):
        problems.add(
            name,
            line,
            "The line has %(fields)s where the heading has %(columns)d, or a character that cannot be stored.",
            fields=counted_fields(len(fields)),
            columns=len(heading),
        )
        return None
    values = dict.fromkeys(KNOWN, "") | dict(zip(heading, (field.strip() for field in fields), strict=False))
    return PersonRow(values["name"], values["role"].casefold(), values["team"], line)
