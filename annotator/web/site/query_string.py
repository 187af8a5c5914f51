"""What is asked for on the query string of a page."""

from enum import StrEnum
from typing import TypeVar

from flask import request

from annotator.errors import NotFoundError

Part = TypeVar("Part", bound=StrEnum)


def asked_word(name: str, usual: str) -> str:
    """What is written under that name, without blanks around it; the usual when that is nothing."""
    return request.args.get(name, "").strip() or usual


def part_of_report(parts: type[Part], written: str) -> Part:
    """The part that is called so; `NotFoundError` when there is none."""
    try:
        return parts(written)
    except ValueError:
        raise NotFoundError("There is no such part of the report.") from None
