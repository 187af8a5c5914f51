"""Health checks, Prometheus metrics and the request log."""

import logging
import re
import time
from urllib.parse import quote

from flask import Blueprint, Flask, Response, g, request
from flask.typing import ResponseReturnValue
from prometheus_client import Counter, Histogram

from annotator import logs
from annotator.errors import BusyError, ConflictError
from annotator.installed import installed_version
from annotator.storage.site.schema import newest_version, try_to_write, version_of
from annotator.web.site.background import work
from annotator.web.site.context import database
from annotator.web.site.downloads import PLAIN
from annotator.web.site.sessions import signed_in_as

blueprint = Blueprint("health", __name__)

UNAVAILABLE = 503
HEADERS = {"Content-Type": f"{PLAIN}; charset=utf-8"}

REQUESTS = Counter("annotator_requests", "Requests answered.", ["endpoint", "method", "status"])
SECONDS = Histogram(
    "annotator_request_seconds",
    "How long requests took.",
    ["endpoint"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

LOG = logging.getLogger(logs.REQUESTS)
# Secrets in paths, such as that of an invitation, are as long as this; slugs, numbers and file names are shorter.
SECRET = re.compile(r"[A-Za-z0-9_-]{32,}")


@blueprint.get("/health")
def alive() -> ResponseReturnValue:
    """Liveness: the process responds; nothing else is checked."""
    return f"alive, annotator {installed_version()}\n", HEADERS


@blueprint.get("/ready")
def ready() -> ResponseReturnValue:
    """Readiness: the database opens, its schema is current, and it can be written."""
    try:
        present = version_of(database())
    except ConflictError:
        return "the database does not open\n", UNAVAILABLE, HEADERS
    newest = newest_version()
    if present is not None and present > newest:
        return "the tables are of a newer version of the program: install that one\n", UNAVAILABLE, HEADERS
    if present != newest:
        return "the tables are of another version: run “annotator database upgrade”\n", UNAVAILABLE, HEADERS
    try:
        try_to_write(database())
    except BusyError:
        return "nothing can be written: the disk is full, or somebody else writes for long\n", UNAVAILABLE, HEADERS
    return "ready\n", HEADERS


def install(app: Flask, *, has_log: bool, has_figures: bool) -> None:
    """Measure each request, then log and count it, if configured."""
    app.before_request(_begin)
    if has_log:
        app.after_request(_write)
    if has_figures:
        app.after_request(_count)


def _begin() -> None:
    g.began = time.perf_counter()


def _seconds() -> float:
    return time.perf_counter() - float(g.get("began", time.perf_counter()))


def _count(response: Response) -> Response:
    if work() is None:
        endpoint = request.endpoint or "none"
        # A client may send any word as a method, and label values are kept permanently.
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(endpoint, method, response.status_code).inc()
        SECONDS.labels(endpoint).observe(_seconds())
    return response


def _write(response: Response) -> Response:
    # Of a query string only the names of arguments: values may be personal.
    path = "&".join((f"{SECRET.sub('…', quote(request.path))}?", *(quote(name) for name in request.args)))
    user = signed_in_as()
    # For an API call the owner of the token, who may differ from the person of the cookie.
    account: int | None = g.get("caller_id", user.id if user else None)
    values = {
        "method": request.method,
        "path": path.replace("?&", "?").removesuffix("?"),
        "status": response.status_code,
        "milliseconds": round(_seconds() * 1000, 1),
        "bytes": response.content_length,
        "address": request.remote_addr,
        "user": account,
    }
    if request.endpoint != "static" or response.status_code >= 400:  # noqa: PLR2004 - the first error
        LOG.info(
            "%s %s %s in %s ms, user %s at %s",
            *(values[name] for name in ("method", "path", "status", "milliseconds", "user", "address")),
            extra={"request": values},
        )
    return response
