"""What is wrong with the lines and files of click logs, told with the line."""

import gzip
from pathlib import Path

import pytest
from evaluation.online.log_text import KIM, line_of, problems_of, read, said

from annotator.clicks.evaluation.logs import log_sources
from annotator.clicks.evaluation.logs.click_format import read_click_log, read_click_log_into
from annotator.clicks.evaluation.logs.click_log import Dropped
from annotator.clicks.evaluation.logs.column_mapping import parse_mapping
from annotator.errors import FileRefusedError, Problems

NO_TIME = (
    "The time 1777636800000 is neither like 2026-05-01T12:30:00Z nor in seconds since 1970, or is not from 1970 to "
    "2199."
)
PROBLEMS = [
    (
        "unknown event",
        line_of(event="clck"),
        "There is no event “clck”; there are impression, click, dwell, rating, conversion.",
    ),
    ("no event", line_of(event="", user="u"), "The line names no event."),
    ("position 0", line_of(position="0"), "The position is 0; pages and positions count from 1."),
    ("page 0", line_of(page="0"), "The page is 0; pages and positions count from 1."),
    ("negative position", line_of(position="-1"), "The position -1 is no whole number of at most eight digits."),
    ("broken position", line_of(position="1.0"), "The position 1.0 is no whole number of at most eight digits."),
    ("long position", line_of(position="1" * 9), "The position 111111111 is no whole number of at most eight digits."),
    ("dwell without seconds", line_of(event="dwell", value=""), "A dwell needs a value, and the line has none."),
    ("no seconds at all", "event\ndwell\n", "A dwell needs a value, and the line has none."),
    ("negative dwell", line_of(event="dwell", value="-1"), "A dwell of -1 seconds is less than none."),
    ("infinite rating", line_of(event="rating", value="1e999"), "The value 1e999 of a rating is no number."),
    ("rating in words", line_of(event="rating", value="good"), "The value good of a rating is no number."),
    ("milliseconds", line_of(time="1777636800000"), NO_TIME),
    ("long user", line_of(user="u" * 257), "The user is longer than 256 bytes."),
    ("long query", line_of(query="가" * 334), "The query is longer than 1000 bytes."),
    (
        "docno of two words",
        line_of(docno="a b"),
        "The document id 'a b' has blanks or control characters inside; it must be one word.",
    ),
    (
        "docno of two words past ASCII",
        line_of(docno="a\u3000b"),
        "The document id 'a\\u3000b' has blanks or control characters inside; it must be one word.",
    ),
    (
        "too many fields",
        "user,event\nu,impression,x\n",
        "The line has 3 fields, and the heading 2. A field with a separator inside needs quotes.",
    ),
    ("open quotes", 'query,event\n"red,click\n', "The line is no comma-separated text: unexpected end of data."),
    ("control character", "user,event\nu\x01,click\n", "Byte 2 of the line is a control character."),
    ("tab inside", line_of(user="a\tb"), "The user has a control character inside."),
    ("long line", f'query,event\n"{"x" * 70_000}",click\n', "The line is longer than 65536 bytes."),
]


@pytest.mark.parametrize(("text", "sentence"), [pytest.param(*case[1:], id=case[0]) for case in PROBLEMS])
def test_a_bad_line_is_named_with_what_is_wrong(text: str, sentence: str) -> None:
    assert problems_of(text) == [(2, sentence)]


@pytest.mark.parametrize("click", ["", "2", "yes"])
def test_a_column_of_clicks_has_1_or_0(click: str) -> None:
    assert problems_of(f"docno,click\nd1,{click}\n", parse_mapping(click_column="click")) == [
        (2, f"The click is “{click}”; it must be 1 or 0.")
    ]


def test_text_that_is_not_utf_8_is_told_with_its_byte() -> None:
    assert problems_of(b"user,event\nk\xe4the,click\n") == [(2, "Byte 2 is not UTF-8. Save the file as UTF-8.")]


JSON_NO_TIME = (
    "The time 1777636800000 is neither like 2026-05-01T12:30:00Z nor in seconds since 1970, or is not from 1970 to "
    "2199."
)
JSON_PROBLEMS = [
    ('{"event": "click"', "The line is not valid JSON: look at column 18."),
    ('{"event": "click", "other": "a\x7fb"}', "Byte 31 of the line is a control character."),
    ('["click"]', "The line is not a JSON object; each line must be one: {…}."),
    ('{"event": "click", "user": ["u"]}', "The value of user is neither text nor a number."),
    ('{"event": "click", "user": "a\\nb"}', "The user has a control character inside."),
    ('{"event": "click", "user": "\\ud800"}', "The user has a control character inside."),
    ('{"user": "u"}', "The line names no event."),
    ('{"event": "click"}, {"event": "click"}', "The line is not valid JSON: look at column 19."),
    ('{"event": "click", "value": ' + "9" * 5000 + "}", "The line is JSON nested too deep, or with too long a number."),
]


@pytest.mark.parametrize(("line", "sentence"), JSON_PROBLEMS)
def test_a_bad_line_of_json_is_named_with_what_is_wrong(line: str, sentence: str) -> None:
    assert problems_of('{"event": "impression"}\n' + line + "\n") == [(2, sentence)]


