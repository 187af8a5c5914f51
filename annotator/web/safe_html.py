"""Text from documents and guidelines as HTML that can do no harm."""

import re
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre"),
    *("code", "kbd", "samp", "em", "strong", "b", "i", "u", "s", "sub", "sup", "mark", "abbr", "q", "cite", "a"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "div", "span", "figure", "figcaption"),
}
ATTRIBUTES = {"a": {"href", "title"}, "abbr": {"title"}, "th": {"scope", "colspan", "rowspan"}, "td": {"colspan"}}
# Only a body that begins with a block of HTML is taken for HTML. Plain text may speak of <tags> in its middle, and
# a judge must see them; HTML shown as text is ugly but complete.
BEGINS_AS_HTML = re.compile(
    r"\s*(?:(?:<!--.*?-->|<\?xml.*?\?>)\s*)*"
    r"<(?:!doctype\s+html|html|head|body|article|section|main|header|div|p|h[1-6]|table|ul|ol|dl|pre|blockquote)\b",
    re.IGNORECASE | re.DOTALL,
)
HEADING = re.compile(r"<(/?)h([1-6])>")
LOWEST_HEADING = 6
BEGINNING = 400

DROPPED_WHOLE = {"script", "style", "title", "template"}

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def document_html(body: str) -> Markup:
    """A document's body: HTML sanitised, anything else as plain text that keeps its lines."""
    if BEGINS_AS_HTML.match(body):
        return Markup('<div class="rich">{}</div>').format(_sanitised(body, lower_by=2))
    return Markup('<div class="plain">{}</div>').format(escape(body))


def document_beginning(body: str) -> str:
    """The first words of a document's body as one line of plain text, without tags."""
    if BEGINS_AS_HTML.match(body):
        # A blank before each tag, so that words of neighbouring cells and paragraphs stay apart.
        safe = nh3.clean(body.replace("<", " <"), tags=set(), clean_content_tags=DROPPED_WHOLE)
        body = Markup(safe).unescape()  # noqa: S704 - it is made text here, and escaped where it is shown
    line = " ".join(body.split())
    return line if len(line) <= BEGINNING else f"{line[:BEGINNING].rsplit(' ', 1)[0]} …"


@lru_cache(maxsize=64)
def guidelines_html(markdown: str) -> Markup:
    """Guidelines written in Markdown."""
    return _sanitised(MARKDOWN.render(markdown), lower_by=1)


def _sanitised(html: str, lower_by: int) -> Markup:
    """Safe HTML whose headings stand below those of the page; nh3 writes its tags in one form, so that these match."""
    safe = nh3.clean(
        html,
        tags=TAGS,
        clean_content_tags=DROPPED_WHOLE,
        attributes=ATTRIBUTES,
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    lowered = HEADING.sub(lambda match: f"<{match[1]}h{min(int(match[2]) + lower_by, LOWEST_HEADING)}>", safe)
    return Markup(lowered)  # noqa: S704 - nh3 has sanitised it, and the numbers of headings are ours
