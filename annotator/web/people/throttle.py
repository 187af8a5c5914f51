"""Rate limiting of password attempts by account and address."""

import hashlib
import ipaddress
import math
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps

from flask import Response, after_this_request, render_template, request
from flask.typing import ResponseReturnValue

from annotator.web.site.context import current_person, database, now
from annotator.web.site.error_pages import TITLES
from annotator.web.site.language import gettext
from annotator.web.site.sessions import half_signed_in
from annotator.workflows.people import throttling
from annotator.workflows.people.throttling import Limit

View = Callable[..., ResponseReturnValue]

TOO_MANY = 429
REFUSALS = range(400, 600)
OWN_REFUSALS = range(400, 500)  # 502 and 504 are failures of another server, for which nobody here can do anything
WHATEVER = range(600)
# An owner of an IPv6 address owns all addresses with the same prefix.
IPV6_PREFIX = 64
# Per account and address; per address; per account from all addresses, against distributed guessing.
OF_ACCOUNT_FROM_HERE = Limit(10, timedelta(minutes=15))
FROM_HERE = Limit(100, timedelta(minutes=15))
OF_ACCOUNT = Limit(100, timedelta(hours=1))
OF_NEW_ACCOUNTS = Limit(20, timedelta(hours=1))
# Three of a million codes are right at a time.
OF_CODES = Limit(50, timedelta(days=1))


def against_guessing(view: View) -> View:
    """Limit the attempts of a view that takes a password; the view must reject wrong ones by its status."""
    return _limited(view, lambda: _limits(_account()))


def against_guessing_codes(view: View) -> View:
    """Limit the attempts of a view that takes a code of an account: signed in, or with the password alone.

    Who tries here knows the password: without a limit a day, which all of these views share, six digits would be
    guessed within months. A passkey cannot be guessed, and must open the account when somebody has reached the limit:
    after the password it counts for the address only, and elsewhere, beside the password, not for the day.
    """

    def limits() -> dict[str, Limit]:
        person, half = current_person(), half_signed_in()
        account = _hashed(str(person.id if person else half and half[0]))
        if request.form.get("passkey"):
            return _limits(account) if person else _limits_of_address()
        return _limits(account) | {f"code {account} day": OF_CODES}

    return _limited(view, limits)


def against_refusals(view: View) -> View:
    """Limit the refusals of a view, which takes no password, to an address: each may ask another server."""
    return _limited(view, _limits_of_address, counted=OWN_REFUSALS, explain=_of_sign_ins)


def against_refused_passkeys(view: View) -> View:
    """Limit the refusals of passkeys to an address: whose they were meant to be is not known."""
    return _limited(view, _limits_of_address, counted=OWN_REFUSALS, explain=_of_passkeys)


def against_floods(view: View) -> View:
    """Limit how often a view is asked to send an e-mail, whatever comes of it."""
    return _limited(
        view, lambda: {f"sent {what}": limit for what, limit in _limits(_account()).items()}, counted=WHATEVER
    )


def against_many_accounts(view: View) -> View:
    """Limit how many new accounts one address makes by itself, and how many it tries to make."""

    def limits() -> dict[str, Limit]:
        return {f"{request.endpoint} {_address()}": OF_NEW_ACCOUNTS}

    return _limited(view, limits, counted=WHATEVER, explain=_of_registrations)


def _limited(
    view: View,
    limits_of: Callable[[], dict[str, Limit]],
    *,
    counted: range = REFUSALS,
    explain: Callable[[int], str] | None = None,
) -> View:
    """Count the answers whose status is in `counted`, and block the view once a limit is reached."""

    @wraps(view)
    def guarded(**given: str) -> ResponseReturnValue:
        limits = limits_of()
        until = database().read(throttling.blocked_until, limits, now=now())
        if until is not None:
            return _too_many(until, explain or _of_guesses)

        @after_this_request
        def count(response: Response) -> Response:
            if response.status_code in counted:
                database().attempt(lambda session: throttling.count_refusal(session, limits, now=now()))
            return response

        return view(**given)

    return guarded


def _limits(account: str) -> dict[str, Limit]:
    form = request.endpoint
    of_account = {f"{form} {account} {_address()}": OF_ACCOUNT_FROM_HERE, f"{form} {account}": OF_ACCOUNT}
    return of_account | _limits_of_address()


def _limits_of_address() -> dict[str, Limit]:
    address = _address()  # a Unix socket has none
    return {f"{request.endpoint} {address}": FROM_HERE} if address else {}


def _account() -> str:
    """The account in question, existing or not; that of the signed-in person if there is one."""
    person = current_person()
    name = person.name if person else request.form.get("name", "")
    return _hashed(unicodedata.normalize("NFKC", name).casefold())


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _address() -> str:
    """The address of the client; behind a trusted proxy, the one that the proxy reports."""
    written = request.remote_addr or ""
    try:
        parsed = ipaddress.ip_address(written)
    except ValueError:
        return written
    if parsed.version == 4:  # noqa: PLR2004 - IP version
        return written
    return str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))


def _of_guesses(minutes: int) -> str:
    return gettext(
        "Too many attempts with a wrong name, password or code. Wait %(minutes)d minutes and try again. No "
        "password has changed, and existing sessions continue.",
        minutes=minutes,
    )


def _of_passkeys(minutes: int) -> str:
    return gettext(
        "Too many passkeys were refused from your network. Wait %(minutes)d minutes and try again, or sign in with "
        "name and password.",
        minutes=minutes,
    )


def _of_registrations(minutes: int) -> str:
    return gettext(
        "Too many registrations from your network. Wait %(minutes)d minutes and try again, or ask an organiser for an "
        "invitation.",
        minutes=minutes,
    )


def _of_sign_ins(minutes: int) -> str:
    return gettext(
        "Too many sign-ins at the provider were refused from your network. Wait %(minutes)d minutes and try again, or "
        "sign in with name and password.",
        minutes=minutes,
    )


def _too_many(until: datetime, explain: Callable[[int], str]) -> ResponseReturnValue:
    seconds = max(math.ceil((until - now()).total_seconds()), 1)
    page = render_template(
        "site/errors/refusal.html",
        title=TITLES[TOO_MANY],
        explanation=explain(-(-seconds // 60)),
        refusal=None,
        back=None,
    )
    return page, TOO_MANY, {"Retry-After": str(seconds)}
