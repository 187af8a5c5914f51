"""Every parser of untrusted input, as functions of bytes: only our own exceptions may be raised."""

# ruff: noqa: S101 - what a parser promises is asserted

import bz2
import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from annotator.clicks.evaluation.comparison.comparison import ComparisonWanted, compare_clicks
from annotator.clicks.evaluation.interleaving.interleaving import parse_lists
from annotator.clicks.evaluation.logs.click_format import read_click_log_into
from annotator.clicks.evaluation.logs.column_mapping import parse_mapping
from annotator.errors import AnnotatorError, Problems
from annotator.evaluation.archives.bundle_format import BundleWriter, open_bundle
from annotator.evaluation.formats.document_formats import parse_documents
from annotator.evaluation.formats.input_formats import Format, Holds
from annotator.evaluation.formats.people_format import parse_people
from annotator.evaluation.formats.qualifying_format import parse_qualifying
from annotator.evaluation.formats.registry import FORMATS
from annotator.evaluation.formats.topic_formats import parse_topics
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.matching import QrelsIndex, match_run
from annotator.evaluation.matching.lenient import read_qrels_leniently, read_run_leniently
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.qrels.qrels_format import parse_sampled_qrels, readable_rows
from annotator.evaluation.qrels.qrels_table import read_qrels, table_of
from annotator.evaluation.qrels.subtopic_qrels import has_subtopics, read_subtopic_qrels
from annotator.evaluation.runs.docno_lists import check_part, read_docnos
from annotator.evaluation.runs.ir_metadata import BrokenMetadataError, read_ir_metadata
from annotator.evaluation.runs.run_intake import RunIntake, RunRules
from annotator.evaluation.search.search_query import fts5_of, parse_query, tsquery_of
from annotator.evaluation.search.search_snippets import marks_in
from annotator.evaluation.search.search_text import indexed_words
from annotator.files import InputFile
from annotator.web.documents.document_parts import document_parts
from annotator.web.judging.judging_acts import read_sent
from annotator.web.site.addresses import local_path
from annotator.web.site.safe_html import document_beginning, document_html, guidelines_html

NAME = "sent"
TOPICS = frozenset({"1", "2", "401"})
# What one input may become when it is unpacked.
UNPACKED = 1 << 20
INDEX = QrelsIndex(table_of({"1": {"a": 1, "b": 0}, "2": {"a": 2}, "401": {"FT911-1": 1, "b": 0}}))


@dataclass(frozen=True)
class Target:
    """A parser, and inputs like those it is made for, which are changed at random."""

    read: Callable[[bytes], None]
    seeds: tuple[bytes, ...]


def _run(data: bytes, input_format: str | None = None) -> None:
    titles = {"black dress": "1"}
    rules = RunRules(topics=TOPICS, wanted_topics=TOPICS, most_documents=1000, unpacked_limit=UNPACKED, titles=titles)
    intake = RunIntake(rules)
    assert (intake.read(NAME, data, input_format=input_format) is None) == bool(intake.problems.total)


def _lenient_run(data: bytes) -> None:
    _of_text(data, lambda text, problems: read_run_leniently(NAME, text, problems))


def _matched_run(data: bytes) -> None:
    problems = Problems()
    assert (match_run(NAME, data, INDEX, problems) is None) == bool(problems.total)


def _qrels(data: bytes) -> None:
    _of_text(data, lambda text, problems: read_qrels(NAME, text, problems))


def _qrels_with_subtopics(data: bytes) -> None:
    _of_text(data, lambda text, problems: has_subtopics(text) and read_subtopic_qrels(NAME, text, problems))


def _lenient_qrels(data: bytes) -> None:
    _of_text(data, lambda text, problems: read_qrels_leniently(NAME, text, problems))


def _prels(data: bytes) -> None:
    _of_text(data, lambda text, problems: parse_sampled_qrels(NAME, text, problems))


def _labels(data: bytes, input_format: str | None = None) -> None:
    def rows(text: bytes, problems: Problems) -> object:
        return readable_rows(NAME, text, problems, topics=TOPICS, takes_labels=True, input_format=input_format)

    _rows_of_text(data, rows)


def _topics(data: bytes, input_format: str | None = None) -> None:
    _of_text(data, lambda text, problems: parse_topics(NAME, text, problems, input_format))


