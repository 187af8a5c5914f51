"""Responses that a browser saves as files instead of showing them."""

import io
from collections.abc import Callable, Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

from flask import Response, send_file
from flask.typing import ResponseReturnValue

# Text is sent as UTF-8, with that charset.
PLAIN = "text/plain"
CSV = "text/csv"
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
BYTES = "application/octet-stream"
ZIP = "application/zip"
MOST_IN_MEMORY = 1 << 20  # bytes
PART_BYTES = 1 << 16


def download(content: bytes | str, name: str, kind: str) -> ResponseReturnValue:
    """A response that is saved under this name."""
    packed = content.encode() if isinstance(content, str) else content
    response = send_file(io.BytesIO(packed), mimetype=kind, as_attachment=True, download_name=name)
    response.headers["Cache-Control"] = "no-store"
    return response


def written(pieces: Iterable[str | bytes]) -> IO[bytes]:
    """Write long content to a temporary file that is deleted when it is closed.

    A transaction in which the pieces are read thus ends before a slow client has received them: on SQLite an open one
    prevents checkpoints of the write-ahead log.
    """
    return filled(lambda file: file.writelines(one.encode() if isinstance(one, str) else one for one in pieces))


def filled(write: Callable[[IO[bytes]], object]) -> IO[bytes]:
    """The temporary file that this wrote to, as `written` makes one."""
    file = SpooledTemporaryFile[bytes](MOST_IN_MEMORY)
    try:
        write(file)
    except BaseException:
        file.close()
        raise
    return file


def written_response(file: IO[bytes], kind: str, name: str | None = None) -> Response:
    """A response with the content of a file, saved under `name` if given; the file is closed after the last chunk."""
    size = file.tell()
    file.seek(0)
    response = Response(_parts(file), mimetype=kind)
    response.call_on_close(file.close)
    response.content_length = size
    if name is not None:
        response.headers.set("Content-Disposition", "attachment", filename=name)
    response.headers["Cache-Control"] = "no-store"
    return response


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(PART_BYTES):
            yield part


def download_in_pieces(pieces: Iterator[str], name: str, kind: str) -> ResponseReturnValue:
    """A response like that of `download` for long content; errors before the first piece are raised here."""
    first = next(pieces)

    def content() -> Iterator[str]:
        yield first
        yield from pieces

    response = Response(content(), mimetype=kind)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.headers["Cache-Control"] = "no-store"
    return response
