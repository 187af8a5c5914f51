"""Documents in parts: nothing is lost between them, each is safe by itself, and no document takes long."""

import re
import time
from unittest import mock

import nh3
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from annotator.web.documents import document_parts as room
from annotator.web.documents.document_parts import LONGEST_PART, PART, Parts, document_parts
from annotator.web.site.safe_html import ATTRIBUTES, DEEPEST, DROPPED_WHOLE, TAGS, document_html

TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)[^>]*>")


def text_of(parts: tuple[str, ...]) -> str:
    """What a reader sees, without blanks."""
    return re.sub(r"\s+", "", TAG.sub("", "".join(parts)))


def is_balanced(part: str) -> bool:
    """Whether each element that begins in a part ends in it."""
    opened: list[str] = []
    for end, name in TAG.findall(part):
        if end and (not opened or opened.pop() != name):
            return False
        if not end and name not in {"br", "hr"}:
            opened.append(name)
    return not opened


def inner(part: str) -> str:
    """A part of HTML without the element that it is shown in."""
    return part.removeprefix('<div class="rich">').removesuffix("</div>")


def cleaned(html: str) -> str:
    """What is left of HTML that is sanitised (once more)."""
    link = {"a": {"target": "_blank"}}
    return nh3.clean(
        html, tags=TAGS, clean_content_tags=DROPPED_WHOLE, attributes=ATTRIBUTES, set_tag_attribute_values=link
    )


@pytest.mark.parametrize("body", ["", "short", "<p>short</p>", "x" * PART, f"<p>{'x' * (PART - 7)}</p>"])
def test_a_short_document_is_one_part_and_looks_as_ever(body: str) -> None:
    assert document_parts(body) == (document_html(body),)


@pytest.mark.parametrize(
    "body",
    [
        "paragraph of words\n\n" * 20_000,
        "line of words\n" * 20_000,
        "word " * 60_000,
        "x" * 300_000,
        "한국어문장" * 60_000,
    ],
)
def test_plain_text_is_cut_where_it_can_be_and_nothing_is_lost(body: str) -> None:
    parts = document_parts(body)
    texts = [part.removeprefix('<div class="plain">').removesuffix("</div>") for part in parts]
    assert "".join(texts) == body
    assert len(parts) >= 3
    assert all(len(part) <= LONGEST_PART + 50 for part in parts)
    for cut in ("\n\n", "\n", " "):
        if cut in body:
            assert all(text.endswith(cut) for text in texts[:-1])
            break


@pytest.mark.parametrize(
    "body",
    [
        "<p>one <b>two</b> <a href='https://x.example/a>b' title='>'>three</a></p>\n" * 8_000,
        "<div><article>" + "<p>text of a paragraph</p>" * 20_000 + "</article></div>",
        "<table>" + "<tr><td>cell</td><td>other</td></tr>" * 15_000 + "</table>",
        "<ul>" + "<li>item<ul><li>inner</li></ul>" * 12_000 + "</ul>",
        "<p>x</p>" + "words without a tag " * 20_000,
        "<div><pre>" + "a line of code\n" * 20_000 + "</pre></div>",
        "<p>" + "<br>line &amp; line" * 20_000,
    ],
)
def test_html_is_cut_between_blocks_and_each_part_stands_alone(body: str) -> None:
    parts = document_parts(body)
    assert len(parts) > 2
    assert all(is_balanced(part) for part in parts)
    assert text_of(parts) == text_of((document_html(body),))
    assert all(len(part) < 2 * PART for part in parts)


LINK = '<a href="https://x.example/" title="a long title of a link">text of it</a> '


@pytest.mark.parametrize(
    "body",
    [
        "<p>" + "word <b>x</b> " * 20_000,
        "<p>" + LINK * 5_000,
        "<p>" + f"{LINK}<br>" * 5_000,
        "<p>" + "<i>x</i>y" * 20_000,
        "<p><b>" + "&lt;" * 60_000,
        "<p><a href='https://x.example/' title='" + "long " * 30_000 + "'>" + "words " * 60_000,
        "<div></div><b><br>" + "x" * 400_000,
    ],
)
def test_a_long_paragraph_is_cut_between_tags_or_words(body: str) -> None:
    parts = document_parts(body)
    assert len(parts) > 2
    assert [cleaned(inner(part)) for part in parts] == [inner(part) for part in parts]
    assert text_of(parts) == text_of((document_html(body),))
    assert max(map(len, parts)) < 2 * PART + 150_000 * ("long " in body)


