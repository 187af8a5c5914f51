"""How long a session lasts: what its signed cookie says of itself, so that a copy of it ends, too."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from flask import Flask, Response, request, session
from flask.sessions import SecureCookieSessionInterface

from annotator.web.site.context import now

# A session ends after so long without a request, and in any case so long after signing in.
LONGEST_IDLE = timedelta(hours=12)
LONGEST = timedelta(days=30)
# The cookie is sent again when what it says is older than this: not with each judgement.
SAID_AGAIN = timedelta(minutes=10)
NAME_BYTES = 16
NAME, BEGUN, SEEN = "session", "begun", "seen"
WHO = "_user_id"  # the name that Flask-Login gave it: sessions from before go on


class SignedInAs(NamedTuple):
    """The account and its generation that a session names, and what names the session; nothing is looked up."""

    id: int
    generation: int
    key: str


def cookie_name(name: str, *, secure: bool) -> str:
    """The name of a cookie; one that travels encrypted only can so be set by this very host alone."""
    return f"__Host-{name}" if secure else name


class SignedCookies(SecureCookieSessionInterface):
    """The framework's sessions, signed with HMAC-SHA-256 where it would take SHA-1."""

    digest_method = staticmethod(hashlib.sha256)


def install(app: Flask) -> None:
    """Sign sessions, and let each go on while its reader is there."""
    app.session_interface = SignedCookies()
    app.after_request(_go_on)


def begin(id_: int, generation: int) -> None:
    """Give the session that begins its account, a name of its own and its times.

    A session from before a change of password names an older generation of the account.
    """
    session.update({WHO: f"{id_}:{generation}", **marks(now())})


def marks(at: datetime) -> dict[str, str | int]:
    """What a cookie says of a session that begins."""
    moment = int(at.timestamp())
    return {NAME: secrets.token_urlsafe(NAME_BYTES), BEGUN: moment, SEEN: moment}


def signed_in_as() -> SignedInAs | None:
    """Who the session says it is of; None for a guest, and when its time is over."""
    id_, _, generation = str(session.get(WHO, "")).partition(":")
    if not (id_.isdecimal() and generation.isdecimal()) or _is_over(now()):
        return None
    return SignedInAs(int(id_), int(generation), key())


def key() -> str:
    """What names the session of somebody who is signed in; it is no secret without the signature of the cookie."""
    return str(session[NAME])


def ends_at() -> datetime:
    """When the session ends by itself at the latest."""
    return _moment(BEGUN) + LONGEST


def _is_over(at: datetime) -> bool:
    if NAME not in session:
        return True
    return at - _moment(BEGUN) > LONGEST or at - _moment(SEEN) > LONGEST_IDLE


def _moment(name: str) -> datetime:
    return datetime.fromtimestamp(session.get(name, 0), UTC)


def _go_on(response: Response) -> Response:
    if request.endpoint != "static" and SEEN in session and signed_in_as() is not None:
        at = now()
        if at - _moment(SEEN) > SAID_AGAIN:
            session[SEEN] = int(at.timestamp())
    return response
