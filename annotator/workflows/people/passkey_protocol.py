"""Passkeys (WebAuthn, level 2): what a browser is asked for, and whether what it responds is right.

Nothing is stored here. The library fido2 reads responses and checks signatures; it is loaded at the first of them.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from annotator.errors import AnnotatorError, InvalidValueError, NotAllowedError

SITE_NAME = "annotator"
# Signature algorithms by their COSE numbers: ES256, EdDSA and RS256. Every device supports one of them.
ALGORITHMS = (-7, -8, -257)
MOST_CHARACTERS = 64 << 10  # of a response
MOST_ID_BYTES = 1023  # WebAuthn, section 5.1
MILLISECONDS = 5 * 60 * 1000


@dataclass(frozen=True)
class PasskeySite:
    """The site as browsers know it: its origin, such as `https://pool.example.org`, and its host, the RP ID."""

    origin: str
    host: str


@dataclass(frozen=True)
class NewPasskey:
    """What a device has made: its id for the key pair, the public key (both base64url), and its count of signatures.

    `is_verified`: the device has checked who uses it, by PIN, finger or face.
    """

    credential: str
    public_key: str
    sign_count: int
    is_verified: bool


@dataclass(frozen=True)
class Signed:
    """What a passkey has signed rightly.

    `is_verified`: the device has checked who uses it, by PIN, finger or face. `user_handle` is that of the account,
    which only passkeys respond that a device finds by itself.
    """

    sign_count: int
    is_verified: bool
    user_handle: str | None


def site_at(address: str) -> PasskeySite:
    """The site at this address; `NotAllowedError` when browsers use no passkeys there."""
    parts = urlsplit(address)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    is_local = host == "localhost" or host.endswith(".localhost")
    if not host.isascii():
        host = host.encode("idna").decode()  # as browsers write it
    if _is_number(host) or (scheme != "https" and not is_local):
        raise NotAllowedError(
            "Browsers use passkeys only at an address with https and a host name, or at http://localhost: this site is "
            "at %(address)s. An administrator can change that.",
            address=address,
        )
    port = "" if parts.port in {None, {"https": 443, "http": 80}[scheme]} else f":{parts.port}"
    return PasskeySite(f"{scheme}://{host}{port}", host)


def creation_options(
    site: PasskeySite, challenge: str, *, user_handle: str, name: str, known: Sequence[str]
) -> dict[str, Any]:
    """What a browser is asked for to make a passkey of an account, as JSON; devices with a `known` one refuse."""
    return {
        "rp": {"id": site.host, "name": SITE_NAME},
        "user": {"id": user_handle, "name": name, "displayName": name},
        "challenge": challenge,
        "pubKeyCredParams": [{"type": "public-key", "alg": one} for one in ALGORITHMS],
        "timeout": MILLISECONDS,
        "excludeCredentials": _descriptors(known),
        # A security key without room or PIN still makes one, for use after the password.
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "preferred"},
        "attestation": "none",
    }


def request_options(site: PasskeySite, challenge: str, known: Sequence[str] = ()) -> dict[str, Any]:
    """What a browser is asked for to use one of the `known` passkeys after the password, or any, alone, as JSON."""
    return {
        "rpId": site.host,
        "challenge": challenge,
        "timeout": MILLISECONDS,
        "allowCredentials": _descriptors(known),
        "userVerification": "discouraged" if known else "required",
    }


def read_new(site: PasskeySite, challenge: str, response: str) -> NewPasskey:
    """The passkey that a browser has made; `InvalidValueError` when anything is wrong with it."""
    webauthn, server = import_module("fido2.webauthn"), _server(site)
    with _refusing_malformed():
        parsed = webauthn.RegistrationResponse.from_dict(_parsed(response))
        _check_origin(site, parsed.response.client_data)
        made = server.register_complete({"challenge": challenge, "user_verification": None}, parsed)
        credential = made.credential_data
        key = credential.public_key
        if len(credential.credential_id) > MOST_ID_BYTES or key.ALGORITHM not in ALGORITHMS:
            raise ValueError("an id or algorithm that was not asked for")
        stored_key = encoded(import_module("fido2.cbor").encode(dict(key)))
        return NewPasskey(encoded(credential.credential_id), stored_key, made.counter, made.is_user_verified())


def credential_in(response: str) -> str:
    """The id of the passkey that a response is of; `InvalidValueError` for a malformed response."""
    with _refusing_malformed():
        return encoded(_decoded(_parsed(response)["rawId"]))


def read_signed(site: PasskeySite, challenge: str, response: str, *, credential: str, public_key: str) -> Signed:
    """What the passkey with this id and public key has signed; `InvalidValueError` when anything is wrong with it."""
    webauthn, server = import_module("fido2.webauthn"), _server(site)
    with _refusing_malformed():
        key = import_module("fido2.cose").CoseKey.parse(import_module("fido2.cbor").decode(_decoded(public_key)))
        known = webauthn.AttestedCredentialData.create(webauthn.Aaguid.NONE, _decoded(credential), key)
        parsed = webauthn.AuthenticationResponse.from_dict(_parsed(response))
        _check_origin(site, parsed.response.client_data)
        server.authenticate_complete({"challenge": challenge, "user_verification": None}, [known], parsed)
        data, handle = parsed.response.authenticator_data, parsed.response.user_handle
        return Signed(data.counter, data.is_user_verified(), encoded(handle) if handle else None)


def encoded(content: bytes) -> str:
    """Bytes in base64url without padding."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _descriptors(known: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": one} for one in known]


def _is_number(host: str) -> bool:
    """Whether a host is an IP address, for which browsers make no passkeys."""
    try:
        ip_address(host)
    except ValueError:
        return not host
    return True


def _server(site: PasskeySite) -> Any:  # noqa: ANN401 - fido2's server
    rp = {"id": site.host, "name": SITE_NAME}
    return import_module("fido2.server").Fido2Server(rp, verify_origin=lambda origin: origin == site.origin)


def _check_origin(site: PasskeySite, client_data: Any) -> None:  # noqa: ANN401 - fido2's client data
    if client_data.origin != site.origin or client_data.cross_origin:
        raise InvalidValueError(
            "The passkey was used at another address than that of this site, %(origin)s.", origin=site.origin
        )


def _parsed(response: str) -> Any:  # noqa: ANN401 - JSON
    if len(response) > MOST_CHARACTERS:
        raise ValueError("a response that is too long")
    return json.loads(response)


@contextmanager
def _refusing_malformed() -> Iterator[None]:
    try:
        yield
    except AnnotatorError:
        raise
    except Exception as error:  # bytes of anybody meet parsers that raise errors of every kind
        raise InvalidValueError(
            "What the browser sent for the passkey is not right, or is of another page: nothing was done. Try again."
        ) from error
