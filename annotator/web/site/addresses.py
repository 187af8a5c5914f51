"""Validates requests: host names, NUL characters, row numbers, trailing slashes and redirect targets."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from flask import Flask, abort, current_app, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import IntegerConverter
from werkzeug.sansio.utils import host_is_trusted

from annotator.web.site.context import settings

WATCHED = {"health.alive", "health.ready"}
API = "/api/"  # takes tokens in place of cookies, and files as bodies
OF_A_COLLECTION = re.compile(r"(?P<collection>/collections/[^/]+/)(?P<page>.+)")
# Forms that a sign-in returns to, when their session has ended, and the pages that have them.
OF_A_FORM = re.compile(
    r"(?P<page>/account/(?:passkeys|second-factor)|/sign-in)/(?:begin|codes|off|passkey|remove|rename)"
)
# Pages of a collection whose address has changed.
MOVED = {"test-questions": "gold-questions"}


class RowNumber(IntegerConverter):
    """A row number in a path, `<row:…>`, limited to the digits that integer columns of every database can store."""

    regex = r"[0-9]{1,9}"


def install(app: Flask) -> None:
    """Register the row converter, and reject requests for other hosts or with text that cannot be stored."""
    app.url_map.converters["row"] = RowNumber
    app.before_request(refuse_other_sites)
    app.before_request(refuse_nul_characters)
    app.before_request(redirect_old_addresses)
    app.before_request(redirect_to_the_form)


def refuse_other_sites() -> ResponseReturnValue | None:
    """Reject requests for other hosts in plain text, as the links of an error page would point to that host.

    Health checks are answered for any host name.
    """
    names = settings().site_hosts
    if not names or request.endpoint in WATCHED or host_is_trusted(request.host, names):
        return None
    return "The pages are not served under this name.\n", 421, {"Content-Type": "text/plain; charset=utf-8"}


def refuse_nul_characters() -> None:
    """Reject a NUL character, which PostgreSQL cannot store in a text, with status 400."""
    if any("\0" in text for text in _texts()):
        abort(400)


def redirect_old_addresses() -> ResponseReturnValue | None:
    """Redirect pages that have moved, and `/collections/covid/` to `/collections/covid` where only that is a page."""
    pages = current_app.create_url_adapter(request)
    if not isinstance(request.routing_exception, NotFound) or pages is None:
        return None
    path = request.path.rstrip("/")
    if found := OF_A_COLLECTION.fullmatch(path):
        path = found["collection"] + MOVED.get(found["page"], found["page"])
    if path == request.path or not local_path(path):
        return None
    try:
        pages.match(path, method="GET")
    except HTTPException:
        return None
    query = request.query_string.decode()
    return redirect(f"{path}?{query}" if query else path, 308)


def redirect_to_the_form() -> ResponseReturnValue | None:
    """Redirect the address to which a form was sent to the page with the form, when it is opened as a page."""
    found = OF_A_FORM.fullmatch(request.path)
    if found is None or request.method != "GET" or not isinstance(request.routing_exception, MethodNotAllowed):
        return None
    query = request.query_string.decode(errors="replace")
    return redirect(f"{found['page']}?{query}" if query else found["page"], 303)


def _texts() -> Iterator[str]:
    yield request.path
    yield from (value for _, value in request.args.items(multi=True))
    if request.is_json or request.path.startswith(API):
        # A judgement's JSON is not parsed as a form, nor a file read as one.
        return
    yield from (value for _, value in request.form.items(multi=True))
    yield from (file.filename or "" for _, file in request.files.items(multi=True))


def local_path(address: str | None) -> str | None:
    r"""The address if it is a path of this site, None otherwise.

    Browsers treat `//host` and `/\host` as another site, and drop tabs and line ends before they parse.
    """
    if not address or not address.startswith("/") or not address.isprintable() or "\\" in address:
        return None
    return None if address.startswith("//") or urlsplit(address).netloc else address


def wanted_page() -> str | None:
    """The page of this site, in `?next=`, that somebody wanted who was led elsewhere first."""
    return local_path(request.args.get("next"))


def came_from() -> str | None:
    """The path of the referring page of this site, if the browser sends it."""
    return local_path((request.referrer or "").removeprefix(request.host_url.rstrip("/")))


def here() -> str:
    """A page to return to: this one, or for a submitted form, the page with the form."""
    if request.method in {"GET", "HEAD"}:
        return request.full_path.rstrip("?")
    return came_from() or "/"
