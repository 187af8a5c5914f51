"""Addresses of invitation and password links."""

from flask import url_for


def link_to(secret: str) -> str:
    """The address of an invitation or password link."""
    return url_for("joining.show", key=secret, _external=True)
