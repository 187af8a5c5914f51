"""Topics in markup: TREC's SGML, whose tags need not be closed, and XML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from annotator.errors import Problems
from annotator.evaluation.formats.table_lines import paragraphs, resolve_references


@dataclass(frozen=True, slots=True)
class ParsedTopic:
    """One topic; missing texts are empty, `line` (from 1) is its first line in the file."""

    number: str
    title: str
    description: str
    narrative: str
    language: str | None
    line: int


TOPIC = re.compile(r"<top\b([^<>]*)>(.*?)(?=<top\b[^<>]*>|</top\s*>|\Z)", re.IGNORECASE | re.DOTALL)
# The tags of TREC's ad hoc topics end a field anywhere, others only at the beginning of a line,
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
    """Yield the topics unvalidated: `parse_topics` validates them."""
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
    """Return the number of a topic from the attribute of `<top id="1">`; empty when there is none."""
    number = NUMBER.search(attributes)
    return resolve_references(number[number.lastindex or 0]).strip() if number else ""


def _fields(content: str) -> dict[str, str]:
    """Map each tag of `LABELS` to the text after it, without its label; the first of each tag counts."""
    tags = list(FIELD_TAG.finditer(content))
    ends = [*(tag.start() for tag in tags[1:]), len(content)] if tags else []
    fields: dict[str, str] = {}
    for tag, end in zip(tags, ends, strict=True):
        kind = (tag[1] or tag[2]).lower()
        if kind in LABELS and "</" not in tag[0]:
            fields.setdefault(kind, resolve_references(_without_label(kind, content[tag.end() : end])))
    return fields


def _without_label(kind: str, content: str) -> str:
    """Remove `Number:` or `Description:` from the beginning of the text."""
    label = LABELS[kind].match(content)
    return content[label.end() :] if label else content


NUMBER_NAMES = ("number", "num", "id", "qid", "identifier")
LANGUAGE_NAMES = ("lang", "xml:lang", "language")
FIELD_NAMES = {
    *NUMBER_NAMES,
    *("title", "query", "question"),
    *("description", "desc"),
    *("narrative", "narr"),
}


class DocumentTypeError(Exception):
    """The file declares a document type."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass
class _Reading:
    """The parser's state; `field_depth` counts the open elements from the field inwards."""

    parser: expat.XMLParserType
    topics: list[ParsedTopic] = field(default_factory=list)
    language: str | None = None
    topic: dict[str, str] | None = None
    topic_line: int = 0
    field_name: str = ""
    field_depth: int = 0
    pieces: list[str] = field(default_factory=list)

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if self.field_depth:
            self.field_depth += 1
        elif self.topic is not None:
            if element.lower() in FIELD_NAMES:
                self.field_name, self.field_depth, self.pieces = element.lower(), 1, []
        elif element.lower() == "topic":
            self.topic = {key.lower(): value for key, value in attributes.items()}
            self.topic_line = self.parser.CurrentLineNumber
        else:
            named = {key.lower(): value for key, value in attributes.items()}
            self.language = _first(named, *LANGUAGE_NAMES) or self.language

    def text(self, piece: str) -> None:
        if self.field_depth:
            self.pieces.append(piece)

    def end(self, element: str) -> None:
        if self.field_depth:
            self.field_depth -= 1
            if not self.field_depth and self.topic is not None:
                self.topic.setdefault(self.field_name, "".join(self.pieces))
        elif self.topic is not None and element.lower() == "topic":
            self.topics.append(_topic(self.topic, self.language, self.topic_line))
            self.topic = None

    def refuse_document_type(self, *_: object) -> None:
        """Stop at a document type declaration: without it there are no entities, so no expansion or file access."""
        raise DocumentTypeError(self.parser.CurrentLineNumber)


def xml_topics(name: str, text: bytes, problems: Problems) -> list[ParsedTopic]:
    """Return the topics unvalidated, up to the first error in the XML (noted, as is a document type)."""
    parser = expat.ParserCreate("utf-8")  # overrides the declared encoding: the file was checked to be UTF-8
    reading = _Reading(parser)
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.CharacterDataHandler = reading.text
    parser.EndElementHandler = reading.end
    parser.StartDoctypeDeclHandler = reading.refuse_document_type
    try:
        parser.Parse(text, True)  # noqa: FBT003 -- expat takes "this is all" by position only
    except expat.ExpatError as error:
        problems.add(
            name,
            error.lineno,
            "The XML is broken at column %(column)d: %(reason)s.",
            column=error.offset + 1,
            reason=expat.ErrorString(error.code),
        )
    except DocumentTypeError as error:
        problems.add(name, error.line, "The XML declares a document type (DOCTYPE). Take the declaration out.")
    return reading.topics


def _topic(fields: dict[str, str], inherited_language: str | None, line: int) -> ParsedTopic:
    """Map TREC-COVID's query to the title and its question to the description; a lone question is the title."""
    title = _first(fields, "title", "query", "question")
    question = fields.get("question", "") if _first(fields, "title", "query") else ""
    return ParsedTopic(
        number=_first(fields, *NUMBER_NAMES).strip(),
        title=" ".join(title.split()),
        description=paragraphs(_first(fields, "description", "desc") or question),
        narrative=paragraphs(_first(fields, "narrative", "narr")),
        language=_first(fields, *LANGUAGE_NAMES) or inherited_language,
        line=line,
    )


def _first(fields: dict[str, str], *names: str) -> str:
    return next((fields[name] for name in names if fields.get(name, "").strip()), "")
