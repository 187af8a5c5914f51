"""Reads query string arguments: numbers within bounds, and one of several choices."""

from enum import StrEnum
from typing import TypeVar

from flask import request

from annotator.errors import InvalidValueError, NotFoundError

# The maximum of an integer column in every database, and of row numbers in paths.
GREATEST = 999_999_999
GREATEST_SEED = 10**18

LONGEST_SHOWN = 40  # characters of malformed input shown in the error message


Part = TypeVar("Part", bound=StrEnum)


def asked_word(name: str, usual: str) -> str:
    """The text of an argument without surrounding blanks, or the default when it is empty."""
    return request.args.get(name, "").strip() or usual


def asked_list(name: str) -> tuple[str, ...]:
    """The comma-separated values of an argument, such as topic numbers."""
    return tuple(part for written in request.args.get(name, "").split(",") if (part := written.strip()))


def number_or(name: str, usual: int, *, digits: int) -> int:
    """The integer of an argument; the default when it is malformed or has more than `digits` digits."""
    written = request.args.get(name, "")
    return int(written) if written.isascii() and written.isdecimal() and len(written) <= digits else usual


def seed_given(usual: int) -> int:
    """The seed in the query string, or the default; raises `InvalidValueError` when malformed."""
    seed = number_given("seed", most=GREATEST_SEED)
    return usual if seed is None else seed


def share_given(name: str, usual: float) -> float:
    """The number of an argument, or the default when it is empty; raises `InvalidValueError` for anything else."""
    written = request.args.get(name, "").strip()
    try:
        return float(written) if written else usual
    except ValueError:
        raise InvalidValueError("“%(written)s” is not a number such as 0.8.", written=_shortened(written)) from None


def part_of_report(parts: type[Part], written: str) -> Part:
    """The part of a report with this name; `NotFoundError` for an unknown one."""
    try:
        return parts(written)
    except ValueError:
        raise NotFoundError("There is no such part of the report.") from None


def number_given(name: str, *, least: int = 0, most: int = GREATEST) -> int | None:
    """The integer of an argument, None when it is missing or empty.

    Raises `InvalidValueError` when it is malformed or out of range.
    """
    written = request.args.get(name, "").strip()
    if not written:
        return None
    digits = written.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise InvalidValueError("“%(written)s” is not a whole number.", written=_shortened(written))
    # Python refuses to parse numbers of several thousand digits.
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
