"""The header Idempotency-Key: a request that is repeated with its key is answered as the first time."""

import hashlib
from contextlib import suppress
from functools import partial

from flask import Response, make_response, request
from flask.typing import ResponseReturnValue

from annotator.api.site.access import caller
from annotator.api.site.problems import problem
from annotator.errors import BusyError
from annotator.storage.site.database import Check
from annotator.web.site.background import work
from annotator.web.site.context import database, now
from annotator.workflows.site.idempotency import (
    KeyedRequest,
    StoredResponse,
    claim_key,
    earlier_response,
    keep_response,
)

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST = 255
BAD_REQUEST = 400
# Headers of a response that belong to what was done, not to the connection.
KEPT_HEADERS = ("Content-Type", "Location", "Retry-After", "ETag")


def keyed_request() -> KeyedRequest | Response | None:
    """The request with its key; None without a key, and the problem of a key that cannot be used."""
    key = request.headers.get(HEADER)
    if key is None or work() is not None:
        return None
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        return problem(BAD_REQUEST, f"The header {HEADER} has 1 to {LONGEST} printable ASCII characters.")
    digest = hashlib.sha256(f"{request.method} {request.full_path}\n".encode())
    digest.update(request.get_data())
    return KeyedRequest(caller().id, key, digest.hexdigest())


def answered_before(keyed: KeyedRequest) -> Response | None:
    """The response that the request got the first time; None when it was not carried out."""
    earlier = database().read(earlier_response, keyed)
    if earlier is None:
        return None
    return Response(earlier.body, earlier.status, {**earlier.headers, REPLAYED: "true"})


def claim(keyed: KeyedRequest) -> Check:
    """The check of a write guard which stores that the request is carried out."""
    return partial(claim_key, request=keyed, at=now())


def keep(keyed: KeyedRequest, answer: ResponseReturnValue, *, has_secret: bool) -> Response:
    """Keep the response, unless it has a secret, of which no copy is stored."""
    response = make_response(answer)
    if not has_secret:
        headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
        stored = StoredResponse(response.status_code, headers, response.get_data())
        # Without it, a repetition is told that the request was carried out.
        with suppress(BusyError), database().preparing().transaction() as session:
            keep_response(session, keyed, stored)
    return response
