"""Requests of this server: only to hosts that an administrator has named, and to the IP address that was checked."""

import ipaddress
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from annotator.errors import InvalidValueError, NotAllowedError
from annotator.installed import installed_version

if TYPE_CHECKING:
    import httpx

LONGEST_ADDRESS = 2_000
LOCAL = "localhost"
SETTING = "ANNOTATOR_OUTGOING_HOSTS"
PORTS = {"http": 80, "https": 443}
LONGEST_PAUSE = 3_600  # seconds


@cache
def http() -> Any:  # noqa: ANN401 - a module
    """Return httpx, which is loaded with the first request: few processes send any, and it brings much along."""
    return import_module("httpx")


def check_address(address: str, allowed: Sequence[str]) -> str:
    """The host of an address to which the server may send.

    Raises `InvalidValueError` when it is no address of HTTP, and `NotAllowedError` when no administrator has named its
    host in the settings.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port  # a port that is no number raises
        if host is not None:
            host.encode("idna")  # an empty label and one that is too long raise here, else when the host is looked up
    except ValueError:
        host = None
    if (
        host is None
        or parts.scheme not in {"http", "https"}
        or len(address) > LONGEST_ADDRESS
        or not _is_plain(address)
    ):
        raise InvalidValueError(
            "“%(address)s” is not an address of the form https://example.org/path.", address=address[:100]
        )
    if parts.username is not None:
        raise InvalidValueError("The address has a user name or a password in it, which would be shown and logged.")
    if not any(_fits(host, one) for one in allowed):
        raise NotAllowedError(
            "This server may not send to “%(host)s”: an administrator names the hosts in %(setting)s.",
            host=host,
            setting=SETTING,
        )
    return host


def resolve_host(host: str, port: int, allowed: Sequence[str], *, chosen: str | None = None) -> str:
    """The IP address to connect to; `chosen` is a host that an administrator has named by a setting of its own.

    Connecting to it, and not to the name, keeps the name's owner from leading the request into the server's own
    network, where `chosen` alone may be. Raises `NotAllowedError` when a name leads to a private address that no
    administrator has named, and `OSError` when it leads nowhere.
    """
    found = [info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in map(str, found):
        if ipaddress.ip_address(address.partition("%")[0]).is_global or host in {LOCAL, chosen} or address in allowed:
            continue
        raise NotAllowedError(
            "“%(host)s” leads to the private address %(address)s, which an administrator names in %(setting)s, too.",
            host=host,
            address=address,
            setting=SETTING,
        )
    return str(found[0])


class CheckedHost:
    """Sends requests to the host of an address, at the IP address that it has now; usable by several threads.

    Redirects are not followed. Raises as `check_address` and `resolve_host`.
    """

    def __init__(self, address: str, allowed: Sequence[str], *, seconds: float, chosen: str | None = None) -> None:
        """Look the host up; `seconds` is how long a connection or a part of a response may take.

        `chosen` is a host that an administrator has named by a setting of its own: it needs no other.
        """
        self._host = check_address(address, allowed if chosen is None else (*allowed, chosen))
        url = http().URL(address)
        self._origin = (url.scheme, url.netloc)
        self._ip_address = resolve_host(self._host, url.port or PORTS[url.scheme], allowed, chosen=chosen)
        # Of the environment it reads which authorities are trusted (SSL_CERT_FILE), and no proxies.
        trusted = http().create_ssl_context()
        self._client = http().Client(verify=trusted, timeout=seconds, follow_redirects=False, trust_env=False)
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        """Keep connections open in the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close them."""
        self._client.close()
        for one in self._sockets:
            one.close()

    def break_off(self) -> None:
        """End what is being sent and received in another thread, which gets `httpx.HTTPError` or `OSError`."""
        for one in self._sockets:
            with suppress(OSError):  # it has ended by itself
                one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def send(
        self, method: str, address: str, *, headers: Mapping[str, str], content: bytes | None = None
    ) -> Iterator["httpx.Response"]:
        """Send a request to an address of this host, and read its response in the block.

        The body is not read before, as it may be of any size. Raises `InvalidValueError` for an address of another
        host, `httpx.HTTPError`, `httpx.InvalidURL` and `OSError`.
        """
        url = http().URL(address)
        if (url.scheme, url.netloc) != self._origin:
            raise InvalidValueError("“%(address)s” leads to another host.", address=address[:100])
        own = {"User-Agent": f"annotator/{installed_version()}", "Host": url.netloc.decode("ascii")}
        with self._client.stream(
            method,
            url.copy_with(host=self._ip_address),
            content=content,
            headers={**headers, **own},
            extensions={"sni_hostname": self._host, "trace": self._keep_socket},
        ) as response:
            yield response

    def _keep_socket(self, event: str, details: Mapping[str, Any]) -> None:
        """Keep a duplicate of the socket of a new connection, as TLS detaches the original."""
        if event == "connection.connect_tcp.complete":
            self._sockets.append(details["return_value"].get_extra_info("socket").dup())


def seconds_to_wait(response: "httpx.Response") -> int | None:
    """How long a response asks to wait, at most an hour; None when it names no number of seconds."""
    written = response.headers.get("Retry-After", "")
    is_number = written.isascii() and written.isdecimal() and len(written) <= len(str(LONGEST_PAUSE))
    return min(int(written), LONGEST_PAUSE) if is_number else None


def _fits(host: str, allowed: str) -> bool:
    return host == allowed.lower() or (allowed.startswith(".") and host.endswith(allowed.lower()))


def _is_plain(address: str) -> bool:
    return address.isascii() and address.isprintable() and " " not in address
