"""Files that a browser saves and never shows."""

import io
from collections.abc import Iterator

from flask import Response, send_file
from flask.typing import ResponseReturnValue

# Text is sent as UTF-8, and said to be.
PLAIN = "text/plain"
CSV = "text/csv"
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
BYTES = "application/octet-stream"


def download(content: bytes | str, name: str, kind: str) -> ResponseReturnValue:
    """The content as a file of that name."""
    packed = content.encode() if isinstance(content, str) else content
    response = send_file(io.BytesIO(packed), mimetype=kind, as_attachment=True, download_name=name)
    response.headers["Cache-Control"] = "no-store"
    return response


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
