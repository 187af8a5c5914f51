"""Scores read many at once: to the last bit what float() reads, and nothing that is no decimal number."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.evaluation.formats.file_kinds import DECIMAL_NUMBER
from annotator.evaluation.formats.table_tokens import BACK, FRONT, UnusualError
from annotator.evaluation.runs import run_scores
from annotator.evaluation.runs.run_scores import in_single_precision, scores_of


def read(texts: list[str]) -> list[str]:
    """Read the scores; as `repr` has them, which tells -0.0 from 0.0 and every last bit."""
    data = np.frombuffer(FRONT + " ".join(texts).encode() + BACK, np.uint8)
    starts = np.array(
        [len(FRONT), *accumulate(map(len, texts), lambda start, size: start + size + 1, initial=len(FRONT))]
    )
    starts = starts[1:-1]
    return [repr(score) for score in scores_of(data, starts, starts + [len(text) for text in texts]).tolist()]


DIGITS = st.text("0123456789", max_size=20)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-50, 50).map(repr),
    st.tuples(st.floats(-1e6, 1e6), st.integers(0, 18)).map(lambda drawn: f"{drawn[0]:.{drawn[1]}f}"),
    st.tuples(st.floats(-1, 1), st.integers(0, 18)).map(lambda drawn: f"{drawn[0]:.{drawn[1]}e}"),
    st.tuples(
        *(st.sampled_from(["", "-", "+"]), DIGITS, st.sampled_from(["", "."]), DIGITS),
        st.sampled_from(["", "", "e5", "E-3", "e+22", "e-25", "e-0009", "e300"]),
    )
    .map("".join)
    .filter(lambda text: DECIMAL_NUMBER.fullmatch(text.encode()) and abs(float(text)) < float("inf")),
)


@settings(max_examples=examples(500))
@given(st.lists(NUMBERS, min_size=1, max_size=30))
@example(["9007199254740992", "9007199254740993", "9007199254740993.0", "-9007199254740991.5"])  # about 2^53
@example(
    ["4503599627370496.5", "4503599627370497.5", "0.50000000000000000000", "1.5000000000000000"]
)  # ties go to even
@example(["18446744073709551615", "18446744073709551616", "184467440737095516.15", "99999999999999999999.9"])  # 2^64
@example(["1e22", "1e23", "-1e-22", "1e-23", "123456789012345678e-22", "1e-1000"])
@example(["0", "-0", "+0.0", "-.0", "00000000000000000000000001", "0.00000000000000000000001"])
def test_scores_are_what_float_reads_to_the_last_bit(texts: list[str]) -> None:
    assert read(texts) == [repr(float(text)) for text in texts]


@pytest.mark.parametrize("others", [[], ["1.5"], ["2e5", "-1"]])
@settings(max_examples=examples(200))
@given(st.text("0123456789.eE+-,_x\x85naif", min_size=1, max_size=22))
@example(".")
@example("1e5.")
@example("1.e5.")
@example("1.2.3")
@example("1.23456789.123456")
@example("1e1e1")
@example("e5")
@example("1e")
@example("+-1")
@example("1e400")
def test_what_is_no_finite_decimal_number_is_unusual(others: list[str], text: str) -> None:
    word = text.replace("\x85", ";")
    if DECIMAL_NUMBER.fullmatch(word.encode()) and abs(float(word)) < float("inf"):
        assert read([*others, word])[-1] == repr(float(word))
    else:
        with pytest.raises(UnusualError):
            read([*others, word])


@pytest.mark.parametrize("texts", [["12.345678", "0.5"], ["-18.47793763834879"], ["3.45e-02", "1E5"], ["353"]])
def test_scores_as_runs_have_them_are_not_left_to_float(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_scores, "_by_float", None)  # would fail if it were called
    assert read(texts) == [repr(float(text)) for text in texts]


def test_single_precision_is_that_of_c() -> None:
    # 1 + 2^-24 is halfway between two floats and goes to the even one; FLT_MAX is 3.4028235e38.
    assert in_single_precision(np.array([1 + 2**-24, 1 + 2**-23, -1e39, 0.1])).tolist() == [
        1.0,
        1 + 2**-23,
        -np.inf,
        0.100000001490116119384765625,
    ]
