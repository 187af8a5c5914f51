"""Tables with the metadata of several runs: a line for each file or tag, with team, task, type and so on."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from annotator.errors import Problems
from annotator.evaluation.formats.identifiers import UNSTORABLE
from annotator.evaluation.formats.table_lines import counted_fields
from annotator.evaluation.runs.run_intake import tag_of
from annotator.evaluation.runs.tag_rules import composed

FILE, TAG, TEAM, TASK, TYPE, PRIORITY, DESCRIPTION = "file", "tag", "team", "task", "type", "priority", "description"
NAMES = {FILE, TAG}
KNOWN = {*NAMES, TEAM, TASK, TYPE, PRIORITY, DESCRIPTION}
TYPES = {"", "automatic", "manual"}
SEPARATORS = ",;\t"
ENDINGS = (".csv", ".tsv")
LONGEST_HEADING = 1_000


@dataclass(frozen=True, slots=True)
class MetadataRow:
    """The metadata of one run; empty text and None leave a value as it is. `line` counts from 1."""

    file: str = ""
    tag: str = ""
    team: str = ""
    run_type: str = ""
    priority: int | None = None
    description: str = ""
    line: int = 0
    task: str = ""


def is_metadata(name: str, content: bytes) -> bool:
    """Whether a file is such a table: its name ends so, and its first line has only the names of these columns."""
    if not name.casefold().endswith(ENDINGS):
        return False
    first = content[:LONGEST_HEADING].decode("utf-8-sig", "replace").partition("\n")[0]
    return _is_heading(_heading(first))


def parse_metadata(name: str, text: bytes, problems: Problems) -> list[MetadataRow]:
    """Read the valid rows, in the file's order, and note every problem with its line.

    `text` is what `unpack` returns. The separator is a comma, semicolon or tab, as in the heading; empty lines are
    skipped.
    """
    content = text.decode()
    first = content.partition("\n")[0]
    lines = csv.reader(io.StringIO(content, newline=""), delimiter=_separator(first), strict=True)
    rows = []
    try:
        heading = [field.strip().casefold() for field in next(lines, [])]
        if not _is_heading(heading):
            problems.add(
                name,
                1,
                "The first line names the columns: file or tag, then team, task, type, priority and description.",
            )
            return []
        for fields in lines:
            if any(field.strip() for field in fields):
                row = _row(name, lines.line_num, heading, fields, problems)
                rows += [row] if row else []
    except csv.Error as error:
        problems.add(
            name, max(lines.line_num, 1), "The line is no comma-separated text: %(reason)s.", reason=str(error)
        )
    return rows


def match_metadata(
    name: str, rows: Iterable[MetadataRow], files: Sequence[str], tags: Sequence[str], problems: Problems
) -> list[MetadataRow]:
    """The row of each file, an empty one where there is none; notes rows without a file, and second rows of a file.

    A row names its file, with or without its endings, or else the tag in it.
    """
    positions = _positions(files, tags)
    found: dict[int, MetadataRow] = {}
    for row in rows:
        number = positions[FILE].get(composed(row.file)) if row.file else positions[TAG].get(composed(row.tag))
        if number is None:
            problems.add(name, row.line, "There is no file of the run %(run)s among these.", run=row.file or row.tag)
        elif number in found:
            problems.add(
                name,
                row.line,
                "The file %(file)s has a line already: line %(line)d.",
                file=files[number],
                line=found[number].line,
            )
        else:
            found[number] = row
    return [found.get(number, MetadataRow()) for number in range(len(files))]


def _positions(files: Sequence[str], tags: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """The number of each file by its names and by its tags; the tag in a file counts before its name."""
    by_file: dict[str, int] = {}
    by_tag: dict[str, int] = {}
    for number, tag in enumerate(tags):
        if tag:
            by_tag.setdefault(composed(tag), number)
    for number, file in enumerate(files):
        short = PurePath(file).name
        for form in (file, short, short.removesuffix(".gz"), tag_of(file)):
            by_file.setdefault(composed(form), number)
            by_tag.setdefault(composed(form), number)
    return {FILE: by_file, TAG: by_tag}


def _heading(first: str) -> list[str]:
    return [field.strip().strip('"').casefold() for field in first.split(_separator(first))]


def _is_heading(heading: Sequence[str]) -> bool:
    return bool(NAMES.intersection(heading)) and KNOWN.issuperset(heading) and len(set(heading)) == len(heading) > 1


def _separator(heading: str) -> str:
    return max(SEPARATORS, key=heading.count)


def _row(name: str, line: int, heading: Sequence[str], fields: Sequence[str], problems: Problems) -> MetadataRow | None:
    before = problems.total
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
    priority, run_type = values[PRIORITY], values[TYPE].casefold()
    if not values[FILE] and not values[TAG]:
        problems.add(name, line, "The line names neither a file nor a tag.")
    if run_type not in TYPES:
        problems.add(name, line, "The type is “automatic” or “manual”, not “%(type)s”.", type=run_type)
    if priority and not (priority.isascii() and priority.isdigit()):
        problems.add(name, line, "The priority is a whole number from 1, not “%(given)s”.", given=priority)
    if problems.total > before:
        return None
    return MetadataRow(
        values[FILE],
        values[TAG],
        values[TEAM],
        run_type,
        int(priority) if priority else None,
        values[DESCRIPTION],
        line,
        values[TASK],
    )
