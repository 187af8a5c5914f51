"""Keys for hosts to which the server sends: the settings name where they are, and no table has them."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from annotator.errors import NotAllowedError

IN_ENVIRONMENT = "env:"
SEARCH_SETTING = "ANNOTATOR_SEARCH_KEYS"
NAMED_HEADER = re.compile(r"([A-Za-z0-9-]{1,100}):[ \t]*(.+)")


def host_of(address: str) -> str:
    """The name of an address's host."""
    return urlsplit(address).hostname or ""


def place_of_key(address: str, keys: Sequence[str]) -> str | None:
    """Where the key for the host of an address is; `keys` are `HOST=FILE` or `HOST=env:VARIABLE`."""
    host = host_of(address)
    named = (one.partition("=") for one in keys)
    return next((place for name, _, place in named if name.lower() == host), None)


def key_of(address: str, keys: Sequence[str], setting: str) -> str:
    """The key for the host of an address, empty when it has none; it is sent to no other host.

    Raises `NotAllowedError` when the setting names one that cannot be read.
    """
    place = place_of_key(address, keys)
    return "" if place is None else read_secret(place, setting, host_of(address))


def read_secret(place: str, setting: str, host: str) -> str:
    """What a setting keeps out of itself: the content of a file, or `env:VARIABLE`.

    Raises `NotAllowedError` when it cannot be read, or could not be sent.
    """
    try:
        key = _read(place)
    except (OSError, UnicodeError, KeyError):
        key = ""
    if not key or not key.isascii() or not key.isprintable():
        raise NotAllowedError(
            "The key for “%(host)s” cannot be read where %(setting)s says that it is.",
            host=host,
            setting=setting,
        )
    return key


def header_of_key(key: str) -> tuple[str, str]:
    """The name and value of the header that carries a key: `Authorization`, unless the key names another first."""
    named = NAMED_HEADER.fullmatch(key)
    return (named[1], named[2]) if named else ("Authorization", key)


def _read(place: str) -> str:
    if place.startswith(IN_ENVIRONMENT):
        return os.environ[place.removeprefix(IN_ENVIRONMENT)].strip()
    return Path(place).read_text(encoding="utf-8").strip()
