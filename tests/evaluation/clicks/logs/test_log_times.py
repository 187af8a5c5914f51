"""Times of events: what is one, to the microsecond, and that many at once are read as one by one."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.clicks.evaluation.logs.log_tables import BACK, Moment, read_time, times_of
from annotator.evaluation.formats.table_tokens import FRONT, UnusualError

# 2026-05-01 is the 20,574th day after 1970-01-01: 56 years of 365 days, 14 leap days (1972 to 2024), 120 days of 2026.
NOON = (20_574 * 86_400 + 43_200) * 1_000_000

TIMES = [
    ("2026-05-01T12:00:00Z", NOON, True),
    ("2026-05-01T12:00:00+00:00", NOON, True),
    ("2026-05-01 21:00:00+09:00", NOON, True),
    ("2026-05-01T06:30:00-0530", NOON, True),
    ("2026-05-01T14:00+02", NOON, True),
    ("2026-05-01T12:00:00.000001Z", NOON + 1, True),
    ("2026-05-01T12:00:00,5Z", NOON + 500_000, True),
    ("2026-05-01T12:00:00.123456789Z", NOON + 123_456, True),
    ("2026-05-01 12:00:00", NOON, False),
    ("2026-05-01T12:00", NOON, False),
    ("1777636800", NOON, True),
    ("1777636800.25", NOON + 250_000, True),
    ("1.7776368e9", NOON, True),
    ("1777636800.000001", NOON + 1, True),
    ("0", 0, True),
    ("2024-02-29T00:00:00Z", 1_709_164_800_000_000, True),
]
NONE = [
    "",
    "soon",
    "2026-05-01",
    "2026-02-29T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-00-10T12:00:00Z",
    "2026-05-00T12:00:00Z",
    "2026-05-01T24:00:00Z",
    "2026-05-01T12:60:00Z",
    "2026-05-01T12:00:60Z",
    "2026-05-01T12:00:00+24:00",
    "2026-05-01T12:00:00+01:60",
    "2026-05-01T12:00:00.Z",
    "2026-05-01T12:00:00z",
    "2026-5-1T12:00:00Z",
    "1969-12-31T23:59:59Z",
    "2200-01-01T00:00:00Z",
    "-1",
    "1777636800000",
    "nan",
    "\u0662\u0660\u0662\u0666-05-01T12:00:00Z",  # digits of another script
]


def many(*texts: str) -> tuple[list[int], bool]:
    """Read times as they stand among other fields of a file."""
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(FRONT + b",".join([*encoded, b"5"]) + BACK, np.uint8)
    lengths = np.array([len(text) for text in encoded])
    starts = len(FRONT) + np.cumsum(lengths + 1) - lengths - 1
    times, has_zones = times_of(data, starts, starts + lengths)
    return times.tolist(), has_zones


@pytest.mark.parametrize(("text", "microseconds", "has_zone"), TIMES)
def test_a_time_is_read_to_the_microsecond(text: str, microseconds: int, *, has_zone: bool) -> None:
    assert read_time(text.encode()) == Moment(microseconds, has_zone)
    assert many(text) == ([microseconds], has_zone)


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_time(text.encode()) is None
    with pytest.raises(UnusualError):
        many(text)


@pytest.mark.parametrize(
    "texts",
    [
        ("2026-05-01 12:00:00", "2026-05-01T12:00:00"),
        ("2026-05-01T12:00:00Z", "2026-05-01T12:00:00"),
        ("2026-05-01T12:00:00Z", "1777636800"),
        ("1777636800", "2026-05-01T12:00:00Z"),
        ("2026-05-01T12:00:00Z", "2026-05-0oT12:00:00Z"),
    ],
    ids=["blank and T", "with and without zone", "then seconds", "then a date", "no digit"],
)
def test_times_of_several_kinds_are_left_to_the_careful_reading(texts: tuple[str, str]) -> None:
    with pytest.raises(UnusualError):
        many(*texts)


def test_times_of_several_lengths_and_zones_are_read_together() -> None:
    texts = "2026-05-01T12:00:00+00:00", "2026-05-01T12:00:00.25+00:00", "2026-05-01T07:00:00-05:00"
    assert many(*texts) == ([NOON, NOON + 250_000, NOON], True)


MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - Hypothesis wants its bounds without zone
    max_value=datetime(2199, 12, 30),  # noqa: DTZ001 - likewise
    timezones=st.just(UTC),
)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(MOMENTS, ZONES), min_size=1, max_size=8))
def test_whatever_python_writes_is_read_as_the_same_moment(given_moments: list[tuple[datetime, timezone]]) -> None:
    texts = [moment.astimezone(zone).isoformat() for moment, zone in given_moments]
    expected = [(moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) for moment, _ in given_moments]
    assert [moment.microseconds for text in texts if (moment := read_time(text.encode()))] == expected
    assert many(*texts) == (expected, True)


@settings(max_examples=examples(300))
@given(st.text("0123456789-+:.TZ ", max_size=27))
def test_nothing_is_read_together_that_is_not_read_alone(text: str) -> None:
    alone = read_time(text.encode())
    try:
        together = many(text) if text else None
    except UnusualError:
        return
    assert together is None or (alone is not None and together == ([alone.microseconds], alone.has_zone))