def test_a_long_text_is_cut_where_a_line_or_a_word_ends() -> None:
    for part in document_parts("<p>" + "some words<br>of <i>a</i> poem " * 10_000)[:-1]:
        assert part.endswith("some words<br></p></div>")
    for part in document_parts("<p><b>" + "word " * 60_000)[:-1]:
        assert part.endswith("word </b></p></div>")
    for part in document_parts("<div>" + "<p>one<br>two</p>" * 20_000)[:-1]:
        assert part.endswith("<p>one<br>two</p></div></div>")


def test_what_is_open_at_a_cut_is_opened_again_as_it_was() -> None:
    link = '<a href="https://x.example/" title="t" target="_blank" rel="noopener noreferrer">'
    _, second, *_ = document_parts(f'<div><a href="https://x.example/" title="t">{"word " * 60_000}</a></div>')
    assert inner(second).startswith(f"<div>{link}word ")
    assert inner(second).endswith("word </a></div>")


def test_no_empty_line_of_code_is_lost_at_a_cut() -> None:
    body = "<pre>" + "x" * 63_992 + "\n\n\n\n" + "y" * 64_000 + "</pre>"
    first, second = document_parts(body)
    # A browser leaves out the first line break in a pre; nh3 reads as a browser does.
    assert cleaned(first).count("\n") + cleaned(second).count("\n") == 4
    assert second.count("\n") > 1


PIECES = st.sampled_from(
    [
        *("<div>", "</div>", "<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<ul><li>", "<li>", "</ul>", "<br>", "<hr>"),
        *("<table><tr><td>", "<td>", "<tr>", "</table>", '<a href="/a>b" title="one > two">', "</a>", "<center>"),
        *("w ", "\n", "&lt;", "&", "&nbsp;", "longer words", "x" * 70),
    ]
)


@given(st.lists(PIECES), st.integers(1, 80))
@example(["</div>", "<b>", "<br>"], 40)
def test_any_html_is_cut_into_parts_that_stand_alone(pieces: list[str], length: int) -> None:
    body = "<div>" + ("".join(pieces) + "x" * length) * 20
    with mock.patch.multiple(room, PART=200, LONGEST_PART=300):
        parts = document_parts(body)
    whole = inner(document_html(body))
    assert all(is_balanced(part) for part in parts)
    assert TAG.sub("", "".join(parts)) == TAG.sub("", whole)
    assume(cleaned(whole) == whole)  # the parser may read its own HTML otherwise, as a paragraph in a paragraph
    assert [cleaned(inner(part)) for part in parts] == [inner(part) for part in parts]


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000,
        "<ul><li>" * 50_000,
        "<p>" * 100_000,
        "<p>" + "<b>" * 100_000,
        "<p>" + "<center>" * 50_000,
        "<p>" + "<x-y>" * 50_000,
        "<table><tr><td>" * 30_000,
        "<p>" + "<svg><g>" * 50_000,
        "<div>" * (DEEPEST - 1) + "<p>x</p>" * 20_000,
        "<p>" + "<" * 500_000,
        "<p " + "a=b " * 100_000 + ">",
        "<p><!--" + "<!--" * 100_000,
        "<!--" * 100_000,
        "<p>" + "<a " * 100_000,
        "<p>" + "<a b='" * 100_001,
        "<p>" + "<!x" * 100_000,
        "<p>" + "<title>" * 100_000,
        "<p>" + "<b></i>" * 100_000,
        "<p>" + "<div><!--</div>-->" * 50_000,
        "<p><svg>" + "<td>" * 50_000 + "</x>" * 50_000,
    ],
)
def test_hostile_html_takes_bounded_time(body: str) -> None:
    begin = time.process_time()
    parts = document_parts(body)
    # On a quiet machine a second at most; without the bound on depth the first two take twenty.
    assert time.process_time() - begin < 5
    assert sum(map(len, parts)) < 40 * len(body)


def test_what_is_too_deep_is_shown_as_text_and_complete() -> None:
    body = "<div>" * (DEEPEST + 1) + "x"
    assert document_html(body).startswith('<div class="plain">&lt;div&gt;')
    # Elements that need no end are not deep: old pages have thousands of them.
    assert document_html("<p>one" * (DEEPEST * 3)).startswith('<div class="rich">')


def test_long_documents_are_kept_while_there_is_room() -> None:
    kept = Parts(most=500_000)
    bodies = [f"{number} " * 100_000 for number in range(5)]
    first = kept.of("a", bodies[0])
    assert kept.of("a", bodies[0]) is first
    for number in (1, 2, 3):
        kept.of(number, bodies[number])
    assert kept.of("a", bodies[0]) is not first
    # One that is longer than all the room is kept until the next comes.
    huge = kept.of("huge", "word " * 200_000)
    assert kept.of("huge", "word " * 200_000) is huge
