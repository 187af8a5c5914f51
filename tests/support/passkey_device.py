"""A device that makes passkeys and signs with them, as a browser would let it (WebAuthn, level 2)."""

import hashlib
import json
import secrets
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def encoded(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Device:
    """One key pair (ES256) for one site; what it sends can be made wrong by its fields."""

    origin: str = "https://pool.example.org"
    host: str = "pool.example.org"
    verifies: bool = True
    counts: bool = True
    count: int = 0
    cross_origin: bool = False
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    handle: str = ""

    def create(self, options: dict[str, Any], **others: str | None) -> str:
        """What the browser sends for `navigator.credentials.create`, as JSON; `others` replace fields of its data."""
        self.handle = options["user"]["id"]
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor.encode(self.cose())
        data = self._data(ATTESTED) + attested
        statement = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options, others)
        return self._response({"clientDataJSON": encoded(client), "attestationObject": encoded(statement)})

    def get(self, options: dict[str, Any], **others: str | None) -> str:
        """What the browser sends for `navigator.credentials.get`, as JSON; `others` replace fields of its data."""
        self.count += self.counts
        client, data = self._client("webauthn.get", options, others), self._data(0)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._response(
            {
                "clientDataJSON": encoded(client),
                "authenticatorData": encoded(data),
                "signature": encoded(signature),
                "userHandle": self.handle,
            }
        )

    def cose(self) -> dict[int, Any]:
        """The public key as COSE (RFC 9053)."""
        numbers = self.key.public_key().public_numbers()
        return {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}

    def _data(self, flags: int) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies else 0)
        return hashlib.sha256(self.host.encode()).digest() + struct.pack(">BI", flags, self.count)

    def _client(self, type_: str, options: dict[str, Any], others: dict[str, Any]) -> bytes:
        fields = {"type": type_, "challenge": options["challenge"], "origin": self.origin}
        return json.dumps(fields | {"crossOrigin": self.cross_origin} | others).encode()

    def _response(self, response: dict[str, str]) -> str:
        name = encoded(self.id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
