"""ID tokens of OpenID Connect: their signature, their claims, and whom they name.

What is checked is that of OpenID Connect Core 1.0, section 3.1.3.7; joserfc checks signatures, Authlib claims.
"""

from collections.abc import Mapping
from datetime import datetime
from importlib import import_module
from typing import Any

from annotator.errors import Sentence
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.provider_requests import ProviderAccess, ProviderError

# Asymmetric ones alone: with HMAC a key that everybody knows could serve as the secret, and "none" signs nothing.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
LEEWAY = 120  # seconds that clocks may differ
LONGEST_SUBJECT = 255  # OpenID Connect Core 1.0, section 2
LONGEST_ADDRESS = 254  # RFC 5321, with its errata
OTHER_CLIENT = Sentence("The provider sent an ID token that is for another client than this site.")
FROM_FUTURE = Sentence("The provider sent an ID token from the future: its clock or this server's may be wrong.")
NOBODY = Sentence("The provider sent an ID token that names nobody: its subject is missing or unusable.")
# Claim → what is wrong with it.
WRONG_CLAIMS: Mapping[str, Sentence] = {
    "iss": Sentence("The provider sent an ID token of another issuer."),
    "aud": OTHER_CLIENT,
    "azp": OTHER_CLIENT,
    "nonce": Sentence("The provider sent an ID token of another sign-in: its nonce is wrong or missing."),
    "at_hash": Sentence("The provider sent an ID token that does not belong to its access token."),
    "exp": Sentence("The provider sent an ID token that has expired: its clock or this server's may be wrong."),
    "iat": FROM_FUTURE,
    "nbf": FROM_FUTURE,
    "sub": NOBODY,
}
# What the libraries raise for values of other types than they take for granted.
MALFORMED = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


class UnknownKeyError(ProviderError):
    """An ID token is signed with a key that the provider did not publish, or had not when it was asked."""


def read_keys(published: Mapping[str, Any]) -> Any:  # noqa: ANN401 - joserfc's key set
    """The keys that a provider publishes (RFC 7517); raises `ProviderError` when none can be read.

    Those of unknown kinds are ignored (section 5 there): a provider may offer new algorithms beside the usual ones.
    """
    listed = published.get("keys")
    found = [_key(one) for one in listed] if isinstance(listed, list) else []
    readable = [one for one in found if one is not None]
    if not readable:
        raise ProviderError("The provider publishes no keys that can be read.")
    return import_module("joserfc.jwk").KeySet(readable)


def read_id_token(id_token: object, keys: Any) -> Any:  # noqa: ANN401 - joserfc's token and key set
    """An ID token whose signature is by one of the keys.

    Raises `UnknownKeyError` for another key, and `ProviderError` for anything else that is wrong.
    """
    if not isinstance(id_token, str):
        raise ProviderError("The provider sent no ID token: it may not offer OpenID Connect to this client.")
    errors = import_module("joserfc.errors")
    try:
        algorithm = import_module("joserfc.jws").extract_compact(id_token.encode()).protected.get("alg")
        if algorithm not in ALGORITHMS:
            raise ProviderError(
                "The provider's ID token is not signed by one of the algorithms that are accepted: %(algorithms)s.",
                algorithms=", ".join(ALGORITHMS),
            )
        return import_module("joserfc.jwt").decode(id_token, keys, algorithms=ALGORITHMS)
    except errors.InvalidKeyIdError:
        raise UnknownKeyError("The provider signed the ID token with a key that it does not publish.") from None
    except errors.BadSignatureError:
        raise ProviderError("The signature of the provider's ID token is wrong.") from None
    except (errors.JoseError, *MALFORMED):
        raise ProviderError("The provider sent an ID token that cannot be read.") from None


def identity_in(
    token: Any,  # noqa: ANN401 - joserfc's token
    access: ProviderAccess,
    *,
    nonce: str,
    access_token: object,
    at: datetime,
) -> ProvenIdentity:
    """The person that a signed ID token names.

    Raises `ProviderError` when it is not of this issuer, for this client, of this sign-in (`nonce`) and of this time.
    """
    claims = import_module("authlib.oidc.core").CodeIDToken(
        token.claims,
        token.header,
        options={
            "iss": {"essential": True, "value": access.issuer},
            "aud": {"essential": True, "value": access.client_id},
        },
        params={"nonce": nonce, "client_id": access.client_id, "access_token": access_token},
    )
    try:
        claims.validate(now=int(at.timestamp()), leeway=LEEWAY)
    except import_module("joserfc.errors").ClaimError as error:
        raise _refusal(WRONG_CLAIMS.get(error.claim)) from None
    except MALFORMED:
        raise _refusal(None) from None
    return ProvenIdentity(access.issuer, _subject(claims["sub"]), _address(claims.get("email")))


def _key(published: Any) -> Any:  # noqa: ANN401 - JSON, and joserfc's key
    """A published key; None when it cannot be read."""
    if not isinstance(published, dict):
        return None
    try:
        return import_module("joserfc.jwk").import_key(published)
    except (import_module("joserfc.errors").JoseError, *MALFORMED):
        return None


def _refusal(sentence: Sentence | None) -> ProviderError:
    if sentence is None:
        return ProviderError("The provider sent an ID token whose claims are wrong or missing.")
    return ProviderError(sentence.template)


def _subject(found: object) -> str:
    if not isinstance(found, str) or not 1 <= len(found) <= LONGEST_SUBJECT or not found.isprintable():
        raise _refusal(NOBODY)
    return found


def _address(found: object) -> str:
    """The e-mail address; "" when there is none that can be shown."""
    if not isinstance(found, str) or len(found) > LONGEST_ADDRESS or not found.isprintable():
        return ""
    return found.strip()
