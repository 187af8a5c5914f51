"""Numbers as C's library reads them: as much of a word as is a number, and 0 when none of it is."""

import math
import re

# A hexadecimal number without digits, as in "0x", is the 0 before the x; an exponent without digits is left out.
HEXADECIMAL = re.compile(rb"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?[0-9]+)?")
DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INFINITY = re.compile(rb"[+-]?inf", re.IGNORECASE)
NOT_A_NUMBER = re.compile(rb"[+-]?nan", re.IGNORECASE)
WHOLE = re.compile(rb"[+-]?[0-9]+")
MOST = 2**63 - 1  # of C's long where it has 64 bits
LEAST = -(2**63)
DIGITS_OF_MOST = 19


def leading_float(word: bytes) -> float:
    """Read as strtod and atof do in the C locale (C17, 7.22.1.3), by which trec_eval reads scores.

    "1,5" is 1.0, "0x1p3" is 8.0, "1e999" and "infinite" are infinite, "nancy" is NaN, "xyz" is 0.0. Decimals are
    rounded to the nearest double, as glibc has it.
    """
    if match := HEXADECIMAL.match(word):
        return _hexadecimal(match[0].decode())
    if match := DECIMAL.match(word) or INFINITY.match(word):
        return float(match[0])
    return math.nan if NOT_A_NUMBER.match(word) else 0.0


def leading_whole(word: bytes) -> int:
    """Read as strtol to base 10 and glibc's atol do (C17, 7.22.1.4), by which trec_eval reads grades.

    "1.9" is 1, "xyz" is 0, and what 64 bits cannot hold is the largest or least number that they can.
    """
    match = WHOLE.match(word)
    if not match:
        return 0
    # One digit more than the largest number has decides; int() refuses to read thousands of them.
    digits = match[0].lstrip(b"+-").lstrip(b"0")[: DIGITS_OF_MOST + 1] or b"0"
    value = int(digits)
    return max(-value, LEAST) if word.startswith(b"-") else min(value, MOST)


def _hexadecimal(word: str) -> float:
    try:
        return float.fromhex(word)
    except OverflowError:
        return -math.inf if word.startswith("-") else math.inf
