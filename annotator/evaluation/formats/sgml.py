"""What TREC's SGML needs: character references resolved, paragraphs tidied."""

import html
import re

CHARACTER_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_-]*(?:\s[^<>]*)?>")
BETWEEN_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n\s*")


def resolve_references(markup: str) -> str:
    """Resolve `&amp;` and its like; an ampersand that begins no complete reference stays."""
    return CHARACTER_REFERENCE.sub(lambda reference: html.unescape(reference[0]), markup)


def plain_line(markup: str) -> str:
    """Drop the tags and put the text on one line."""
    return " ".join(resolve_references(TAG.sub(" ", markup)).split())


def paragraphs(text: str) -> str:
    """Undo the breaking of lines; an empty line between paragraphs stays."""
    return "\n\n".join(" ".join(part.split()) for part in BETWEEN_PARAGRAPHS.split(text.strip()))
