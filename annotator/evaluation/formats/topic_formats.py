"""Topics as files: TREC's SGML, XML, JSON, tables and tab-separated lines, detected by their content."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import cast

from annotator.errors import Problems
from annotator.evaluation.formats.csv_tables import is_table, table_rows
from annotator.evaluation.formats.file_kinds import TOPIC_COLUMNS, is_heading, note_heading, note_separator
from annotator.evaluation.formats.identifiers import check_topic_number
from annotator.evaluation.formats.input_formats import Format, Holds, always, choose, never
from annotator.evaluation.formats.json_values import JsonCursor, noting_broken_json
from annotator.evaluation.formats.record_layouts import records
from annotator.evaluation.formats.table_lines import (
    counted_fields,
    identifier_of,
    text_of,
    with_metadata,
)
from annotator.evaluation.formats.topic_markup import ParsedTopic as ParsedTopic
from annotator.evaluation.formats.topic_markup import sgml_topics, xml_topics

MAX_FIELDS = 4
SGML_TOPIC = re.compile(rb"<top\b[^<>]*>", re.IGNORECASE)
SGML_TOPIC_END = re.compile(rb"</top\s*>", re.IGNORECASE)
NUMBER_KEYS = ("number", "id", "qid", "query_id", "query-id", "topic_id", "_id", "topic", "narrative_id")
TITLE_KEYS = ("title", "topic_title", "query", "text", "question")
LANGUAGE_KEYS = ("language", "lang")
METADATA = ("description", "narrative", "language")  # of a query of BEIR
ENGLISH = "eng"
REWRITTEN_KEYS = ("manual_rewritten_utterance", "resolved_utterance", "automatic_rewritten_utterance")
UTTERED_KEYS = ("raw_utterance", "utterance")
RECORD_KEYS = {
    *(*NUMBER_KEYS, *TITLE_KEYS, *LANGUAGE_KEYS, "description", "narrative", "desc", "narr", "metadata", "url"),
    *("languages_with_qrels", "topics", "narratives", "turn", "turns", "topic_number", "ptkb"),
}
FIRST_KEY = re.compile(rb'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*["{]')
TopicReader = Callable[[str, bytes, Problems], Iterable["ParsedTopic"]]
WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
NO_TOPICS: Mapping[str, str] = MappingProxyType({})
CSV_COLUMNS = {
    "number": {"number", "num", "id", "qid", "query_id", "topic", "topic_id"},
    "title": {"title", "query", "query_text", "question", "text"},
    "description": {"description", "desc"},
    "narrative": {"narrative", "narr"},
    "language": {"language", "lang"},
}


def parse_topics(
    name: str, text: bytes, problems: Problems, input_format: str | None = None
) -> list[ParsedTopic] | None:
    """Read topics in the file's order, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns. Titles come out on one line, the other texts with their paragraphs. The format is
    detected, or named by `input_format`; raises `InvalidValueError` when there is no such format.
    """
    before = problems.total
    read = cast("TopicReader", choose(TOPIC_FORMATS, text, input_format).read)
    topics = _check(name, read(name, text, problems), problems)
    if not topics and problems.total == before:
        problems.add(name, None, "The file has no topic.")
    return None if problems.total > before else topics


def _sgml_topics(name: str, text: bytes, problems: Problems) -> Iterable[ParsedTopic]:
    if SGML_TOPIC.search(text):
        _note_cut_off(name, text, problems)
    return sgml_topics(text.decode())


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
    for line, record in records(name, text, problems):
        if isinstance(record.get("topics"), list):
            yield from _in_first_language(name, line, record, problems)
        elif isinstance(turns := record.get("turn", record.get("turns")), list):
            yield from _turns(name, line, record, turns, problems)
        else:
            yield from _topic_of(name, line, record, problems)


def _topic_of(name: str, line: int, written: Mapping[str, object], problems: Problems) -> Iterator[ParsedTopic]:
    """The topic of a record; a narrative alone, as of TREC RAG 2025, is the title."""
    before, record = problems.total, with_metadata(written, METADATA)
    number = identifier_of(name, line, record, NUMBER_KEYS, problems)
    title = text_of(name, line, record, TITLE_KEYS, problems)
    description = text_of(name, line, record, ("description", "topic_description"), problems)
    narrative = text_of(name, line, record, ("narrative", "topic_narrative"), problems)
    language = text_of(name, line, record, LANGUAGE_KEYS, problems)
    if problems.total == before:
        if not title:
            title, narrative = narrative, None
        yield ParsedTopic(
            number=number or "",
            title=" ".join((title or "").split()),
            description=(description or "").strip(),
            narrative=(narrative or "").strip(),
            language=language or None,
            line=line,
        )


def _in_first_language(name: str, line: int, record: Mapping[str, object], problems: Problems) -> Iterator[ParsedTopic]:
    """The topic of a record of NeuCLIR and HC4 in several languages: the English original, or the first."""
    languages = [one for one in _listed(record["topics"]) if isinstance(one, Mapping)]
    chosen = next((one for one in languages if one.get("lang") == ENGLISH), next(iter(languages), {}))
    texts = {key: value for key, value in record.items() if key not in {"topics", "narratives"}}
    yield from _topic_of(name, line, {**texts, **chosen}, problems)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _turns(
    name: str, line: int, record: Mapping[str, object], turns: Sequence[object], problems: Problems
) -> Iterator[ParsedTopic]:
    """A topic for each turn of a conversation of TREC CAsT or iKAT; the rewritten utterance is the title.

    Numbers are those of the qrels: conversation, an underscore, turn.
    """
    conversation = identifier_of(name, line, record, ("number", "topic_number"), problems) or ""
    about = text_of(name, line, record, ("title",), problems) or ""
    for turn in turns:
        if not isinstance(turn, Mapping):
            problems.add(name, line, "A turn of the conversation %(number)s is no JSON object.", number=conversation)
            continue
        before = problems.total
        number = identifier_of(name, line, turn, ("number", "turn_id"), problems) or ""
        rewritten = text_of(name, line, turn, REWRITTEN_KEYS, problems) or ""
        uttered = text_of(name, line, turn, UTTERED_KEYS, problems) or ""
        if problems.total == before:
            title = " ".join((rewritten or uttered).split())
            description = uttered.strip() if rewritten else ""
            yield ParsedTopic(f"{conversation}_{number}", title, description, about.strip(), None, line)


def _dictionary_topics(name: str, text: bytes, problems: Problems) -> Iterator[ParsedTopic]:
    """Topics of a JSON dictionary: texts, or records, by number."""
    decoded = text.decode()
    with noting_broken_json(name, decoded, problems):
        cursor = JsonCursor(decoded)
        for number in cursor.members():
            line, value = cursor.line, cursor.value()
            record = {"title": value, **(value if isinstance(value, Mapping) else {})} | {"number": number}
            yield from _topic_of(name, line, record, problems)
        cursor.end()


def _is_dictionary(head: bytes) -> bool:
    """Whether it is JSON whose first key is none that topics have, but a number of a topic."""
    found = FIRST_KEY.match(head)
    return found is not None and found[1].decode(errors="replace") not in RECORD_KEYS


TOPICS_TEST = "tests/evaluation/formats/test_topic_formats.py"
TOPIC_FORMATS = (
    Format(
        "trec-sgml",
        Holds.TOPICS,
        "TREC topics",
        "TREC's topics with `<top>`; the tags need not be closed.",
        "<top>\n<num> Number: 1\n<title> black dress\n<desc> Description:\nDresses.\n</top>\n",
        lambda head: head.lstrip().startswith(b"<") and SGML_TOPIC.search(head) is not None,
        _sgml_topics,
        TOPICS_TEST,
    ),
    Format(
        "xml",
        Holds.TOPICS,
        "XML topics",
        "TREC Web, TREC-COVID, CLEF: an element `topic` for each.",
        '<topics><topic number="1"><query>black dress</query></topic></topics>\n',
        lambda head: head.lstrip().startswith(b"<"),
        xml_topics,
        TOPICS_TEST,
    ),
    Format(
        "json",
        Holds.TOPICS,
        "JSON dictionary",
        "Pyserini and plain programs: the text of each topic, or a record, by its number.",
        '{"1": "black dress", "2": "red shoes"}\n',
        _is_dictionary,
        _dictionary_topics,
        TOPICS_TEST,
    ),
    Format(
        "jsonl",
        Holds.TOPICS,
        "JSON records",
        "JSON Lines or one list: BEIR (`queries.jsonl`), ir_datasets, TIRA, TREC RAG, NeuCLIR and HC4 (the original in "
        "English), TREC CAsT and iKAT (a topic for each turn).",
        '{"_id": "1", "text": "black dress"}\n',
        lambda head: head.lstrip().startswith((b"{", b"[")),
        _json_topics,
        TOPICS_TEST,
    ),
    Format(
        "csv",
        Holds.TOPICS,
        "table of topics",
        "PyTerrier and pandas (`qid`, `query`), spreadsheets: separated by commas, semicolons or tabs. Without a "
        "column of numbers they are numbered from 1.",
        "qid,query\n1,black dress\n",
        lambda head: is_topic_table(head) or is_table(head, CSV_COLUMNS, required=("number", "title")),
        _csv_topics,
        TOPICS_TEST,
    ),
    Format(
        "parquet",
        Holds.TOPICS,
        "Parquet",
        "Columns named as the keys of JSON records; also Arrow files. Needs the extra `parquet`.",
        "",
        never,
        _json_topics,
        "tests/evaluation/formats/test_columnar_files.py",
    ),
    Format(
        "tsv",
        Holds.TOPICS,
        "tab-separated topics",
        "MS MARCO and TREC Deep Learning: number and title; a description and a narrative may follow.",
        "1\tblack dress\n",
        always,
        _tab_separated_topics,
        TOPICS_TEST,
    ),
)
