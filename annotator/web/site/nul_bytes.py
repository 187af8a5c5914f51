"""Refuses input that no browser sends and no database of ours can keep."""

from collections.abc import Iterator

from flask import Flask, abort, request

BODIES_ARE_FILES = "/api/"


def install(app: Flask) -> None:
    """Look at each request before its view does."""
    app.before_request(refuse_garbled)


def refuse_garbled() -> None:
    """Answer 400 to a NUL character, which PostgreSQL cannot store in a text."""
    if any("\0" in text for text in _texts()):
        abort(400)


def _texts() -> Iterator[str]:
    yield request.path
    yield from (value for _, value in request.args.items(multi=True))
    if request.is_json or request.path.startswith(BODIES_ARE_FILES):
        # No form, which the framework would look for all the same, with each judgement; a file would be read for one.
        return
    yield from (value for _, value in request.form.items(multi=True))
    yield from (file.filename or "" for _, file in request.files.items(multi=True))
