"""Headers on every answer: what a browser may load and whether it may keep the page."""

from flask import Flask, Response, request

from annotator.web.static_files import is_current

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
A_YEAR = "public, max-age=31536000, immutable"


def install(app: Flask) -> None:
    """Add the headers after each request."""
    app.after_request(_add_headers)


def _add_headers(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "same-origin")
    if request.endpoint == "static":
        response.headers["Cache-Control"] = A_YEAR if is_current(request) else "no-cache"
    else:
        response.vary.update(("Cookie", "Accept-Language"))
        response.headers.setdefault("Cache-Control", "no-store")
    return response
