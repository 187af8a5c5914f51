"""What is read in place of a file: folders of data sets, and data sets of ir_datasets."""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from annotator.errors import InvalidValueError, NotFoundError, Sentence
from annotator.evaluation.formats.columnar import PARQUET_MAGIC
from annotator.evaluation.formats.input_formats import HEAD_BYTES, Holds
from annotator.evaluation.formats.registry import FORMATS, format_of, names_of, read_as
from annotator.evaluation.formats.row_formats import TREC
from annotator.evaluation.outputs import beir_folder
from annotator.files import InputFile
from annotator.packing import packing_of

PACKED = ("", ".gz", ".bz2", ".xz", ".zst")
# BEIR's names, by what a file holds.
BEIR = {Holds.TOPICS: beir_folder.QUERIES, Holds.DOCUMENTS: beir_folder.CORPUS, Holds.DOCNOS: beir_folder.CORPUS}
COLUMNAR = ("*.parquet", "data-*.arrow", "*.arrow")
NAMED = 5  # files named in a sentence
PACKED_BYTES = 1 << 20  # of a compressed file, from which its first text can be unpacked: bzip2 has blocks of 900 kB
IR_DATASETS = "ir_datasets:"
# What ir_datasets calls the parts of a data set, and the format in which they are handed on.
PARTS = {
    Holds.TOPICS: ("queries", "jsonl"),
    Holds.LABELS: ("qrels", "jsonl"),
    Holds.DOCUMENTS: ("docs", "jsonl"),
    Holds.DOCNOS: ("docs", "lines"),
}
TEXTS = {"text", "title", "query", "body", "contents"}
FORMAT_NAMES = {holds: names_of(holds) for holds in FORMATS}


def formats_read(holds: Holds, files: Iterable[InputFile]) -> Iterator[str]:
    """What is reported about files before they are read: the format of each, unless it is TREC's columns."""
    for file in files:
        if format_of(holds, file).name != TREC:
            yield str(read_as(holds, file))


def formats_summary(holds: Holds, files: Sequence[InputFile]) -> list[Sentence]:
    """What is reported about files that were read: a sentence for each format but TREC's columns, with some names."""
    titles: dict[str, list[str]] = {}
    # By number, as iterating over the files may count as reading them.
    for file in (files[number] for number in range(len(files))):
        format_ = format_of(holds, file)
        if format_.name != TREC:
            titles.setdefault(format_.title, []).append(file.name)
    return [
        Sentence(
            "%(file)s: read as %(format)s.",
            {"file": ", ".join(names[:NAMED] + ["…"] * (len(names) > NAMED)), "format": Sentence(title)},
        )
        for title, names in titles.items()
    ]


def formats_detected(holds: Holds, files: Iterable[tuple[str, Path | bytes]]) -> list[Sentence]:
    """`formats_summary` of files that are not read yet, each by its name and its path or content.

    A path is left out that is no file on disk, such as a pipe, which can be read once only.
    """
    beginnings = [(name, _beginning(source)) for name, source in files]
    return formats_summary(holds, [InputFile(name, content) for name, content in beginnings if content is not None])


def _beginning(source: Path | bytes) -> bytes | None:
    """What of a file its format is detected by: for Parquet, which is known by its end, too, all of it."""
    if isinstance(source, bytes):
        return source
    try:
        if not source.is_file():
            return None
        with source.open("rb") as file:
            head = file.read(HEAD_BYTES)
            further = -1 if head.startswith(PARQUET_MAGIC) else PACKED_BYTES if packing_of(head) else 0
            return head + file.read(further)
    except OSError:  # which the reader of the file reports
        return None


def in_folder(folder: Path, holds: Holds) -> list[Path]:
    """The files of a folder that hold such things; raises `NotFoundError` when there are none.

    A folder without runs is returned itself, to be named among all the run files that cannot be read.
    """
    found = _files_in(folder, holds) or ([folder] if holds is Holds.RUNS else [])
    if not found:
        raise NotFoundError(
            "The folder “%(folder)s” has no %(holds)s: neither the files of BEIR nor of a data set saved by Hugging "
            "Face's datasets.",
            folder=str(folder),
            holds=holds.value,
        )
    return found


