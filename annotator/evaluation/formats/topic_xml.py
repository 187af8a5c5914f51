"""Topics in XML, as TREC has them since about 2010: `<topics><topic number="1"><title>…`."""

from dataclasses import dataclass, field
from xml.parsers import expat

from annotator.errors import Problems
from annotator.evaluation.formats.parsed_topics import ParsedTopic
from annotator.evaluation.formats.sgml import paragraphs

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
        """Keep the line, counted from 1."""
        super().__init__(line)
        self.line = line


@dataclass
class _Reading:
    """What the elements so far have said; `field_depth` counts the open elements from the field inwards."""

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
        """Stop at the declaration: without it there are no entities, neither bombs nor files of the server."""
        raise DocumentTypeError(self.parser.CurrentLineNumber)


def xml_topics(name: str, text: bytes, problems: Problems) -> list[ParsedTopic]:
    """Return the topics as they stand, up to where the XML breaks (noted, as is a document type)."""
    parser = expat.ParserCreate("utf-8")  # whatever the declaration says: the file was checked to be UTF-8
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
    """Take TREC-COVID's query for the title and its question for the description; a lone question is the title."""
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
