"""The header Idempotency-Key: a request that is repeated with its key is answered as the first time."""

import hashlib
from contextlib import suppress
from functools import partial

from flask import Response, make_response, request
from flask.typing import ResponseReturnValue

from annotator.api.site.access import caller
from annotator.api.site.problems import problem
from annotator.errors import BusyError
from annotator.storage.site.write_guard import Check
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
FORM_WITH_FILES = "multipart/form-data"
ACCEPTED = 202
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
    return KeyedRequest(caller().id, key, _digest())


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
    """Store the response for repetitions, unless it contains a secret, as that of an accepted job never does."""
    response = make_response(answer)
    if not has_secret or response.status_code == ACCEPTED:
        headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
        stored = StoredResponse(response.status_code, headers, response.get_data())
        # If this fails, a repetition gets 409: the request was carried out, and its response is not known.
        with suppress(BusyError), database().preparing().transaction() as session:
            keep_response(session, keyed, stored)
    return response


def _digest() -> str:
    """A digest of method, address and body; of a form its parts, as each request separates them by its own boundary."""
    digest = hashlib.sha256(f"{request.method} {request.full_path}\n".encode())
    content = request.get_data()
    if request.mimetype != FORM_WITH_FILES:
        digest.update(content)
        return digest.hexdigest()
    for name, value in request.form.items(multi=True):
        digest.update(repr((name, value)).encode())
    for name, file in request.files.items(multi=True):
        sha256 = hashlib.sha256(file.read()).hexdigest()
        file.seek(0)
        digest.update(repr((name, file.filename, sha256)).encode())
    return digest.hexdigest()
