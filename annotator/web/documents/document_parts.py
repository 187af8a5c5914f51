"""Splits long documents into parts small enough for browsers, with a bounded cache."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import chain
from typing import NamedTuple

from markupsafe import Markup, escape

from annotator.web.site.safe_html import Rendering, renderings, sanitised

# Characters per part, approximately; slightly more when there is no good place to cut.
PART = 64_000
LONGEST_PART = 96_000
# Characters of multi-part documents cached per process.
MOST_KEPT = 32_000_000
# Bodies whose renderings are remembered.
MOST_RENDERINGS = 10_000

# As nh3 writes it: attributes in double quotes, which may contain “>”.
TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)(?:\s+[a-z-]+="[^"]*")*\s*>')
WITHOUT_END = {"br", "hr"}
# Attributes from the document; the others are those that nh3 adds to each link.
OWN_ATTRIBUTE = re.compile(r' (?!target=|rel=)[a-z]+="[^"]*"')
LONGEST_ENTITY = len("&nbsp;")
# A cut before one of these does not split a sentence.
BLOCKS = {
    *("p", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre"),
    *("table", "tbody", "thead", "tr", "div", "figure"),
}
# Where a plain text is cut, best first: between paragraphs, lines, words.
CUTS = ("\n\n", "\n", " ")


class Element(NamedTuple):
    """An open element and its parent, so that a place refers to all open elements without a copy."""

    name: str
    tag: str
    outer: "Element | None"


class Cut(IntEnum):
    """The quality of a place between two tags as a cut."""

    WITHIN_A_LINE = 0
    AFTER_A_LINE = 1
    BEFORE_A_BLOCK = 2


class Place(NamedTuple):
    """A possible cut in HTML, and the innermost element open there."""

    at: int
    opened: Element | None
    cut: Cut


class Parts:
    """An LRU cache of the parts of long documents, with at most `MOST_KEPT` characters in total."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Create an empty cache."""
        self._most = most
        self._kept: OrderedDict[object, tuple[Markup, ...]] = OrderedDict()
        self._size = 0
        self._renderings: OrderedDict[object, tuple[Rendering, ...]] = OrderedDict()

    def renderings(self, key: object, body: str) -> tuple[Rendering, ...]:
        """The possible renderings of a body; those of long ones are remembered."""
        if len(body) <= PART:
            return renderings(body)
        found = self._renderings.pop(key, None) or renderings(body)
        self._renderings[key] = found
        if len(self._renderings) > MOST_RENDERINGS:
            self._renderings.popitem(last=False)
        return found

    def of(self, key: object, body: str, rendering: Rendering | None = None) -> tuple[Markup, ...]:
        """The parts of a body; a key must always denote the same body.

        Without a rendering, or with one that is not possible, it is the usual one.
        """
        possible = self.renderings(key, body)
        chosen = rendering if rendering in possible else possible[0]
        if len(body) <= PART:
            return rendered_parts(body, chosen)
        parts = self._kept.pop((key, chosen), None)
        if parts is None:
            parts = rendered_parts(body, chosen)
            self._size += _size(parts)
        self._kept[key, chosen] = parts
        while self._size > self._most and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._size -= _size(oldest)
        return parts


def document_parts(body: str) -> tuple[Markup, ...]:
    """A document's body as safe HTML, cut between paragraphs; each part can be rendered on its own."""
    return rendered_parts(body, renderings(body)[0])


def rendered_parts(body: str, rendering: Rendering) -> tuple[Markup, ...]:
    """The parts of a body in one of its renderings."""
    if rendering == Rendering.PAGE:
        return tuple(Markup('<div class="rich">{}</div>').format(part) for part in _cut_html(str(sanitised(body))))
    return tuple(Markup('<div class="plain">{}</div>').format(escape(part)) for part in _cut_text(body))


def _size(parts: tuple[Markup, ...]) -> int:
    return sum(map(len, parts))


