"""The addresses to which this server may send requests: those of hosts that an administrator has named."""

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from annotator.errors import InvalidValueError, NotAllowedError

LONGEST_ADDRESS = 2_000
LOCAL = "localhost"
SETTING = "ANNOTATOR_OUTGOING_HOSTS"


def check_address(address: str, allowed: Sequence[str]) -> str:
    """The host of an address to which the server may send.

    Raises `InvalidValueError` when it is no address of HTTP, and `NotAllowedError` when no administrator has named its
    host in the settings.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port  # a port that is no number raises
    except ValueError:
        host = None
    if (
        host is None
        or parts.scheme not in {"http", "https"}
        or len(address) > LONGEST_ADDRESS
        or not _is_plain(address)
    ):
        raise InvalidValueError(
            "“%(address)s” is not an address of the form https://example.org/hook.", address=address[:100]
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


def resolve_host(host: str, port: int, allowed: Sequence[str]) -> str:
    """The IP address to connect to.

    Connecting to it, and not to the name, keeps the name's owner from leading the request into the server's own
    network. Raises `NotAllowedError` when a name leads to a private address that no administrator has named, and
    `OSError` when it leads nowhere.
    """
    found = [info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in map(str, found):
        if ipaddress.ip_address(address.partition("%")[0]).is_global or host == LOCAL or address in allowed:
            continue
        raise NotAllowedError(
            "“%(host)s” leads to the private address %(address)s, which an administrator names in %(setting)s, too.",
            host=host,
            address=address,
            setting=SETTING,
        )
    return str(found[0])


def _fits(host: str, allowed: str) -> bool:
    return host == allowed.lower() or (allowed.startswith(".") and host.endswith(allowed.lower()))


def _is_plain(address: str) -> bool:
    return address.isascii() and address.isprintable() and " " not in address
