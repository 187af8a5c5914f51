"""What is asked for on the query string of a page."""

from flask import request


def asked_word(name: str, usual: str) -> str:
    """What is written under that name, without blanks around it; the usual when that is nothing."""
    return request.args.get(name, "").strip() or usual