def _cut_text(body: str) -> Iterator[str]:
    start = 0
    while len(body) - start > LONGEST_PART:
        end = _end_of_part(body, start)
        yield body[start:end]
        start = end
    yield body[start:]


def _end_of_part(body: str, start: int) -> int:
    for cut in CUTS:
        at = body.rfind(cut, start + PART // 2, start + PART)
        if at >= 0:
            return at + len(cut)
    return start + PART


def _cut_html(html: str) -> Iterator[Markup]:
    """Close the open elements at the end of each part, and reopen them in the next."""
    start, before = 0, ""
    for place in _places_to_cut(html):
        yield _part(before, html[start : place.at], place.opened)
        start, before = place.at, _beginnings(place.opened)
        if place.opened and place.opened.name == "pre" and html.startswith("\n", start):
            before += "\n"  # HTML ignores the first line break in a pre
    yield _part(before, html[start:], None)


def _places_to_cut(html: str) -> Iterator[Place]:
    """The best cut in the second half of each part: between two tags or within a text, never within a tag."""
    start = text = 0
    best: Place | None = None
    opened: Element | None = None
    for tag in chain(TAG.finditer(html), [None]):
        at = tag.start() if tag else len(html)
        while at - start > PART and len(html) - start > LONGEST_PART:
            end = _place_before(html, start + PART, text, opened, best)
            yield end
            start, best = end.at, None
        if not tag:
            return
        place, opened = _passed(tag, opened)
        text = tag.end()
        if place and place.at - start >= PART // 2 and (best is None or place.cut >= best.cut):
            best = place


def _passed(tag: re.Match[str], opened: Element | None) -> tuple[Place | None, Element | None]:
    """The cut at this tag, if allowed, and the element open after it."""
    name = tag[2]
    if tag[1]:
        return None, opened.outer if opened else None
    if name == "br":
        return Place(tag.end(), opened, Cut.AFTER_A_LINE), opened
    place = Place(tag.start(), opened, Cut.BEFORE_A_BLOCK if name in BLOCKS else Cut.WITHIN_A_LINE)
    return place, opened if name in WITHOUT_END else Element(name, tag[0], opened)


def _place_before(html: str, limit: int, text: int, opened: Element | None, best: Place | None) -> Place:
    """The best cut before a limit in the text starting at `text`, or in the tag before it."""
    if best and best.cut > Cut.WITHIN_A_LINE:
        return best
    for cut in CUTS:
        found = html.rfind(cut, max(text, limit - PART // 2), limit)
        if found >= 0:
            return Place(found + len(cut), opened, Cut.WITHIN_A_LINE)
    if best:
        return best
    entity = html.rfind("&", limit - LONGEST_ENTITY + 1, limit)
    if entity >= 0 and ";" not in html[entity:limit]:
        limit = entity
    return Place(max(text, limit), opened, Cut.WITHIN_A_LINE)


def _elements(opened: Element | None) -> Iterator[Element]:
    while opened:
        yield opened
        opened = opened.outer


def _beginnings(opened: Element | None) -> str:
    """The start tags that reopen the elements; without attributes when these would fill the part."""
    whole = "".join(element.tag for element in reversed(list(_elements(opened))))
    return whole if len(whole) <= PART // 2 else OWN_ATTRIBUTE.sub("", whole)


def _part(before: str, text: str, opened: Element | None) -> Markup:
    ends = "".join(f"</{element.name}>" for element in _elements(opened))
    return Markup(f"{before}{text}{ends}")  # noqa: S704 - tags and texts were written by nh3


def occurrences_in(parts: Sequence[str], words: str) -> list[int]:
    """How often some words occur in the text of each part, regardless of case and of the blanks between them."""
    pattern = re.compile(r"\s+".join(re.escape(word) for word in words.split()), re.IGNORECASE)
    return [sum(1 for _ in pattern.finditer(_text_of(part))) for part in parts]


def _text_of(part: str) -> str:
    return Markup(TAG.sub("", part)).unescape()  # noqa: S704 - to text, which is only searched
