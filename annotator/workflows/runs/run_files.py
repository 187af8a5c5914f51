"""Files sent together: zip archives are opened, and a table of metadata is matched with its run files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from annotator.errors import Problems
from annotator.evaluation.formats.unpacking import note_no_text, unpack_into
from annotator.evaluation.formats.zip_archives import is_zip, unzip
from annotator.evaluation.runs.run_format import first_tag_of
from annotator.evaluation.runs.run_metadata import MetadataRow, is_metadata, match_metadata, parse_metadata
from annotator.files import InputFile
from annotator.packing import DamagedError, packing_of, unpacked
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails

BEGINNING_BYTES = 1 << 16


@dataclass(frozen=True)
class RunEntry:
    """What is given for one file of an upload, in place of its own tag and of what all files share."""

    tag: str | None = None
    details: RunDetails = field(default_factory=RunDetails)


@dataclass(frozen=True)
class OpenedFiles:
    """The run files of an upload, an entry for each from its metadata, and the problems of archives and metadata."""

    files: Sequence[InputFile]
    entries: Sequence[RunEntry]
    problems: Problems


def open_files(given: Sequence[InputFile], *, unpacked_limit: int) -> OpenedFiles:
    """Open the zip archives and take out tables of metadata; several tables count as one."""
    problems = Problems()
    # By number, as iterating over the files may count as reading them.
    sent = [given[number] for number in range(len(given))]
    if not any(is_zip(file.content) or is_metadata(file.name, file.content) for file in sent):
        return OpenedFiles(given, [RunEntry()] * len(sent), problems)
    files = [file for file in sent if not is_zip(file.content)]
    for archive in sent:
        if is_zip(archive.content):
            files += unzip(archive, [file.name for file in files], problems, unpacked_limit)
    tables = [file for file in files if is_metadata(file.name, file.content)]
    runs = [file for file in files if not is_metadata(file.name, file.content)]
    if not runs and not problems.total:
        problems.add(sent[0].name, None, "There is no run among these files.")
    rows = _rows_of(runs, tables, problems, unpacked_limit)
    return OpenedFiles(runs, [_entry(row) for row in rows], problems)


def only_runs(files: Sequence[InputFile]) -> Sequence[InputFile]:
    """The files, where each must be a run; raises `FileRefusedError` for a zip archive and for metadata."""
    problems = Problems()
    for file in files:
        if is_zip(file.content):
            note_no_text(problems, file.name, file.content)
        elif is_metadata(file.name, file.content):
            problems.add(file.name, None, "This is metadata of runs, not a run.")
    problems.refuse_if_any()
    return files


def _rows_of(
    runs: Sequence[InputFile], tables: Sequence[InputFile], problems: Problems, unpacked_limit: int
) -> list[MetadataRow]:
    names, tags = [file.name for file in runs], [first_tag(file) for file in runs]
    rows = [MetadataRow()] * len(runs)
    for table in tables:
        text = unpack_into(problems, table.name, table.content, unpacked_limit)
        parsed = parse_metadata(table.name, text, problems) if text is not None else []
        matched = match_metadata(table.name, parsed, names, tags, problems)
        rows = [new if new.line else old for old, new in zip(rows, matched, strict=True)]
    return rows


def first_tag(file: InputFile) -> str:
    """The tag on the first line of a run file; empty when there is none."""
    text = file.content[:BEGINNING_BYTES]
    if packing := packing_of(text):
        try:
            text = next(islice(unpacked([file.content], packing), 1), b"")
        except DamagedError:
            return ""
    try:
        return first_tag_of(text)[1]
    except UnicodeDecodeError:
        return ""


def _entry(row: MetadataRow) -> RunEntry:
    return RunEntry(
        row.tag or None,
        RunDetails(
            row.team or None,
            row.description or None,
            RunType(row.run_type) or None,
            row.priority,
            task=row.task or None,
        ),
    )
