"""Topics as files: TREC's SGML, XML, tab-separated lines, CSV and JSON Lines, detected by their content."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from xml.parsers import expat

from annotator.errors import Problems
from annotator.evaluation.formats.csv_tables import is_table, table_rows
from annotator.evaluation.formats.file_kinds import TOPIC_COLUMNS, is_heading, note_heading, note_separator
from annotator.evaluation.formats.identifiers import check_topic_number
from annotator.evaluation.formats.table_lines import (
    counted_fields,
    identifier_of,
    json_objects,
    paragraphs,
    resolve_references,
    text_of,
)


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


MAX_FIELDS = 4
SGML_TOPIC = re.compile(rb"<top\b[^<>]*>", re.IGNORECASE)
SGML_TOPIC_END = re.compile(rb"</top\s*>", re.IGNORECASE)
NUMBER_KEYS = ("number", "id", "qid", "query_id", "topic")
TITLE_KEYS = ("title", "query", "text")
LANGUAGE_KEYS = ("language", "lang")
WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
NO_TOPICS: Mapping[str, str] = MappingProxyType({})
CSV_COLUMNS = {
    "number": {"number", "num", "id", "qid", "query_id", "topic", "topic_id"},
    "title": {"title", "query", "query_text", "question", "text"},
    "description": {"description", "desc"},
    "narrative": {"narrative", "narr"},
    "language": {"language", "lang"},
}


def parse_topics(name: str, text: bytes, problems: Problems) -> list[ParsedTopic] | None:
    """Read topics in the file's order, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns. Titles come out on one line, the other texts with their paragraphs.
    """
    before = problems.total
    topics = _check(name, _read(name, text, problems), problems)
    if not topics and problems.total == before:
        problems.add(name, None, "The file has no topic.")
    return None if problems.total > before else topics


def _read(name: str, text: bytes, problems: Problems) -> Iterable[ParsedTopic]:
    beginning = text[:1024].lstrip()
    if beginning.startswith(b"<"):
        if not SGML_TOPIC.search(text):
            return xml_topics(name, text, problems)
        _note_cut_off(name, text, problems)
        return sgml_topics(text.decode())
    if beginning.startswith((b"{", b"[")):
        return _json_topics(name, text, problems)
    if is_topic_table(text):
        return _csv_topics(name, text, problems)
    return _tab_separated_topics(name, text, problems)


def _note_cut_off(name: str, text: bytes, problems: Problems) -> None:
    """Note a last topic that is not closed: the file was truncated, and half a topic must not replace a whole one."""
    *_, last = SGML_TOPIC.finditer(text)
    if not SGML_TOPIC_END.search(text, last.end()):
        line = text.count(b"\n", 0, last.start()) + 1
        problems.add(name, line, "The topic is not closed: there is no </top> after this <top>.")


def _check(name: str, read: Iterable[ParsedTopic], problems: Problems) -> list[ParsedTopic]:
    """Note topics without number or title, and duplicate numbers."""
    topics: dict[str, ParsedTopic] = {}
    for topic in read:
        if not topic.number and not topic.title:
            problems.add(name, topic.line, "The topic has neither number nor title.")
            continue
        if topic.number and not topic.title:
            problems.add(name, topic.line, "The topic %(number)s has no title.", number=topic.number)
        if not check_topic_number(problems, name, topic.line, topic.number):
            continue
        first = topics.setdefault(topic.number, topic)
        if first is not topic:
            problems.add(
                name,
                topic.line,
                "The topic %(number)s is in the file twice; it is on line %(first_line)d already.",
                number=topic.number,
                first_line=first.line,
            )
    return list(topics.values())


def _tab_separated_topics(name: str, text: bytes, problems: Problems) -> Iterator[ParsedTopic]:
    if note_separator(name, text, problems):
        return
    seen = False
    for line, content in enumerate(text.decode().split("\n"), start=1):
        fields = [" ".join(value.split()) for value in content.split("\t")]
        if not any(fields):
            continue
        is_first, seen = not seen, True
        if is_first and is_heading(fields, TOPIC_COLUMNS):
            note_heading(problems, name, line, fields)
        elif len(fields) == 1:
            problems.add(name, line, "The line has no tab; it must be the number, a tab and the title.")
        elif len(fields) > MAX_FIELDS:
            problems.add(
                name,
                line,
                "The line has %(fields)s; a topic has at most four: number, title, description, narrative.",
                fields=counted_fields(len(fields)),
            )
        else:
            number, title, description, narrative = fields + [""] * (MAX_FIELDS - len(fields))
            yield ParsedTopic(number, title, description, narrative, None, line)


def is_topic_table(text: bytes) -> bool:
    """Whether it is a table of topics, separated by commas or semicolons: its heading names a title or a query."""
    return is_table(text, CSV_COLUMNS, required=("title",), separators=",;")


def _csv_topics(name: str, text: bytes, problems: Problems) -> Iterator[ParsedTopic]:
    """Topics of a table; without a column of numbers they are numbered from 1."""
    is_numbered = is_table(text, CSV_COLUMNS, required=("number", "title"))
    for place, (line, row) in enumerate(table_rows(name, text, CSV_COLUMNS, problems), start=1):
        yield ParsedTopic(
            number=row["number"] if is_numbered else str(place),
            title=" ".join(row["title"].split()),
            description=row["description"],
            narrative=row["narrative"],
            language=row["language"] or None,
            line=line,
        )


def numbered_queries(text: str, known: Mapping[str, str] = NO_TOPICS) -> str:
    """Lines of queries as tab-separated topics; any other text (markup, tabs, a table) as it is.

    `known` maps the numbers of topics to their titles: a query that is one of these is left out, and the others are
    numbered on from the greatest, or from 1.
    """
    lines = [" ".join(line.split()) for line in text.splitlines()]
    is_other = "\t" in text or text.lstrip().startswith(("<", "{", "["))
    if is_other or is_topic_table(text.lstrip().encode()):
        return text
    titles = {" ".join(title.split()) for title in known.values()}
    greatest = max((int(number) for number in known if WHOLE_NUMBER.fullmatch(number)), default=0)
    further = count(greatest + 1)
    return "\n".join(f"{next(further)}\t{line}" if line and line not in titles else "" for line in lines)


def _json_topics(name: str, text: bytes, problems: Problems) -> Iterator[ParsedTopic]:
    for line, record in json_objects(name, text, problems):
        before = problems.total
        number = identifier_of(name, line, record, NUMBER_KEYS, problems)
        title = text_of(name, line, record, TITLE_KEYS, problems)
        description = text_of(name, line, record, ("description",), problems)
        narrative = text_of(name, line, record, ("narrative",), problems)
        language = text_of(name, line, record, LANGUAGE_KEYS, problems)
        if problems.total == before:
            yield ParsedTopic(
                number=number or "",
                title=" ".join((title or "").split()),
                description=(description or "").strip(),
                narrative=(narrative or "").strip(),
                language=language or None,
                line=line,
            )
