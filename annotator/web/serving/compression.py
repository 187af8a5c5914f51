"""Gzip compression of the judging pages; static files are compressed once."""

import gzip
from functools import lru_cache
from pathlib import Path

from flask import Flask, Response, current_app, request

from annotator.web.serving import modules

# Smaller responses fit into one packet anyway.
LEAST = 1_000
# For personal responses: higher levels take twice the time to save a few per cent.
QUICK = 4
THOROUGH = 9
TEXTS = {"text/css", "text/javascript", "application/javascript", "image/svg+xml"}


def install(app: Flask) -> None:
    """Compress static text files."""
    app.after_request(_static_compressed)


def compressed(response: Response) -> Response:
    """Compress a personal response if the client accepts it and it is large enough.

    Not if the URL has a query string: its content may be reflected in the page next to the CSRF token, which could then
    be guessed from the length of the response (BREACH).
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
    if _takes_gzip() and response.status_code == 200:  # noqa: PLR2004 - neither partial content nor “not modified”
        response.direct_passthrough = False
        _put(response, _static_content_compressed((request.view_args or {}).get("filename", "")))
        etag, is_weak = response.get_etag()
        if etag is not None:
            response.set_etag(f"{etag}-gzip", weak=bool(is_weak))
            # The client's ETag was compared with that of the uncompressed file.
            response.make_conditional(request)
    return response


def _takes_gzip() -> bool:
    return bool(request.accept_encodings["gzip"])


def _put(response: Response, content: bytes) -> None:
    # The file of the uncompressed response is still open.
    response.close()
    response.set_data(content)
    response.headers["Content-Encoding"] = "gzip"


def _static_content_compressed(filename: str) -> bytes:
    bundle = modules.bundle(filename)
    if bundle is not None:
        return _bytes_compressed(bundle)
    path = Path(current_app.static_folder or "") / filename
    return _file_compressed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _bytes_compressed(content: bytes) -> bytes:
    return gzip.compress(content, THOROUGH, mtime=0)


@lru_cache(maxsize=256)
def _file_compressed(path: Path, _changed_at: int) -> bytes:
    return gzip.compress(path.read_bytes(), THOROUGH, mtime=0)
