"""Bodies and guidelines on a page: what is kept, what is shown as text, what goes."""

import pytest

from annotator.web.safe_html import BEGINNING, document_beginning, document_html, guidelines_html


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
