"""Click logs as they are written: what a line says, and the shapes a log may have."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from evaluation.online.log_text import KIM, NOON, as_json_lines, read, said

from annotator.clicks.evaluation.logs.click_format import read_click_log
from annotator.clicks.evaluation.logs.click_log import Event
from annotator.clicks.evaluation.logs.column_mapping import parse_mapping


def test_a_log_is_what_its_lines_say() -> None:
    assert said(read(KIM)) == {
        "variants": ("A",),
        "queries": ("red shoes",),
        "docnos": ("d1", "d2"),
        "users": 1,
        "sessions": 1,
        "times": [NOON + micros for micros in (0, 0, 1_500_000, 1_500_000, 60_000_000, 120_000_000)],
        "user": [0] * 6,
        "session": [0] * 6,
        "query": [0, 0, 0, 0, 0, -1],
        "variant": [0] * 6,
        "page": [1, 1, 1, 1, 1, -1],
        "position": [1, 2, 2, 2, -1, -1],
        "docno": [0, 1, 1, 1, -1, -1],
        "event": [Event.IMPRESSION, Event.IMPRESSION, Event.CLICK, Event.DWELL, Event.RATING, Event.CONVERSION],
        "value": [None, None, None, 30.5, 4.0, None],
        "dropped": {},
        "lines": 6,
        "is_line_a_result": False,
    }


def test_nowhere_in_the_log_is_what_a_user_is_called() -> None:
    log = read(KIM.replace("kim", "kim@example.org").replace("s1", "session-of-kim"))
    assert "kim" not in repr([value for value in vars(log).values() if not isinstance(value, np.ndarray)])


@pytest.mark.parametrize(
    "text",
    [
        KIM.replace("\n", "\r\n"),
        "\ufeff" + KIM,
        KIM.removesuffix("\n"),
        KIM.replace(",", ";"),
        KIM.replace(",", "\t"),
        KIM.replace("red shoes", '"red shoes"'),
        KIM.replace("\n", "\n\n"),
        KIM.replace(",kim,", ", kim ,"),
        KIM.replace("time,user", "Time,USER"),
        KIM.replace("12:00:00Z", "14:00:00+02:00"),
        as_json_lines(KIM),
        as_json_lines(KIM).replace('"1"', "1").replace('"2"', "2"),
        as_json_lines(KIM).replace('"30.5"', "30.5"),
        as_json_lines(KIM).replace("}\n", ', "other": [{"a": null}]}\n\n'),
    ],
    ids=[
        "CRLF",
        "byte order mark",
        "no end of the last line",
        "semicolons",
        "tabs",
        "quotes",
        "blank lines",
        "blanks around",
        "heading in capitals",
        "another zone",
        "JSON Lines",
        "whole numbers in JSON",
        "numbers in JSON",
        "more in JSON, and blank lines",
    ],
)
def test_the_same_log_written_otherwise_is_the_same(text: str) -> None:
    assert said(read(text)) == said(read(KIM))


def test_a_packed_log_in_several_members_is_the_same(tmp_path: Path) -> None:
    half = len(KIM) // 2
    packed = gzip.compress(KIM[:half].encode(), mtime=0) + gzip.compress(KIM[half:].encode(), mtime=0) + b"\0" * 512
    path = tmp_path / "log.csv.gz"
    path.write_bytes(packed)
    assert said(read(packed)) == said(read(KIM)) == said(read_click_log([("log", path)]))
    with path.open("rb") as stream:
        assert said(read_click_log([("-", stream)])) == said(read(KIM))


def test_a_query_with_the_separator_and_quotes_inside_is_one_field() -> None:
    text = 'query,event\n"red, ""shiny"" shoes",impression\nplain,impression\n'
    assert read(text).queries == ('red, "shiny" shoes', "plain")


def test_lines_are_put_in_order_of_time_and_otherwise_stay_as_they_are() -> None:
    text = "time,docno,event\n20,d1,impression\n10,d2,impression\n20,d3,impression\n10,d4,impression\n"
    log = read(text)
    assert [log.docnos[code] for code in log.docno] == ["d2", "d4", "d1", "d3"]
    assert log.times.tolist() == [10_000_000, 10_000_000, 20_000_000, 20_000_000]


def test_without_times_lines_stay_in_the_order_of_the_files() -> None:
    first, second = "docno,event\nd2,impression\n", "docno,event\nd1,impression\n"
    log = read_click_log([("first", first.encode()), ("second", second.encode())])
    assert not log.has_times
    assert log.times.size == 0
    assert log.docnos == ("d2", "d1")


def test_files_may_have_different_columns_and_share_their_names() -> None:
    first, second = "user,docno,event\nu1,d1,impression\n", "variant,user,event\nA,u1,impression\n"
    log = read_click_log([("first", first.encode()), ("second", second.encode())])
    assert (log.users, log.user.tolist(), log.variant.tolist(), log.lines) == (1, [0, 0], [-1, 0], 2)


def test_sessions_of_different_users_may_be_called_alike() -> None:
    log = read("user,session,event\nu1,1,impression\nu2,1,impression\nu1,1,impression\n,1,impression\n")
    assert (log.sessions, log.session.tolist()) == (3, [0, 1, 0, 2])


def test_the_variant_can_be_the_name_of_the_file() -> None:
    mapping = parse_mapping(variant_from_name=True)
    text = "variant,event\nsomething else,impression\n"
    log = read_click_log([("logs/new.csv.gz", text.encode()), ("old.jsonl", b'{"event": "click"}\n')], mapping)
    assert (log.variants, log.variant.tolist()) == (("new", "old"), [0, 1])


AS_JSON = """\
{"when": 10, "item": 7, "position": 2, "clicked": %s}
{"when": 20, "item": 8, "position": 1, "clicked": %s}
"""


@pytest.mark.parametrize(
    "text",
    [
        "when,item,position,clicked\n10,7,2,0\n20,8,1,1\n",
        AS_JSON % ("0", "1"),
        "when,item,position,clicked\n10,7,2,False\n20,8,1,True\n",
        AS_JSON % ("false", "true"),
    ],
    ids=["comma-separated", "JSON", "words", "JSON truths"],
)
def test_a_line_may_be_a_result_and_whether_it_was_clicked(text: str) -> None:
    log = read(text, parse_mapping(["time=when", "docno=item"], click_column="clicked"))
    assert log.is_line_a_result
    assert log.lines == 2
    assert log.event.tolist() == [Event.IMPRESSION, Event.IMPRESSION, Event.CLICK]
    assert [log.docnos[code] for code in log.docno] == ["7", "8", "8"]
    assert log.position.tolist() == [2, 1, 1]
    assert log.times.tolist() == [10_000_000, 20_000_000, 20_000_000]


def test_a_click_stays_right_after_the_line_it_is_on_whatever_else_was_then() -> None:
    text = "time,docno,click\n20,d1,1\n10,d2,1\n10,d3,0\n10,d4,1\n"
    log = read(text, parse_mapping(click_column="click"))
    assert [log.docnos[code] for code in log.docno] == ["d2", "d2", "d3", "d4", "d4", "d1", "d1"]
    assert log.event.tolist() == [0, 1, 0, 0, 1, 0, 1]


def test_events_may_have_other_names_and_several_one_meaning() -> None:
    mapping = parse_mapping(events=["impression=view", "click=tap", "click=click"])
    assert read("event\nview\ntap\nclick\nimpression\n", mapping).event.tolist() == [0, 1, 1, 0]
