"""Records of JSON and tables as rows of runs and qrels: the names that tools give to the same things."""

from collections.abc import Iterator, Mapping, Sequence

from annotator.errors import Problems
from annotator.evaluation.formats.csv_tables import is_table, table_rows
from annotator.evaluation.formats.foreign_rows import LabelRow, RunRow
from annotator.evaluation.formats.json_values import JsonCursor, list_objects, noting_broken_json
from annotator.evaluation.formats.table_lines import data_lines, json_objects, shown_text

Record = Mapping[str, object]

TOPIC_KEYS = ("qid", "query_id", "query-id", "topic_id", "topic", "narrative_id", "queryid", "id", "query")
DOCUMENT_KEYS = ("docno", "doc_id", "docid", "docId", "corpus-id", "corpus_id", "_id", "document", "pid", "url", "id")
RANK_KEYS = ("rank", "position", "pos")
SCORE_KEYS = ("score", "sim", "similarity")
TAG_KEYS = ("tag", "run_id", "system", "runtag", "run_tag", "run_name")
GRADES_ONLY = ("grade", "relevance", "rel", "label", "rating", "judgment", "judgement", "qrel")
GRADE_KEYS = (*GRADES_ONLY, "score")

# Tables: our names of the columns, each with the names that files give it, the likelier first.
RUN_TABLE = {
    "topic": (*TOPIC_KEYS[:7], "topicid", "number", "num", "query_text", "query"),
    "document": (*(key.casefold().replace("-", "_") for key in DOCUMENT_KEYS), "doc", "product_id", "item"),
    "rank": RANK_KEYS,
    "score": SCORE_KEYS,
    "tag": TAG_KEYS,
}
LABEL_TABLE = {
    "topic": RUN_TABLE["topic"],
    "document": RUN_TABLE["document"],
    "grade": GRADE_KEYS,
}


def has_run_heading(text: bytes) -> bool:
    """Whether the first line is a heading that names topic, document and a rank or score."""
    return any(is_table(text, RUN_TABLE, required=("topic", "document", order)) for order in ("score", "rank"))


def has_label_heading(text: bytes) -> bool:
    """Whether the first line is a heading that names topic, document and a grade; a score beside a rank is none."""
    if is_table(text, RUN_TABLE, required=("topic", "document", "rank", "score")):
        return is_table(text, LABEL_TABLE | {"grade": GRADES_ONLY}, required=("topic", "document", "grade"))
    return is_table(text, LABEL_TABLE, required=("topic", "document", "grade"))


def run_table(name: str, text: bytes, problems: Problems) -> Iterator[RunRow]:
    """Rows of a run from a table with a heading."""
    if not has_run_heading(text):
        problems.add(
            name, 1, "The first line must name the columns: topic, document, and rank or score; as in qid,docno,score."
        )
        return
    for line, row in table_rows(name, text, RUN_TABLE, problems):
        yield RunRow(line, row["topic"], row["document"], row["rank"], row["score"], row["tag"])


def label_table(name: str, text: bytes, problems: Problems) -> Iterator[LabelRow]:
    """Rows of qrels from a table with a heading."""
    if not has_label_heading(text):
        problems.add(name, 1, "The first line must name the columns: topic, document, grade; as in qid,docno,grade.")
        return
    for line, row in table_rows(name, text, LABEL_TABLE, problems):
        yield LabelRow(line, row["topic"], row["document"], row["grade"])


def ranks_table(name: str, text: bytes, problems: Problems) -> Iterator[RunRow]:
    """Rows of a run of MS MARCO: topic, document, rank."""
    for line, words in data_lines(name, text, problems):
        if len(words) == len(("topic", "document", "rank")):
            topic, docno, rank = (word.decode() for word in words)
            yield RunRow(line, topic, docno, rank, "", "")
        else:
            problems.add(name, line, "The line must have three columns: topic, document, rank.")


def run_dictionary(name: str, text: bytes, problems: Problems) -> Iterator[RunRow]:
    """Rows of a run from a JSON dictionary: scores by topic and document."""
    for line, topic, docno, score in _dictionary(name, text, problems):
        yield RunRow(line, topic, docno, "", score, "")


def label_dictionary(name: str, text: bytes, problems: Problems) -> Iterator[LabelRow]:
    """Rows of qrels from a JSON dictionary: grades by topic and document."""
    for line, topic, docno, grade in _dictionary(name, text, problems):
        yield LabelRow(line, topic, docno, grade)


def _dictionary(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, str, str, str]]:
    decoded = text.decode()
    with noting_broken_json(name, decoded, problems):
        cursor = JsonCursor(decoded)
        for topic in cursor.members():
            if cursor.next != "{":
                problems.add(
                    name,
                    cursor.line,
                    "The value of topic %(topic)s is no dictionary; the file must be {topic: {document: number}}.",
                    topic=shown_text(topic),
                )
                cursor.value()
                continue
            for docno in cursor.members():
                line = cursor.line
                yield line, topic, docno, _text(cursor.value())
        cursor.end()


