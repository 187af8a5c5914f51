"""Sanitises documents and guidelines as HTML."""

import re
from collections import defaultdict
from enum import StrEnum
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre"),
    *("code", "kbd", "samp", "em", "strong", "b", "i", "u", "s", "sub", "sup", "mark", "abbr", "q", "cite", "a"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "div", "span", "figure", "figcaption"),
}
# Blocks that are shown as a div: without one their text would run into that of their neighbours. `details` is
# shown open, since a judge must see all of a document.
SHOWN_AS_DIV = {
    *("details", "summary", "section", "article", "main", "header", "footer", "nav", "aside", "address", "center"),
    *("fieldset", "legend", "option", "dir", "menu", "hgroup"),
}
ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "th": {"scope", "colspan", "rowspan"},
    "td": {"colspan", "rowspan"},
    "img": {"alt"},
}
# Only a body that starts with a block-level HTML element is treated as HTML. Plain text may mention <tags>, and
# a judge must see them; HTML shown as text is ugly but complete.
# Possessive quantifiers: a body of many comments without a block is rejected in one pass.
BEGINS_AS_HTML = re.compile(
    r"\s*+(?:(?><!--.*?-->|<\?xml.*?\?>)\s*+)*+"
    r"<(?:!doctype\s+html|html|head|body|article|section|main|header|footer|nav|aside|details|div|p|h[1-6]|table|ul|ol|dl|pre|blockquote)\b",
    re.IGNORECASE | re.DOTALL,
)
# A body that starts with an inline element is HTML when a block, a line break or a second link or style follows.
BEGINS_INLINE = re.compile(r"\s*+<(?:a|b|br|center|em|font|i|img|small|span|strong|u)\b[^<>]*+>", re.IGNORECASE)
STYLES = "(?:a|b|center|em|font|i|small|span|strong|u)"
GOES_ON_AS_HTML = re.compile(
    r"<(?:p|div|table|tr|ul|ol|li|dl|h[1-6]|hr|br|blockquote|pre)\b[^<>]*+>"
    rf"|</{STYLES}>(?>[^<]*+<(?!/?{STYLES}\b))*+[^<]*+</?{STYLES}\b",
    re.IGNORECASE,
)
# Any element, in a body that is shown as text: a judge may then ask for the page.
HAS_ELEMENT = re.compile(r"<[a-z][a-z0-9]*+(?:\s[^<>]*+)?/?>", re.IGNORECASE)
# What is rewritten after sanitising. The first alternative consumes the attributes of other elements.
REWRITTEN = re.compile(
    r'<(?P<with>[a-z][a-z0-9]*+)(?: [a-z-]++="(?P<value>[^"]*+)")++>'
    rf"|<(?P<end>/?)(?:h(?P<level>[1-6])|(?P<bare>img)|(?P<block>{'|'.join(sorted(SHOWN_AS_DIV))}))>"
)
LOWEST_HEADING = 6
# A comment, an element with raw text content, or a tag with its attributes, so that text inside these that looks like
# a tag is not matched. No backtracking, even if something is unclosed.
TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(?:[!?]|/[^A-Za-z>])[^>]*+"
    r"|<(script|style|title|textarea|xmp|iframe|noembed|noframes)(?=[\t\n\f\r />]).*?(?:</\1|\Z)"
    r"|<(/?)([A-Za-z][^\t\n\f\r />]*+)"
    r"(?:[\t\n\f\r /]++|[^\t\n\f\r />][^\t\n\f\r />=]*+"
    r"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\t\n\f\r >]*+))?+)*+",
    re.IGNORECASE | re.DOTALL,
)
# Elements with optional or no end tags: old pages have thousands of them in a row.
# Within SVG or MathML they are ordinary elements.
CLOSED_BY_OTHERS = {
    *("p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "area", "base", "br", "col"),
    *("colgroup", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"),
}
# Elements that a parser reopens in each paragraph until they are closed (HTML standard, 13.2.4.3).
FORMATTING = {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
# Elements in which the end tag of a formatting element from outside is ignored.
SCOPES = {"applet", "caption", "marquee", "object", "table", "template"}
DEEPEST = 2_000
# With fewer tags than this, sanitising is never slow.
FEW_TAGS = 200
# Reopened elements summed over all tags: each takes about 240 bytes during sanitising.
MOST_REOPENED = 1_000_000
# The depth summed over all tags: for some of them the parser scans all open elements, about 2 ns for each.
MOST_LOOKED_AT = 200_000_000
BEGINNING = 400

DROPPED_WHOLE = {"script", "style", "title", "template"}

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


class Rendering(StrEnum):
    """How a document's body is shown: as a page, or as the text that was imported."""

    PAGE = "page"
    TEXT = "text"


def renderings(body: str) -> tuple[Rendering, ...]:
    """The possible renderings of a body; the first is the usual one."""
    if is_shown_as_html(body):
        return Rendering.PAGE, Rendering.TEXT
    if HAS_ELEMENT.search(body) and not _is_too_deep(body):
        return Rendering.TEXT, Rendering.PAGE
    return (Rendering.TEXT,)


def document_html(body: str) -> Markup:
    """A document's body as HTML: sanitised, or plain text with its line breaks."""
    if is_shown_as_html(body):
        return Markup('<div class="rich">{}</div>').format(sanitised(body))
    return Markup('<div class="plain">{}</div>').format(escape(body))


def is_shown_as_html(body: str) -> bool:
    """Whether a body is HTML of acceptable depth: parsing time is quadratic in the depth."""
    return _looks_like_html(body) and not _is_too_deep(body)


def sanitised(body: str) -> Markup:
    """The sanitised HTML of a document, with headings below that of the page."""
    return _sanitised(body, lower_by=2)


def document_beginning(body: str) -> str:
    """The first words of a document's body as one line of plain text, without tags."""
    if is_shown_as_html(body):
        # A blank before each tag keeps words of neighbouring cells and paragraphs apart.
        safe = nh3.clean(body.replace("<", " <"), tags=set(), clean_content_tags=DROPPED_WHOLE)
        body = Markup(safe).unescape()  # noqa: S704 - converted to text here, and escaped where it is shown
    line = " ".join(body.split())
    return line if len(line) <= BEGINNING else f"{line[:BEGINNING].rsplit(' ', 1)[0]} …"


def _looks_like_html(body: str) -> bool:
    if BEGINS_AS_HTML.match(body):
        return True
    begin = BEGINS_INLINE.match(body)
    return begin is not None and GOES_ON_AS_HTML.search(body, begin.end()) is not None


def _is_too_deep(body: str) -> bool:
    """Whether sanitising would take much time or memory; open elements are rather over- than underestimated."""
    if body.count("<") <= FEW_TAGS:
        return False
    opened = _Opened()
    reopened = looked_at = 0
    for token in TOKEN.finditer(body):
        end, name = token[2], token[3]
        if name is None:
            continue
        if end:
            opened.end(name.lower())
        else:
            opened.begin(name.lower())
        reopened += opened.formatting
        looked_at += opened.depth
        if opened.depth > DEEPEST or reopened > MOST_REOPENED or looked_at > MOST_LOOKED_AT:
            return True
    return False


class _Opened:
    """The open elements; an end tag without a start tag is ignored."""

    def __init__(self) -> None:
        self.depth = 0
        self.formatting = 0
        self._foreign = 0
        self._scopes = 0
        # By name: in how many scopes each open element of that name started.
        self._begun: defaultdict[str, list[int]] = defaultdict(list)

    def begin(self, name: str) -> None:
        if name not in CLOSED_BY_OTHERS or self._foreign:
            self._begun[name].append(self._scopes)
            self._count(name, 1)

    def end(self, name: str) -> None:
        begun = self._begun.get(name)
        if begun and (name not in FORMATTING or begun[-1] >= self._scopes):
            begun.pop()
            self._count(name, -1)

    def _count(self, name: str, change: int) -> None:
        self.depth += change
        self.formatting += change * (name in FORMATTING)
        self._scopes += change * (name in SCOPES)
        self._foreign += change * (name in {"svg", "math"})


@lru_cache(maxsize=64)
def guidelines_html(markdown: str) -> Markup:
    """Render guidelines written in Markdown as sanitised HTML."""
    return _sanitised(MARKDOWN.render(markdown), lower_by=1)


def _sanitised(html: str, lower_by: int) -> Markup:
    """Sanitised HTML with lowered headings; nh3 normalises tags, so that a regular expression can match them."""
    safe = nh3.clean(
        html,
        tags=TAGS | SHOWN_AS_DIV | {"img"},
        clean_content_tags=DROPPED_WHOLE,
        attributes=ATTRIBUTES,
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )

    # Of an image its description stays, as an attribute: offsets in the text count what was written as text.
    def rewritten(match: re.Match[str]) -> str:
        if match["level"]:
            return f"<{match['end']}h{min(int(match['level']) + lower_by, LOWEST_HEADING)}>"
        if match["block"]:
            return f"<{match['end']}div>"
        if match["bare"]:
            return '<span class="image"></span>'
        if match["with"] == "img":
            return (
                f'<span class="image" role="img" aria-label="{match["value"]}"></span>'
                if match["value"].strip()
                else ""
            )
        return match[0]

    return Markup(REWRITTEN.sub(rewritten, safe))  # noqa: S704 - sanitised by nh3; only its own tags are rewritten
