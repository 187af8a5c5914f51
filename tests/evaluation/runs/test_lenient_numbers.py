"""Numbers as C's library reads them: tables by hand, and the library itself as oracle."""

import ctypes
import math
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotator.evaluation.matching.lenient import leading_float, leading_whole

# Made of pieces of numbers, so that most are nearly one; a word of a line has no blank and no NUL.
PIECES = st.sampled_from(
    [*"0123456789abcdefgxXpPeE+-.,_()", "0x", "inf", "INFINITY", "nan", "NaN(", "1e", "308", "p-1074", "é"]
)
NEARLY_NUMBERS = st.lists(PIECES, min_size=1, max_size=8).map(lambda pieces: "".join(pieces).encode())
DECIMALS = st.floats(allow_nan=False).map(lambda number: repr(number).encode())
HEXADECIMALS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number.hex().encode())


@pytest.mark.parametrize(
    ("word", "number"),
    [
        (b"12.5", 12.5),
        (b"-3.1e-7", -3.1e-7),
        (b"1,5", 1.0),
        (b"1_000", 1.0),
        (b"1e", 1.0),
        (b"1e+", 1.0),
        (b"2.5e1x", 25.0),
        (b"1.2.3", 1.2),
        (b".5", 0.5),
        (b"5.", 5.0),
        (b".", 0.0),
        (b"e5", 0.0),
        (b"--1", 0.0),
        (b"+", 0.0),
        (b"xyz", 0.0),
        (b"\xd9\xa1", 0.0),  # an Arabic-Indic digit one
        (b"0x1p3", 8.0),
        (b"-0X.8", -0.5),
        (b"0x1.8p+1z", 3.0),
        (b"0x1p", 1.0),
        (b"0x10", 16.0),
        (b"0x", 0.0),
        (b"0xg", 0.0),
        (b"0x.", 0.0),
        (b"0x1p99999", math.inf),
        (b"-0x1p99999", -math.inf),
        (b"0x1p-99999", 0.0),
        (b"1e999", math.inf),
        (b"-1e999", -math.inf),
        (b"1e-999", 0.0),
        (b"inf", math.inf),
        (b"-Infinity", -math.inf),
        (b"infinite", math.inf),
        (b"in", 0.0),
    ],
)
def test_a_score_is_as_much_of_the_word_as_is_a_number(word: bytes, number: float) -> None:
    assert leading_float(word) == number


@pytest.mark.parametrize("word", [b"nan", b"-NaN", b"nan(0x7)", b"nancy"])
def test_a_word_that_begins_with_nan_is_not_a_number(word: bytes) -> None:
    assert math.isnan(leading_float(word))


@pytest.mark.parametrize(
    ("word", "number"),
    [
        (b"2", 2),
        (b"-1", -1),
        (b"+3", 3),
        (b"1.9", 1),
        (b"-1.9", -1),
        (b"1e3", 1),
        (b"0x10", 0),
        (b"xyz", 0),
        (b"-", 0),
        (b"+-1", 0),
        (b"007", 7),
        (b"9223372036854775807", 2**63 - 1),
        (b"9223372036854775808", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"-99999999999999999999999", -(2**63)),
        (b"0" * 5000 + b"12", 12),
        (b"9" * 5000, 2**63 - 1),
    ],
)
def test_a_grade_is_as_much_of_the_word_as_is_a_whole_number(word: bytes, number: int) -> None:
    assert leading_whole(word) == number


glibc_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the oracle is the system's C library")


@glibc_only
@given(NEARLY_NUMBERS | DECIMALS | HEXADECIMALS)
@example(b"0x1.fffffffffffff8p0")
@example(b"179769313486231580793728971405301e276")
@example(b"2.4703282292062328e-324")
def test_scores_are_read_as_the_c_library_reads_them(word: bytes) -> None:
    strtod = ctypes.CDLL(None).strtod
    strtod.restype, strtod.argtypes = ctypes.c_double, [ctypes.c_char_p, ctypes.c_void_p]
    expected, read = strtod(word, None), leading_float(word)
    assert (math.isnan(read) and math.isnan(expected)) or np.float64(read).tobytes() == np.float64(expected).tobytes()


@glibc_only
@given(NEARLY_NUMBERS | st.integers(-(2**65), 2**65).map(lambda number: str(number).encode()))
def test_grades_are_read_as_the_c_library_reads_them(word: bytes) -> None:
    strtol = ctypes.CDLL(None).strtol  # which atol is, with base 10
    strtol.restype, strtol.argtypes = ctypes.c_long, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int]
    least, most = -(2 ** (8 * ctypes.sizeof(ctypes.c_long) - 1)), 2 ** (8 * ctypes.sizeof(ctypes.c_long) - 1) - 1
    assert min(max(leading_whole(word), least), most) == strtol(word, None, 10)
