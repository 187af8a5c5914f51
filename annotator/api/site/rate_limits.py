"""The number of requests that a token may send in a minute, and the headers that tell how many are left."""

import threading
import time

from flask import Flask, Response, current_app, g, request

from annotator.api.site.preconditions import READING_AGAIN
from annotator.api.site.problems import problem
from annotator.web.site.background import work
from annotator.web.site.context import settings

TOO_MANY = 429
WINDOW = 60  # seconds
COUNTER = "annotator.token_requests"
# More tokens than this in one minute: the counts of the minute before are removed.
MOST_COUNTED = 10_000


class RequestCounter:
    """Counts the requests of each token by minute, in this process."""

    def __init__(self) -> None:
        """Start without requests."""
        self._lock = threading.Lock()
        self._counts: dict[tuple[int, int], int] = {}  # by token and minute

    def count(self, token_id: int, at: float) -> int:
        """Count a request at this time, in seconds, and return how many there were in its minute."""
        minute = int(at // WINDOW)
        with self._lock:
            if len(self._counts) > MOST_COUNTED:
                self._counts = {key: count for key, count in self._counts.items() if key[1] == minute}
            count = self._counts[token_id, minute] = self._counts.get((token_id, minute), 0) + 1
        return count


def install(app: Flask) -> None:
    """Count from now on, and tell how many requests are left."""
    app.extensions[COUNTER] = RequestCounter()
    app.after_request(_with_headers)


def too_many_requests(token_id: int) -> Response | None:
    """Count this request; return the problem when the token has sent too many in this minute."""
    most = settings().api_requests_per_minute
    if not most or work() is not None or READING_AGAIN in request.environ:
        return None
    at = time.time()
    counter: RequestCounter = current_app.extensions[COUNTER]
    count = counter.count(token_id, at)
    seconds = WINDOW - int(at % WINDOW)
    g.rate_limit = f'"token";r={max(0, most - count)};t={seconds}', f'"token";q={most};w={WINDOW}'
    if count <= most:
        return None
    return problem(
        TOO_MANY,
        f"This token has sent {most} requests in this minute. Nothing was stored: wait for {seconds} seconds.",
        {"Retry-After": str(seconds)},
    )


def _with_headers(response: Response) -> Response:
    if "rate_limit" in g and request.blueprint is not None:
        # As in the Internet-Draft draft-ietf-httpapi-ratelimit-headers-10.
        response.headers["RateLimit"], response.headers["RateLimit-Policy"] = g.rate_limit
    return response
