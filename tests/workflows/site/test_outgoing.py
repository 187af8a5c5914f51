"""Requests of the server: hosts that a setting of its own names, and authorities that an administrator trusts."""

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from identity_server import CLIENT, IdentityServer

from annotator.errors import NotAllowedError
from annotator.workflows.people.identity_provider import IdentityProvider
from annotator.workflows.people.provider_requests import ProviderAccess, ProviderError
from annotator.workflows.site.outgoing import resolve_host


def test_a_host_of_a_setting_of_its_own_may_be_in_the_own_network(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.5", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert resolve_host("id.example.org", 443, (), chosen="id.example.org") == "10.0.0.5"
    for chosen in (None, "other.example.org"):
        with pytest.raises(NotAllowedError, match=r"leads to the private address 10\.0\.0\.5"):
            resolve_host("id.example.org", 443, ("id.example.org",), chosen=chosen)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with a certificate for 127.0.0.1 that nobody but itself vouches for, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Authority of a test")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(made.public_bytes(Encoding.PEM) + secret)
    return file


class EncryptedServer(IdentityServer):
    """A provider with HTTPS."""

    def __init__(self, certificate: Path) -> None:
        """Serve with a certificate."""
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    @property
    def site(self) -> str:
        """The beginning of its addresses."""
        return super().site.replace("http:", "https:")


@pytest.fixture
def encrypted(certificate: Path) -> Iterator[EncryptedServer]:
    """A provider of an organisation that has an authority of its own."""
    server = EncryptedServer(certificate)
    yield server
    server.close()


def test_an_authority_of_ones_own_is_trusted_when_it_is_named(
    encrypted: EncryptedServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keys() -> int:
        provider = IdentityProvider(ProviderAccess("Example University", encrypted.site, CLIENT))
        return len(provider.keys(datetime.now(UTC)).keys)

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(ProviderError, match=r"cannot be reached: .*CERTIFICATE_VERIFY_FAILED"):
        keys()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert keys() == 1