def from_source(source: str, holds: Holds, *, unpacked_limit: int) -> InputFile:
    """A part of a data set of ir_datasets as a file.

    Raises `InvalidValueError` for another source, and `NotFoundError` when ir_datasets is not installed, does not know
    the data set, cannot load it, or when it has no such part or too large a one.
    """
    if not source.startswith(IR_DATASETS):
        raise InvalidValueError("“%(source)s” is no source: write ir_datasets:NAME.", source=source)
    if holds not in PARTS:
        raise InvalidValueError("A data set of ir_datasets has no %(holds)s.", holds=holds.value)
    part, format_ = PARTS[holds]
    dataset = load_dataset(source.removeprefix(IR_DATASETS))
    if not getattr(dataset, f"has_{part}")():
        raise NotFoundError("“%(source)s” has no %(holds)s.", source=source, holds=holds.value)
    lines, size = [], 0
    try:
        for record in getattr(dataset, f"{part}_iter")():
            lines.append(f"{record.doc_id}\n".encode() if holds is Holds.DOCNOS else _line(record))
            size += len(lines[-1])
            if size > unpacked_limit:
                raise NotFoundError(
                    "“%(source)s” has more than %(limit)d bytes of %(holds)s. Import a part of them from a file.",
                    source=source,
                    limit=unpacked_limit,
                    holds=holds.value,
                )
    except (OSError, RuntimeError, ValueError) as error:
        raise _unloaded(source, error) from error
    return InputFile(source, b"".join(lines), format_)


def load_dataset(name: str) -> Any:  # noqa: ANN401 - the package ships no types
    """A data set of ir_datasets; `NotFoundError` when the package is not installed, or cannot load it."""
    source = f"{IR_DATASETS}{name}"
    try:
        return import_module("ir_datasets").load(name)
    except ModuleNotFoundError:
        raise NotFoundError(
            "“%(source)s” needs the package ir_datasets, which is not installed here: pip install ir_datasets.",
            source=source,
        ) from None
    except KeyError:
        raise NotFoundError("ir_datasets has no data set “%(name)s”.", name=name) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise _unloaded(source, error) from error


def _unloaded(source: str, error: Exception) -> NotFoundError:
    return NotFoundError(
        "“%(source)s” cannot be loaded: %(reason)s.", source=source, reason=str(error).partition("\n")[0].rstrip(".")
    )


def values_of_record(record: Any) -> dict[str, object]:  # noqa: ANN401 - a named tuple of ir_datasets
    """The values of a record; its own `default_text` is the text when it has neither text nor title."""
    values: dict[str, object] = {
        key: value for key, value in record._asdict().items() if isinstance(value, str | int | float)
    }
    if hasattr(record, "default_text") and not TEXTS.intersection(values):
        values["text"] = record.default_text()
    return values


def _line(record: Any) -> bytes:  # noqa: ANN401 - JSON of any type
    return json.dumps(values_of_record(record), ensure_ascii=False).encode() + b"\n"


def _files_in(folder: Path, holds: Holds) -> list[Path]:
    """The files of a folder that hold such things, as BEIR or Hugging Face's `datasets` lay them out."""
    name = BEIR.get(holds)
    named = [folder / f"{name}{packed}" for packed in PACKED] if name else []
    found = [path for path in named if path.is_file()][:1]
    if not found and holds is Holds.LABELS:
        found = _matching(folder, [f"{beir_folder.QRELS_OF_SPLITS}{packed}" for packed in PACKED])
    return found or _matching(folder, COLUMNAR)


def _matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    return next((paths for pattern in patterns if (paths := sorted(folder.glob(pattern)))), [])
