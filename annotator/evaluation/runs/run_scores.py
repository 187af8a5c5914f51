"""Parses the scores of many lines at once, bitwise equal to Python's float()."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.table_tokens import WORD_BYTES, Bytes, Offsets, UnusualError, Words, texts_of

NO_NUMBER = -1
MAX_SCORE_BYTES = 64  # longer numbers take the slow path
# With finiteness and float()'s own grammar this leaves exactly the decimal numbers of `run_lines`; NUL is padding.
MAY_BE_IN_A_SCORE = np.isin(np.arange(256), [0, *b"0123456789+-.eE"])
PLUS, MINUS = b"+-"
MOST_WORDS = 3
MOST_BYTES = MOST_WORDS * WORD_BYTES
MOST_IN_FIRST_WORD = np.uint64(1843)  # with sixteen digits more it is still below 2^64
DOUBLE_BITS = 53
EXACT_DIGITS = np.uint64(1 << DOUBLE_BITS)
EXACT_POWER = 22  # 10^22 is the largest power of ten that is a double
MOST_EXPONENT = np.uint64(1000)  # larger ones take the slow path


def _each_byte(value: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([value]) * WORD_BYTES, "little"))


ZERO = ord("0")
ZEROS, LOWEST_BITS, HIGHEST_BITS = _each_byte(ZERO), _each_byte(0x01), _each_byte(0x80)
POINT, LETTER = np.uint64(ord(".") ^ ZERO), np.uint64(ord("e") ^ ZERO | 0x20)
SMALL = _each_byte(0x20)  # the bit in which small and capital letters differ
PAST_NINE = _each_byte(0x80 - 10)  # added to a digit, it does not set the highest bit
ONE, SEVEN = np.uint64(1), np.uint64(7)
# Eight digits become one number by joining neighbours: tens and ones, then hundreds, then ten thousands.
TEN, ONE_DIGIT, TWO_DIGITS, FOUR_DIGITS = (np.uint64(number) for number in (10, 8, 16, 32))
EVERY_OTHER_PAIR = np.uint64(0x000000FF000000FF)
EVEN_PAIRS, ODD_PAIRS = np.uint64(100 + (1_000_000 << 32)), np.uint64(1 + (10_000 << 32))
EIGHT_DIGITS = np.uint64(10**WORD_BYTES)
LAST_BYTES = np.array([0, *((1 << 64) - (1 << 8 * (WORD_BYTES - count)) for count in range(1, 9))], np.uint64)
# For a number whose point was read as a digit 0, indexed by 1 + the digits after the point, 0 without a point: the
# divisor that gives the digits before the point, and the multiple of these to subtract.
BEFORE_POINT = np.array([1, *(10**digits for digits in range(1, 20)), *[1] * 5], np.uint64)
TOO_MANY = np.array([0, *(9 * 10**digits for digits in range(19)), *[0] * 5], np.uint64)
# For each power of ten from -EXACT_POWER on: the multiplier and the divisor; one of them is 1.
UP = np.array([10.0 ** max(power, 0) for power in range(-EXACT_POWER, EXACT_POWER + 1)])
DOWN = UP[::-1].copy()
FIVES = np.array([5**power for power in range(EXACT_POWER + 1)], np.int64)

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


def scores_of(data: Bytes, starts: Offsets, ends: Offsets) -> Scores:
    """Read one score per token; raises `UnusualError` when one is not a finite decimal number.

    Numbers of few digits and a small power of ten are vectorised: the digits are a whole number of at most 2^53
    and the power is at most 10^22, both exact doubles, so that one multiplication or division rounds correctly
    (Clinger, How to read floating point numbers accurately, 1990). With up to nineteen digits a division is checked
    in whole numbers. All others are left to float().
    """
    is_negative, begins = _signs(data, starts)
    digits, powers, is_known = _digits_and_powers(data, begins, ends)
    scores, is_exact = _scaled(digits, powers)
    long = np.flatnonzero(~is_exact)
    if long.size:
        scores[long], is_known[long] = _divided(digits[long], powers[long], is_known[long])
    np.negative(scores, out=scores, where=is_negative)
    rest = np.flatnonzero(~is_known)
    if rest.size:
        scores[rest] = _by_float(data, starts[rest], ends[rest])
    return scores


def whole_numbers_of(data: Bytes, starts: Offsets, ends: Offsets) -> NDArray[np.int32]:
    """Read one whole number of one to eight digits per token; `NO_NUMBER` for any other token."""
    lengths = ends - starts
    word = _last_words(data, ends - np.minimum(lengths, WORD_BYTES), ends)[0]
    is_other = ((((word + PAST_NINE) | word) & HIGHEST_BITS) != 0) | (lengths > WORD_BYTES)
    numbers = _number_of(word).astype(np.int32)
    numbers[is_other] = NO_NUMBER
    return numbers


def in_single_precision(scores: Scores) -> Scores:
    """Round to 32 bits and back, as trec_eval 9 keeps scores; infinite past 3.4e38."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def _signs(data: Bytes, starts: Offsets) -> tuple[Flags, Offsets]:
    """Return which numbers are negative, and where each begins after its sign."""
    first = data[starts]
    is_negative = first == MINUS
    return is_negative, starts + (is_negative | (first == PLUS))