def run_records(name: str, text: bytes, problems: Problems) -> Iterator[RunRow]:
    """Rows of a run from JSON records: JSON Lines or one list."""
    for line, record in records(name, text, problems):
        yield from rows_of_run_record(line, record)


def rows_of_run_record(line: int, record: Record) -> Iterator[RunRow]:
    """One row, or those of a record with a list: `references` of a generated answer, or `candidates` of a query."""
    about = _merged(record)
    topic, tag = _first(about, TOPIC_KEYS), _first(about, TAG_KEYS)
    listed = _listed(record, ("references", "candidates", "results", "hits"))
    if listed is None:
        yield RunRow(line, topic, _document(record), _first(record, RANK_KEYS), _first(record, SCORE_KEYS), tag)
        return
    for entry in listed:
        if isinstance(entry, Mapping):
            rank, score = _first(entry, RANK_KEYS), _first(entry, SCORE_KEYS)
            yield RunRow(line, topic, _document(entry), rank, score, tag)
        else:
            yield RunRow(line, topic, _text(entry), "", "", tag)


def label_records(name: str, text: bytes, problems: Problems) -> Iterator[LabelRow]:
    """Rows of qrels from JSON records: JSON Lines or one list."""
    for line, record in records(name, text, problems):
        yield from rows_of_label_record(line, record)


def rows_of_label_record(line: int, record: Record) -> Iterator[LabelRow]:
    """One row, or those of a record with a list: `ratings` or `candidates` of a query."""
    topic = _first(_merged(record), TOPIC_KEYS)
    listed = _listed(record, ("ratings", "candidates"))
    for entry in [record] if listed is None else listed:
        if isinstance(entry, Mapping):
            keys = GRADE_KEYS if listed is None else GRADES_ONLY
            yield LabelRow(line, topic, _document(entry), _first(entry, keys))
        else:
            yield LabelRow(line, topic, _text(entry), "")


def columnar_run(name: str, text: bytes, problems: Problems) -> Iterator[RunRow]:
    """Rows of a run from a Parquet or an Arrow file, which is unpacked as JSON lines."""
    return run_records(name, text, problems) if _is_unpacked(name, text, problems) else iter(())


def columnar_labels(name: str, text: bytes, problems: Problems) -> Iterator[LabelRow]:
    """Rows of qrels from a Parquet or an Arrow file, which is unpacked as JSON lines."""
    return label_records(name, text, problems) if _is_unpacked(name, text, problems) else iter(())


def _is_unpacked(name: str, text: bytes, problems: Problems) -> bool:
    """Whether the text may be that of an unpacked file; notes when the file was another."""
    if not text.startswith(b"{"):
        problems.add(name, None, "The file is no Parquet or Arrow file.")
    return text.startswith(b"{")


def rated_queries(name: str, text: bytes, problems: Problems) -> Iterator[LabelRow]:
    """Rows of qrels from OpenSearch's judgement lists and from rating requests of Elasticsearch."""
    decoded = text.decode()
    with noting_broken_json(name, decoded, problems):
        cursor = JsonCursor(decoded)
        for key in cursor.members():
            if key not in {"judgmentRatings", "judgementRatings", "requests"} or cursor.next != "[":
                cursor.value()
                continue
            for _ in cursor.items():
                line = cursor.line
                record = cursor.value()
                if isinstance(record, Mapping):
                    yield from rows_of_label_record(line, record)
        cursor.end()


def records(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, Record]]:
    """Line and content of each record: JSON Lines, one list, or one object over several lines."""
    return list_objects(name, text, problems) if text.lstrip()[:1] == b"[" else json_objects(name, text, problems)


def _merged(record: Record) -> Record:
    """Return the record with the fields of its nested objects `metadata` and `query` at the top."""
    merged = dict(record)
    for key in ("metadata", "query"):
        inner = record.get(key)
        if isinstance(inner, Mapping):
            merged.pop(key)
            merged = {**merged, **inner}
    return merged


def _listed(record: Record, keys: Sequence[str]) -> Sequence[object] | None:
    found = next((record[key] for key in keys if isinstance(record.get(key), list)), None)
    return found if isinstance(found, list) else None


def _document(record: Record) -> str:
    return _first(record, DOCUMENT_KEYS)


def _first(record: Record, keys: Sequence[str]) -> str:
    """The first of these keys that has a text or a number."""
    return next((text for key in keys if key in record and (text := _text(record[key]))), "")


def _text(value: object) -> str:
    """A text or a number as text; empty for other values."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return value.strip() if isinstance(value, str) else ""
