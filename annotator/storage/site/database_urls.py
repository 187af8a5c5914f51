"""Addresses of databases that cannot be opened."""

import re

from annotator.errors import InvalidValueError


def refused_url(url: str, error: Exception) -> InvalidValueError:
    """Say why it is refused, without its password."""
    return InvalidValueError(
        "“%(url)s” is not a database this installation can open: %(reason)s",
        url=_without_password(url),
        reason=_without_password(str(error)),
    )


def _without_password(url: str) -> str:
    return re.sub(r"(://[^:/@]*:)[^@]*@", r"\1***@", url)