def _digits_and_powers(data: Bytes, begins: Offsets, ends: Offsets) -> tuple[Words, Offsets, Flags]:
    """Read numbers as whole digits and a power of ten; False where the token is not a number or too long."""
    has_letter = b"e" in data[begins[0] : ends[0]].tobytes().lower()  # a run's scores usually share one format
    usual, other = (_with_exponents, _without_exponents) if has_letter else (_without_exponents, _with_exponents)
    digits, powers, is_known = usual(data, begins, ends)
    if not is_known.all():
        rest = np.flatnonzero(~is_known)
        digits[rest], powers[rest], is_known[rest] = other(data, begins[rest], ends[rest])
    return digits, powers, is_known


def _without_exponents(data: Bytes, begins: Offsets, ends: Offsets) -> tuple[Words, Offsets, Flags]:
    digits, from_point, is_known = _decimals(data, begins, ends)
    return digits, np.minimum(1 - from_point, 0), is_known


def _with_exponents(data: Bytes, begins: Offsets, ends: Offsets) -> tuple[Words, Offsets, Flags]:
    words = [word | SMALL for word in _last_words(data, begins, ends)]
    from_letter = _bytes_from(words, LETTER)
    is_negative, exponent_begins = _signs(data, ends - from_letter + 1)
    exponents, exponent_from_point, is_whole = _decimals(data, exponent_begins, ends)
    digits, powers, is_known = _without_exponents(data, begins, ends - from_letter)
    is_known &= is_whole & (from_letter > 0) & (exponent_from_point == 0) & (exponents < MOST_EXPONENT)
    exponents[~is_known] = 0
    powers += np.where(is_negative, -1, 1) * exponents.view(np.int64)
    return digits, powers, is_known


def _decimals(data: Bytes, begins: Offsets, ends: Offsets) -> tuple[Words, Offsets, Flags]:
    """Read the digits without the point as one number, and count the bytes from the point to the end, 0 without it."""
    words = _last_words(data, begins, ends)
    from_point = _bytes_from(words, POINT, clear=True)
    beyond = np.zeros(begins.size, np.uint64)
    number = np.zeros(begins.size, np.uint64)
    for word in words:
        beyond |= (word + PAST_NINE) | word
        number = number * EIGHT_DIGITS + _number_of(word) if word is not words[0] else _number_of(word)
    lengths = ends - begins
    is_known = ((beyond & HIGHEST_BITS) == 0) & (lengths > (from_point > 0)) & (lengths <= MOST_BYTES)
    if len(words) == MOST_WORDS:
        is_known &= _number_of(words[0]) <= MOST_IN_FIRST_WORD
    number -= number // BEFORE_POINT[from_point] * TOO_MANY[from_point]
    return number, from_point, is_known


