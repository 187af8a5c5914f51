"""A line in the log for every request: who asked for what, how it ended, how long it took; no secrets."""

import logging
import re
import time
from urllib.parse import quote

from flask import Flask, Response, g, request

from annotator.logs import REQUESTS
from annotator.web.site.sessions import signed_in_as

LOG = logging.getLogger(REQUESTS)
# What opens a door, as in the address of an invitation, is as long as that; slugs, numbers and names of files are not.
SECRET = re.compile(r"[A-Za-z0-9_-]{32,}")
STATIC = "static"


def install(app: Flask) -> None:
    """Write a line after each request."""
    app.before_request(_begin)
    app.after_request(_write)


def _begin() -> None:
    g.began = time.perf_counter()


def _write(response: Response) -> Response:
    milliseconds = (time.perf_counter() - g.get("began", time.perf_counter())) * 1000
    # Of a query only which words it has: the values are of people's making.
    path = "&".join((f"{SECRET.sub('…', quote(request.path))}?", *(quote(name) for name in request.args)))
    user = signed_in_as()
    # Of a program's call the owner of its token, who may not be the one whose cookie came along.
    account: int | None = g.get("caller_id", user.id if user else None)
    values = {
        "method": request.method,
        "path": path.replace("?&", "?").removesuffix("?"),
        "status": response.status_code,
        "milliseconds": round(milliseconds, 1),
        "bytes": response.content_length,
        "address": request.remote_addr,
        "user": account,
    }
    if request.endpoint != STATIC or response.status_code >= 400:  # noqa: PLR2004 - the first error
        LOG.info(
            "%s %s %s in %s ms, user %s at %s",
            *(values[name] for name in ("method", "path", "status", "milliseconds", "user", "address")),
            extra={"request": values},
        )
    return response
