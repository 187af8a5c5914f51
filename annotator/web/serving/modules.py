"""Addresses of JavaScript modules, cached permanently although modules import each other by relative names.

A folder of the address contains a hash of all modules: `./words.js`, imported by `/static/v-HASH/judging/main.js`, is
`/static/v-HASH/judging/words.js`. `main.bundle.js` is `main.js` with all that it imports as one file: one request
where a page would wait for thirty; `screen.bundle.css` is `screen.css` with the stylesheets that it imports. Bundles
and stylesheets are served without comments and blanks.
"""

import hashlib
import os
import posixpath
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import rcssmin
import rjsmin
from flask import Flask, Response, current_app, request
from werkzeug.security import safe_join

ADDRESS = "/static/v-<version>/<path:filename>"
HASH_DIGITS = 12
SECONDS_BETWEEN_LOOKS = 1
# Libraries, which are no modules and have addresses of their own content.
VENDOR = "vendor/"
BUNDLE, STYLE_BUNDLE = ".bundle.js", ".bundle.css"
# The only forms in which our modules import and export.
IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\.{1,2}/[^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
STYLE_IMPORT = re.compile(r'^@import "\./([^"/]+)";$', re.MULTILINE)
OTHER_FORM = re.compile(r"^(?:import|export)\b.*|\bimport\(.*|\bimport\.meta.*", re.MULTILINE)


def install(app: Flask) -> None:
    """Serve static files below versioned folders, too, and bundles of modules."""
    app.url_map.add(app.url_rule_class(ADDRESS, endpoint="static", methods=["GET", "HEAD"]))
    app.view_functions["static"] = _static_file


def is_module(filename: str) -> bool:
    """Whether a static file is a JavaScript module of ours, or a bundle of stylesheets."""
    return filename.endswith((".js", STYLE_BUNDLE)) and not filename.startswith(VENDOR)


def version() -> str:
    """The hash of all modules; a changed file is noticed within a second."""
    folder = Path(current_app.static_folder or "")
    return _hash_of_all(folder, _changes(folder, _moment()))


def generated(filename: str) -> bytes | None:
    """The content of a bundle or of a stylesheet, which is not that of a file; nothing for other names."""
    folder = Path(current_app.static_folder or "")
    if filename.endswith(BUNDLE):
        whole = filename.removesuffix(BUNDLE) + ".js"
        known = (name for name, _ in _changes(folder, _moment()))
        return _bundle(folder, whole, version()) if whole in known else None
    path = safe_join(str(folder), filename.replace(STYLE_BUNDLE, ".css"))
    if not filename.endswith(".css") or path is None or not Path(path).is_file():
        return None
    return _stylesheet(Path(path), version())


def _static_file(filename: str, version: str | None = None) -> Response:
    del version  # It only makes the address another one when a module changes.
    content = generated(filename)
    if content is None:
        return current_app.send_static_file(filename)
    response = Response(content, mimetype="text/css" if filename.endswith(".css") else "text/javascript")
    response.set_etag(hashlib.sha256(content).hexdigest()[:HASH_DIGITS])
    response.make_conditional(request)
    return response


def _moment() -> int:
    return int(time.monotonic() / SECONDS_BETWEEN_LOOKS)


@lru_cache(maxsize=4)
def _changes(folder: Path, _moment: int) -> tuple[tuple[str, int], ...]:
    """Each module and stylesheet, and when it was changed."""
    return tuple(sorted(_changes_below(str(folder), "")))


def _changes_below(folder: str, above: str) -> Iterator[tuple[str, int]]:
    # `Path.rglob` takes ten times as long, and every process looks once a second.
    with os.scandir(folder) as found:
        for entry in found:
            name = above + entry.name
            if entry.is_dir():
                if name + "/" != VENDOR:
                    yield from _changes_below(entry.path, name + "/")
            elif name.endswith((".js", ".css")):
                yield name, entry.stat().st_mtime_ns


@lru_cache(maxsize=4)
def _hash_of_all(folder: Path, changes: tuple[tuple[str, int], ...]) -> str:
    whole = hashlib.sha256()
    for name, _ in changes:
        content = (folder / name).read_bytes()
        whole.update(f"{name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()[:HASH_DIGITS]


@lru_cache(maxsize=16)
def _bundle(folder: Path, filename: str, _version: str) -> bytes:
    """A module and all that it imports, each as a function that returns what it exports, the imported ones first."""
    parts: dict[str, str] = {}
    _collect(folder, filename, parts, ())
    shortened: str = rjsmin.jsmin("".join(parts.values()))
    return shortened.encode()


@lru_cache(maxsize=64)
def _stylesheet(path: Path, _version: str) -> bytes:
    """A stylesheet with those that it imports in their places."""

    def imported(found: re.Match[str]) -> str:
        return (path.parent / found[1]).read_text(encoding="utf-8")

    shortened: str = rcssmin.cssmin(STYLE_IMPORT.sub(imported, path.read_text(encoding="utf-8")))
    return shortened.encode()


def _collect(folder: Path, name: str, parts: dict[str, str], importers: tuple[str, ...]) -> None:
    if name in importers:
        raise ValueError(f"these modules import each other: {', '.join((*importers, name))}")
    if name in parts:
        return
    text = (folder / name).read_text(encoding="utf-8")
    exports = [found[2] for found in EXPORT.finditer(text)]
    for found in IMPORT.finditer(text):
        _collect(folder, _imported(name, found[2]), parts, (*importers, name))
    body = EXPORT.sub(r"\1 \2", IMPORT.sub(lambda found: _taken_over(found, name), text))
    if other := OTHER_FORM.search(body):
        raise ValueError(f"{name}: a bundle cannot hold “{other[0]}”")
    parts[name] = f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exports)} }};\n}})();\n"


def _taken_over(found: re.Match[str], importer: str) -> str:
    """What an import becomes in a bundle."""
    return f"const {found[1].replace(' as ', ': ')} = {_variable(_imported(importer, found[2]))};"


def _imported(importer: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name)
