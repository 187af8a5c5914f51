"""Addresses of JavaScript modules, cached permanently although modules import each other by relative names.

A folder of the address contains a hash of all modules: `./words.js`, imported by `/static/v-HASH/judging/main.js`, is
`/static/v-HASH/judging/words.js`.
"""

import hashlib
import re
import time
from functools import lru_cache
from pathlib import Path

from flask import Flask, Response, current_app

ADDRESS = "/static/v-<version>/<path:filename>"
HASH_DIGITS = 12
SECONDS_BETWEEN_LOOKS = 1
# Libraries, which are no modules and have addresses of their own content.
VENDOR = "vendor/"
IMPORT = re.compile(r'^(?:import|export)\b[^"]*?from "\./([^"]+)";', re.MULTILINE)


def install(app: Flask) -> None:
    """Serve static files below versioned folders, too, and offer `module_graph` to templates."""
    app.url_map.add(app.url_rule_class(ADDRESS, endpoint="static", methods=["GET", "HEAD"]))
    app.view_functions["static"] = _static_file
    app.jinja_env.globals["module_graph"] = module_graph


def is_module(filename: str) -> bool:
    """Whether a static file is a JavaScript module of ours."""
    return filename.endswith(".js") and not filename.startswith(VENDOR)


def version() -> str:
    """The hash of all modules; a changed file is noticed within a second."""
    return _version(Path(current_app.static_folder or ""), int(time.monotonic() / SECONDS_BETWEEN_LOOKS))


def module_graph(filename: str) -> list[str]:
    """The modules that a module imports, directly or through others, each once."""
    return list(_module_graph(Path(current_app.static_folder or ""), filename, version()))


def _static_file(filename: str, version: str | None = None) -> Response:
    del version  # It only makes the address another one when a module changes.
    return current_app.send_static_file(filename)


@lru_cache(maxsize=4)
def _version(folder: Path, _moment: int) -> str:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.js"))
    changes = tuple((name, (folder / name).stat().st_mtime_ns) for name in names if is_module(name))
    return _hash_of_all(folder, changes)


@lru_cache(maxsize=4)
def _hash_of_all(folder: Path, changes: tuple[tuple[str, int], ...]) -> str:
    whole = hashlib.sha256()
    for name, _ in changes:
        content = (folder / name).read_bytes()
        whole.update(f"{name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()[:HASH_DIGITS]


@lru_cache(maxsize=64)
def _module_graph(folder: Path, filename: str, _version: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = [filename]
    while waiting:
        importer = folder / waiting.pop(0)
        for imported in IMPORT.findall(importer.read_text(encoding="utf-8")):
            name = (importer.parent / imported).relative_to(folder).as_posix()
            if name != filename and name not in found:
                found[name] = None
                waiting.append(name)
    return tuple(found)
