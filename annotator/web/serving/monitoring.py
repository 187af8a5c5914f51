"""Figures for Prometheus: how many requests each view answered, how they ended, how long they took."""

import time

from flask import Flask, Response, g, request
from prometheus_client import Counter, Histogram

from annotator.web.site.background import work

REQUESTS = Counter("annotator_requests", "Requests answered.", ["endpoint", "method", "status"])
SECONDS = Histogram(
    "annotator_request_seconds",
    "How long requests took.",
    ["endpoint"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def install(app: Flask) -> None:
    """Count each request."""
    app.before_request(_begin)
    app.after_request(_count)


def _begin() -> None:
    g.counted_from = time.perf_counter()


def _count(response: Response) -> Response:
    if work() is None:
        endpoint = request.endpoint or "none"
        # Anybody may send any word as a method, and each label is kept for good.
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(endpoint, method, response.status_code).inc()
        SECONDS.labels(endpoint).observe(time.perf_counter() - g.get("counted_from", time.perf_counter()))
    return response
