"""Headers on every answer: what a browser may load and whether it may keep the page."""

from flask import Flask, Response, request

from annotator.web.serving.static_files import is_current
from annotator.web.site.context import settings

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
SECONDS_A_DAY = 86_400
A_YEAR = "public, max-age=31536000, immutable"


def install(app: Flask) -> None:
    """Add the headers after each request."""
    app.after_request(_add_headers)


def _add_headers(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "same-origin")
    # No page of another site holds a window of ours, and none shows or reads what is ours.
    response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    # Nothing here asks for any of these.
    response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
    if request.is_secure and (days := settings().hsts_days):
        response.headers.setdefault("Strict-Transport-Security", f"max-age={days * SECONDS_A_DAY}")
    if request.endpoint == "static":
        response.headers["Cache-Control"] = _static_caching(response)
    else:
        response.vary.update(("Cookie", "Accept-Language"))
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def _static_caching(response: Response) -> str:
    if response.status_code >= 400:  # noqa: PLR2004 - the first error
        return "no-store"
    return A_YEAR if is_current(request, response) else "no-cache"
