"""Topics and result lists as spreadsheets write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import Problems
from annotator.evaluation.formats.foreign_rows import query_key
from annotator.evaluation.formats.topic_formats import numbered_queries, parse_topics
from annotator.evaluation.runs.result_lists import as_run, is_result_list

TITLES = {"1": "1", "2": "2", "red shoes": "1", "warm coat": "2"}


def lines_of(problems: Problems) -> list[int | None]:
    return [problem.line for problem in problems.by_file()]


@pytest.mark.parametrize(
    "text",
    [
        b"number,title,description\n7,red shoes,\n8,warm coat,for winter\n",
        b"qid;query;desc\n7;red shoes;\n8;warm coat;for winter\n",
        b'"Query","ID","Narrative","Description"\r\n"red shoes",7,,\r\nwarm coat,8,,for winter\r\n',
    ],
)
def test_topics_are_read_from_a_table(text: bytes) -> None:
    problems = Problems()
    topics = parse_topics("t.csv", text, problems) or []
    assert [(one.number, one.title, one.description, one.line) for one in topics] == [
        ("7", "red shoes", "", 2),
        ("8", "warm coat", "for winter", 3),
    ]
    assert problems.total == 0


def test_a_table_without_numbers_is_numbered() -> None:
    topics = parse_topics("t.csv", b"query,market\nred shoes,de\n\nwarm coat,fr\n", Problems()) or []
    assert [(one.number, one.title, one.line) for one in topics] == [("1", "red shoes", 2), ("2", "warm coat", 4)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"number,title\n1,red\n1,blue\n", [3]),
        (b"number,title\n1,red\n2,\n", [3]),
        (b"number,title\n1,red,too,many\n", [2]),
        (b'number,title\n1,"red\n', [2]),
    ],
)
def test_what_is_wrong_with_a_table_is_told_by_line(text: bytes, lines: list[int]) -> None:
    problems = Problems()
    assert parse_topics("t.csv", text, problems) is None
    assert lines_of(problems) == lines


@given(st.lists(st.from_regex(r"[a-z]+( [a-z]+){0,3}", fullmatch=True), min_size=1))
def test_lines_of_queries_become_numbered_topics(queries: list[str]) -> None:
    text = numbered_queries("\r\n".join(queries) + "\n\n")
    topics = parse_topics("t", text.encode(), Problems()) or []
    assert [(one.number, one.title) for one in topics] == [(str(n), q) for n, q in enumerate(queries, start=1)]


def test_further_queries_are_numbered_after_the_topics_there_are() -> None:
    known = {"7": "red shoes", "2": "warm coat", "T9": "blue hat"}
    text = numbered_queries("green tie\nwarm  coat\nblue hat\ngreen tie", known)
    assert text == "8\tgreen tie\n\n\n9\tgreen tie"


@pytest.mark.parametrize("text", ["1\tred shoes\n", "<top>\n", '{"number": 1}\n', "number,title\n1,red\n"])
def test_what_is_a_format_of_topics_is_not_taken_for_queries(text: str) -> None:
    assert numbered_queries(text) == text


def test_a_result_list_becomes_a_run_by_scores_ranks_or_its_order() -> None:
    scored = b"query,doc,score\nRed  Shoes,d1,2.5\nwarm coat,d2,1\n"
    ranked = b"qid;rank;docid\n1;2;d1\n1;1;d2\n"
    plain = b"url,query\nhttp://a/1,red shoes\nhttp://a/2,red shoes\n"
    assert all(map(is_result_list, (scored, ranked, plain)))
    problems = Problems()
    assert as_run("my list.csv", scored, TITLES, problems) == b"\n1 Q0 d1 1 2.5 my_list\n2 Q0 d2 1 1 my_list\n"
    assert as_run("b.csv", ranked, TITLES, problems) == b"\n1 Q0 d1 2 -2 b\n1 Q0 d2 1 -1 b\n"
    assert as_run("c.csv", plain, TITLES, problems) == b"\n1 Q0 http://a/1 1 -1 c\n1 Q0 http://a/2 2 -2 c\n"
    assert problems.total == 0


def test_rows_that_fit_no_topic_are_told_once_a_query() -> None:
    problems = Problems()
    as_run("a.csv", b"query,doc\nblue hat,d1\nblue hat,d2\nred shoes,two words\nred shoes,\n", TITLES, problems)
    assert lines_of(problems) == [2, 4, 5]


def test_a_run_or_qrels_is_no_result_list() -> None:
    assert not is_result_list(b"1 Q0 d1 1 2.0 tag\n")
    assert not is_result_list(b"1 0 d1 2\n")
    assert not is_result_list(b"")
    assert query_key(" Red\tShoes ") == "red shoes"