def _last_words(data: Bytes, begins: Offsets, ends: Offsets) -> list[Words]:
    """Gather the last bytes of each token, 0 for the digit 0 and for what is before the token, eight to a number."""
    lengths = ends - begins
    count = min(max(1, -(-int(lengths.max()) // WORD_BYTES)), MOST_WORDS)
    width = count * WORD_BYTES
    windows = np.ndarray((data.size - width + 1,), f"V{width}", data, strides=(1,))
    gathered = windows[ends - width].view("<u8").reshape(-1, count)
    words = []
    for place in range(count):
        own = np.clip(lengths - (count - 1 - place) * WORD_BYTES, 0, WORD_BYTES)
        words.append((gathered[:, place] ^ ZEROS) & LAST_BYTES[own])
    return words


def _bytes_from(words: list[Words], mark: np.uint64, *, clear: bool = False) -> Offsets:
    """Count the bytes of each token from a mark to the end, 0 without it; optionally clear the marks found.

    With several marks, the one counted is in the last word that has any.
    """
    found = np.zeros(words[0].size, np.int64)
    for distance, place in enumerate(reversed(range(len(words)))):
        word = words[place]
        differing = word ^ (LOWEST_BITS * mark)
        marked = (differing - LOWEST_BITS) & ~differing & HIGHEST_BITS  # correct up to the lowest zero byte
        below = marked - ONE
        here = WORD_BYTES - (np.bitwise_count(below) >> 3).astype(np.int64)
        if distance:
            here = np.where((here > 0) & (found == 0), here + distance * WORD_BYTES, 0)
        found += here
        if clear:
            lowest = (marked & ~below) >> SEVEN
            words[place] = word - lowest * (here > 0) * mark
        if found.all():
            break
    return found


def _number_of(word: Words) -> Words:
    """Read eight digits, each a byte, the first of them the lowest."""
    pairs = word * TEN + (word >> ONE_DIGIT)
    return (
        (pairs & EVERY_OTHER_PAIR) * EVEN_PAIRS + ((pairs >> TWO_DIGITS) & EVERY_OTHER_PAIR) * ODD_PAIRS
    ) >> FOUR_DIGITS


def _scaled(digits: Words, powers: Offsets) -> tuple[Scores, Flags]:
    """Multiply by powers of ten; False where rounding once would not be enough."""
    is_exact = (digits <= EXACT_DIGITS) & (np.abs(powers) <= EXACT_POWER)
    places = powers + EXACT_POWER
    if not is_exact.all():
        places[~is_exact] = EXACT_POWER
    scores = digits.astype(np.float64)
    scores *= UP[places]
    scores /= DOWN[places]
    return scores, is_exact


def _divided(digits: Words, powers: Offsets, is_known: Flags) -> tuple[Scores, Flags]:
    """Divide long whole numbers by powers of ten, to the last bit; False where this method does not suffice.

    The quotient in doubles is off by at most two units in the last place. The remainder, digits - quotient * divisor,
    is small, so it is exact in 64 bits although the product overflows, and it gives the number of units to add.
    """
    is_known = is_known & (digits > EXACT_DIGITS) & (powers <= 0) & (powers >= -EXACT_POWER)
    digits, powers = np.where(is_known, digits, EXACT_DIGITS), np.where(is_known, powers, 0)
    fractions, exponents = np.frexp(digits.astype(np.float64) / UP[EXACT_POWER - powers])
    quotients = np.ldexp(fractions, DOUBLE_BITS).astype(np.int64)
    # 10^n = 5^n * 2^n, and the powers of two only shift.
    shifts = DOUBLE_BITS - exponents + powers
    units = FIVES[-powers] << np.maximum(-shifts, 0)
    left = (digits << np.maximum(shifts, 0).view(np.uint64)).view(np.int64) - quotients * units
    more, beyond_half = np.divmod(2 * left + units, 2 * units)
    quotients += more
    one_scale = (quotients > 1 << (DOUBLE_BITS - 1)) & (quotients <= 1 << DOUBLE_BITS)
    scores = np.ldexp(quotients.astype(np.float64), exponents - DOUBLE_BITS)
    return scores, is_known & one_scale & (beyond_half != 0)


def _by_float(data: Bytes, starts: Offsets, ends: Offsets) -> Scores:
    texts = texts_of(data, starts, ends)
    if texts.itemsize > MAX_SCORE_BYTES or not MAY_BE_IN_A_SCORE[texts.view(np.uint8)].all():
        raise UnusualError
    try:
        scores = texts.astype(np.float64)
    except ValueError:
        raise UnusualError from None
    if not np.isfinite(scores).all():
        raise UnusualError
    return scores
