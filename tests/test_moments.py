"""Days and moments: everything that is printed can be read, and what people write beside it."""

from datetime import UTC, date, datetime

import pytest

from annotator.errors import InvalidValueError
from annotator.moments import has_time, read_day, read_moment, write_moment

AT = datetime(2026, 11, 22, 17, 55, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22 17:55 UTC",  # pages
        "2026-11-22T17:55Z",  # tables of commands
        "2026-11-22T17:55:00+00:00",  # JSON
        "2026-11-22T17:55:00.000000+00:00",
        "2026-11-22 17:55",
        "20261122T175500Z",
        "2026-W47-7T17:55",
        "2026-11-22T17:55:00 00:00",  # the sign of the offset got lost in an address
        "2026-11-22 05:55 AoE",
        "2026-11-22 05:55 aoe",
        "2026-11-23 02:55 Asia/Seoul",
        "2026-11-22T18:55:00+01:00",
        "2026-11-22T12:55\N{MINUS SIGN}05:00",
        " 2026-11-22 17:55:00 +0000 ",
    ],
)
def test_a_moment_is_read_however_it_is_written(text: str) -> None:
    assert read_moment(text) == AT
    assert has_time(text)


def test_a_day_is_its_beginning_and_24_hours_are_its_end() -> None:
    assert read_moment("2026-11-22") == datetime(2026, 11, 22, tzinfo=UTC)
    assert read_moment("2026-11-22 AoE") == datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert read_moment("2026-11-22 24:00") == datetime(2026, 11, 23, tzinfo=UTC)
    assert not has_time("2026-11-22")
    assert read_day("2026-11-22T17:55Z") == date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tomorrow", "“tomorrow” is not a moment"),
        ("2026-13-01", "is not a moment"),
        ("2026-12-01 25:00", "is not a moment"),
        ("2026-12-0123:59", "is not a moment"),
        ("0001-01-01 00:00 +14:00", "is not a moment"),
        ("9999-12-31 24:00", "is not a moment"),
        ("2026-12-01 23:59 Mars", "“Mars” is not a time zone"),
        ("", "is not a moment"),
    ],
)
def test_what_is_no_moment_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        read_moment(text)


def test_what_is_written_is_read_again() -> None:
    assert read_moment(write_moment(AT)) == AT