def _documents(data: bytes, input_format: str | None = None) -> None:
    _of_text(data, lambda text, problems: _all_documents(text, problems, input_format))


def _all_documents(text: bytes, problems: Problems, input_format: str | None) -> object:
    documents = parse_documents(NAME, text, problems, input_format=input_format)
    return None if documents is None else [indexed_words(document.title, document.body) for document in documents]


def _clicks(data: bytes) -> None:
    """A log that was read can be compared, or there is a reason why not."""
    problems = Problems()
    log = read_click_log_into(problems, [(NAME, data)], unpacked_limit=UNPACKED)
    assert (log is None) == bool(problems.total)
    _say(problems)
    if log is not None:
        with suppress(AnnotatorError):
            compare_clicks(log, ComparisonWanted())


def _clicked_results(data: bytes) -> None:
    problems = Problems()
    mapping = parse_mapping([], [], click_column="click", variant_from_name=True, drops_bad_lines=True)
    read_click_log_into(problems, [(NAME, data)], mapping, unpacked_limit=UNPACKED)
    _say(problems)


def _lists(data: bytes) -> None:
    _of_text(data, lambda text, problems: parse_lists(NAME, text, problems))


def _training(data: bytes) -> None:
    _rows_of_text(data, lambda text, problems: parse_qualifying(NAME, text, problems))


def _people(data: bytes) -> None:
    _rows_of_text(data, lambda text, problems: parse_people(NAME, text, problems))


def _bundle(data: bytes) -> None:
    """An archive as it came, and one whose parts came so: those say how they were changed in their manifest."""
    for stream in (io.BytesIO(data), _rewrapped(data)):
        with suppress(AnnotatorError), open_bundle(NAME, stream, limit=UNPACKED) as bundle:
            for part in bundle.manifest["files"]:
                for _ in bundle.rows(part):
                    pass


def _rewrapped(data: bytes) -> io.BytesIO:
    stream = io.BytesIO()
    with BundleWriter(stream) as writer:
        for number, part in enumerate(data.split(b"\n\n")):
            writer.add(f"{number}.jsonl", iter([part]))
        writer.finish({"tables": "0008"})
    stream.seek(0)
    return stream


def _example_bundle() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("topics.jsonl", b'{"number": "1"}\n')
        files = '{"topics.jsonl": {"sha256": "0", "bytes": 16}}'
        archive.writestr("manifest.json", f'{{"format": "annotator collection", "version": 1, "files": {files}}}')
    return stream.getvalue()


def _of_text(data: bytes, parse: Callable[[bytes, Problems], object]) -> None:
    """A file is either read or has problems, never both and never neither."""
    problems = Problems()
    text = unpack_into(problems, NAME, data, UNPACKED)
    read = None if text is None else parse(text, problems)
    assert (read is None) == bool(problems.total)
    _say(problems)


def _rows_of_text(data: bytes, parse: Callable[[bytes, Problems], object]) -> None:
    problems = Problems()
    text = unpack_into(problems, NAME, data, UNPACKED)
    if text is not None:
        parse(text, problems)
    _say(problems)


def _say(problems: Problems) -> None:
    """Every problem can be formatted, and stored as text in every database."""
    for problem in problems.first:
        assert "\0" not in str(problem)
        str(problem).encode()


def _document(data: bytes) -> None:
    body = _text(data)
    shown = document_html(body)
    assert "<script" not in shown.lower()
    document_beginning(body)
    document_parts(body)


def _guidelines(data: bytes) -> None:
    assert "<script" not in guidelines_html(_text(data)).lower()


def _query(data: bytes) -> None:
    with suppress(AnnotatorError):
        query = parse_query(_text(data))
        fts5_of(query)
        tsquery_of(query)


def _marks(data: bytes) -> None:
    marks_in(_text(data))


def _measures(data: bytes) -> None:
    with suppress(AnnotatorError):
        for measure in parse_measures([_text(data)[:200]]):
            assert parse_measures([str(measure)]) == (measure,)


def _acts(data: bytes) -> None:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return
    with suppress(AnnotatorError):
        read_sent(body)


def _address(data: bytes) -> None:
    address = local_path(_text(data))
    assert address is None or (address.startswith("/") and not address.startswith(("//", "/\\")))


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


