"""Files that a browser saves and never shows."""

import io
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

from flask import Response, send_file
from flask.typing import ResponseReturnValue

# Text is sent as UTF-8, and said to be.
PLAIN = "text/plain"
CSV = "text/csv"
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
BYTES = "application/octet-stream"
MOST_IN_MEMORY = 1 << 20  # bytes
PART_BYTES = 1 << 16


def download(content: bytes | str, name: str, kind: str) -> ResponseReturnValue:
    """The content as a file of that name."""
    packed = content.encode() if isinstance(content, str) else content
    response = send_file(io.BytesIO(packed), mimetype=kind, as_attachment=True, download_name=name)
    response.headers["Cache-Control"] = "no-store"
    return response


def written(pieces: Iterable[str]) -> IO[bytes]:
    """What is too long to be in memory at once, in a file that goes when it is closed.

    So a transaction that the pieces are read in ends before anybody, perhaps slowly, takes them: on SQLite the log
    could not be emptied meanwhile.
    """
    file = SpooledTemporaryFile[bytes](MOST_IN_MEMORY)
    try:
        for piece in pieces:
            file.write(piece.encode())
    except BaseException:
        file.close()
        raise
    return file


def written_response(file: IO[bytes], kind: str, name: str | None = None) -> Response:
    """What was written, to be saved as a file where it has a name; it is closed behind the last part."""
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
    """The same of what is too long to be in memory at once; what is wrong from the beginning is raised here."""
    first = next(pieces)

    def content() -> Iterator[str]:
        yield first
        yield from pieces

    response = Response(content(), mimetype=kind)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.headers["Cache-Control"] = "no-store"
    return response
