"""Expiry of sessions: times in the signed cookie, so that a copied cookie expires, too."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from flask import Flask, Response, request, session
from flask.sessions import SecureCookieSessionInterface

from annotator.web.site.context import now

# A session ends after this time without a request, and at the latest this long after signing in.
LONGEST_IDLE = timedelta(hours=12)
LONGEST = timedelta(days=30)
# The cookie is renewed when its time is older than this, not with each judgement.
SAID_AGAIN = timedelta(minutes=10)
NAME_BYTES = 16
NAME, BEGUN, SEEN = "session", "begun", "seen"
# Of a person whose password was accepted, and from whom a code is still expected.
HALF, HALF_SINCE = "half", "half_since"
LONGEST_HALF = timedelta(minutes=5)
# Its pages are for everybody, and may be cached by anyone: they set no cookie.
PUBLIC = "public_pages"
WHO = "_user_id"  # the key used by Flask-Login, so that older sessions remain valid


class SignedInAs(NamedTuple):
    """The account, its generation and the session key of a session, without a database query."""

    id: int
    generation: int
    key: str


def cookie_name(name: str, *, secure: bool) -> str:
    """The name of a cookie; a `__Host-` cookie is sent over HTTPS only and can be set by this host alone."""
    return f"__Host-{name}" if secure else name


class SignedCookies(SecureCookieSessionInterface):
    """Flask's sessions, signed with HMAC-SHA-256 instead of SHA-1."""

    digest_method = staticmethod(hashlib.sha256)


def install(app: Flask) -> None:
    """Install signed sessions, and extend each while it is used."""
    app.session_interface = SignedCookies()
    # The browser keeps the cookie as long as it is valid, also when it is closed. It is sent again when it is renewed.
    app.config.update(PERMANENT_SESSION_LIFETIME=LONGEST_IDLE, SESSION_REFRESH_EACH_REQUEST=False)
    app.after_request(_go_on)


def begin(id_: int, generation: int) -> None:
    """Store the account, a session key and the times in a new session.

    A session from before a password change has an older generation of the account.
    """
    session.permanent = True
    session.update({WHO: f"{id_}:{generation}", **marks(now())})


def go_on_as(id_: int, generation: int) -> None:
    """Keep this session of an account whose other sessions have ended; its forms in other tabs stay valid."""
    session[WHO] = f"{id_}:{generation}"


def begin_half(id_: int, generation: int) -> None:
    """Store whose password was accepted, which opens nothing before a code is accepted, too."""
    session.permanent = True
    session.update({HALF: f"{id_}:{generation}", HALF_SINCE: int(now().timestamp())})


def half_signed_in() -> tuple[int, int] | None:
    """The id and generation of the account whose password was accepted; None after expiry."""
    id_, _, generation = str(session.get(HALF, "")).partition(":")
    if not (id_.isdecimal() and generation.isdecimal()) or now() - _moment(HALF_SINCE) > LONGEST_HALF:
        return None
    return int(id_), int(generation)


def marks(at: datetime) -> dict[str, str | int]:
    """The times stored in the cookie of a new session."""
    moment = int(at.timestamp())
    return {NAME: secrets.token_urlsafe(NAME_BYTES), BEGUN: moment, SEEN: moment}


def signed_in_as() -> SignedInAs | None:
    """The account of the session; None for a guest, and after expiry."""
    id_, _, generation = str(session.get(WHO, "")).partition(":")
    if not (id_.isdecimal() and generation.isdecimal()) or _is_over(now()):
        return None
    return SignedInAs(int(id_), int(generation), key())


def key() -> str:
    """The key of a signed-in session; not a secret, as the cookie is signed."""
    return str(session[NAME])


def ends_at() -> datetime:
    """The latest time at which the session expires."""
    return _moment(BEGUN) + LONGEST


def _is_over(at: datetime) -> bool:
    if NAME not in session:
        return True
    return at - _moment(BEGUN) > LONGEST or at - _moment(SEEN) > LONGEST_IDLE


def _moment(name: str) -> datetime:
    return datetime.fromtimestamp(session.get(name, 0), UTC)


def _go_on(response: Response) -> Response:
    if request.endpoint != "static" and request.blueprint != PUBLIC and SEEN in session and signed_in_as() is not None:
        at = now()
        if at - _moment(SEEN) > SAID_AGAIN:
            session[SEEN] = int(at.timestamp())
    return response
