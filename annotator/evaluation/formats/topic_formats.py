"""Topics as files: TREC's SGML, XML, tab-separated lines and JSON Lines, told apart by their content."""

import re
from collections.abc import Iterable, Iterator

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import note_separator
from annotator.evaluation.formats.headings import TOPIC_COLUMNS, is_heading, note_heading
from annotator.evaluation.formats.identifiers import check_topic_number
from annotator.evaluation.formats.json_lines import identifier_of, json_objects, text_of
from annotator.evaluation.formats.parsed_topics import ParsedTopic as ParsedTopic
from annotator.evaluation.formats.table_lines import counted_fields
from annotator.evaluation.formats.topic_sgml import sgml_topics
from annotator.evaluation.formats.topic_xml import xml_topics

MAX_FIELDS = 4
SGML_TOPIC = re.compile(rb"<top\b[^<>]*>", re.IGNORECASE)
SGML_TOPIC_END = re.compile(rb"</top\s*>", re.IGNORECASE)
NUMBER_KEYS = ("number", "id", "qid", "query_id", "topic")
TITLE_KEYS = ("title", "query", "text")
LANGUAGE_KEYS = ("language", "lang")


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
    return _tab_separated_topics(name, text, problems)


def _note_cut_off(name: str, text: bytes, problems: Problems) -> None:
    """Note a last topic that is not closed: the file was cut off, and half a topic must not replace a whole one."""
    *_, last = SGML_TOPIC.finditer(text)
    if not SGML_TOPIC_END.search(text, last.end()):
        line = text.count(b"\n", 0, last.start()) + 1
        problems.add(name, line, "The topic is not closed: there is no </top> after this <top>.")


def _check(name: str, read: Iterable[ParsedTopic], problems: Problems) -> list[ParsedTopic]:
    """Note topics without number or title, and numbers that come twice."""
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
