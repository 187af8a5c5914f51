"""Topics in TREC's SGML, whose tags `<num>`, `<title>`, `<desc>` and `<narr>` are never closed."""

import re
from collections.abc import Iterator

from annotator.evaluation.formats.parsed_topics import ParsedTopic
from annotator.evaluation.formats.sgml import paragraphs, resolve_references

TOPIC = re.compile(r"<top\b([^<>]*)>(.*?)(?=<top\b[^<>]*>|</top\s*>|\Z)", re.IGNORECASE | re.DOTALL)
# The tags of TREC's ad hoc topics end a field wherever they stand, others only where they begin a line,
# for a narrative may have markup of its own.
FIELD_TAG = re.compile(
    r"</?(num|title|desc|narr|dom|head|smry|con|fac|def|nat)\b[^<>]*>|^[ \t]*</?([A-Za-z][\w-]*)(?:[ \t][^<>\n]*)?/?>",
    re.IGNORECASE | re.MULTILINE,
)
LANGUAGE = re.compile(r"""\blang\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
NUMBER = re.compile(r"""\b(?:number|num|id|qid)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))""", re.IGNORECASE)
LABELS = {
    "num": re.compile(r"\s*(?:Number|Topic)\s*:", re.IGNORECASE),
    "title": re.compile(r"\s*(?:Topic|Title)\s*:", re.IGNORECASE),
    "desc": re.compile(r"\s*Description\s*:?", re.IGNORECASE),
    "narr": re.compile(r"\s*Narrative\s*:?", re.IGNORECASE),
}


def sgml_topics(text: str) -> Iterator[ParsedTopic]:
    """Yield the topics as they stand; whether they are whole is for `parse_topics` to say."""
    line, counted = 1, 0
    for topic in TOPIC.finditer(text):
        line += text.count("\n", counted, topic.start())
        counted = topic.start()
        fields = _fields(topic[2])
        language = LANGUAGE.search(topic[1])
        yield ParsedTopic(
            number=fields.get("num", "").strip() or _number_attribute(topic[1]),
            title=" ".join(fields.get("title", "").split()),
            description=paragraphs(fields.get("desc", "")),
            narrative=paragraphs(fields.get("narr", "")),
            language=language[1] if language else None,
            line=line,
        )


def _number_attribute(attributes: str) -> str:
    """Return the number of a topic written as `<top id="1">`; empty when there is none."""
    number = NUMBER.search(attributes)
    return resolve_references(number[number.lastindex or 0]).strip() if number else ""


def _fields(content: str) -> dict[str, str]:
    """Map each tag of `LABELS` to the text after it, without its label; the first of a kind counts."""
    tags = list(FIELD_TAG.finditer(content))
    ends = [*(tag.start() for tag in tags[1:]), len(content)] if tags else []
    fields: dict[str, str] = {}
    for tag, end in zip(tags, ends, strict=True):
        kind = (tag[1] or tag[2]).lower()
        if kind in LABELS and "</" not in tag[0]:
            fields.setdefault(kind, resolve_references(_without_label(kind, content[tag.end() : end])))
    return fields


def _without_label(kind: str, content: str) -> str:
    """Drop the `Number:` or `Description:` that stands before the text."""
    label = LABELS[kind].match(content)
    return content[label.end() :] if label else content
