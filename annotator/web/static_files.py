"""Addresses of static files that change with their content, so that browsers may keep them for good."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, Request, current_app

HASH_DIGITS = 12


def install(app: Flask) -> None:
    """Put the hash of the content into every address of a static file."""
    app.url_defaults(_add_hash)


def is_current(request: Request) -> bool:
    """Whether a static file was asked for by the hash of the content it has now."""
    name = (request.view_args or {}).get("filename", "")
    return request.args.get("v") == _hash_of(name)


def _add_hash(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint == "static":
        values.setdefault("v", _hash_of(values["filename"]))


def _hash_of(name: str) -> str | None:
    path = Path(current_app.static_folder or "") / name
    return _content_hash(path, path.stat().st_mtime_ns) if path.is_file() else None


@lru_cache
def _content_hash(path: Path, _changed_at: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:HASH_DIGITS]
