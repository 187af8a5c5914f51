"""Security and cache headers on every response.

Addresses of static files contain a hash of their content, so that browsers may cache them permanently; addresses of
modules contain a hash of all modules.
"""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, current_app, request
from werkzeug.security import safe_join

from annotator.web.serving import modules
from annotator.web.site.context import settings

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; worker-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
SECONDS_A_DAY = 86_400
A_YEAR = "public, max-age=31536000, immutable"
HASH_DIGITS = 12
FOUND = frozenset({200, 206, 304})


def install(app: Flask) -> None:
    """Add the headers after each request, and a hash to the address of each static file."""
    app.url_defaults(_add_hash)
    app.after_request(_add_headers)


def _add_headers(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "same-origin")
    # Other sites cannot hold a reference to our windows, embed our pages or load our resources.
    response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    # The pages use none of these.
    response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
    if request.is_secure and (days := settings().hsts_days):
        response.headers.setdefault("Strict-Transport-Security", f"max-age={days * SECONDS_A_DAY}")
    if request.endpoint == "static":
        response.headers["Cache-Control"] = _static_caching(response)
    else:
        response.vary.update(("Cookie", "Accept-Language"))
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def _static_caching(response: Response) -> str:
    if response.status_code >= 400:  # noqa: PLR2004 - the first error
        return "no-store"
    return A_YEAR if _is_current(response) else "no-cache"


def _is_current(response: Response) -> bool:
    """Whether a static file was served and requested with its current content hash.

    Only served files are hashed: the name in the address comes from the client and may point anywhere.
    """
    if response.status_code not in FOUND:
        return False
    found = request.view_args or {}
    if "version" in found:
        return modules.is_module(found["filename"]) and found["version"] == modules.version()
    hashed = _hash_of(found["filename"])
    return hashed is not None and request.args.get("v") == hashed


def _add_hash(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint != "static":
        return
    if modules.is_module(values["filename"]):
        values.setdefault("version", modules.version())
    else:
        values.setdefault("v", _hash_of(values["filename"]))


def _hash_of(name: str) -> str | None:
    joined = safe_join(current_app.static_folder or "", name)
    if joined is None or not (path := Path(joined)).is_file():
        return None
    return _content_hash(path, path.stat().st_mtime_ns)


@lru_cache
def _content_hash(path: Path, _changed_at: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:HASH_DIGITS]
