"""Parquet and Arrow files, read as JSON lines like any others, and Parquet written; pyarrow is an extra."""

import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from annotator.errors import InvalidValueError, Problems

PARQUET_MAGIC = b"PAR1"
ARROW_FILE = b"ARROW1\0\0"
# A stream, as Hugging Face's `datasets` saves one: a mark, and the length of a schema that is below 16 MiB.
ARROW_STREAM = re.compile(rb"\xff\xff\xff\xff[\x00-\xff]{3}\0")
ROWS_AT_ONCE = 1_000


class RowsTooLargeError(Exception):
    """The rows exceed the limit as text."""


def is_columnar(data: bytes) -> bool:
    """Whether the data are a Parquet or an Arrow file, by their first bytes; text may begin with PAR1."""
    if data.startswith(PARQUET_MAGIC):
        return data.endswith(PARQUET_MAGIC) and len(data) > 2 * len(PARQUET_MAGIC)
    return data.startswith(ARROW_FILE) or ARROW_STREAM.match(data) is not None


def as_json_lines(problems: Problems, name: str, data: bytes, limit: int) -> bytes | None:
    """The rows as JSON objects, each on the line of its number; None with the problem noted.

    Raises `RowsTooLargeError` when the text would have more than `limit` bytes.
    """
    try:
        arrow = import_module("pyarrow")
        batches = _parquet(data) if data.startswith(PARQUET_MAGIC) else _arrow(arrow, data)
    except ModuleNotFoundError:
        problems.add(
            name,
            None,
            "Parquet and Arrow files need pyarrow, which is not installed here: install relevance-annotator[parquet], "
            "or save the file as CSV.",
        )
        return None
    text = io.BytesIO()
    try:
        for batch in batches:
            batch.validate(full=True)  # offsets of a damaged file may lead outside its memory
            for row in batch.to_pylist():
                text.write(json.dumps(row, ensure_ascii=False, default=str).encode(errors="replace") + b"\n")
                if text.tell() > limit:
                    raise RowsTooLargeError
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0]
        problems.add(name, None, "The Parquet or Arrow file is damaged: %(reason)s.", reason=reason.removesuffix("."))
        return None
    return text.getvalue()


def _parquet(data: bytes) -> Iterator[Any]:
    parquet = import_module("pyarrow.parquet")

    def batches() -> Iterator[Any]:
        yield from parquet.ParquetFile(io.BytesIO(data)).iter_batches(ROWS_AT_ONCE)

    return batches()


def _arrow(arrow: Any, data: bytes) -> Iterator[Any]:  # noqa: ANN401 - the module pyarrow, which ships no types
    if data.startswith(ARROW_FILE):
        file = arrow.ipc.open_file(io.BytesIO(data))
        whole = (file.get_batch(number) for number in range(file.num_record_batches))
    else:
        whole = iter(arrow.ipc.open_stream(io.BytesIO(data)))
    for batch in whole:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            yield batch.slice(start, ROWS_AT_ONCE)


def parquet_of(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Rows as a Parquet file, with a column for each heading, whose type is that of its values.

    Raises `InvalidValueError` when pyarrow is not installed.
    """
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise InvalidValueError(
            "Parquet files need pyarrow, which is not installed here: install relevance-annotator[parquet], or choose "
            "another format."
        ) from None
    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    out = io.BytesIO()
    parquet.write_table(arrow.table({name: list(values) for name, values in zip(headings, columns, strict=True)}), out)
    return out.getvalue()
