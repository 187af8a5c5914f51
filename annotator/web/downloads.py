"""Files that a browser saves and never shows."""

import io

from flask import send_file
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