def test_lines_with_too_many_and_too_few_fields_do_not_make_up_for_each_other() -> None:
    assert [line for line, _ in problems_of("user,event\nu,click,x\nclick\n")] == [2, 3]


def test_two_lines_that_are_one_object_only_together_are_two_problems() -> None:
    text = '{"event": "click"}, {"event": "click"}\n{"event": "click", "x": [{}\n{}]}\n'
    assert [line for line, _ in problems_of(text)] == [1, 2, 3]


def test_every_bad_line_is_counted_and_equal_ones_are_one_problem() -> None:
    problems = Problems()
    text = "event\n" + "impression\nview\n" * 250
    assert read_click_log_into(problems, [("log", text.encode())]) is None
    assert problems.total == 250
    [problem] = problems.by_file()
    assert (problem.line, problem.further_lines, problem.count) == (3, (5, 7, 9, 11), 250)


def test_bad_lines_can_be_dropped_and_are_counted_and_listed_all_the_same() -> None:
    problems = Problems()
    text = "user,position,event\nu1,1,impression\nu2,0,impression\nu3,x,view\nu4,2,impression\n"
    log = read_click_log_into(problems, [("log", text.encode())], parse_mapping(drops_bad_lines=True))
    assert log is not None
    assert (log.users, log.user.tolist(), log.position.tolist()) == (2, [0, 1], [1, 2])
    assert (log.lines, log.dropped) == (4, {Dropped.BAD_LINE: 2})
    assert [problem.line for problem in problems.by_file()] == [3, 4, 4]


WHOLE_FILES = [
    ("nothing", b"", None, "The file is empty."),
    ("a mark alone", b"\xef\xbb\xbf", None, "The file is empty."),
    ("a heading alone", b"user,event\n", None, "The file has no line of data."),
    ("UTF-16", "event\nclick\n".encode("utf-16"), None, "The file is text in UTF-16. Save it as UTF-8."),
    (
        "a JSON list",
        b'[{"event": "click"}]',
        None,
        "The file is one JSON list. Write each object on a line of its own, without the list.",
    ),
    (
        "no event in the heading",
        b"user,docno\nu,d\n",
        1,
        "The heading has no column “event”, which is to be read as event. It has: user, docno.",
    ),
    (
        "open quotes in the heading",
        b'"user,event\nu,click\n',
        1,
        "The line is no comma-separated text: unexpected end of data.",
    ),
    ("a column twice", b"event,user,Event\n", 1, "The heading has the column “event” twice."),
    (
        "cut off",
        gzip.compress(KIM.encode(), mtime=0)[:-12],
        None,
        "The gzip data end too early: the file was cut off. Send it again.",
    ),
    (
        "damaged",
        gzip.compress(KIM.encode(), mtime=0)[:-8] + b"\1" * 8,
        None,
        "The gzip data are damaged. Compress the file again and send it again.",
    ),
]


@pytest.mark.parametrize("drops_bad_lines", [False, True])
@pytest.mark.parametrize(("content", "line", "sentence"), [pytest.param(*case[1:], id=case[0]) for case in WHOLE_FILES])
def test_a_file_that_is_no_log_is_refused_also_where_bad_lines_are_dropped(
    content: bytes, line: int | None, sentence: str, *, drops_bad_lines: bool
) -> None:
    assert (line, sentence) in problems_of(content, parse_mapping(drops_bad_lines=drops_bad_lines))


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(FileRefusedError) as refusal:
        read_click_log([("log", Path("/nowhere/log.csv"))])
    assert list(map(str, refusal.value.problems)) == ["log: The file cannot be read: No such file or directory."]


def test_a_file_larger_than_allowed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_sources, "CHUNK_BYTES", 64)
    packed = gzip.compress(KIM.encode(), mtime=0)
    assert said(read_click_log([("log", packed)], unpacked_limit=len(KIM))) == said(read(KIM))
    with pytest.raises(FileRefusedError) as refusal:
        read_click_log([("log", packed)], unpacked_limit=len(KIM) - 1)
    assert "The unpacked file is larger than" in str(refusal.value.problems[0])


def test_columns_that_were_named_must_be_there_and_say_something() -> None:
    mapping = parse_mapping(["user=visitor"])
    assert problems_of("user,event\nu,click\n", mapping) == [
        (1, "The heading has no column “visitor”, which is to be read as user. It has: user, event.")
    ]
    sentence = "No line has a value of “visitor”, which is to be read as user."
    assert problems_of("visitor,event\n,click\n", mapping) == [(None, sentence)]
    assert problems_of('{"event": "click"}\n', mapping) == [(None, sentence)]


def test_a_heading_of_what_is_no_log_is_shown_without_what_cannot_be_stored() -> None:
    problems = Problems()
    assert read_click_log_into(problems, [("log.csv", b"a\x00b,c\x1b\n")]) is None
    [problem] = problems.first
    assert "It has: a\N{REPLACEMENT CHARACTER}b, c\N{REPLACEMENT CHARACTER}." in str(problem)
