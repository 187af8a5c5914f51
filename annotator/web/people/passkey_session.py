"""What the browser's session keeps between asking for a passkey and its response, and the site's address for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from flask import request, session
from wtforms import HiddenField

from annotator.errors import AnnotatorError, InvalidValueError, NotAllowedError
from annotator.web.site.audit_note import note
from annotator.web.site.context import current_person, database, now, settings
from annotator.web.site.forms import Form
from annotator.web.site.sessions import half_signed_in
from annotator.workflows.people import passkeys
from annotator.workflows.people.passkey_protocol import PasskeySite, site_at
from annotator.workflows.people.passkeys import ClonedPasskeyError, PasskeyRequest

ASKED = "passkey"  # key of the session
LONGEST = timedelta(minutes=5)
# What a passkey is asked for: to be made, to be the second factor of an account, or to sign in alone.
NEW, FACTOR, ALONE = "new", "factor", "alone"


class PasskeyForm(Form):
    """What a passkey has signed, or the browser has made, as JSON."""

    passkey = HiddenField()


class Asked(NamedTuple):
    """What this browser was asked for: the account in question, and for a new passkey its name and handle."""

    purpose: str
    challenge: str
    at: int
    account: str
    name: str = ""
    user_handle: str = ""

    @property
    def until(self) -> datetime:
        """Until when the response is accepted."""
        return datetime.fromtimestamp(self.at, UTC) + LONGEST

    @property
    def request(self) -> PasskeyRequest:
        """The request, for the check of the response."""
        return PasskeyRequest(the_site(), self.challenge, self.until)


def the_site() -> PasskeySite:
    """The site as browsers know it; `NotAllowedError` where they use no passkeys, or not at the page's address."""
    site = site_at(settings().site_address or request.host_url.rstrip("/"))
    if request.host.lower() != urlsplit(site.origin).netloc:
        raise NotAllowedError("Passkeys work only at the address %(origin)s: open this page there.", origin=site.origin)
    return site


def refusal_here() -> AnnotatorError | None:
    """Why passkeys cannot be used at the address of this page; None where they can."""
    try:
        the_site()
    except AnnotatorError as refusal:
        return refusal
    return None


def has_passkey_here(user_id: int) -> bool:
    """Whether an account has a passkey that works at the address of this page."""
    if refusal_here() is not None:
        return False
    host = the_site().host
    return any(one.host == host for one in database().read(passkeys.list_passkeys, user_id))


def keep_asked(purpose: str, challenge: str, *, name: str = "", user_handle: str = "") -> None:
    """Keep what was asked for until the response comes; only the last request of a browser is valid."""
    asked = Asked(purpose, challenge, int(now().timestamp()), _account(), name, user_handle)
    session[ASKED] = list(asked)


def take_asked(purpose: str) -> Asked:
    """What was asked for, which is taken out of the session.

    Raises `InvalidValueError` when nothing was, or for something else, too long ago, or before another sign-in.
    """
    asked = Asked(*session.pop(ASKED, (None, "", 0, "")))
    if asked.purpose != purpose or asked.account != _account() or now() > asked.until:
        raise InvalidValueError(
            "The passkey was asked for in another tab, or more than five minutes ago. Nothing was done: try again."
        )
    return asked


def account_in_question() -> int | None:
    """The id of the account that is signed in, or whose password was accepted."""
    person, half = current_person(), half_signed_in()
    return person.id if person else half and half[0]


@contextmanager
def noting_copies() -> Iterator[None]:
    """Add an audit entry when a passkey is refused because it may have been copied, in a transaction of its own."""
    try:
        yield
    except ClonedPasskeyError as refusal:
        with database().transaction() as written:
            note(written, "users.passkey-refused", subject=refusal.account)
        raise


def _account() -> str:
    person, half = current_person(), half_signed_in()
    if person is not None:
        return f"{person.id}:{person.generation}"
    return f"half {half[0]}:{half[1]}" if half else ""
