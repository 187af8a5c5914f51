"""Limits on guessing passwords: by account and by address, counted in the database and so over all server processes.

Flask-Limiter keeps its counts in memory, which each process has for itself, or in Redis or the like, which nobody who
runs this has beside it. So it is given a store of ours. Only refusals are counted: a department behind one address
signs in as often as it likes.
"""

import hashlib
import ipaddress
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime

from flask import Flask, Response, render_template, request
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter, RateLimitExceeded
from limits.storage import Storage

from annotator.errors import BusyError
from annotator.web.site.context import current_person, database, now
from annotator.web.site.error_pages import TITLES
from annotator.web.site.language import gettext
from annotator.workflows.people import throttling

View = Callable[..., ResponseReturnValue]

SCHEME = "annotator"
TOO_MANY = 429
FIRST_REFUSAL = 400
# Whoever owns an address of IPv6 owns all that begin as it does.
IPV6_PREFIX = 64
# Refusals of one account from one address; from anywhere, so that no crowd of addresses guesses on; and of one address.
OF_ACCOUNT_FROM_HERE = "10 per 15 minutes"
OF_ACCOUNT = "100 per hour"
FROM_HERE = "100 per 15 minutes"


class CountsInDatabase(Storage):
    """A store of Flask-Limiter's in the database of the application that is answering."""

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - the library reads it from the class

    @property
    def base_exceptions(self) -> type[Exception]:
        """What may go wrong."""
        return BusyError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count."""
        return database().attempt(
            lambda session: throttling.count_attempt(session, key, amount, now=now(), seconds=int(expiry))
        )

    def get(self, key: str) -> int:
        """How many are counted."""
        with database().reading() as session:
            return throttling.attempts(session, key, now=now())[0]

    def get_expiry(self, key: str) -> float:
        """When it is counted from nothing again, in seconds since 1970."""
        with database().reading() as session:
            return throttling.attempts(session, key, now=now())[1].timestamp()

    def check(self) -> bool:
        """Whether it works; an application without its database works in nothing."""
        return True

    def reset(self) -> int | None:
        """Nobody asks for it."""
        return None

    def clear(self, key: str) -> None:
        """Count from nothing again."""
        with database().transaction() as session:
            throttling.forget(session, key)


def install(app: Flask) -> None:
    """Count for this application; who is over a limit is told until when."""
    limiter.init_app(app)
    app.register_error_handler(RateLimitExceeded, show_too_many)


def address() -> str:
    """Where a request comes from; behind a proxy what that says, if the server was told to believe it."""
    written = request.remote_addr or ""
    try:
        parsed = ipaddress.ip_address(written)
    except ValueError:
        return written
    if parsed.version == 4:  # noqa: PLR2004 - of the Internet Protocol
        return written
    return str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))


def account() -> str:
    """Which account is meant, whether or not there is one of that name; of who is signed in, theirs."""
    person = current_person()
    name = person.name if person else request.form.get("name", "")
    key = unicodedata.normalize("NFKC", name).casefold()
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def account_from_here() -> str:
    """The same, from where the request comes."""
    return f"{account()} {address()}"


def is_refused(response: Response) -> bool:
    """Whether an attempt counts; one that was not even looked at does not."""
    return response.status_code >= FIRST_REFUSAL and response.status_code != TOO_MANY


def show_too_many(error: RateLimitExceeded) -> ResponseReturnValue:
    """Say how long to wait."""
    current = limiter.current_limit
    ends_at = datetime.fromtimestamp(current.reset_at, UTC) if current else now()
    seconds = max(int((ends_at - now()).total_seconds()), 1)
    explanation = gettext(
        "There were too many attempts with a wrong name or password. Wait %(minutes)d minutes and try again. Nobody's "
        "password has changed, and whoever is signed in stays so.",
        minutes=-(-seconds // 60),
    )
    page = render_template(
        "site/errors/refusal.html", title=TITLES[TOO_MANY], explanation=explanation, refusal=None, back=None
    )
    return page, error.code, {"Retry-After": str(seconds)}


limiter = Limiter(
    address, storage_uri=f"{SCHEME}://", strategy="fixed-window", headers_enabled=False, swallow_errors=False
)


def against_guessing(view: View) -> View:
    """Limit a view that takes a password; it is to refuse a wrong one by its status."""
    for most, of in ((OF_ACCOUNT_FROM_HERE, account_from_here), (OF_ACCOUNT, account), (FROM_HERE, address)):
        view = limiter.limit(most, key_func=of, deduct_when=is_refused)(view)
    return view
