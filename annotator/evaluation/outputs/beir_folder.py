"""Collections in the layout of BEIR: corpus.jsonl, queries.jsonl, qrels/test.tsv, as `GenericDataLoader` reads them."""

import json
from collections.abc import Iterable, Mapping

from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.topic_formats import ParsedTopic

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
QRELS = "qrels/test.tsv"
QRELS_OF_SPLITS = "qrels/*.tsv"
HEADING = "query-id\tcorpus-id\tscore\n"


def corpus_line(document: ParsedDocument) -> bytes:
    """A document as a line of the corpus; URL and language are its metadata."""
    metadata = {"url": document.url, "language": document.language}
    return _line(document.docno, metadata, title=document.title, text=document.body)


def query_line(topic: ParsedTopic) -> bytes:
    """A topic as a line of the queries; description and narrative are its metadata, as in BEIR's Touché."""
    metadata = {"description": topic.description, "narrative": topic.narrative, "language": topic.language}
    return _line(topic.number, metadata, text=topic.title)


def qrels_table(rows: Iterable[tuple[str, str, int]]) -> bytes:
    """Topic, docno and grade of each row below BEIR's heading, in the order of the rows."""
    return (HEADING + "".join(f"{topic}\t{docno}\t{grade}\n" for topic, docno, grade in rows)).encode()


def _line(id_: str, metadata: Mapping[str, str | None], **texts: str) -> bytes:
    record = {"_id": id_, **texts, "metadata": {name: value for name, value in metadata.items() if value}}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"