RUN = b"1 Q0 a 1 2.5 red\n1 Q0 b 2 1e-3 red\n401 Q0 FT911-1 1 -7 red\n"
QRELS = b"1 0 a 1\n1 0 b 0\n401 0 FT911-1 2\n"
PRELS = b"1 0 a 1 2\n1 0 b 1 -1\n2 0 a 2 0\n"
HTML = (
    b"<div><h1>x</h1><script>alert(1)</script><p onclick=a>y<svg><style>p{}</style></svg><meta http-equiv=refresh>",
    b"<table><tr><td><font size=1><b>x</table><a href=javascript:x>y</a><!-- z --><textarea></p>",
    b"plain <text> & more",
)
SGML_TOPIC = (
    b"<top lang=en>\n<num> Number: 401\n<title> Topic: spies\n<desc> Description:\nx\n<narr> Narrative:\ny\n</top>"
)
XML_TOPIC = (
    b'<?xml version="1.0"?><topics task="x"><topic number="1"><title>a &amp; b</title><description>c</description>'
    b"<narrative>d</narrative></topic></topics>"
)
BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b"><!ENTITY c SYSTEM "file:///etc/passwd">]><topics>&c;</topics>'
GRADE = (
    b'{"tab": "t", "holds": [1, 2], "draw": true, "acts": [{"id": "0b9d", "assignment": 1, "kind": "grade", "grade": 1,'
    b'"sequence": 3, "seconds": 4.5, "evidence": [{"start": 0, "end": 2, "text": "ab"}], "ago": 1e3, "note": "n"}]}'
)
CANNOT = (
    b'{"acts": [{"id": "1", "assignment": 2, "kind": "cannot", "cannot_judge": "broken"},'
    b' {"id": "2", "assignment": 3, "kind": "later"}]}'
)

CLICKS = b"""time,user,session,query,variant,page,position,docno,event,value
2026-01-01T00:00:00Z,u1,s1,q,A,1,1,d1,impression,
2026-01-01T00:00:01Z,u1,s1,q,A,1,1,d1,click,
2026-01-01T00:00:09Z,u1,s1,q,A,1,1,d1,dwell,31.5
2026-01-02T00:00:00Z,u2,s2,q,B,1,1,d2,impression,
"""
JSON_CLICKS = b"""{"time": 1.5, "user": "u", "variant": "A", "position": 1, "event": "impression"}
{"time": "1970-01-01 00:00:02", "user": "v", "variant": "B", "position": 2, "event": "rating", "value": 3}
"""
LISTS = b"# seed 1\ntopic\tlist\tposition\tdocno\tteam\ta\tb\n1\t1\t1\tx\ta\t1\t-\n1\t1\t2\ty\tb\t-\t1\n"


METADATA = b"""# ir_metadata.start
# method:
#   description: &d BM25
#   automatic: false
#   more: [*d, *d]
# ir_metadata.end
"""


def _as_named(one: Format) -> Target:
    """The reader of a format, which is named rather than detected."""
    seeds = (one.example.encode(),) if one.example else _columnar()
    return Target(lambda data: READERS[one.holds](data, one.name), seeds)


def _columnar() -> tuple[bytes, ...]:
    """Files with the keys of all kinds of records."""
    rows = [{"qid": "1", "docno": f"d{number}", "score": 1.5, "label": 1, "text": "a"} for number in range(2)]
    table = pa.Table.from_pylist(rows)
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pq.write_table(table, parquet)
    with pa.ipc.new_stream(arrow, table.schema) as writer:
        writer.write_table(table)
    return parquet.getvalue(), arrow.getvalue()


def _docnos(data: bytes, input_format: str | None = None) -> None:
    """A list that is read is one that can be stored, and taken out of an archive."""
    with suppress(AnnotatorError):
        for part in read_docnos([InputFile(NAME, data, input_format)], unpacked_limit=UNPACKED).parts:
            check_part(part.count, part.lines)


def _part_of_docnos(data: bytes) -> None:
    for part in (data, zlib.compress(data)):
        with suppress(AnnotatorError):
            check_part(part.count(b"\n"), part)


def _metadata(data: bytes) -> None:
    with suppress(BrokenMetadataError):
        read_ir_metadata(data)


READERS: Mapping[Holds, Callable[[bytes, str | None], None]] = {
    Holds.RUNS: _run,
    Holds.LABELS: _labels,
    Holds.TOPICS: _topics,
    Holds.DOCUMENTS: _documents,
    Holds.DOCNOS: _docnos,
}
EXAMPLES = {holds: tuple(one.example.encode() for one in formats if one.example) for holds, formats in FORMATS.items()}
PACKED = (gzip.compress(RUN), bz2.compress(RUN), lzma.compress(RUN), zstandard.ZstdCompressor().compress(RUN))


