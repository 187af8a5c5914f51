"""Error pages with the matching status, in the reader's language, with a link back."""

from flask import Flask, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, InternalServerError

from annotator.errors import (
    AnnotatorError,
    BusyError,
    ConflictError,
    FileRefusedError,
    InvalidValueError,
    NotAllowedError,
    NotFoundError,
)
from annotator.web.site.addresses import came_from
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.translate import say

SIGNING_IN = "accounts.try_to_sign_in"

STATUSES: dict[type[AnnotatorError], int] = {
    NotFoundError: 404,
    NotAllowedError: 403,
    ConflictError: 409,
    InvalidValueError: 422,
    FileRefusedError: 422,
    BusyError: 503,
}

TITLES = {
    400: lazy_gettext("This form cannot be accepted"),
    403: lazy_gettext("You do not have permission"),
    404: lazy_gettext("Page not found"),
    405: lazy_gettext("This cannot be opened directly"),
    408: lazy_gettext("Request timed out"),
    409: lazy_gettext("Conflict with stored data"),
    413: lazy_gettext("Too large"),
    422: lazy_gettext("Invalid value"),
    429: lazy_gettext("Too many attempts"),
    500: lazy_gettext("Something went wrong here"),
    503: lazy_gettext("Busy at the moment"),
}

EXPLANATIONS = {
    400: lazy_gettext(
        "Its security token is missing or no longer valid, or the form was damaged: you may have "
        "signed out or in again since you opened the page. Go back, reload the page, and send it "
        "again."
    ),
    404: lazy_gettext("The address may be mistyped, or the page no longer exists."),
    405: lazy_gettext("This address only takes forms. Go back and use the page that links here."),
    408: lazy_gettext(
        "The connection was lost or slow before everything had arrived. Nothing was stored: send it again."
    ),
    413: lazy_gettext("More was sent than this server takes at once. Send fewer or gzipped files."),
    500: lazy_gettext("This is our fault, not yours. Nothing was stored; the server's log has the details."),
    503: lazy_gettext("Too many large uploads at once. Nothing was stored: try again in half a minute."),
}


def install(app: Flask) -> None:
    """Register the error pages for application errors, HTTP errors and faults."""
    app.register_error_handler(AnnotatorError, show_refusal)
    app.register_error_handler(HTTPException, show_http_error)
    app.register_error_handler(InternalServerError, show_fault)
    app.register_error_handler(CSRFError, show_stale_form)


def status_of(error: AnnotatorError) -> int:
    """The HTTP status of an error; 500 for one of no particular kind."""
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


def page_or_refusal(page: str, refused: AnnotatorError | None) -> ResponseReturnValue:
    """A page that shows the error itself, if any, with its status.

    Missing judgements or runs are not an error of the request.
    """
    return page if refused is None or isinstance(refused, ConflictError) else (page, status_of(refused))


def show_refusal(error: AnnotatorError) -> ResponseReturnValue:
    """A page with the error, and the problems of files."""
    status = status_of(error)
    page = render_template(
        "site/errors/refusal.html",
        title=TITLES[status],
        explanation=say(error.sentence),
        refusal=error,
        back=came_from(),
    )
    return page, status


def show_stale_form(error: CSRFError) -> ResponseReturnValue:
    """The page for a form with an invalid CSRF token; a sign-in form is shown again, which loses no input."""
    if request.endpoint == SIGNING_IN:
        flash(gettext("The page had been open for too long. Please sign in once more."))
        return redirect(url_for("accounts.sign_in", next=request.args.get("next")), 303)
    return show_http_error(error)


def show_http_error(error: HTTPException) -> ResponseReturnValue:
    """A page for an HTTP error of the framework; redirects pass through."""
    status = error.code or 500
    if status < 400:  # noqa: PLR2004 - the first error
        return error
    page = render_template(
        "site/errors/refusal.html",
        title=TITLES.get(status, error.name),
        explanation=EXPLANATIONS.get(status, error.description or ""),
        refusal=None,
        back=came_from(),
    )
    headers = {name: value for name, value in error.get_headers() if name in {"Allow", "Retry-After"}}
    return page, status, headers


def show_fault(_error: InternalServerError) -> ResponseReturnValue:
    """A page that does not use the database, which may be the cause."""
    return render_template("site/errors/fault.html", title=TITLES[500], explanation=EXPLANATIONS[500]), 500
