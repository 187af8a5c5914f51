"""Answers of the judging pages compressed with gzip; static files are compressed once."""

import gzip
from functools import lru_cache
from pathlib import Path

from flask import Flask, Response, current_app, request

# Less fits into one packet in any case.
LEAST = 1_000
# Of what is made for one reader: higher levels take twice the time for a few bytes in a hundred.
QUICK = 4
THOROUGH = 9
TEXTS = {"text/css", "text/javascript", "application/javascript", "image/svg+xml"}


def install(app: Flask) -> None:
    """Compress static texts."""
    app.after_request(_static_compressed)


def compressed(response: Response) -> Response:
    """An answer made for one reader, compressed if they take that and it is worth it.

    Not where the address has a question mark: what comes after it may stand in the page beside the reader's token,
    whose letters would show in the length of the answer, one guess after another.
    """
    response.vary.add("Accept-Encoding")
    if _takes_gzip() and not request.query_string and response.status_code < 300 and not response.is_streamed:  # noqa: PLR2004 - the first redirect
        content = response.get_data()
        if len(content) >= LEAST:
            _put(response, gzip.compress(content, QUICK, mtime=0))
    return response


def _static_compressed(response: Response) -> Response:
    if request.endpoint != "static" or response.mimetype not in TEXTS:
        return response
    response.vary.add("Accept-Encoding")
    if _takes_gzip() and response.status_code == 200:  # noqa: PLR2004 - neither a part nor “not modified”
        path = Path(current_app.static_folder or "") / (request.view_args or {}).get("filename", "")
        response.direct_passthrough = False
        _put(response, _file_compressed(path, path.stat().st_mtime_ns))
        etag, is_weak = response.get_etag()
        if etag is not None:
            response.set_etag(f"{etag}-gzip", weak=bool(is_weak))
            # What the reader has was compared with the tag of the file as it is.
            response.make_conditional(request)
    return response


def _takes_gzip() -> bool:
    return bool(request.accept_encodings["gzip"])


def _put(response: Response, content: bytes) -> None:
    # The file that would have been sent is open.
    response.close()
    response.set_data(content)
    response.headers["Content-Encoding"] = "gzip"


@lru_cache(maxsize=256)
def _file_compressed(path: Path, _changed_at: int) -> bytes:
    return gzip.compress(path.read_bytes(), THOROUGH, mtime=0)
