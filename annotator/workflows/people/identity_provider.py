"""Signing in at a provider by OpenID Connect: the authorization code flow with PKCE, state and nonce."""

import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from annotator.errors import InvalidValueError, NotAllowedError
from annotator.workflows.people import provider_requests
from annotator.workflows.people.id_tokens import UnknownKeyError, identity_in, read_id_token, read_keys
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.provider_requests import ProviderAccess, ProviderError, ProviderSession, too_slow

SCOPE = "openid email"
# What the provider publishes about itself is asked for again after this time.
LONGEST_KEPT = timedelta(hours=1)
# For so long nobody waits again for a provider that did not answer.
PAUSE_AFTER_FAILURE = 10.0  # seconds
BYTES_OF_A_SECRET = 32
LONGEST_SHOWN = 200
# Such as “access_denied” (RFC 6749, section 4.1.2.1); anything else is not repeated on a page.
ERROR_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")
DENIED = {"access_denied", "consent_required", "interaction_required", "login_required"}
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class SignInRequest:
    """Where the browser goes to sign in, and what the answer is compared with; each is used once."""

    address: str
    state: str
    nonce: str
    verifier: str


class IdentityProvider:
    """A provider of sign-in, asked when it is first needed; usable by several threads."""

    def __init__(self, access: ProviderAccess) -> None:
        """Ask nothing yet."""
        self.access = access
        self._session = ProviderSession(access)
        self._lock = threading.Lock()
        self._published: tuple[Mapping[str, Any], datetime] | None = None
        self._keys: tuple[Any, datetime] | None = None
        self._failed: tuple[ProviderError, float] | None = None

    def begin(self, redirect_to: str, *, prompt: str | None = None, at: datetime) -> SignInRequest:
        """A new request for signing in that comes back to `redirect_to`; `prompt` is as in OpenID Connect.

        Raises as `published`.
        """
        state, nonce, verifier = (secrets.token_urlsafe(BYTES_OF_A_SECRET) for _ in range(3))
        address, _ = self._client(redirect_to, at).create_authorization_url(
            self.published(at)["authorization_endpoint"],
            state=state,
            code_verifier=verifier,
            nonce=nonce,
            prompt=prompt,
        )
        return SignInRequest(address, state, nonce, verifier)

    def finish(
        self, response: Mapping[str, str], redirect_to: str, *, nonce: str, verifier: str, at: datetime
    ) -> ProvenIdentity:
        """The person who has signed in, from the parameters with which the browser came back.

        `redirect_to`, `nonce` and `verifier` are those of the request, and the caller has compared its state. Raises
        `NotAllowedError` when person or provider declined, `InvalidValueError` without a code, and `ProviderError` for
        whatever is wrong with the provider or its ID token.
        """
        self._check(response, at)
        token = self._token(response["code"], redirect_to, verifier, at)
        try:
            read = read_id_token(token.get("id_token"), self.keys(at))
        except UnknownKeyError:  # the provider may have a new one
            read = read_id_token(token.get("id_token"), self.keys(at, again=True))
        return identity_in(read, self.access, nonce=nonce, access_token=token.get("access_token"), at=at)

    def published(self, at: datetime) -> Mapping[str, Any]:
        """What the provider publishes about itself (OpenID Connect Discovery 1.0); raises `ProviderError`."""
        longest = provider_requests.SECONDS_OF_A_RESPONSE
        if not self._lock.acquire(timeout=longest):
            raise too_slow(longest)
        try:
            if self._published is not None and at - self._published[1] <= LONGEST_KEPT:
                return self._published[0]
            if self._failed is not None and monotonic() - self._failed[1] < PAUSE_AFTER_FAILURE:
                raise self._failed[0].with_traceback(None)
            try:
                found = self._discovered()
            except ProviderError as error:
                # Counted from now: those who waited for this request must not each wait for one of their own.
                self._failed = (error, monotonic())
                raise
            self._published = (found, at)
            return found
        finally:
            self._lock.release()

    def keys(self, at: datetime, *, again: bool = False) -> Any:  # noqa: ANN401 - joserfc's key set
        """The keys with which the provider signs; raises `ProviderError`."""
        kept = self._keys
        if kept is None or again or at - kept[1] > LONGEST_KEPT:
            kept = (read_keys(self._session.get_object(self.published(at)["jwks_uri"])), at)
            self._keys = kept
        return kept[0]

    def _discovered(self) -> Mapping[str, Any]:
        place = import_module("authlib.oidc.discovery").get_well_known_url(self.access.issuer, external=True)
        found = self._session.get_object(place)
        if found.get("issuer") != self.access.issuer:
            raise ProviderError(
                "The provider calls itself “%(found)s”, and the setting ANNOTATOR_OIDC_ISSUER has “%(issuer)s”: they "
                "must be equal.",
                found=str(found.get("issuer"))[:LONGEST_SHOWN],
                issuer=self.access.issuer,
            )
        for name in ENDPOINTS:
            if not _is_safe(found.get(name)):
                raise ProviderError("The provider publishes no address with https:// as its %(name)s.", name=name)
        return found

    def _client(self, redirect_to: str, at: datetime) -> Any:  # noqa: ANN401 - Authlib has no types
        methods = self.published(at).get("token_endpoint_auth_methods_supported")
        takes_body_alone = (
            isinstance(methods, list) and "client_secret_post" in methods and "client_secret_basic" not in methods
        )
        return import_module("authlib.oauth2.client").OAuth2Client(
            self._session,
            client_id=self.access.client_id,
            client_secret=self.access.client_secret or None,
            token_endpoint_auth_method="client_secret_post" if takes_body_alone and self.access.client_secret else None,
            scope=SCOPE,
            redirect_uri=redirect_to,
            code_challenge_method="S256",
        )

    def _check(self, response: Mapping[str, str], at: datetime) -> None:
        """Refuse an answer that has no code, or is of another provider (RFC 9207)."""
        name = self.access.name
        always_named = self.published(at).get("authorization_response_iss_parameter_supported") is True
        if response.get("iss", None if always_named else self.access.issuer) != self.access.issuer:
            raise ProviderError("The answer is of another provider than %(provider)s.", provider=name)
        if "error" in response:
            code = _shown(response["error"])
            if code in DENIED:
                raise NotAllowedError(
                    "Signing in at %(provider)s was cancelled, or it does not let you in here (%(code)s).",
                    provider=name,
                    code=code,
                )
            raise ProviderError("%(provider)s refused the request of this site (%(code)s).", provider=name, code=code)
        if not response.get("code"):
            raise InvalidValueError("%(provider)s sent you back without a code. Begin again.", provider=name)

    def _token(self, code: str, redirect_to: str, verifier: str, at: datetime) -> Mapping[str, Any]:
        """What the provider gives for the code."""
        client, address = self._client(redirect_to, at), self.published(at)["token_endpoint"]
        try:
            token: Mapping[str, Any] = client.fetch_token(
                address, grant_type="authorization_code", code=code, code_verifier=verifier
            )
        except import_module("authlib.oauth2.base").OAuth2Error as error:
            raise ProviderError(
                "%(provider)s did not accept the code, or this site as a client (%(code)s). Begin again.",
                provider=self.access.name,
                code=_shown(error.error),
            ) from None
        except (AttributeError, TypeError, ValueError):
            # No JSON object, or one whose values are of other types than Authlib takes for granted.
            raise ProviderError("The provider sent no token in exchange for the code.") from None
        return token


@cache
def provider_of(access: ProviderAccess) -> IdentityProvider:
    """The provider of these settings; a process has one, which remembers what the provider publishes."""
    return IdentityProvider(access)


def _shown(code: object) -> str:
    """A code of an error; “?” for one that is not of that form."""
    return code if isinstance(code, str) and ERROR_CODE.fullmatch(code) else "?"


def _is_safe(address: object) -> bool:
    """Whether an address is one of HTTPS, or of this machine."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL_HOSTS)
    )