TARGETS: Mapping[str, Target] = {
    "run": Target(_run, (RUN, b"\xef\xbb\xbf# c\n" + RUN, b"1,Q0,a,1,2,t\n", *EXAMPLES[Holds.RUNS])),
    "packed run": Target(_run, PACKED),
    "metadata of a run": Target(_metadata, (METADATA,)),
    "docnos": Target(_docnos, (b"d7\n#8\n\n", "docno\n문서\n".encode(), *EXAMPLES[Holds.DOCNOS])),
    "part of docnos": Target(_part_of_docnos, (b"d7\nd8\n", "문서\n".encode())),
    "lenient run": Target(_lenient_run, (RUN, b"1 Q0 a 1 nan t x\n1 Q0 b 2 0x1p1 t\n", b"1 Q0 a 1 1,5 t\n")),
    "matched run": Target(_matched_run, (RUN,)),
    "qrels": Target(_qrels, (QRELS, PRELS)),
    "qrels with subtopics": Target(_qrels_with_subtopics, (b"1 a d1 1\n1 b d1 0\n1 b d2 2\n2 a d3 -1\n", QRELS)),
    "lenient qrels": Target(_lenient_qrels, (QRELS, b"1 0 a +1x\n1 0 b -32768\n")),
    "prels": Target(_prels, (PRELS, QRELS)),
    "judgements": Target(_labels, (QRELS, b"1 0 a unsure\n1 0 b -1\n", *EXAMPLES[Holds.LABELS])),
    "topics": Target(
        _topics,
        (
            *(SGML_TOPIC, XML_TOPIC, BOMB, b"401\tspies\tdescription\n", b'{"number": 1, "title": "a"}\n'),
            *EXAMPLES[Holds.TOPICS],
        ),
    ),
    "documents": Target(
        _documents,
        (
            b"<DOC>\n<DOCNO> a </DOCNO><HEADLINE>h</HEADLINE>\n<TEXT>\nx &amp; y\n</TEXT>\n</DOC>\n",
            '{"docno": "a", "title": "t", "body": "정보 검색 b", "url": "http://x", "lang": "ko"}\n'.encode(),
            b"a\ttitle\tbody\nb\ttitle\t<p>body</p>\n",
            *EXAMPLES[Holds.DOCUMENTS],
        ),
    ),
    "training": Target(_training, (b"401\tFT911-1\t2\tbecause\n1\ta\t0\n",)),
    "click log": Target(
        _clicks,
        (
            CLICKS,
            JSON_CLICKS,
        ),
    ),
    "clicked results": Target(_clicked_results, (b"time;docno;position;click\n2026-01-01;a;1;0\n2026-01-02;b;2;1\n",)),
    "interleaved lists": Target(
        _lists,
        (LISTS,),
    ),
    "people": Target(_people, (b"name,role,team\njo,judge,\npat,participant,red\n", b'name;role\n"kim";observer\n')),
    "archive": Target(
        _bundle, (_example_bundle(), _rewrapped(b'{"a": 1}\n\n{}').getvalue(), b'{"id": 1, "a": [null]}\n\n{}')
    ),
    "document shown": Target(_document, HTML),
    "guidelines": Target(_guidelines, (b"# Rules\n\n* be **fair**\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n<p>x</p>",)),
    "search query": Target(_query, ('spies AND "cold war" NOT (film* OR 정보)'.encode(), b"a OR (b c)")),
    "marks of a title": Target(_marks, ("What are the effects of 검색시스템의 情報検索は spies?".encode(),)),
    "measures": Target(_measures, (b"nDCG@10", b"AP(rel=2)@5", b"RBP(p=0.95)", b"ndcg_cut.5,10", b"P.1,2 official")),
    "acts of a judge": Target(_acts, (GRADE, CANNOT)),
    "address to go back to": Target(_address, (b"/collections/news?x=1#y", b"//evil.example", b"/\\evil", b"/\t/x")),
    **{
        f"{holds.value} as {one.name}": _as_named(one)
        for holds, formats in FORMATS.items()
        for one in formats
        if one.read is not None
    },
}
