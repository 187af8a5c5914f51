"""The provider of sign-in of this site, and what the browser's session keeps between here and there."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from flask import session, url_for

from annotator.errors import AnnotatorError, NotFoundError
from annotator.web.site.context import now, settings
from annotator.web.site.error_pages import status_of
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.identity_provider import IdentityProvider, SignInRequest, provider_of
from annotator.workflows.people.provider_requests import ProviderAccess, ProviderError, SlowProviderError

# Keys of the session.
BEGUN, PROVEN = "provider_requests", "proven_identity"
LONGEST = timedelta(minutes=15)
# In several tabs; the oldest is forgotten, since a cookie has 4 KiB.
MOST_AT_ONCE = 3
LONGEST_ADDRESS = 300
NOBODY = 0


class Begun(NamedTuple):
    """A request that was sent to the provider from this browser, and the page that comes after it.

    `account` is the one to be linked; `NOBODY` for signing in.
    """

    state: str
    nonce: str
    verifier: str
    to: str
    account: int
    at: int


def provider_name() -> str | None:
    """What people call the provider; None where the site has none."""
    chosen = settings()
    return (chosen.oidc_name or urlsplit(chosen.oidc_issuer).hostname) if chosen.oidc_issuer else None


def the_provider() -> IdentityProvider:
    """The provider of the settings; `NotFoundError` where the site has none."""
    chosen, name = settings(), provider_name()
    if name is None:
        raise NotFoundError("People sign in to this site by name and password alone.")
    return provider_of(
        ProviderAccess(
            name, chosen.oidc_issuer, chosen.oidc_client_id, chosen.oidc_client_secret, chosen.outgoing_hosts
        )
    )


def return_address() -> str:
    """Where the provider sends the browser back to, as it is registered there."""
    return url_for("provider.finish", _external=True)


def keep_begun(begun: SignInRequest, to: str, *, account: int = NOBODY) -> None:
    """Keep a request in the session until its answer comes."""
    one = Begun(
        begun.state,
        begun.nonce,
        begun.verifier,
        to if len(quote(to)) <= LONGEST_ADDRESS else url_for("collection.home"),
        account,
        int(now().timestamp()),
    )
    session[BEGUN] = [*session.get(BEGUN, [])[1 - MOST_AT_ONCE :], list(one)]


def take_begun(state: str) -> Begun | None:
    """The request with this state, which is taken out of the session: an answer is accepted once.

    None for a state of another browser, one that was used, and one that is too old.
    """
    kept = [Begun(*one) for one in session.get(BEGUN, [])]
    found = next((one for one in kept if one.state == state), None)
    if found is None:
        return None
    session[BEGUN] = [list(one) for one in kept if one is not found]
    return found if _is_recent(found.at) else None


def keep_proven(identity: ProvenIdentity, *, account: int = NOBODY) -> None:
    """Keep who has signed in at the provider until this account, or the new one of an invitation, is linked."""
    session[PROVEN] = [identity.issuer, identity.subject, identity.address, account, int(now().timestamp())]


def proven(*, account: int = NOBODY) -> ProvenIdentity | None:
    """The identity that is kept for this account; None when there is none, or it was too long ago."""
    if PROVEN not in session:
        return None
    issuer, subject, address, kept_for, at = session[PROVEN]
    is_valid = kept_for == account and issuer == settings().oidc_issuer and _is_recent(at)
    return ProvenIdentity(issuer, subject, address) if is_valid else None


def forget_proven() -> None:
    """Forget the identity that was kept."""
    session.pop(PROVEN, None)


def status_of_refusal(refusal: AnnotatorError) -> int:
    """The HTTP status of a refused sign-in: the provider is to this site what a gateway has behind it."""
    if isinstance(refusal, SlowProviderError):
        return HTTPStatus.GATEWAY_TIMEOUT
    return HTTPStatus.BAD_GATEWAY if isinstance(refusal, ProviderError) else status_of(refusal)


def _is_recent(at: int) -> bool:
    return now() - datetime.fromtimestamp(at, UTC) <= LONGEST
