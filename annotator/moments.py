"""Parses days and times as people and programs write them, for all options, forms and query strings."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from annotator.errors import InvalidValueError

MOMENT = re.compile(
    r"(?P<day>\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(?:-?\d)?)"
    r"(?:[Tt ] *(?P<time>\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?)?))?(?P<gap> *)(?P<zone>\S*)",
    re.ASCII,
)
# In a query string “+” stands for a blank, so that the plus sign of an offset may be lost.
OFFSET = re.compile(r"(?P<sign>[+-]?)(?P<hours>\d\d)(?::?(?P<minutes>[0-5]\d))?", re.ASCII)
MINUS = "\N{MINUS SIGN}"
END_OF_DAY = re.compile(r"24(?::?00(?::?00(?:[.,]0+)?)?)?")
# The last time zone in which a day ends: “anywhere on Earth”, as in calls for participation.
ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12))


def read_moment(text: str) -> datetime:
    """Parse a time and return it in UTC: ISO 8601, with `T` or a blank, followed by an optional time zone.

    A zone is `UTC`, `Z`, `AoE`, an offset such as `+09:00` or a name such as `Asia/Seoul`; the default is UTC. A day
    means its start. Raises `InvalidValueError` for any other text.
    """
    written = text.strip()
    match = MOMENT.fullmatch(written.replace(MINUS, "-"))
    if match is None or (match["zone"][:1].isdigit() and not (match["time"] and match["gap"])):
        raise _no_moment(written)
    zone = _zone(match["zone"])
    clock = match["time"] or "00"
    is_end = END_OF_DAY.fullmatch(clock) is not None
    try:
        day = date.fromisoformat(match["day"])
        at = datetime.combine(day, time() if is_end else time.fromisoformat(clock.replace(",", ".")))
        return (at + timedelta(days=is_end)).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _no_moment(written) from error


def read_day(text: str) -> date:
    """Parse a day; a time gives its day in UTC."""
    return read_moment(text).date()


def has_time(text: str) -> bool:
    """Whether the text has a time of day in addition to a day."""
    match = MOMENT.fullmatch(text.strip().replace(MINUS, "-"))
    return match is not None and match["time"] is not None


def write_moment(at: datetime) -> str:
    """A time to the minute, in UTC, in the format of `read_moment`."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(' ', 'minutes')} UTC"


def _no_moment(text: str) -> InvalidValueError:
    return InvalidValueError(
        "“%(text)s” is not a moment such as “2026-05-01 23:59”, “2026-05-01T23:59Z”, “2026-05-01 23:59 AoE”, "
        "“2026-05-01 23:59 Asia/Seoul” or “2026-05-01 23:59 +09:00”, nor a day such as “2026-05-01”.",
        text=text,
    )


def _zone(name: str) -> tzinfo:
    """The time zone with this name, UTC for an empty one; place names are those of the system's time zone database."""
    if name.upper() in {"", "UTC", "Z"}:
        return UTC
    if name.upper() == "AOE":
        return ANYWHERE_ON_EARTH
    offset = OFFSET.fullmatch(name)
    try:
        if offset is None:
            return ZoneInfo(name)
        size = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        return timezone(-size if offset["sign"] == "-" else size)
    # A folder of zones, such as “Asia”, raises OSError on some systems; an unknown name raises KeyError.
    except (KeyError, OSError, ValueError) as error:
        raise InvalidValueError(
            "“%(name)s” is not a time zone: give UTC, AoE, an offset such as “+09:00” or a name such as “Asia/Seoul”.",
            name=name,
        ) from error
