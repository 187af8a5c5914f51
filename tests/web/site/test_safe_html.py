"""Bodies and guidelines on a page: what is kept, what is shown as text, what goes."""

import resource
import time

import pytest

from annotator.web.site.safe_html import (
    BEGINNING,
    DEEPEST,
    document_beginning,
    document_html,
    guidelines_html,
    is_shown_as_html,
    renderings,
)


@pytest.mark.parametrize(
    "body",
    ["Use <module> or <b>x</b>.\n  indented", "a < b", "1 <p> 2", "<stdin>: no file", "<person>", "<b>Bold</b> first"],
)
def test_plain_text_keeps_every_character_and_its_lines(body: str) -> None:
    shown = document_html(body)
    assert shown.startswith('<div class="plain">')
    assert shown.unescape() == f'<div class="plain">{body}</div>'
    assert "<" not in shown.removeprefix('<div class="plain">').removesuffix("</div>")


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("<p>one <b>two</b></p>", "<p>one <b>two</b></p>"),
        ("  <!-- by a robot -->\n<div>x</div>", "<div>x</div>"),
        ("<!DOCTYPE html><html><head><title>T</title></head><body><p>x</p></body></html>", "<p>x</p>"),
        ("<h1>Top</h1><h5>low</h5>", "<h3>Top</h3><h6>low</h6>"),
        ('<p><a href="https://x.example/">x</a></p>', 'href="https://x.example/"'),
        ("<b>Dogs</b><br>run", "<b>Dogs</b><br>run"),
        ("<a href='/x'>one</a> and <i>two</i>", "<i>two</i>"),
        ("<img alt='A cat' src='cat.png'><p>x</p>", '<span class="image" role="img" aria-label="A cat"></span>'),
        ("<p><a title='<img>' href='/x'>x</a></p>", 'title="&lt;img&gt;"'),
        ("<details><summary>More</summary>hidden</details>", "<div><div>More</div>hidden</div>"),
        ("<table><tr><td rowspan='2'>x</td></tr></table>", '<td rowspan="2">'),
    ],
)
def test_a_body_that_begins_with_a_block_is_html(body: str, kept: str) -> None:
    shown = document_html(body)
    assert shown.startswith('<div class="rich">')
    assert kept in shown


@pytest.mark.parametrize(
    ("body", "gone"),
    [
        ("<p>x</p><script>alert(1)</script>", "alert"),
        ('<p onclick="alert(1)">x</p>', "alert"),
        ('<p><a href="javascript:alert(1)">x</a></p>', "javascript"),
        ('<p style="position:fixed">x</p>', "style"),
        ('<p><img src="https://spy.example/run-7.png"></p>', "spy"),
        ('<p><iframe src="/"></iframe></p>', "iframe"),
        ('<div><form action="/sign-out"><button>x</button></form></div>', "form"),
        ("<p>x</p></div></main><h1>", "</main>"),
        ('<div id="grading" class="topic">x</div>', "grading"),
    ],
)
def test_html_can_do_no_harm(body: str, gone: str) -> None:
    assert gone not in document_html(body)


@pytest.mark.parametrize("before", ["<!-- by a robot -->", "<?xml version='1.0'?>\n", "<!-- a --> \n "])
def test_many_comments_before_the_first_block_take_no_time(before: str) -> None:
    begin = time.process_time()
    # Twenty-two comments took a second and a half when each could be ended in every later one.
    assert not is_shown_as_html(before * 40 + "<center>x")
    assert is_shown_as_html(before * 20_000 + "<p>x")
    assert not is_shown_as_html(before * 20_000 + "<center>x")
    assert time.process_time() - begin < 0.5


def test_elements_that_every_paragraph_opens_again_take_no_memory() -> None:
    fonts = "".join(f"<font size={number}>" for number in range(1_900))
    body = f"<p>{fonts}" + "<p>x" * 2_000
    begin, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert document_html(body).startswith('<div class="plain">&lt;p&gt;&lt;font')
    assert time.process_time() - begin < 0.5
    # Sanitised, these 37 kB take 900 MB (ru_maxrss is in kB).
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    # Closed where they end, they harm nobody.
    assert is_shown_as_html(
        "<p>" + "".join(f"<font size={number}>x</font>" for number in range(1_900)) + "<p>x" * 2_000
    )


@pytest.mark.parametrize(
    "deeper",
    [
        "<blink></i>",
        "<div><!--</div>-->",
        "<div><!--></div><!---->",
        "<div title='</div>'>",
        "<div title=</div>",
        "<div><! </div>",
        "<div><style></div></style>",
        "<div><TextArea ></div></textarea>",
        "<font size=1><table><td></font>",
    ],
)
def test_what_only_looks_like_an_end_makes_nothing_less_deep(deeper: str) -> None:
    ends_early = deeper == "<div><!--></div><!---->"  # the comment is empty, and the end is one
    assert is_shown_as_html("<p>" + deeper * (DEEPEST + 1)) is ends_early


def test_a_long_ordinary_page_is_html() -> None:
    row = '<tr><td><a href="/x?a=1>2" title="</td>"><b>one</b></a><br><td><p>two <!-- <b> --><i>three</i><p>four</tr>\n'
    assert is_shown_as_html("<html><body><div><div><center><font size=2><table>" + row * 20_000)
    assert is_shown_as_html("<p>" + "<script>document.write('<div><b>')</script><p>x" * (DEEPEST + 1))


def test_guidelines_are_markdown_below_the_headings_of_the_page() -> None:
    shown = guidelines_html("# Rules\n\n* be **fair**\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n")
    assert "<h2>Rules</h2>" in shown
    assert "<strong>fair</strong>" in shown
    assert "<td>1</td>" in shown
    assert "style" not in shown


def test_html_in_guidelines_is_text() -> None:
    assert "&lt;script&gt;" in guidelines_html("<script>alert(1)</script>")


def test_the_beginning_of_a_text_is_one_line_without_tags() -> None:
    html = "<p>One &amp; <b>two</b></p><script>alert(1)</script><p>three &lt;four&gt;</p><a href='cut"
    assert document_beginning(html) == "One & two three <four>"
    assert document_beginning("plain <tags>\n stay") == "plain <tags> stay"
    long = document_beginning("word " * 500)
    assert len(long) <= BEGINNING + 2
    assert long.endswith("word …")


@pytest.mark.parametrize(
    ("body", "possible"),
    [
        ("<p>x</p>", ("page", "text")),
        ("see <b>x</b>", ("text", "page")),
        ("a < b", ("text",)),
        ("see <b>x</b>" + "<div>" * (DEEPEST + 300), ("text",)),
    ],
)
def test_a_page_can_be_seen_as_text_and_a_text_with_elements_as_a_page(body: str, possible: tuple[str, ...]) -> None:
    assert renderings(body) == possible


def test_many_styles_without_a_block_take_no_time() -> None:
    begin = time.process_time()
    for body in ("<b>" + "</b><x>" * 100_000, "<span>" + "</span>" * 100_000, "<b>" + "x</center><y>" * 100_000):
        renderings(body)
    assert time.process_time() - begin < 3
