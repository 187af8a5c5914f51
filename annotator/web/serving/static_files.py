"""Addresses of static files that change with their content, so that browsers may keep them for good."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, Request, Response, current_app
from werkzeug.security import safe_join

HASH_DIGITS = 12
FOUND = frozenset({200, 206, 304})


def install(app: Flask) -> None:
    """Put the hash of the content into every address of a static file."""
    app.url_defaults(_add_hash)


def is_current(request: Request, response: Response) -> bool:
    """Whether a static file was served, and was asked for by the hash of the content it has now.

    Only a file that was served is hashed: the name in the address is the visitor's, and may lead anywhere.
    """
    if response.status_code not in FOUND:
        return False
    hashed = _hash_of((request.view_args or {})["filename"])
    return hashed is not None and request.args.get("v") == hashed


def _add_hash(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint == "static":
        values.setdefault("v", _hash_of(values["filename"]))


def _hash_of(name: str) -> str | None:
    joined = safe_join(current_app.static_folder or "", name)
    if joined is None or not (path := Path(joined)).is_file():
        return None
    return _content_hash(path, path.stat().st_mtime_ns)


@lru_cache
def _content_hash(path: Path, _changed_at: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:HASH_DIGITS]
