"""What a request may name: addresses of this site, and no NUL character."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from flask import Flask, abort, request
from flask.typing import ResponseReturnValue
from werkzeug.routing import IntegerConverter
from werkzeug.sansio.utils import host_is_trusted

from annotator.web.site.context import settings

WATCHED = {"health.alive", "health.ready"}
BODIES_ARE_FILES = "/api/"


class RowNumber(IntegerConverter):
    """The number of a row in an address, `<row:…>`: as many digits as the columns of every database can hold."""

    regex = r"[0-9]{1,9}"


def install(app: Flask) -> None:
    """Let addresses hold row numbers, and refuse requests that name another site or hold what cannot be stored."""
    app.url_map.converters["row"] = RowNumber
    app.before_request(refuse_other_sites)
    app.before_request(refuse_nul_characters)


def refuse_other_sites() -> ResponseReturnValue | None:
    """Answer in plain text, for every page has links, which would lead to whatever was named.

    Whoever watches the server asks for it by any name.
    """
    names = settings().site_hosts
    if not names or request.endpoint in WATCHED or host_is_trusted(request.host, names):
        return None
    return "The pages are not served under this name.\n", 421, {"Content-Type": "text/plain; charset=utf-8"}


def refuse_nul_characters() -> None:
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


def local_path(address: str | None) -> str | None:
    r"""The address when it is a path of this site, None for everything else.

    Browsers read `//host` and `/\host` as another site, and drop tabs and line ends before they look.
    """
    if not address or not address.startswith("/") or not address.isprintable() or "\\" in address:
        return None
    return None if address.startswith("//") or urlsplit(address).netloc else address


def came_from() -> str | None:
    """The page of this site that the reader came from, when the browser says so."""
    return local_path((request.referrer or "").removeprefix(request.host_url.rstrip("/")))


def here() -> str:
    """A page the reader can be sent back to: this one, or, while it answers a form, the one with the form."""
    if request.method in {"GET", "HEAD"}:
        return request.full_path.rstrip("?")
    return came_from() or "/"
