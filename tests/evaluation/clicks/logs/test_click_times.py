"""Times across the lines of a click log: all of one kind, and no clock going backwards."""

import pytest
from evaluation.online.log_text import problems_of, read

from annotator.clicks.evaluation.logs import log_sources
from annotator.clicks.evaluation.logs.click_format import read_click_log
from annotator.clicks.evaluation.logs.click_log import Dropped
from annotator.clicks.evaluation.logs.column_mapping import parse_mapping
from annotator.errors import FileRefusedError

WITHOUT_ZONE = "The time has no zone, and those before have one; give all a zone, or none."
WITH_ZONE = "The time has a zone, and those before have none; give all a zone, or none."
WITHOUT_TIME = "The line has no time, and those before have one; give all a time, or none."
WITH_TIME = "The line has a time, and those before have none; give all a time, or none."


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("2026-05-01T12:00:00Z", "2026-05-01 12:00", WITHOUT_ZONE),
        ("2026-05-01 12:00", "2026-05-01T12:00:00+09:00", WITH_ZONE),
        ("1777636800", "2026-05-01 12:00:00", WITHOUT_ZONE),
        ("1777636800", "", WITHOUT_TIME),
        ("", "1777636800", WITH_TIME),
    ],
)
def test_times_are_all_of_one_kind_also_across_files(first: str, second: str, sentence: str) -> None:
    assert problems_of(f"time,event\n{first},click\n{second},click\n") == [(3, sentence)]
    files = [(name, f"time,event\n{time},click\n".encode()) for name, time in (("a", first), ("b", second))]
    with pytest.raises(FileRefusedError) as refusal:
        read_click_log(files)
    assert list(map(str, refusal.value.problems)) == [f"b:2: {sentence}"]


SET_BACK = "time,user,session,event\n10,u1,s,impression\n7,u2,s,impression\n9.5,u1,s,click\n8,u2,s,click\n"


def test_a_clock_that_goes_backwards_within_a_session_is_told_with_by_how_much() -> None:
    sentence = "The clock goes backwards: the time is 0.5 s before that of the line above of its session."
    assert problems_of(SET_BACK) == [(4, sentence)]


def test_a_clock_set_back_is_seen_from_one_stretch_of_the_file_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_sources, "CHUNK_BYTES", 25)
    assert [line for line, _ in problems_of(SET_BACK)] == [4]


def test_an_event_of_a_clock_set_back_can_be_dropped() -> None:
    log = read(SET_BACK, parse_mapping(drops_bad_lines=True))
    assert (log.event.tolist(), log.dropped) == ([0, 1, 0], {Dropped.BAD_LINE: 1})


def test_another_file_may_begin_earlier() -> None:
    files = [(name, f"time,session,event\n{time},s,impression\n".encode()) for name, time in (("b", 20), ("a", 10))]
    assert read_click_log(files).times.tolist() == [10_000_000, 20_000_000]
