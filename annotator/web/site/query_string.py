"""Arguments of the query string: numbers within bounds, and one of several choices."""

from enum import StrEnum
from typing import TypeVar

from flask import request

from annotator.errors import InvalidValueError, NotFoundError

# What a column of numbers holds in every database, and every number of a row in an address.
GREATEST = 999_999_999
GREATEST_SEED = 10**18

LONGEST_SHOWN = 40  # characters of what is no number, in the sentence that says so


Part = TypeVar("Part", bound=StrEnum)


def asked_word(name: str, usual: str) -> str:
    """What is written under that name, without blanks around it; the usual when that is nothing."""
    return request.args.get(name, "").strip() or usual


def asked_list(name: str) -> tuple[str, ...]:
    """What is written under that name with commas between, such as the numbers of topics."""
    return tuple(part for written in request.args.get(name, "").split(",") if (part := written.strip()))


def number_or(name: str, usual: int, *, digits: int) -> int:
    """The whole number of an argument; the usual for what is none, or has more digits than that."""
    written = request.args.get(name, "")
    return int(written) if written.isascii() and written.isdecimal() and len(written) <= digits else usual


def seed_given(usual: int) -> int:
    """The seed in the address, or the usual one; raises `InvalidValueError` for what is no seed."""
    seed = number_given("seed", most=GREATEST_SEED)
    return usual if seed is None else seed


def part_of_report(parts: type[Part], written: str) -> Part:
    """The part that is called so; `NotFoundError` when there is none."""
    try:
        return parts(written)
    except ValueError:
        raise NotFoundError("There is no such part of the report.") from None


def number_given(name: str, *, least: int = 0, most: int = GREATEST) -> int | None:
    """The whole number of an argument of the address, None when it is missing or empty.

    Raises `InvalidValueError` for what is none, and for one that is less or more than it may be.
    """
    written = request.args.get(name, "").strip()
    if not written:
        return None
    digits = written.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise InvalidValueError("“%(written)s” is not a whole number.", written=_shortened(written))
    # Python reads no number of some thousand digits.
    number = int(written) if len(digits) <= len(str(most)) else None
    if number is None or not least <= number <= most:
        raise InvalidValueError(
            "The number must be from %(least)d to %(most)d, not %(written)s.",
            written=_shortened(written),
            least=least,
            most=most,
        )
    return number


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
