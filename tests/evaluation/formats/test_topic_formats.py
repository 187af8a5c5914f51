"""Topic files in four formats, and what is wrong with them. All texts were written for these tests."""

import pytest

from annotator.errors import Problems
from annotator.evaluation.formats.topic_formats import ParsedTopic, parse_topics

SGML = """
<top>
<num> Number: 301
<title> Lighthouse &amp; keeper

<desc> Description:
Who kept the lighthouses
of the north?

<narr> Narrative:
Only keepers by name. <b>Ships</b> are not relevant, a < b neither.

A list of towers is.
</top>

<top lang="fr">
<num> Number: 302 <title> Topic: Phares <desc> Lesquels ?
<con> Concept(s): tour <narr> Tous.
</top>
"""
XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<topics task="t" xml:lang="en">
  <topic number="1"><query>light house</query><question>Who?</question><narrative>All &lt;names&gt;.</narrative></topic>
  <topic number=" 2 " lang="ko"><title>등대 <i>지기</i></title><description>누구</description></topic>
  <topic><num>3</num><note>no field</note><question>Only a
     question?</question></topic>
</topics>"""
DESCRIPTION = "Who kept the lighthouses of the north?"
NARRATIVE = "Only keepers by name. <b>Ships</b> are not relevant, a < b neither.\n\nA list of towers is."


def topics_of(text: str) -> list[ParsedTopic]:
    problems = Problems()
    topics = parse_topics("t", text.encode(), problems)
    assert [str(problem) for problem in problems.first] == []
    assert topics is not None
    return topics


def problems_of(text: str) -> list[str]:
    problems = Problems()
    assert parse_topics("t", text.encode(), problems) is None
    return [str(problem) for problem in problems.first]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_sgml_with_tags_that_are_never_closed(line_end: str) -> None:
    assert topics_of(SGML.replace("\n", line_end)) == [
        ParsedTopic("301", "Lighthouse & keeper", DESCRIPTION, NARRATIVE, None, 2),
        ParsedTopic("302", "Phares", "Lesquels ?", "Tous.", "fr", 16),
    ]


def test_sgml_with_tags_that_are_closed() -> None:
    text = "<topics>\n<top><num>7</num><title>One</title>\n<desc>Two</desc><narr>Three</narr></top>\n</topics>\n"
    assert topics_of(text) == [ParsedTopic("7", "One", "Two", "Three", None, 2)]


@pytest.mark.parametrize("attribute", ['id="1"', "number='1'", "num=1", 'lang="en" qid = " 1 "', 'ID="&#49;"'])
def test_the_number_may_be_an_attribute_of_the_topic(attribute: str) -> None:
    text = f"<topics>\n<top {attribute}><title>Light</title><desc>Who?</desc></top>\n</topics>\n"
    language = "en" if "lang" in attribute else None
    assert topics_of(text) == [ParsedTopic("1", "Light", "Who?", "", language, 2)]


def test_the_number_of_its_own_tag_comes_before_an_attribute() -> None:
    assert topics_of('<top id="x"><num>7</num><title>Light</title></top>')[0].number == "7"


def test_xml_with_titles_or_with_trec_covids_queries() -> None:
    assert topics_of(XML) == [
        ParsedTopic("1", "light house", "Who?", "All <names>.", "en", 3),
        ParsedTopic("2", "등대 지기", "누구", "", "ko", 4),
        ParsedTopic("3", "Only a question?", "", "", "en", 5),
    ]


def test_tab_separated_lines() -> None:
    assert topics_of("1\tlight  house\r\n\nq-2\tkeeper\twho?\tall names\n") == [
        ParsedTopic("1", "light house", "", "", None, 1),
        ParsedTopic("q-2", "keeper", "who?", "all names", None, 3),
    ]


@pytest.mark.parametrize("number_key", ["number", "id", "qid", "query_id", "topic"])
@pytest.mark.parametrize("title_key", ["title", "query", "text"])
def test_json_lines_under_the_usual_keys(number_key: str, title_key: str) -> None:
    text = f'{{"{number_key}": 7, "{title_key}": "light house", "more": [1]}}\n'
    assert topics_of(text) == [ParsedTopic("7", "light house", "", "", None, 1)]


def test_json_lines_with_everything() -> None:
    text = '{"number": "7", "title": "t", "description": "d", "narrative": "n\\n\\nm", "language": "en", "id": null}'
    assert topics_of(text) == [ParsedTopic("7", "t", "d", "n\n\nm", "en", 1)]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("\n \n", ["t: The file has no topic."]),
        ("<topics></topics>", ["t: The file has no topic."]),
        ("1 light house\n", ["t:1: The line has no tab; it must be the number, a tab and the title."]),
        (
            "1\ta\tb\tc\td\n",
            ["t:1: The line has 5 fields; a topic has at most four: number, title, description, narrative."],
        ),
        ("\tlight\n", ["t:1: The topic has no number."]),
        ("\t\tdescription\n", ["t:1: The topic has neither number nor title."]),
        ("<top>\n<desc> a\n</top>", ["t:1: The topic has neither number nor title."]),
        ("1\t \n", ["t:1: The topic 1 has no title."]),
        (
            "1 2\tlight\n",
            ["t:1: The topic number '1 2' has blanks or control characters inside; it must be one word."],
        ),
        ("9" * 257 + "\tlight\n", ["t:1: The topic number is longer than 256 bytes. Shorten it."]),
        ("1\ta\n2\tb\n\n1\tc\n", ["t:4: The topic 1 is in the file twice; it is on line 1 already."]),
        ("<top>\n<title> a\n</top>", ["t:1: The topic has no number."]),
        ("\n<top><num> Number: 1 <desc> a </top>", ["t:2: The topic 1 has no title."]),
        (
            '<topics>\n<topic number="1"><title>a</title>\n</topics>',
            ["t:3: The XML is broken at column 3: mismatched tag."],
        ),
        (
            '<topics>\n<topic number="1"><title>&x;</title></topic></topics>',
            ["t:2: The XML is broken at column 26: undefined entity."],
        ),
        (
            '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<topics>&x;</topics>',
            ["t:1: The XML declares a document type (DOCTYPE). Take the declaration out."],
        ),
        (
            '{"number": 1, "title": "a"}\n{"number": 2 "title": ""}\n',
            ["t:2: The line is not valid JSON: look at column 14."],
        ),
        ('{"number": 1, "title": 5}', ["t:1: The value of title is not text."]),
        ('{"number": true, "title": "a"}', ["t:1: The value of number is not text."]),
        (
            '{"number": "1", "title": "a\\ud800"}',
            ["t:1: The value of title has the character U+D800, which no text can hold."],
        ),
        (
            '{"number": "1", "title": "a\\u0000"}',
            ["t:1: The value of title has the character U+0000, which no text can hold."],
        ),
        ("[1]\n", ["t:1: An entry of the list is no JSON object; each must be one: {…}."]),
        ("[" * 100_000, ["t:1: The JSON is broken at column 2: nested too deep, or too long a number."]),
        ('{"number": ' + "1" * 5000 + "}", ["t:1: The line is JSON nested too deep, or with too long a number."]),
        ('{"title": "a"}', ["t:1: The topic has no number."]),
    ],
)
def test_each_problem_is_named_with_its_line(text: str, reports: list[str]) -> None:
    assert problems_of(text) == reports


@pytest.mark.parametrize(
    "text",
    [
        "#1\tlight\n",
        "<top><num> Number: #1 <title> light </top>",
        '<topics><topic number="#1"><title>light</title></topic></topics>',
        '{"number": "#1", "title": "light"}',
    ],
    ids=["tabs", "SGML", "XML", "JSON"],
)
def test_a_number_that_would_make_comments_of_its_lines_is_refused(text: str) -> None:
    assert problems_of(text) == [
        "t:1: The topic number #1 begins with #, so its lines in runs and qrels would be comments. Drop the #."
    ]


def test_all_problems_of_a_file_are_named_at_once() -> None:
    assert len(problems_of("1\n2\t\n3\ta\n3\tb\n\tc\n")) == 4


def test_a_file_that_was_cut_off_in_a_topic_is_refused() -> None:
    whole = b"<top>\n<num> Number: 1\n<title> a\n</top>\n"
    problems = Problems()
    assert parse_topics("t", whole + b"<top>\n<num> Number: 2\n<title> half of", problems) is None
    assert [str(problem) for problem in problems.first] == [
        "t:5: The topic is not closed: there is no </top> after this <top>."
    ]


@pytest.mark.parametrize("number", [".", "..", "/lead", "trail/", "a//b", "a/../b"])
def test_a_number_that_no_address_can_hold_is_refused(number: str) -> None:
    problems = Problems()
    assert parse_topics("t", f"{number}\ttitle\n".encode(), problems) is None
    assert "cannot be part of an address" in str(problems.first[0])


@pytest.mark.parametrize("number", ["a/b", "...", "100%", "q?x=1", "토픽-1"])
def test_an_odd_number_is_taken(number: str) -> None:
    problems = Problems()
    topics = parse_topics("t", f"{number}\ttitle\n".encode(), problems)
    assert topics is not None
    assert topics[0].number == number


def test_a_topic_of_sgml_without_any_tag_has_no_number() -> None:
    problems = Problems()
    assert parse_topics("t", b"<top>\nspies\n</top>\n", problems) is None
    assert [str(problem) for problem in problems.first] == ["t:1: The topic has neither number nor title."]
