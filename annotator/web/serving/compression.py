"""Compression of the judging pages by Brotli or gzip; static files are compressed once."""

import gzip
from functools import lru_cache
from pathlib import Path

import brotli
from flask import Flask, Response, current_app, request

from annotator.web.serving import modules

# Smaller responses fit into one packet anyway.
LEAST = 1_000
# For personal responses: higher levels take twice the time to save a few per cent.
QUICK = 4
THOROUGH = 11
THOROUGHEST_GZIP = 9
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
    if (coding := _coding()) and not request.query_string and response.status_code < 300 and not response.is_streamed:  # noqa: PLR2004 - the first redirect
        content = response.get_data()
        if len(content) >= LEAST:
            _put(response, _coded(content, coding, QUICK), coding)
    return response


def _static_compressed(response: Response) -> Response:
    if request.endpoint != "static" or response.mimetype not in TEXTS:
        return response
    response.vary.add("Accept-Encoding")
    # Neither partial content nor “not modified”.
    if (coding := _coding()) and response.status_code == 200:  # noqa: PLR2004
        response.direct_passthrough = False
        _put(response, _static_content((request.view_args or {}).get("filename", ""), coding), coding)
        etag, is_weak = response.get_etag()
        if etag is not None:
            response.set_etag(f"{etag}-{coding}", weak=bool(is_weak))
            # The client's ETag was compared with that of the uncompressed file.
            response.make_conditional(request)
    return response


def _coding() -> str:
    """The content coding that the client accepts, or an empty string. Browsers accept Brotli only over TLS."""
    return next((coding for coding in ("br", "gzip") if request.accept_encodings[coding]), "")


def _coded(content: bytes, coding: str, level: int) -> bytes:
    if coding == "br":
        compressed_content: bytes = brotli.compress(content, quality=level)
        return compressed_content
    return gzip.compress(content, min(level, THOROUGHEST_GZIP), mtime=0)


def _put(response: Response, content: bytes, coding: str) -> None:
    # The file of the uncompressed response is still open.
    response.close()
    response.set_data(content)
    response.headers["Content-Encoding"] = coding


def _static_content(filename: str, coding: str) -> bytes:
    generated = modules.generated(filename)
    if generated is not None:
        return _bytes_compressed(generated, coding)
    path = Path(current_app.static_folder or "") / filename
    return _file_compressed(path, path.stat().st_mtime_ns, coding)


@lru_cache(maxsize=128)
def _bytes_compressed(content: bytes, coding: str) -> bytes:
    return _coded(content, coding, THOROUGH)


@lru_cache(maxsize=256)
def _file_compressed(path: Path, _changed_at: int, coding: str) -> bytes:
    return _coded(path.read_bytes(), coding, THOROUGH)
